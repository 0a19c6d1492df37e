"""The model that was connected in the page: kept in a file beside the state, read by every process when it changes (docs/decisions/0010)."""

from __future__ import annotations

import json
import logging
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.conf import settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the models are, and which of them answers and reads; an empty name is the server's own choice, or the one that answers."""

    base_url: str
    model: str = ""
    extract_model: str = ""
    api_key: str = field(default="", repr=False)


_Seen = tuple[str, int, int, int]
_read: tuple[_Seen, Connection | None] | None = None


def kept() -> Connection | None:
    """What is connected, None when nothing is. Costs one look at the file's date as long as that stays the same."""
    global _read
    path = Path(settings.CONNECTION_FILE)
    try:
        found = path.stat()
    except OSError:
        return None
    seen = (str(path), found.st_mtime_ns, found.st_ino, found.st_size)
    known = _read
    if known is None or known[0] != seen:
        _read = known = (seen, _parsed(path))
    return known[1]


def _parsed(path: Path) -> Connection | None:
    """What the file says. One that can't be used is no connection, and says so in the log, without a word of what is in it."""
    try:
        values = json.loads(path.read_bytes())
        connection = Connection(**values)
        if not connection.base_url or not all(isinstance(value, str) for value in values.values()):
            raise ValueError
    except (OSError, ValueError, TypeError) as error:
        log.error("the connection file can't be used (%s): answers are made offline", type(error).__name__)
        return None
    return connection


def keep(connection: Connection) -> None:
    """Write it for every process, whole or not at all, readable by its owner only. Raises OSError."""
    path = Path(settings.CONNECTION_FILE)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
    aside = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(asdict(connection), out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def forget() -> None:
    """Back to the offline engine, and no key is kept. Raises OSError."""
    Path(settings.CONNECTION_FILE).unlink(missing_ok=True)
