"""Finds out what a server can do, by small requests; what is learned is remembered by the client's memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.llm.capabilities import MODES, Mode
from memory.llm.interface import ModelError
from memory.llm.structured import UnreadableError, read, response_format, with_instructions

if TYPE_CHECKING:
    from memory.llm.client import EndpointClient

# Two fields nobody is told about in words: a server that ignores the schema can't get them right.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"shade": {"type": "string", "enum": ["teal", "ochre"]}, "count": {"type": "integer"}},
    "required": ["shade", "count"],
    "additionalProperties": False,
}
PROBE_TOKENS = 1_000  # models that think need room before their first brace


def structured_mode(client: EndpointClient) -> Mode:
    """The strongest mode that the server holds to: json_schema → json_object → prompted. Raises ModelError when it can't be asked at all."""
    question = [{"role": "user", "content": "Pick a shade and a number. Answer in JSON."}]
    for mode in MODES[:-1]:
        sent = question if mode == "json_schema" else with_instructions(question, SCHEMA)
        try:
            text, _, _, refused = client.complete(sent, {"temperature": 0, "max_tokens": PROBE_TOKENS, **response_format(mode, SCHEMA, "probe")})
            if refused:
                continue
            value, repairs = read(text, SCHEMA)
        except UnreadableError:
            continue
        except ModelError as error:
            if error.code in ("model_refused", "only_reasoning", "model_failed"):
                continue
            raise
        # A server that holds to a form sends nothing but it; fences and prose say that it was merely asked.
        if value and not repairs:
            return mode
    return "prompted"


# What servers call the number of tokens a model reads at most: OpenRouter, vLLM, LM Studio, Groq, llama.cpp.
CONTEXT_NAMES = ("context_length", "max_model_len", "max_context_length", "loaded_context_length", "context_window", "n_ctx")


def context_length(listing: Mapping[str, Any], model: str) -> int | None:
    """What a server's list of models says of this one, None when it says nothing."""
    rows = listing.get("data")
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    named = [row for row in named if row.get("id") == model] or (named if len(named) == 1 else [])
    for row in named:
        inside = [part for part in (row, row.get("meta"), row.get("top_provider")) if isinstance(part, dict)]
        for name in CONTEXT_NAMES:
            found = next((part[name] for part in inside if isinstance(part.get(name), int) and part[name] > 0), None)
            if found is not None:
                return int(found)
    return None


def check_list(client: EndpointClient) -> dict[str, Any]:
    """What the server lists; what was known of it is found out anew from here on. Blocks; raises ModelError."""
    listing = client.models()
    client.memory.learn(client.endpoint, rejected=(), streaming_usage=None, context_length=context_length(listing, client.endpoint.model))
    return listing


def check_stream(client: EndpointClient) -> None:
    """Whether it answers word by word. Blocks; raises the ModelError a turn would end with."""
    asyncio.run(_spoken(client))


async def _spoken(client: EndpointClient) -> None:
    async for _ in client.stream([{"role": "user", "content": "Say “ready”, nothing else."}]):
        pass


def check_structured(client: EndpointClient) -> None:
    """How strictly it holds to a form. Blocks; raises ModelError."""
    client.memory.learn(client.endpoint, structured=structured_mode(client))
