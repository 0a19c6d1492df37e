"""What a server can do with a model, found out once and remembered by (address, model); no keys in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from django.db import connection, transaction
from django.utils import timezone

from memory.llm.endpoints import Endpoint
from memory.models import ModelCapability

Mode = Literal["json_schema", "json_object", "prompted"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompted")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """None or empty where nothing is known yet. `rejected`: request parameters the server doesn't take."""

    structured: Mode | None = None
    streaming_usage: bool | None = None
    rejected: tuple[str, ...] = ()
    context_length: int | None = None
    vector_length: int | None = None
    probed_at: datetime | None = None

    def accepts(self, parameter: str) -> bool:
        return parameter not in self.rejected


class Memory(Protocol):
    """Where capabilities are remembered. Both calls block."""

    def known(self, endpoint: Endpoint) -> Capabilities: ...

    def learn(self, endpoint: Endpoint, **changes: Any) -> None: ...


class Kept:
    """For one process without a database: tests, measurements."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Capabilities] = {}

    def known(self, endpoint: Endpoint) -> Capabilities:
        return self._kept.get((endpoint.address, endpoint.model), Capabilities())

    def learn(self, endpoint: Endpoint, **changes: Any) -> None:
        self._kept[endpoint.address, endpoint.model] = replace(self.known(endpoint), **{"probed_at": timezone.now(), **changes})


class Remembered:
    """In the table, for every process. What is learned inside a transaction is written after it: it may be read-only."""

    def known(self, endpoint: Endpoint) -> Capabilities:
        row = ModelCapability.objects.filter(address=endpoint.address, model=endpoint.model).first()
        if row is None:
            return Capabilities()
        structured: Any = row.structured or None
        return Capabilities(structured, row.streaming_usage, tuple(row.rejected), row.context_length, row.vector_length, row.probed_at)

    def learn(self, endpoint: Endpoint, **changes: Any) -> None:
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in changes.items()}

        def write() -> None:
            ModelCapability.objects.update_or_create(address=endpoint.address, model=endpoint.model, defaults={"probed_at": timezone.now(), **values})

        if connection.in_atomic_block:
            transaction.on_commit(write)
        else:
            write()
