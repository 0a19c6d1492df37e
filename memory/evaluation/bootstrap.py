"""Intervals by bootstrap over units (questions, or whole dialogues): whether “better” holds beyond the questions at hand (BENCHMARKS “Metrics”).

Percentile bootstrap (Efron & Tibshirani 1993, §13): units are drawn with replacement, the mean is taken over the values of the units drawn. Questions of one
dialogue aren't independent; give `units` to draw whole dialogues.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

DRAWS: Final = 10_000
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its interval; `values` and `units` tell how many it rests on."""

    mean: float
    low: float
    high: float
    values: int
    units: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Ours minus theirs over the same questions, with its interval; `p` is the two-sided share of draws on the other side of zero, in 0…1."""

    mean: float
    low: float
    high: float
    p: float
    values: int
    units: int

    @property
    def better(self) -> bool:
        return self.low > 0

    @property
    def worse(self) -> bool:
        return self.high < 0


def interval(values: Mapping[str, float], *, units: Mapping[str, str] | None = None, level: float = LEVEL, draws: int = DRAWS, seed: int = 1) -> Interval:
    """The interval of the mean of `values` (question → figure; NaN is left out). `units`: question → dialogue; without it every question is a unit.

    Raises ValueError when nothing is left to draw from.
    """
    sums, counts = _grouped(values, units)
    means = _draw(sums, counts, draws, seed)
    low, high = _ends(means, level)
    return Interval(float(sums.sum() / counts.sum()), low, high, int(counts.sum()), len(sums))


def paired(
    ours: Mapping[str, float],
    theirs: Mapping[str, float],
    *,
    units: Mapping[str, str] | None = None,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 1,
) -> Difference:
    """The interval of the mean difference, each question against itself. A question with NaN on either side is left out.

    Raises ValueError when the two don't answer the same questions: a comparison over different work says nothing.
    """
    if ours.keys() != theirs.keys():
        odd = sorted(ours.keys() ^ theirs.keys())
        raise ValueError(f"{len(odd)} questions are answered by one side only ({', '.join(odd[:3])}{' …' if len(odd) > 3 else ''}).")
    sums, counts = _grouped({question: ours[question] - theirs[question] for question in ours}, units)
    means = _draw(sums, counts, draws, seed)
    low, high = _ends(means, level)
    # One is added above and below: no finite number of draws shows a p of zero.
    below, above = (int(np.sum(means <= 0)) + 1) / (draws + 1), (int(np.sum(means >= 0)) + 1) / (draws + 1)
    return Difference(float(sums.sum() / counts.sum()), low, high, min(1.0, 2 * min(below, above)), int(counts.sum()), len(sums))


def _grouped(values: Mapping[str, float], units: Mapping[str, str] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum and the number of the values of each unit, (units,) each."""
    kept = {question: float(value) for question, value in values.items() if not math.isnan(value)}
    if not kept:
        raise ValueError("There is no value to draw from.")
    groups: dict[str, list[float]] = {}
    for question in sorted(kept):  # the same draws whatever order the rows came in
        groups.setdefault(units[question] if units is not None else question, []).append(kept[question])
    ordered = [groups[unit] for unit in sorted(groups)]
    return np.array([sum(group) for group in ordered]), np.array([len(group) for group in ordered], dtype=np.float64)


def _draw(sums: NDArray[np.float64], counts: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """The mean of each draw, (draws,)."""
    random = np.random.default_rng(seed)
    means = np.empty(draws)
    for index in range(draws):  # one draw at a time: 10,000 × 1,500 indexes at once would take 120 MB
        drawn = random.integers(0, len(sums), len(sums))
        means[index] = sums[drawn].sum() / counts[drawn].sum()
    return means


def _ends(means: NDArray[np.float64], level: float) -> tuple[float, float]:
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
