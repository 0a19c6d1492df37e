"""Try every model endpoint as turns would use it, and remember what its server can do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, Literal

from memory.errors import forbidden
from memory.llm import choices, endpoints, probe
from memory.llm.capabilities import Kept, Remembered
from memory.llm.client import EndpointClient
from memory.llm.connection import Connection
from memory.llm.embed_endpoint import EndpointEmbedder
from memory.llm.endpoints import Endpoint
from memory.llm.interface import ModelError
from memory.llm.rerank import Reranker
from memory.llm.usage import Stage

# All checks together: a local model may have to be loaded first, and somebody waits in front of the page.
TEST_SECONDS = 90.0

Check = Literal["list", "stream", "structured", "embed", "rerank"]
Checks = list[tuple[Check, Callable[[], object]]]
_FOUND: dict[Stage, tuple[str, ...]] = {
    "answer": ("structured", "streaming_usage", "rejected", "context_length"),
    "extract": ("structured", "rejected", "context_length"),
    "embed": ("vector_length", "rejected"),
    "rerank": ("rejected",),
}


def check_staff(person: Any) -> None:
    """Tests cost a few small requests, and send them wherever was typed."""
    if not person.is_staff:
        raise forbidden("Only the staff of this site may test its models.", "Ask whoever runs the site.")


def probe_models(person: Any, typed: Connection | None = None, *, list_only: bool = False) -> dict[str, Any]:
    """`tests`: one row a role, whether it works, how long it took, check by check, and what is wrong; `models`: what the server that answers lists.

    `typed`: these models instead of those in use; `list_only`: only ask what there is. Ends in time, whatever the servers do. Raises Refused."""
    check_staff(person)
    tried: set[Endpoint] = set()
    rows: list[dict[str, Any]] = []
    names: tuple[str, ...] = ()
    until = time.monotonic() + TEST_SECONDS
    for stage, endpoint in _typed(typed) if typed else _used():
        if endpoint is None or endpoint in tried or (list_only and stage != "answer"):
            continue
        tried.add(endpoint)
        # Threads that may be left behind must not hold a connection of the database: what they find is written here.
        memory = Kept()
        row = _row(stage, endpoint, [("list", partial(_look, endpoint))] if list_only else _checks(stage, endpoint, memory), until)
        if row["works"] and not list_only:
            found = asdict(memory.known(endpoint))
            Remembered().learn(endpoint, **{name: found[name] for name in _FOUND[stage]})
        names = choices.taken(endpoint) if stage == "answer" else names
        rows.append(row)
    return {"tests": rows, "models": list(names)}


def _look(endpoint: Endpoint) -> None:
    if not choices.take(endpoint, EndpointClient(endpoint).models()):
        raise ModelError("no_models", "This address lists no models.", "Check the address, which often ends in /v1, or type the name of the model.")


def _used() -> list[tuple[Stage, Endpoint | None]]:
    return [("answer", endpoints.answering()), ("extract", endpoints.extracting()), ("embed", endpoints.embedding()), ("rerank", endpoints.reranking())]


def _typed(typed: Connection) -> list[tuple[Stage, Endpoint | None]]:
    names: list[tuple[Stage, str]] = [("answer", typed.model), ("extract", typed.extract_model or typed.model)]
    return [(stage, Endpoint(typed.base_url, name, typed.api_key, typed=True)) for stage, name in names]


def _checks(stage: Stage, endpoint: Endpoint, memory: Kept) -> Checks:
    if stage == "embed":
        return [("embed", EndpointEmbedder(endpoint, memory).probe)]
    if stage == "rerank":
        return [("rerank", Reranker(endpoint, memory).probe)]
    client = EndpointClient(endpoint, memory, stage=stage, timeout=TEST_SECONDS)
    checks: Checks = [
        ("list", lambda: choices.take(endpoint, probe.check_list(client))),
        ("stream", lambda: probe.check_stream(client)),
        ("structured", lambda: probe.check_structured(client)),
    ]
    return [check for check in checks if stage == "answer" or check[0] != "stream"]


def _row(stage: Stage, endpoint: Endpoint, checks: Checks, until: float) -> dict[str, Any]:
    """The checks of one role up to the first that fails."""
    done: list[dict[str, Any]] = []
    error: dict[str, str] | None = None
    for name, check in checks:
        started = time.monotonic()
        try:
            _within(until - started, check)
        except ModelError as found:
            error = {"code": found.code, "message": found.message, "action": found.action}
        done.append({"check": name, "ms": round(1000 * (time.monotonic() - started), 1), "error": error})
        if error:
            break
    total = round(sum(one["ms"] for one in done), 1)
    return {"role": stage, "model": endpoint.model or "default", "works": error is None, "ms": total, "error": error, "checks": done}


def _within(seconds: float, check: Callable[[], Any]) -> Any:
    """What the check gives. A server that keeps sending a little has no time-out of its own, so the check runs in a thread that may be left behind."""
    ended: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            ended.append((check(), None))
        except BaseException as error:
            ended.append((None, error))

    thread = threading.Thread(target=run, name="model-test", daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if not ended:
        raise ModelError("model_timeout", "The server didn’t answer in time.", "Try again: a model that is still being loaded is ready then.")
    [(value, error)] = ended
    if error is not None:
        raise error
    return value
