"""Which values a model is shown when it reads a turn, so that a correction can say what it corrects (ARBORMEM §4, RELIABILITY W2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory.engine import terms
from memory.engine.forest import Evidence

MOST = 12


def choose(held: Sequence[Evidence], said: str, path: Collection[int], most: int = MOST) -> list[Evidence]:
    """Of the values that hold, those whose slot or value the turn speaks of, then those of its path, the latest first; one per slot."""
    spoken = set(terms.content_terms(said))

    def weight(item: Evidence) -> int:
        shared = len(spoken & set(terms.terms(f"{item.slot.replace('|', ' ').replace('_', ' ')} {item.value}")))
        return 2 * shared + any(source in path for source in item.sources)

    found: dict[str, Evidence] = {}
    for item in sorted(held, key=lambda item: (-weight(item), -item.position, item.id)):
        if item.slot and weight(item) > 0:
            found.setdefault(item.slot, item)
    return list(found.values())[:most]
