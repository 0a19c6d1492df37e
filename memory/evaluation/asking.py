"""What asking the model inside the low-margin band gains and costs: the same turns on the same forest, with its word and without."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.engine.ask import weighed
from memory.evaluation.localization import Gold as Truth
from memory.evaluation.localization import Judged, calibration_error, gold_trees, quantile
from memory.evaluation.results import Measured
from memory.evaluation.rows import Row

ODDS: Final = (1, 2, 3, 4, 6, 10, 100)
Values = dict[str, float]


@dataclass(frozen=True, slots=True)
class Compared:
    """The judged turns of a system that asks (case and id → right or not): all of them, and those that were asked about.

    own: whether the model's choice itself is right; offered: whether the right place was among those it was offered. by_odds: what would be right of the
    turns asked about if a choice made its place so many times as likely (`engine/ask.ODDS`; 1: ranking alone). Of a failed call ranking's place counts.
    """

    with_all: Values
    without_all: Values
    with_asked: Values
    without_asked: Values
    own: Values
    offered: Values
    by_odds: Mapping[float, float]
    ece_with: float
    ece_without: float
    failed: Mapping[str, int]
    input_tokens: float
    output_tokens: float
    seconds: tuple[float, float]


def compare(one: Measured, *, teacher: bool = False) -> Compared | None:
    """The comparison for a system, None where it asked about nothing that has gold."""
    now, before = (_judged(one.streams(teacher=teacher, unasked=unasked)) for unasked in (False, True))
    asked = {_key(case, row["id"]): row for case, listed in one.turns.items() for row in listed if row.get("asked")}
    asked = {key: row for key, row in asked.items() if key in now}
    if not asked:
        return None
    trees = {case: _trees(listed) for case, listed in one.turns.items()}
    calls: Sequence[Mapping[str, Any]] = [row["asked"] for row in asked.values()]
    answered = {key: row for key, row in asked.items() if row["asked"]["chosen"] is not None}
    errors = [call["error"] for call in calls if call["error"]]
    times = sorted(call["ms"] / 1000 for call in calls)
    return Compared(
        with_all={key: float(turn.right) for key, turn in now.items()},
        without_all={key: float(turn.right) for key, turn in before.items()},
        with_asked={key: float(now[key].right) for key in asked},
        without_asked={key: float(before[key].right) for key in asked},
        own={key: float(_right(row, trees, row["asked"]["chosen"])) for key, row in answered.items()},
        offered={key: float(any(_right(row, trees, place) for place in row["asked"]["offered"])) for key, row in asked.items()},
        by_odds={odds: _mean([_right(row, trees, _winner(row["asked"], odds)) for row in asked.values()]) for odds in ODDS},
        ece_with=calibration_error([now[key] for key in asked]),
        ece_without=calibration_error([before[key] for key in asked]),
        failed={error: errors.count(error) for error in sorted(set(errors))},
        input_tokens=_mean([call["input_tokens"] for call in calls]),
        output_tokens=_mean([call["output_tokens"] for call in calls]),
        seconds=(quantile(times, 0.5), quantile(times, 0.95)),
    )


def _judged(streams: Mapping[str, Sequence[tuple[str, Judged]]]) -> dict[str, Judged]:
    return {_key(case, id): turn for case, listed in streams.items() for id, turn in listed}


def _key(case: str, id: str) -> str:
    return f"{case}\0{id}"


def _trees(listed: Sequence[Row]) -> dict[str, str]:
    return gold_trees([Truth(row["id"], row["gold"]["parent"]) for row in listed if row["gold"] is not None])


def _winner(call: Mapping[str, Any], odds: float) -> int:
    """The index of the place that comes out first when a choice makes its place so many times as likely."""
    probabilities = [probability for _, probability in call["places"]]
    if call["chosen"] is not None:
        probabilities = weighed(probabilities, call["offered"], call["chosen"], odds)
    return max(range(len(probabilities)), key=probabilities.__getitem__)


def _right(row: Row, trees: Mapping[str, Mapping[str, str]], place: int) -> bool:
    """Whether a place considered is on the gold branch of the turn, or both are a new root."""
    state = row["asked"]["places"][place][0]
    if row["gold"]["parent"] is None or state is None:
        return row["gold"]["parent"] is None and state is None
    mine = trees[row["case"]]
    return bool(mine.get(state) == mine[row["id"]])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
