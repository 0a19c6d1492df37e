"""Which server and model plays which role: by the settings, or as it was connected in the page where they name no server."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

from memory.llm import connection
from memory.llm.connection import Connection

Source = Literal["environment", "page", "none"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at a server. The key is shown by nothing: not by repr, not by `address` (M8). Prices are per million tokens, None where unknown.

    `typed`: named in the page, so what is wrong with it is put right there and not in the settings."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    price_input: float | None = None
    price_output: float | None = None
    typed: bool = False

    @property
    def address(self) -> str:
        """The address without user, password and query: what may be kept and shown."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        netloc = f"{host}:{parts.port}" if parts.port else host
        return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", ""))

    def __repr__(self) -> str:
        return f"{self.model or 'default'} at {self.address}"

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """What these tokens cost, in the currency of the prices; None without a price."""
        if self.price_input is None and self.price_output is None:
            return None
        return (input_tokens * (self.price_input or 0.0) + output_tokens * (self.price_output or 0.0)) / 1_000_000


def source() -> Source:
    """Who says which model answers. The environment goes before the page: who runs the server has the last word."""
    if settings.OPENAI_BASE_URL:
        return "environment"
    return "page" if connection.kept() else "none"


def _connected() -> Connection | None:
    return None if settings.OPENAI_BASE_URL else connection.kept()


def _answering(connected: Connection | None) -> Endpoint | None:
    if connected:
        return Endpoint(connected.base_url, connected.model, connected.api_key, typed=True)
    if not settings.OPENAI_BASE_URL:
        return None
    return Endpoint(settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY, settings.OPENAI_PRICE_INPUT, settings.OPENAI_PRICE_OUTPUT)


def answering(chosen: str = "") -> Endpoint | None:
    """The model that answers, or the `chosen` one at the same server; None: the offline engine does."""
    found = _answering(_connected())
    # What another model costs isn't known.
    return replace(found, model=chosen, price_input=None, price_output=None) if found and chosen and chosen != found.model else found


def extracting() -> Endpoint | None:
    """The model that reads turns: another one at the same server when one is named, else the one that answers."""
    connected = _connected()
    answers = _answering(connected)
    if answers is None:
        return None
    if connected:
        return replace(answers, model=connected.extract_model) if connected.extract_model else answers
    if not settings.OPENAI_EXTRACT_MODEL:
        return answers
    return Endpoint(answers.base_url, settings.OPENAI_EXTRACT_MODEL, answers.api_key, settings.OPENAI_EXTRACT_PRICE_INPUT, settings.OPENAI_EXTRACT_PRICE_OUTPUT)


def embedding() -> Endpoint | None:
    """The model that embeds; None: the local one does. The key of OPENAI_BASE_URL isn't sent to another server."""
    if not settings.EMBEDDINGS_MODEL:
        return None
    base_url = settings.EMBEDDINGS_BASE_URL or settings.OPENAI_BASE_URL
    key = settings.EMBEDDINGS_API_KEY or (settings.OPENAI_API_KEY if base_url == settings.OPENAI_BASE_URL else "")
    return Endpoint(base_url, settings.EMBEDDINGS_MODEL, key, settings.EMBEDDINGS_PRICE)


def judging() -> Endpoint | None:
    """The model that judges answers in benchmarks, None when there is none. The key of OPENAI_BASE_URL isn't sent to another server."""
    base_url = settings.JUDGE_BASE_URL or settings.OPENAI_BASE_URL
    if not settings.JUDGE_MODEL or not base_url:
        return None
    key = settings.JUDGE_API_KEY or (settings.OPENAI_API_KEY if base_url == settings.OPENAI_BASE_URL else "")
    return Endpoint(base_url, settings.JUDGE_MODEL, key)


def reranking() -> Endpoint | None:
    """The cross-encoder, None when there is none."""
    if not settings.RERANK_BASE_URL:
        return None
    return Endpoint(settings.RERANK_BASE_URL, settings.RERANK_MODEL, settings.RERANK_API_KEY)
