"""Peers, each a child process in an environment of its own that `make peers` builds (memory/evaluation/peers/).

They rank interactions; the budget is filled as it is for our own baselines.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from memory.evaluation.cases import Asked, Given
from memory.evaluation.measurements import ROOT
from memory.evaluation.systems.base import Placed
from memory.evaluation.systems.plain import Listed
from memory.evaluation.systems.reading import Setting

SERVE: Final = Path(__file__).parent.parent / "peers" / "serve.py"
PYTHON: Final = ROOT / ".venv-peers" / "bin" / "python"
MODULES: Final[Mapping[str, str]] = {"mem0": "mem0", "engram-search": "engram", "coremem": "coremem"}
PEERS: Final = tuple(MODULES)
# Interactions asked for; what a larger budget could hold beyond them stays empty. The time coremem takes grows with their square.
LIMITS: Final[Mapping[str, int]] = {"mem0": 200, "engram-search": 200, "coremem": 100}
NOTES: Final[Mapping[str, str]] = {
    "mem0": "mem0ai 2.2.1, infer=False, MiniLM fp32, its first 200; its BM25 part is off, since its files are on a hub. Published figures: larger embedder",
    "engram-search": "engram-search 0.1.7, MiniLM fp32, no reranker, its first 200. Published figures: bge-large and a reranker",
    "coremem": "coremem 0.17.1, episodic strategy, MiniLM fp32, no cross-encoder, its first 100. Published figures: bge-small and one",
}


class NotMeasuredError(RuntimeError):
    """A system that can't be measured here; the message says what to do."""


class Process:
    """A peer's process, started with the first thing asked of it. It ends with its standard input, and so with us."""

    def __init__(self, name: str, python: Path | None = None) -> None:
        self.name, self.python = name, python or PYTHON
        self.process: subprocess.Popen[str] | None = None

    def ask(self, do: str, **what: Any) -> dict[str, Any]:
        """Its answer. Raises NotMeasuredError when it isn't installed, died or failed."""
        process = self.process = self.process or self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do, **what}) + "\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
        except (OSError, ValueError):
            self.process = None
            raise NotMeasuredError(f"{self.name} ended while asked to {do}") from None
        if "error" in answer:
            raise NotMeasuredError(f"{self.name} failed to {do}: {answer['error']}")
        return answer

    def end(self) -> None:
        """Close its standard input and wait for its end."""
        if self.process is not None:
            self.process.communicate(timeout=60)
            self.process = None

    def _start(self) -> subprocess.Popen[str]:
        there = self.python.parent.parent.glob(f"lib/python*/site-packages/{MODULES[self.name]}")
        if not self.python.exists() or not any(there):
            raise NotMeasuredError("make peers")
        return subprocess.Popen(
            [str(self.python), str(SERVE), self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
        )


class Peer(Listed):
    """One peer: every interaction and question goes to its process, which stays for the next case."""

    def __init__(self, setting: Setting, name: str) -> None:
        self.name = name
        self.process = Process(name, setting.peers)
        super().__init__(setting)

    def open(self, case: str, zone: str) -> None:
        super().open(case, zone)
        if case:
            self.process.ask("open")

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        super().observe(given, placed=placed)
        self.process.ask("observe", id=given.id, user=given.user, assistant=given.assistant, time=given.time.isoformat())

    def settle(self) -> None:
        self.process.ask("settle")

    def rank(self, asked: Asked) -> list[int]:
        position = {given: number for number, given in self.names.items()}
        ids = self.process.ask("recall", text=asked.text, time=asked.time.isoformat(), limit=LIMITS[self.name])["ids"]
        return [position[one] - 1 for one in ids if one in position]

    def close(self) -> None:
        if self.process.process is not None:
            self.process.ask("close")
        super().close()


def make(name: str) -> Callable[[Setting], Peer]:
    """The factory of a peer."""
    return lambda setting: Peer(setting, name)
