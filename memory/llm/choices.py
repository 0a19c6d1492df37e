"""Which models the server that answers offers to choose from. Its list is kept for some minutes, so that neither a page nor a turn waits for it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory.llm import endpoints, usage
from memory.llm.client import EndpointClient
from memory.llm.endpoints import Endpoint
from memory.llm.interface import LanguageModel, ModelError, get_model

FRESH_SECONDS = 600.0
AGAIN_SECONDS = 60.0  # after a list that couldn't be had
MOST = 200
LONGEST_NAME = 200

# What servers list beside models that talk, told by a type of its own (Together, LM Studio), by what comes out (OpenRouter), else by name.
_OTHER_TYPES = {"embedding", "embeddings", "rerank", "image", "audio", "moderation", "transcribe", "tts", "video"}
_OTHER_NAMES = re.compile(
    r"(?:^|[-_/.:])(?:text-)?(?:embed\w*|rerank\w*|whisper|tts|dall-e|moderation|transcribe|realtime|audio|image|sora|bge|gte|all-minilm|stable-diffusion)(?:$|[-_/.:\d])",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Listed:
    names: tuple[str, ...]
    until: float


_known: dict[tuple[str, str], _Listed] = {}


def offered() -> tuple[str, ...]:
    """Names that may be chosen to answer, by the alphabet; none without an endpoint, or when its list can't be had. Blocks."""
    endpoint = endpoints.answering()
    if endpoint is None:
        return ()
    known = _known.get(_server(endpoint))
    if known is not None and time.monotonic() < known.until:
        return known.names
    try:
        return take(endpoint, EndpointClient(endpoint).models())
    except ModelError:  # what was offered a while ago is a better guess than nothing
        names = known.names if known else ()
        _keep(endpoint, names, AGAIN_SECONDS)
        return names


def take(endpoint: Endpoint, listing: Mapping[str, Any]) -> tuple[str, ...]:
    """The names in a list that was just asked for, which hold for the next minutes."""
    names = talking(listing)
    _keep(endpoint, names, FRESH_SECONDS)
    return names


def taken(endpoint: Endpoint) -> tuple[str, ...]:
    """The names in the last list of this server, none when it was never had. Asks nobody."""
    known = _known.get(_server(endpoint))
    return known.names if known else ()


def talking(listing: Mapping[str, Any]) -> tuple[str, ...]:
    """The models of a server's list that can answer, as far as it can be told; at most MOST."""
    rows = listing.get("data")
    named = {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)} if isinstance(rows, list) else {}
    names = [name for name, row in named.items() if 0 < len(name) <= LONGEST_NAME and name.isprintable() and _talks(name, row)]
    return tuple(sorted(names[:MOST], key=lambda name: (name.casefold(), name)))


def _talks(name: str, row: Mapping[str, Any]) -> bool:
    architecture = row.get("architecture")
    comes_out = architecture.get("output_modalities") if isinstance(architecture, dict) else None
    if isinstance(comes_out, list):
        return "text" in comes_out
    return str(row.get("type")).lower() not in _OTHER_TYPES and not _OTHER_NAMES.search(name)


def model_for(chosen: str) -> LanguageModel:
    """The model that answers where `chosen` was picked; the site's own, with a note on the turn, when the server offers that one no more. Blocks."""
    answers = endpoints.answering()
    if not chosen or answers is None or chosen == answers.model:
        return get_model()
    if chosen in offered():
        return get_model(chosen)
    usage.add("answer", usage.Usage(notes=("model_gone",)))
    return get_model()


def _server(endpoint: Endpoint) -> tuple[str, str]:
    return endpoint.base_url, endpoint.api_key


def _keep(endpoint: Endpoint, names: tuple[str, ...], seconds: float) -> None:
    if len(_known) > 8:  # servers that were connected before, or only tried
        _known.clear()
    _known[_server(endpoint)] = _Listed(names, time.monotonic() + seconds)
