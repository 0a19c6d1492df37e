"""Revision quality (BENCHMARKS “Revision”): current values taken for outdated, outdated ones still taken for current, order of arrival, computed answers.

The paper leaves revision quality open (ARBORMEM §6). What was said is a list of `Told`; a memory's end state says of each that it kept whether it is current.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.evaluation.answers import normalize


@dataclass(frozen=True, slots=True)
class Told:
    """A value a slot (`subject|attribute`) was given, and its place on the timeline of the conversation (not of arrival)."""

    slot: str
    value: str
    position: int


@dataclass(frozen=True, slots=True)
class Revised:
    """Counts of told values. `current`, `outdated`: what should be so and was kept at all; `unkept`: never kept, which is extraction's doing."""

    current: int
    outdated: int
    invalidated: int
    missed: int
    unkept: int

    @property
    def false_invalidation(self) -> float:
        """The share of current values that were wrongly taken for outdated; NaN of none."""
        return self.invalidated / self.current if self.current else math.nan

    @property
    def supersession_recall(self) -> float:
        """The share of outdated values that were recognized as such; NaN of none."""
        return 1 - self.missed / self.outdated if self.outdated else math.nan

    def __add__(self, other: Revised) -> Revised:
        return Revised(
            self.current + other.current,
            self.outdated + other.outdated,
            self.invalidated + other.invalidated,
            self.missed + other.missed,
            self.unkept + other.unkept,
        )


def compare(expected: Mapping[Told, bool], kept: Mapping[Told, bool]) -> Revised:
    """Score an end state. Both map a told value to whether it is current; values are compared normalized. What was kept but never told isn't judged here."""
    held = {_key(told): current for told, current in kept.items()}
    judged = [(current, held[_key(told)]) for told, current in expected.items() if _key(told) in held]
    return Revised(
        current=sum(current for current, _ in judged),
        outdated=sum(not current for current, _ in judged),
        invalidated=sum(current and not said for current, said in judged),
        missed=sum(said and not current for current, said in judged),
        unkept=len(expected) - len(judged),
    )


def order_independence(ends: Sequence[Mapping[Told, bool]]) -> float:
    """The share of arrival orders that end in the same state as the first one (the order of the timeline), which itself isn't counted. NaN of one order."""
    first, *others = [{(*_key(told), current) for told, current in end.items()} for end in ends]
    return sum(other == first for other in others) / len(others) if others else math.nan


@dataclass(frozen=True, slots=True)
class Computed:
    """A computed answer (a sum, a count, a difference of dates) and the ids of the interactions whose rows went into it."""

    value: str
    rows: frozenset[str]


@dataclass(frozen=True, slots=True)
class Computations:
    """Shares of the questions in 0…1. `right`: the right value of the right rows; `lucky`: the right value of other rows; `silent`: nothing was computed."""

    right: float
    lucky: float
    silent: float
    questions: int


def computed(pairs: Iterable[tuple[Computed, Collection[Computed]]]) -> Computations:
    """Score (gold, what was computed for that question) pairs: right when one of them has the gold value and exactly the gold rows. NaN of none."""
    right = lucky = silent = questions = 0
    for gold, found in pairs:
        questions += 1
        valued = [one for one in found if normalize(one.value) == normalize(gold.value)]
        exact = any(one.rows == gold.rows for one in valued)
        right, lucky, silent = right + exact, lucky + (bool(valued) and not exact), silent + (not found)
    share = [count / questions if questions else math.nan for count in (right, lucky, silent)]
    return Computations(share[0], share[1], share[2], questions)


def _key(told: Told) -> tuple[str, str, int]:
    return told.slot.casefold(), normalize(told.value), told.position
