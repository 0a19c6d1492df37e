"""Try every model endpoint as turns would use it, and remember what its server can do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from memory.errors import forbidden
from memory.llm import endpoints, probe
from memory.llm.client import EndpointClient
from memory.llm.embed_endpoint import EndpointEmbedder
from memory.llm.endpoints import Endpoint
from memory.llm.interface import ModelError
from memory.llm.rerank import Reranker
from memory.llm.usage import Stage


def probe_models(person: Any) -> list[dict[str, Any]]:
    """One row a role: whether it works, how long it took, and what is wrong. Costs a few small requests, so it is for the staff. Raises Refused."""
    if not person.is_staff:
        raise forbidden("Only the staff of this site may test its models.", "Ask whoever runs the site.")
    tests: list[tuple[Stage, Endpoint | None, Callable[[Endpoint], None]]] = [
        ("answer", endpoints.answering(), lambda endpoint: probe.probe(EndpointClient(endpoint))),
        ("extract", endpoints.extracting(), lambda endpoint: probe.probe(EndpointClient(endpoint, stage="extract"))),
        ("embed", endpoints.embedding(), lambda endpoint: EndpointEmbedder(endpoint).probe()),
        ("rerank", endpoints.reranking(), lambda endpoint: Reranker(endpoint).probe()),
    ]
    rows: list[dict[str, Any]] = []
    tried: set[Endpoint] = set()
    for stage, endpoint, test in tests:
        if endpoint is None or endpoint in tried:
            continue
        tried.add(endpoint)
        started = time.perf_counter()
        error: ModelError | None = None
        try:
            test(endpoint)
        except ModelError as found:
            error = found
        rows.append(
            {
                "role": stage,
                "model": endpoint.model or "default",
                "works": error is None,
                "ms": round(1000 * (time.perf_counter() - started), 1),
                "error": {"code": error.code, "message": error.message, "action": error.action} if error else None,
            }
        )
    return rows
