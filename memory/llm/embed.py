"""The embedder of this process: an endpoint's when EMBEDDINGS_MODEL is set, else the local one.

Local: MiniLM, int8, one ONNX thread (two were slower), built by `memory.llm.build_model`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.llm import build_model, endpoints
from memory.llm.endpoints import Endpoint
from memory.threads import Pool

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers


# From so many texts on, such as an input and its sentences, a second thread takes half of them: the model computes outside Python's lock.
MANY = 2
_helpers = Pool("embedding")  # wait for nobody
_ahead = Pool("embedding-ahead")  # may wait for a helper


class ModelMissingError(RuntimeError):
    """The embedding model isn't on this machine, or isn't the one this version builds; the message says what to do."""


class Embeds(Protocol):
    """Texts → unit vectors. What a forest pins is `identity`, `dimensions` and `weights_hash` (R4)."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def weights_hash(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 (n, dimensions), rows of length 1, so a dot product is a cosine. Blocks; raises ModelMissingError, ModelError."""
        ...


class Embedder:
    """The local embedder.

    Thread-safe; the model is opened at the first use, not before.
    """

    identity = build_model.IDENTITY
    dimensions = build_model.DIMENSIONS
    weights_hash = build_model.WEIGHTS_HASH

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._opening = threading.Lock()
        self._opened: tuple[tokenizers.Tokenizer, onnxruntime.InferenceSession] | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 (n, 384), rows of length 1, so a dot product is a cosine; a text counts up to its 256th token.

        Each text runs alone: in a batch, int8 quantisation would let its neighbours change its vector (cosine .98 to itself), and a rebuilt
        forest must equal the first (D2). It costs little: nothing is padded. Raises ModelMissingError.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if len(texts) < MANY:
            self._fill(vectors, texts)
            return vectors
        beside = _helpers.submit(self._fill, vectors[1::2], texts[1::2])
        self._fill(vectors[::2], texts[::2])
        beside.result()
        return vectors

    def _fill(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> None:
        tokenizer, session = self._open()
        for row, text in enumerate(texts):
            encoding = tokenizer.encode(_clean(text))
            feed = {"input_ids": np.array([encoding.ids], dtype=np.int64), "attention_mask": np.array([encoding.attention_mask], dtype=np.int64)}
            vectors[row] = session.run(None, feed)[0][0]

    def _open(self) -> tuple[tokenizers.Tokenizer, onnxruntime.InferenceSession]:
        with self._opening:
            if self._opened is None:
                self._opened = _load(self.directory)
            return self._opened


def _load(directory: Path) -> tuple[tokenizers.Tokenizer, onnxruntime.InferenceSession]:
    import onnxruntime
    import tokenizers

    if not build_model.is_built(directory):
        raise ModelMissingError(f"The embedding model isn't built in {directory}, or is of another version. Run `make setup`.")
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / build_model.TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.enable_truncation(build_model.MAX_TOKENS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(directory / build_model.MODEL_FILE), options, providers=["CPUExecutionProvider"])
    return tokenizer, session


def _clean(text: str) -> str:
    """Text the tokenizer accepts: it refuses lone surrogates, which reach us in broken JSON."""
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=4)
def _embedder(endpoint: Endpoint | None, directory: Path) -> Embeds:
    if endpoint is None:
        return Embedder(directory)
    from memory.llm.embed_endpoint import EndpointEmbedder

    return EndpointEmbedder(endpoint)


_instead: ContextVar[Embeds | None] = ContextVar("embedder", default=None)


@contextmanager
def embedding_with(other: Embeds) -> Iterator[None]:
    """Inside, `embedder()` is `other`: how a measurement hands in one that remembers what it embedded. Other threads keep theirs."""
    token = _instead.set(other)
    try:
        yield
    finally:
        _instead.reset(token)


def embedder() -> Embeds:
    """The embedder of this process: at an endpoint, or on the model in settings.MODEL_DIR, unless `embedding_with` says another."""
    return _instead.get() or _embedder(endpoints.embedding(), Path(settings.MODEL_DIR))


Waits = Callable[[], NDArray[np.float32]]  # for what was begun; raises as `embed` does


def ahead(texts: Sequence[str]) -> tuple[Waits, Callable[[], Waits]]:
    """Begin to embed; what comes back waits for the vector of the first text, and begins with all others, which are waited for in turn.

    The local model computes in threads of its own, so that the database can be asked meanwhile; the others begin when they are asked for, since they would take
    the cores from what the first is needed for. Another embedder may ask the database itself, so it has done all its work when this returns."""
    here = embedder()
    if not isinstance(here, Embedder):
        vectors = here.embed(texts)
        return lambda: vectors[0], lambda: lambda: vectors[1:]
    first: Waits = _ahead.submit(here.embed, texts[:1]).result

    def none() -> NDArray[np.float32]:
        return first()[1:]

    return lambda: first()[0], lambda: _ahead.submit(here.embed, texts[1:]).result if len(texts) > 1 else none
