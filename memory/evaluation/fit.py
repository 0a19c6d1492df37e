"""Fitting of the localization weights: a conditional logit with a small hidden layer over branches and the new root, and one softmax temperature.

Two rounds: examples first come from replay on gold parents, then from online replay with the weights so far, errors kept, so that the weights learn from
forests as they are in use. The temperature is read from each half of the streams by the weights of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memory.engine import inner, localize, rank
from memory.engine.calibration import Calibration
from memory.engine.forest import Recall
from memory.engine.query import Query
from memory.evaluation import learn
from memory.evaluation.learn import Example, Jump, Matrix
from memory.evaluation.localization import Score, summarize
from memory.evaluation.streams import Embed, GoldTurn, Placed, replay

Streams = Sequence[Sequence[GoldTurn]]
ROUNDS: Final = 2  # on gold parents, then on the forest that the weights so far make
START: Final = Calibration.linear({"near_best": 6.0, "words_tip": 3.0, "words_path": 2.0, "active": 1.5, "new": 3.5}, {"continuation": 0.9, "temporal": 0.9})


def example(turn: GoldTurn, asked: Query, found: Recall, trees: Sequence[int], weight: float) -> Example | None:
    """The example of a turn; None when no place is right any more (its tree's tips were taken by other matters) or only one place exists."""
    field = rank.read(asked, found)
    if not field.branches:
        return None
    right = [turn.parent is not None and trees[branch.tip.id - 1] == turn.tree for branch in field.branches] + [turn.parent is None]
    return Example(field.rows, np.array(right), weight) if any(right) else None


def jump_of(turn: GoldTurn, asked: Query, found: Recall, trees: Sequence[int], weight: float) -> Jump | None:
    """The turn as one that resumes its branch at the tip or before; None for a root, and when its parent isn't among a branch's last states."""
    if turn.parent is None or asked.cues.continuation:
        return None
    parent = turn.parent + 1
    for lane in found.lanes.values():
        if trees[lane.tip.id - 1] == turn.tree and parent in lane.latest:
            states, rows = inner.rows(asked, lane)
            return Jump(rows, states.index(parent) if parent in states else None, weight) if states else None
    return None


def gather(
    streams: Streams, embed: Embed, calibration: Calibration | None, weight: float, jumps: list[Jump] | None = None
) -> tuple[list[Example], list[Placed]]:
    """Examples and placements of a replay: on gold parents without a calibration, online with one. `jumps` takes the turns as back-jumps."""
    examples: list[Example] = []

    def watch(turn: GoldTurn, asked: Query, found: Recall, trees: list[int]) -> None:
        if not asked.cues.continuation and (made := example(turn, asked, found, trees, weight)) is not None:
            examples.append(made)
        if jumps is not None and (jump := jump_of(turn, asked, found, trees, weight)) is not None:
            jumps.append(jump)

    placed = [
        row
        for stream in streams
        for row in replay(stream, embed, lambda asked, found: localize.localize(asked, found, calibration or START), teacher=calibration is None, watch=watch)
    ]
    return examples, placed


def fit(
    sources: Mapping[str, Streams], embed: Embed, tell: Callable[[str], None] = lambda line: None, weights: Mapping[str, float] | None = None
) -> Calibration:
    """Fit on the named streams, every source with the same weight unless `weights` says otherwise. Raises ValueError without any stream."""
    if not any(sources.values()):
        raise ValueError("There is nothing to fit on.")
    examples: dict[str, list[list[Example]]] = {name: [[] for _ in streams] for name, streams in sources.items()}
    jumps: dict[int, list[Jump]] = {0: [], 1: []}  # by fold
    placed: list[Placed] = []
    calibration: Calibration | None = None
    for number in range(ROUNDS):
        placed = []
        for name, streams in sources.items():
            share = (weights or {}).get(name, 1.0) / max(1, sum(map(len, streams)))
            rows: list[Placed] = []
            for index, stream in enumerate(streams):
                made, went = gather([stream], embed, calibration, share, jumps[index % 2] if calibration is None else None)
                examples[name][index] += made
                rows += went
            placed += rows
            tell(f"round {number}, {name}: {_score(rows)}")
        calibration = replace(learn.learn(list(_all(examples))), cue_probability=START.cue_probability)
    assert calibration is not None
    temperature = _temperature(examples)
    both = [*jumps[0], *jumps[1]]
    back = learn.learn_jumps(both) if any(jump.right is not None for jump in both) else {}
    threshold = learn.threshold_of([(jumps[0], jumps[1]), (jumps[1], jumps[0])]) if back else inner.NEVER
    tell(f"back-jumps: {sum(jump.right is not None for jump in both)} of {len(both)}; followed above {threshold}")
    worth = {}
    for method in ("continuation", "temporal"):
        decided = [row.judged.right for row in placed if row.decision.method == method and row.index > 0]
        worth[method] = round((sum(decided) + 9) / (len(decided) + 10), 3)  # ten imagined ones, nine right: a cue is explicit
        tell(f"{method}: {sum(decided)} of {len(decided)} right")
    return replace(
        calibration,
        temperature=round(temperature, 3),
        cue_probability=worth,
        fitted_on=tuple(sorted(sources)),
        inner=back,
        inner_threshold=threshold,
    )


def _all(examples: Mapping[str, Sequence[Sequence[Example]]], half: int | None = None) -> Iterator[Example]:
    """All examples, or those of every other stream."""
    for streams in examples.values():
        for stream in streams if half is None else streams[half::2]:
            yield from stream


def _temperature(examples: Mapping[str, Sequence[Sequence[Example]]]) -> float:
    """The temperature under which the right places are likeliest, on streams that the weights in question haven't seen: each half by those of the other."""
    scored: list[tuple[Matrix, Example]] = []
    for half in (0, 1):
        seen, unseen = list(_all(examples, half)), list(_all(examples, 1 - half))
        if seen and unseen:
            tried = learn.learn(seen)
            scored += [(tried.parts(item.rows).sum(axis=1), item) for item in unseen]
    if not scored:
        return 1.0

    def loss(temperature: float) -> float:
        chances = [(item.weight, float(np.array(rank.probabilities(scores.tolist(), temperature))[item.right].sum())) for scores, item in scored]
        return -sum(weight * float(np.log(max(chance, 1e-6))) for weight, chance in chances)

    return min(np.geomspace(0.4, 4.0, 60).tolist(), key=loss)


def measure(streams: Streams, embed: Embed, calibration: Calibration) -> Score:
    """The figures of an online replay."""
    return _score(gather(streams, embed, calibration, 1.0)[1])


def _score(placed: Sequence[Placed]) -> Score:
    """The first turn of a stream is left out: it can only be a new root."""
    return summarize(row.judged for row in placed if row.index > 0)
