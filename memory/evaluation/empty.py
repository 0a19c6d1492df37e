"""Turns that teach nothing, and what is learned from them all the same.

`empty_turns.json` is ours, four batches: each was first measured unseen, then the rules for small talk were widened with it at hand and the next one was
written. The last is unseen still.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.engine.forest import Extraction, Interaction
from memory.llm.interface import ModelError

FILE = Path(__file__).parent / "empty_turns.json"
AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@dataclass(slots=True)
class Empty:
    """`invented`: the turns of which something about the user was learned, with what; `asked`: those a model was called for."""

    turns: int = 0
    asked: int = 0
    failed: int = 0
    seconds: float = 0.0
    invented: list[str] = field(default_factory=list)


def turns() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return loaded


def measure(read: Callable[[Interaction], Extraction], given: Iterable[dict[str, Any]], tell: Callable[[str], None] = lambda line: None) -> Empty:
    """Read each turn by itself. Artifacts are the assistant's own words, and not counted."""
    found = Empty()
    for turn in given:
        found.turns += 1
        try:
            extraction = read(Interaction(1, 1, None, 1, 1, 0, AT, turn["user"], turn["assistant"]))
        except ModelError:
            found.failed += 1
            continue
        found.asked += bool(extraction.report.get("calls"))
        found.seconds += extraction.report.get("seconds", 0.0)
        learned = [proposal.text for proposal in extraction.proposals if proposal.kind != "artifact"]
        if learned:
            found.invented.append(f"{turn['user']} → {'; '.join(learned)}")
            tell(found.invented[-1])
    return found
