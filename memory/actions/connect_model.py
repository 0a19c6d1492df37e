"""Connect the models of a server in the page, for the whole site (docs/decisions/0010)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from memory.errors import Refused, conflict, forbidden, invalid, unavailable
from memory.llm import connection, endpoints
from memory.llm.connection import Connection
from memory.models import AuditEntry

LONGEST_ADDRESS = 500
LONGEST_KEY = 4_096
LONGEST_MODEL = 200


def connect_model(person: Any, *, base_url: str, api_key: str | None = None, model: str = "", extract_model: str = "") -> None:
    """From the next call on, in every process, these answer and read turns. Raises Refused."""
    check_may_connect(person)
    typed = check_typed(base_url, api_key, model, extract_model)
    try:
        connection.keep(typed)
    except OSError:
        raise not_writable() from None
    AuditEntry.objects.create(actor=person, action="connect_model", subject="model connection")


def check_may_connect(person: Any) -> None:
    """Refuses everyone but the staff, and also them where the environment says which model answers."""
    if not person.is_staff:
        raise forbidden("Only the staff of this site may connect a model.", "Ask whoever runs the site.")
    if endpoints.source() == "environment":
        raise conflict("The model is set by the environment of the server.", "Change OPENAI_BASE_URL there, or take it away to connect a model here.")


def check_typed(base_url: str, api_key: str | None, model: str, extract_model: str) -> Connection:
    """What was typed, with the key that belongs to it. Raises Refused, whose words hold nothing of the key.

    No key given (None) means the one that is kept, and that goes to the address it was given for only."""
    address = check_address(base_url)
    for name, field in ((model, "model"), (extract_model, "extract_model")):
        if len(name) > LONGEST_MODEL or not name.isprintable():
            raise _refused(field, f"The name of a model has at most {LONGEST_MODEL} characters, all of them visible.")
    known = endpoints.answering()
    if api_key is None:
        api_key = known.api_key if known and known.base_url.rstrip("/") == address else ""
    api_key = api_key.strip()
    # Only these can be sent in a header; anything else would fail there, with the key in the exception.
    if len(api_key) > LONGEST_KEY or not re.fullmatch(r"[\x21-\x7e]*", api_key):
        raise _refused("api_key", f"A key has at most {LONGEST_KEY} letters, digits and signs, without spaces.")
    return Connection(address, model.strip(), extract_model.strip(), api_key)


def check_address(base_url: str) -> str:
    """The address in its one spelling. Raises Refused for what no server can be asked at."""
    given = base_url.strip()
    try:
        parts = urlsplit(given)
        if not given.isprintable() or re.search(r"[\s\\]", given) or len(given) > LONGEST_ADDRESS:
            raise ValueError
        scheme, host, _ = parts.scheme.lower(), parts.hostname, parts.port
    except ValueError:
        raise _refused("base_url", "This isn’t an address. It looks like http://127.0.0.1:11434/v1.") from None
    if scheme not in ("http", "https") or not host:
        raise _refused("base_url", "An address begins with http:// or https:// and names a server.")
    if "@" in parts.netloc:
        raise _refused("base_url", "An address has no name and password in it. The key has a field of its own.")
    if parts.query or parts.fragment:
        raise _refused("base_url", "An address ends with its path: nothing after a ? or #.")
    return urlunsplit((scheme, parts.netloc.lower(), parts.path.rstrip("/"), "", ""))


def not_writable() -> Refused:
    return unavailable("The server can’t write to its state folder.", "Make ARBORWEB_HOME writable for it, or set OPENAI_BASE_URL instead.")


def _refused(field: str, words: str) -> Refused:
    return invalid("Some of what was typed can’t be used.", "Correct it and try again.", {field: [words]})
