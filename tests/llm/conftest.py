"""A hostile server, a client of it that remembers in memory, and waits that don't take long."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory.llm import failures
from memory.llm.capabilities import Kept
from memory.llm.client import EndpointClient
from memory.llm.endpoints import Endpoint
from tests.llm.hostile import KEY, Hostile, hostile_server


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    with hostile_server() as server:
        yield server


@pytest.fixture
def client(hostile: Hostile) -> EndpointClient:
    return EndpointClient(Endpoint(hostile.url, "m", KEY, price_input=1.0, price_output=4.0), Kept(), timeout=2.0)
