"""A cross-encoder behind `/rerank`, in the shapes of Cohere, Jina and vLLM (documents, results) and of TEI (texts, a bare list)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from memory.llm import endpoints
from memory.llm.asking import answered_nonsense, post
from memory.llm.capabilities import Memory, Remembered
from memory.llm.endpoints import Endpoint
from memory.llm.failures import Failure
from memory.llm.interface import ModelError
from memory.llm.tokens import count
from memory.llm.usage import Usage, add

# Something nobody asks about: where scores are logits, its own is below 0, which tells them from probabilities.
FOIL = "zxq 0000"
LONGEST_DOCUMENT = 2_000  # characters
EDGE = 1e-6  # a probability of 0 or 1 has no logit


class Reranker:
    """Scores of texts for a query. Thread-safe; blocks."""

    def __init__(self, endpoint: Endpoint, memory: Memory | None = None) -> None:
        self.endpoint = endpoint
        self.memory: Memory = memory or Remembered()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, as logits (the scale of the paper's τ), whatever the server gives. Raises ModelError."""
        if not texts:
            return []
        documents = [*(text[:LONGEST_DOCUMENT] or "(empty)" for text in texts), FOIL]
        raw = self._ask(query, documents)
        if all(0.0 <= score <= 1.0 for score in raw):
            raw = [math.log(min(max(score, EDGE), 1 - EDGE) / (1 - min(max(score, EDGE), 1 - EDGE))) for score in raw]
        return raw[:-1]

    def probe(self) -> None:
        """Raise the ModelError that a turn would end with; find out which shape the server takes."""
        self.memory.learn(self.endpoint, rejected=())
        self.scores("oak", ["An oak is a tree."])

    def _ask(self, query: str, documents: list[str]) -> list[float]:
        if self.memory.known(self.endpoint).accepts("documents"):
            try:
                found = self._post({"model": self.endpoint.model, "query": query, "documents": documents, "top_n": len(documents)})
                return _scored(found, len(documents))
            except _OtherShapeError:
                self.memory.learn(self.endpoint, rejected=("documents",))
        return _scored(self._post({"query": query, "texts": documents, "raw_scores": True, "truncate": True}), len(documents))

    def _post(self, body: dict[str, Any]) -> Any:
        def failed(failure: Failure) -> None:
            if failure.status in (400, 422) and "documents" in body:
                raise _OtherShapeError
            if failure.status in (404, 405, 501):
                raise ModelError("no_rerank", "The endpoint has no /rerank, or not this model.", "Check RERANK_BASE_URL and RERANK_MODEL.")

        answer = post(self.endpoint, "/rerank", body, failed, settings="RERANK")
        tokens = count(body["query"]) * len(body.get("documents") or body["texts"]) + sum(map(count, body.get("documents") or body["texts"]))
        add("rerank", Usage(input=tokens, calls=1, estimated=True))
        return answer


class _OtherShapeError(Exception):
    """The server doesn't take this shape."""


def _scored(answer: Any, number: int) -> list[float]:
    rows = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
    scores: dict[Any, Any] = {}
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict):
            scores[row.get("index")] = row.get("relevance_score", row.get("score"))
    whole = scores.keys() == set(range(number)) and all(isinstance(score, int | float) and math.isfinite(score) for score in scores.values())
    if not whole:
        raise answered_nonsense("rerank")
    return [float(scores[index]) for index in range(number)]


@lru_cache(maxsize=2)
def _reranker(endpoint: Endpoint) -> Reranker:
    return Reranker(endpoint)


def reranker() -> Reranker:
    """The cross-encoder of this installation. Raises ModelError when none is set."""
    endpoint = endpoints.reranking()
    if endpoint is None:
        raise ModelError("no_rerank", "LOCALIZER is additive-ce, but no cross-encoder is set.", "Set RERANK_BASE_URL and RERANK_MODEL.")
    return _reranker(endpoint)
