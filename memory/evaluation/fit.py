"""Fitting of the localization weights: a conditional logit over branches and the new root, and one softmax temperature.

Rounds of online replay: the first examples come from replay on gold parents, later ones from replay with the weights so far, errors kept, so that the weights
learn from forests as they are in use. The temperature comes last, from a replay of other streams than those the weights of its fold saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memory.engine import localize, rank
from memory.engine.calibration import Calibration
from memory.engine.forest import Recall
from memory.engine.query import Query
from memory.evaluation import learn
from memory.evaluation.learn import Example
from memory.evaluation.localization import Score, summarize
from memory.evaluation.streams import Embed, GoldTurn, Placed, replay

Streams = Sequence[Sequence[GoldTurn]]
ROUNDS: Final = 2
START: Final = Calibration.linear({"near_best": 6.0, "words_tip": 3.0, "words_path": 2.0, "active": 1.5, "new": 3.5}, {"continuation": 0.9, "temporal": 0.9})


def example(turn: GoldTurn, asked: Query, found: Recall, trees: Sequence[int], weight: float) -> Example | None:
    """The example of a turn; None when no place is right any more (its tree's tips were taken by other matters) or only one place exists."""
    field = rank.read(asked, found)
    if not field.branches:
        return None
    right = [turn.parent is not None and trees[branch.tip.id - 1] == turn.tree for branch in field.branches] + [turn.parent is None]
    return Example(field.rows, np.array(right), weight) if any(right) else None


def gather(streams: Streams, embed: Embed, calibration: Calibration | None, weight: float) -> tuple[list[Example], list[Placed]]:
    """Examples and placements of a replay: on gold parents without a calibration, online with one."""
    examples: list[Example] = []

    def watch(turn: GoldTurn, asked: Query, found: Recall, trees: list[int]) -> None:
        if not asked.cues.continuation and (made := example(turn, asked, found, trees, weight)) is not None:
            examples.append(made)

    placed = [
        row
        for stream in streams
        for row in replay(stream, embed, lambda asked, found: localize.localize(asked, found, calibration or START), teacher=calibration is None, watch=watch)
    ]
    return examples, placed


def fit(sources: Mapping[str, Streams], embed: Embed, tell: Callable[[str], None] = lambda line: None) -> Calibration:
    """Fit on the named streams, every source with equal weight. Raises ValueError without any stream."""
    if not any(sources.values()):
        raise ValueError("There is nothing to fit on.")
    folds = [{name: streams[half::2] for name, streams in sources.items()} for half in (0, 1)]
    tried = [_weights(fold, embed, tell) for fold in folds]
    # Each fold's weights are tried on the other fold: what the temperature and the worth of cues are read from.
    unseen = [row for mine, other in ((0, 1), (1, 0)) for streams in folds[other].values() for row in gather(streams, embed, tried[mine], 1.0)[1]]
    final = _weights(sources, embed, tell)
    temperature = _temperature(unseen)
    worth = {}
    for method in ("continuation", "temporal"):
        decided = [row.judged.right for row in unseen if row.decision.method == method and row.index > 0]
        worth[method] = round((sum(decided) + 9) / (len(decided) + 10), 3)  # ten imagined ones, nine right: a cue is explicit
        tell(f"{method}: {sum(decided)} of {len(decided)} right")
    return replace(final, temperature=round(temperature, 3), cue_probability=worth, fitted_on=tuple(sorted(sources)))


def _weights(sources: Mapping[str, Streams], embed: Embed, tell: Callable[[str], None]) -> Calibration:
    examples: list[Example] = []
    calibration: Calibration | None = None
    for number in range(ROUNDS + 1):
        for name, streams in sources.items():
            turns = sum(map(len, streams))
            made, placed = gather(streams, embed, calibration, 1.0 / max(1, turns))
            examples += made
            tell(f"round {number}, {name}: {_score(placed)}")
        calibration = replace(learn.learn(examples), cue_probability=START.cue_probability)
    assert calibration is not None
    return calibration


def _temperature(placed: Sequence[Placed]) -> float:
    """The temperature under which the outcomes of ranked decisions are likeliest: right ones were the winner's, wrong ones somebody else's."""
    ranked = [row for row in placed if row.index > 0 and row.decision.method in ("recall", "new_root")]
    right = np.array([row.judged.right for row in ranked])

    def loss(temperature: float) -> float:
        chances = np.array([rank.probabilities([candidate.score for candidate in row.decision.candidates], temperature)[0] for row in ranked])
        return float(-np.mean(np.log(np.clip(np.where(right, chances, 1 - chances), 1e-6, 1.0))))

    return min(np.geomspace(0.4, 4.0, 60).tolist(), key=loss)


def measure(streams: Streams, embed: Embed, calibration: Calibration) -> Score:
    """The figures of an online replay."""
    return _score(gather(streams, embed, calibration, 1.0)[1])


def _score(placed: Sequence[Placed]) -> Score:
    """The first turn of a stream is left out: it can only be a new root."""
    return summarize(row.judged for row in placed if row.index > 0)
