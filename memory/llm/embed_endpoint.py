"""Embeddings of an OpenAI-compatible endpoint (M7): numbers or base64, in any order, of the length that is pinned, or a clear error."""

from __future__ import annotations

import base64
import binascii
import hashlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.llm.asking import answered_nonsense, post
from memory.llm.capabilities import Memory, Remembered
from memory.llm.endpoints import Endpoint
from memory.llm.failures import Failure
from memory.llm.interface import ModelError
from memory.llm.tokens import count
from memory.llm.usage import Usage, add

RECIPE = "texts as they are"  # raise it when what is sent for a text changes: such vectors can't be compared
BATCH = 64
HALVINGS = 6  # of texts that a server calls too long
LONGEST_VECTOR = 16_000  # what a row of half floats can hold


class EndpointEmbedder:
    """An embedder at an endpoint. Its weights can't be seen: what is pinned is model, length and how texts are sent.

    Thread-safe. The first use of a model unknown so far asks for one vector, to know its length.
    """

    def __init__(self, endpoint: Endpoint, memory: Memory | None = None) -> None:
        self.endpoint = endpoint
        self.memory: Memory = memory or Remembered()
        self._length = 0
        self._finding = threading.Lock()

    @property
    def identity(self) -> str:
        return f"{self.endpoint.model} (endpoint)"[:200]

    @property
    def dimensions(self) -> int:
        if not self._length:
            with self._finding:
                self._length = self._length or self.memory.known(self.endpoint).vector_length or self._ask_length()
        return self._length

    @property
    def weights_hash(self) -> str:
        return hashlib.sha256(f"{self.endpoint.model} {self.dimensions} {RECIPE}".encode()).hexdigest()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 (n, dimensions), rows of length 1. A text that is too long for the server counts as far as it takes it. Raises ModelError."""
        length = self.dimensions
        rows = [row for start in range(0, len(texts), BATCH) for row in self._some([_sent(text) for text in texts[start : start + BATCH]])]
        wrong = next((len(row) for row in rows if len(row) != length), None)
        if wrong is not None:
            raise ModelError(
                "vector_length",
                f"The embedding endpoint gave vectors of {wrong} numbers; this memory was built with {length}.",
                "Set EMBEDDINGS_MODEL to the model it was built with; for another one, test it (POST /api/model/test/), then run manage.py reembed.",
            )
        return np.stack(rows) if rows else np.empty((0, length), dtype=np.float32)

    def probe(self) -> None:
        """Ask for a vector and remember its length. Raises ModelError."""
        self._length = self._ask_length()

    def _ask_length(self) -> int:
        [row] = self._some(["probe"])
        if len(row) > LONGEST_VECTOR:
            raise ModelError(
                "vector_length", f"The embedding endpoint gives vectors of {len(row)} numbers; {LONGEST_VECTOR} can be kept.", "Use another model."
            )
        self.memory.learn(self.endpoint, vector_length=len(row))
        return len(row)

    def _some(self, texts: list[str]) -> list[NDArray[np.float32]]:
        for _ in range(HALVINGS):
            try:
                return self._once(texts)
            except ModelError as error:
                if error.code != "context_overflow":
                    raise
                longest = max(map(len, texts))
                texts = [text[: longest // 2] for text in texts]
        return self._once(texts)

    def _once(self, texts: list[str]) -> list[NDArray[np.float32]]:
        body: dict[str, Any] = {"model": self.endpoint.model, "input": texts}
        if self.memory.known(self.endpoint).accepts("encoding_format"):
            body["encoding_format"] = "float"
        answer = post(self.endpoint, "/embeddings", body, self._failed, settings="EMBEDDINGS", optional=("encoding_format",))
        found = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise answered_nonsense("embedding")
        told = answer.get("usage")
        read = told.get("prompt_tokens") if isinstance(told, dict) else None
        tokens = read if isinstance(read, int) else sum(map(count, texts))
        add("embed", Usage(input=tokens, calls=1, cost=self.endpoint.cost(tokens, 0), estimated=not isinstance(read, int)))
        by_index = {row.get("index", number): row for number, row in enumerate(found)}
        if sorted(by_index) != list(range(len(texts))):
            raise answered_nonsense("embedding")
        return [_vector(by_index[index].get("embedding")) for index in range(len(texts))]

    def _failed(self, failure: Failure) -> None:
        if failure.drop:
            self.memory.learn(self.endpoint, rejected=(failure.drop,))
        if failure.status in (404, 405, 501):
            raise ModelError(
                "no_embeddings",
                "The endpoint has no /embeddings, or not this model.",
                "Set EMBEDDINGS_BASE_URL and EMBEDDINGS_MODEL to one that has, or leave EMBEDDINGS_MODEL empty for the local model.",
            )


def _sent(text: str) -> str:
    """Servers refuse empty texts, and JSON can't carry lone surrogates."""
    return text.encode("utf-8", "replace").decode() if text.strip() else "(empty)"


def _vector(raw: Any) -> NDArray[np.float32]:
    """Numbers, or the base64 of little-endian float32, as a vector of length 1."""
    try:
        numbers = np.frombuffer(base64.b64decode(raw, validate=True), dtype="<f4") if isinstance(raw, str) else raw
        row = np.asarray(numbers, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error):
        raise answered_nonsense("embedding") from None
    size = float(np.linalg.norm(row)) if row.ndim == 1 and row.size else 0.0
    if not np.isfinite(size) or size == 0.0:
        raise answered_nonsense("embedding")
    return row / size
