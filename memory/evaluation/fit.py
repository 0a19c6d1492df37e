"""Fitting of the localization weights: a conditional logit with a small hidden layer over branches and the new root, and one softmax temperature.

Three rounds: examples first come from replay on gold parents, then from online replay with the weights so far, errors kept, so that the weights learn from
forests as they are in use. The temperature is read from each half of the streams by the weights of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memory.engine import inner, localize, rank
from memory.engine.calibration import NAMES, Calibration
from memory.engine.forest import Recall
from memory.engine.query import Query
from memory.evaluation import learn
from memory.evaluation.learn import Example, Matrix
from memory.evaluation.localization import Score, summarize
from memory.evaluation.streams import Embed, GoldTurn, Placed, replay

Streams = Sequence[Sequence[GoldTurn]]
ROUNDS: Final = 3  # on gold parents, then on the forests that the weights so far make
START: Final = Calibration.linear({"near_best": 6.0, "words_tip": 3.0, "words_path": 2.0, "active": 1.5, "new": 3.5}, {"continuation": 0.9, "temporal": 0.9})


def example(turn: GoldTurn, asked: Query, found: Recall, trees: Sequence[int], weight: float) -> Example | None:
    """The example of a turn; None when no place is right any more (its tree's tips were taken by other matters) or only one place exists."""
    field = rank.read(asked, found)
    if not field.branches:
        return None
    parent = None if turn.parent is None else turn.parent + 1
    right = [branch.tip.id == parent for branch in field.branches]
    if parent is not None and not any(right):  # its state went on elsewhere: any end of its tree
        right = [trees[branch.tip.id - 1] == turn.tree for branch in field.branches]
    if parent is not None and not any(right):  # other matters were put on its branch: that branch, from where it stood before
        right = [branch.aside is None and parent in found.lanes[branch.tip.branch].latest for branch in field.branches]
    right.append(parent is None)
    return Example(field.rows, np.array(right), weight) if any(right) else None


def jump_of(turn: GoldTurn, asked: Query, found: Recall, weight: float) -> Example | None:
    """The turn as one that resumes its branch at the tip or before; None for a root, and when its parent isn't among a branch's last states."""
    if turn.parent is None or asked.cues.continuation:
        return None
    parent = turn.parent + 1
    for lane in found.lanes.values():
        if parent in lane.latest:
            states, rows = inner.rows(asked, lane, found.active is not None and found.active.branch == lane.tip.branch)
            return Example(rows, np.array([state == parent for state in states]), weight) if len(states) > 1 else None
    return None


def gather(
    streams: Streams, embed: Embed, calibration: Calibration | None, weight: float, jumps: list[Example] | None = None
) -> tuple[list[Example], list[Placed]]:
    """Examples and placements of a replay: on gold parents without a calibration, online with one. `jumps` takes the turns as back-jumps."""
    examples: list[Example] = []
    used = calibration or START

    def watch(turn: GoldTurn, asked: Query, found: Recall, trees: list[int]) -> None:
        if not asked.cues.continuation and (made := example(turn, asked, found, trees, weight)) is not None:
            examples.append(made)
        if jumps is not None and (jump := jump_of(turn, asked, found, weight)) is not None:
            jumps.append(jump)

    placed = [
        row
        for stream in streams
        for row in replay(
            stream,
            embed,
            lambda asked, found: localize.localize(asked, found, used),
            jump=lambda asked, found, decision: localize.back_jump(asked, found, decision, used),
            teacher=calibration is None,
            watch=watch,
        )
    ]
    return examples, placed


def fit(
    sources: Mapping[str, Streams], embed: Embed, tell: Callable[[str], None] = lambda line: None, weights: Mapping[str, float] | None = None
) -> Calibration:
    """Fit on the named streams, every source with the same weight unless `weights` says otherwise. Raises ValueError without any stream."""
    if not any(sources.values()):
        raise ValueError("There is nothing to fit on.")
    examples: dict[str, list[list[Example]]] = {name: [[] for _ in streams] for name, streams in sources.items()}
    jumps: dict[int, list[Example]] = {0: [], 1: []}  # by fold
    placed: list[Placed] = []
    calibration: Calibration | None = None
    for number in range(ROUNDS):
        placed = []
        for name, streams in sources.items():
            share = (weights or {}).get(name, 1.0) / max(1, sum(map(len, streams)))
            rows: list[Placed] = []
            for index, stream in enumerate(streams):
                made, went = gather([stream], embed, calibration, share, jumps[index % 2])
                examples[name][index] += made
                rows += went
            placed += rows
            tell(f"round {number}, {name}: {_score(rows)}")
        last = number == ROUNDS - 1
        both = [*jumps[0], *jumps[1]]
        earlier, threshold = START.earlier, inner.NEVER
        if any(not jump.right[0] for jump in both):
            earlier = learn.learn_jumps(both, nets=learn.NETS if last else 1)
            threshold = learn.threshold_of([(jumps[0], jumps[1]), (jumps[1], jumps[0])])
        tell(f"back-jumps: {sum(not jump.right[0] for jump in both)} of {len(both)}; followed above {threshold}")
        places = learn.learn(list(_all(examples)), NAMES, nets=learn.NETS if last else 1)
        calibration = replace(START, places=places, earlier=earlier, threshold=threshold)
    assert calibration is not None
    temperature = _temperature(examples)
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
            tried = learn.learn(seen, NAMES)
            scored += [(tried.scores(item.rows), item) for item in unseen]
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
