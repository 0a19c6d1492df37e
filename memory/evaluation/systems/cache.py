"""Vectors kept by text: every system of a run embeds each text once, and so does the run after it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.llm.embed import Embeds

BUSY_SECONDS = 60.0
LOOKED_UP = 500  # keys of one statement


class CachedEmbedder:
    """An embedder that looks into a file first; the vectors are exactly those of `inner`, which embeds each text alone.

    The file (SQLite, float32) is keyed by the embedder's identity and weights and a hash of the text, which itself isn't kept; several processes share it.
    `asked` and `made` count texts: those asked for, and those that had to be embedded.
    """

    def __init__(self, inner: Embeds, file: Path) -> None:
        self.inner = inner
        self.asked = self.made = 0
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with _alone_in(file.parent):
            # A vector lost in a power failure is made again: nothing is waited for.
            for pragma in ("journal_mode = WAL", "synchronous = OFF"):
                self._file.execute(f"PRAGMA {pragma}")
            self._file.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    @property
    def weights_hash(self) -> str:
        return self.inner.weights_hash

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `inner` embeds. Raises what it raises."""
        keys = [self._key(text) for text in texts]
        known = self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = self.inner.embed(list(missing.values())).astype(np.float32)
            known.update(zip(missing, made, strict=True))
            self._file.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", [(key, known[key].tobytes()) for key in missing])
        self.asked += len(texts)
        self.made += len(missing)
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dimensions), dtype=np.float32)

    def close(self) -> None:
        self._file.close()

    def _key(self, text: str) -> bytes:
        whose = f"{self.inner.identity}\0{self.inner.weights_hash}\0".encode()
        return hashlib.blake2b(whose + text.encode("utf-8", "surrogatepass"), digest_size=20).digest()

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found: dict[bytes, NDArray[np.float32]] = {}
        for start in range(0, len(keys), LOOKED_UP):
            some = keys[start : start + LOOKED_UP]
            marks = ", ".join("?" * len(some))
            rows = self._file.execute(f"SELECT key, vector FROM vector WHERE key IN ({marks})", some)  # noqa: S608 - only question marks
            found.update((key, np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)
        return found


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time: SQLite changes a file's journal without waiting for another that is doing so (its timeout isn't heeded there).

    The folder is locked, not the file: closing a second handle of the file would let go of SQLite's own locks.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
