"""A person's corrections as labelled dialogues: streams whose gold parents are where the turns hang now, as `fit_localization` reads them.

They are that person's words: written where they say, for them alone, and never part of what the project ships.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.evaluation.benchmarks.files import documents, items
from memory.models import Forest, InteractionState, RoutingDecision

# A line that says so: what was fitted on it mustn't take the place of the shipped weights.
PERSONAL = "personal"


def streams(person: Any) -> Iterator[tuple[Forest, int, list[str]]]:
    """Each forest of a person in which they moved a turn: how many were moved, and its turns as JSON lines, in order of time.

    A turn nobody moved counts as right: whoever corrects one, has seen the others beside it.
    """
    for forest in Forest.objects.filter(owner=person).order_by("pk"):
        corrected = RoutingDecision.objects.in_forest(forest).filter(method=RoutingDecision.Method.CORRECTED).values_list("turn_id", flat=True)
        moved = set(corrected)
        if moved:
            yield forest, len(moved), [_line(state, moved) for state in InteractionState.objects.in_forest(forest).order_by("position")]


def is_personal(path: Path) -> bool:
    """Whether any stream of a file, directory or archive is somebody's own."""
    return any(isinstance(row, dict) and bool(row.get(PERSONAL)) for name, file in documents(path, ".jsonl") for row in items(name, file))


def _line(state: InteractionState, moved: set[int]) -> str:
    given = {
        "id": f"s{state.pk}",
        "user": state.user_text,
        "assistant": state.assistant_text,
        "time": state.time.isoformat(),
        "branch": str(state.branch_id),
        "parent": None if state.parent_id is None else f"s{state.parent_id}",
        "corrected": state.turn_id in moved,
        PERSONAL: True,
    }
    return json.dumps(given, ensure_ascii=False)
