"""The models behind this installation, each in its role, and what is known of their servers. Never a key."""

from __future__ import annotations

from django.conf import settings

from memory.llm import choices, endpoints
from memory.llm.capabilities import Capabilities, Remembered
from memory.llm.embed import embedder
from memory.llm.endpoints import Endpoint
from memory.llm.usage import Stage
from memory.present.words import Json, iso


def models_json(*, addresses: bool) -> Json:
    """Every role that is filled. `addresses`: whether the caller may see where the servers are."""
    found: list[tuple[Stage, Endpoint | None, str]] = [
        ("answer", endpoints.answering(), "offline"),
        ("extract", endpoints.extracting(), "offline"),
        ("embed", endpoints.embedding(), embedder().identity if endpoints.embedding() is None else ""),
        ("rerank", endpoints.reranking(), ""),
    ]
    roles = [_role(stage, endpoint, local, addresses) for stage, endpoint, local in found if endpoint or local]
    return {"localizer": settings.LOCALIZER, "roles": roles, "connection": _connection(addresses), "choices": list(choices.offered())}


def _connection(addresses: bool) -> Json:
    answers, extracts = endpoints.answering(), endpoints.extracting()
    return {
        "source": endpoints.source(),
        "base_url": answers.address if answers and addresses else None,
        "has_key": bool(answers and answers.api_key),
        "model": answers.model if answers else "",
        "extract_model": extracts.model if answers and extracts and extracts.model != answers.model else "",
    }


def _role(stage: Stage, endpoint: Endpoint | None, local: str, addresses: bool) -> Json:
    known = Remembered().known(endpoint) if endpoint else Capabilities(vector_length=embedder().dimensions if stage == "embed" else None)
    return {
        "role": stage,
        "model": (endpoint.model or "default") if endpoint else local,
        "address": endpoint.address if endpoint and addresses else None,
        "local": endpoint is None,
        "structured": known.structured,
        "streaming_usage": known.streaming_usage,
        "rejected": list(known.rejected),
        "context_length": known.context_length,
        "vector_length": known.vector_length,
        "price_input": endpoint.price_input if endpoint else None,
        "price_output": endpoint.price_output if endpoint else None,
        "probed_at": iso(known.probed_at),
    }
