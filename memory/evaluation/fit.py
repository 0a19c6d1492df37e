"""Fitting of the localization weights: a conditional logit over branches and the new root, and one softmax temperature.

Rounds of online replay: the first examples come from replay on gold parents, later ones from replay with the weights so far, errors kept, so that the weights
learn from forests as they are in use. The temperature comes last, from a replay of other streams than those the weights of its fold saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import localize, rank
from memory.engine.forest import Recall
from memory.engine.query import Query
from memory.engine.rank import FEATURE_VERSION, FEATURES, Calibration
from memory.evaluation.localization import Score, summarize
from memory.evaluation.streams import Embed, GoldTurn, Placed, replay

Matrix = NDArray[np.float64]
Streams = Sequence[Sequence[GoldTurn]]
NAMES: Final = tuple(FEATURES)
RIDGE: Final = 10.0  # L2 strength, in examples, on features scaled by their deviation; of 1, 10, 40 the best on held-out halves
ROUNDS: Final = 2
START: Final = Calibration(
    {"near_best": 6.0, "words_tip": 3.0, "path_words": 2.0, "active": 1.5, "new": 3.5}, 1.0, {"continuation": 0.9, "temporal": 0.9}, FEATURE_VERSION, (), ""
)


@dataclass(frozen=True, slots=True)
class Example:
    """One turn: a row of features per branch and a last one for the new root, (rows, features); which rows are right; its weight."""

    rows: Matrix
    right: NDArray[np.bool_]
    weight: float


def example(turn: GoldTurn, asked: Query, found: Recall, trees: Sequence[int], weight: float) -> Example | None:
    """The example of a turn; None when no place is right any more (its tree's tips were taken by other matters) or only one place exists."""
    branches = rank.branches(asked, found)
    if not branches:
        return None
    listed = [branch.features for branch in branches] + [rank.new_root_features(asked, branches)]
    right = [turn.parent is not None and trees[branch.tip.id - 1] == turn.tree for branch in branches] + [turn.parent is None]
    if not any(right):
        return None
    return Example(np.array([[features.get(name, 0.0) for name in NAMES] for features in listed]), np.array(right), weight)


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


def logit(examples: Sequence[Example], ridge: float = RIDGE, steps: int = 600) -> dict[str, float]:
    """Weights that make the right rows likely: Σ log Σ_right softmax, less ½ · ridge · |w · deviation|². Deterministic (Adam from zero, full batch)."""
    most = max(len(item.rows) for item in examples)
    rows = np.zeros((len(examples), most, len(NAMES)))
    inside = np.zeros((len(examples), most), dtype=bool)
    right = np.zeros((len(examples), most), dtype=bool)
    for index, item in enumerate(examples):
        rows[index, : len(item.rows)], inside[index, : len(item.rows)], right[index, : len(item.rows)] = item.rows, True, item.right
    share = np.array([item.weight for item in examples])
    share = share / share.sum()
    deviation = rows[inside].std(axis=0)
    scale = np.where(deviation > 1e-9, deviation, 1.0)
    rows = rows / scale
    weights, first, second = np.zeros(len(NAMES)), np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for step in range(1, steps + 1):
        scores = np.where(inside, rows @ weights, -np.inf)
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        every = raised / raised.sum(axis=1, keepdims=True)
        hit = np.where(right, raised, 0.0)
        those = hit / np.maximum(hit.sum(axis=1, keepdims=True), 1e-300)
        slope = np.einsum("n,nc,ncf->f", share, every - those, rows) + ridge / len(examples) * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights = weights - 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return {name: round(float(weight), 4) for name, weight in zip(NAMES, weights / scale, strict=True) if abs(weight) > 1e-4}


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
    return Calibration(final.weights, round(temperature, 3), worth, FEATURE_VERSION, tuple(sorted(sources)), "")


def _weights(sources: Mapping[str, Streams], embed: Embed, tell: Callable[[str], None]) -> Calibration:
    examples: list[Example] = []
    calibration: Calibration | None = None
    for number in range(ROUNDS + 1):
        for name, streams in sources.items():
            turns = sum(map(len, streams))
            made, placed = gather(streams, embed, calibration, 1.0 / max(1, turns))
            examples += made
            tell(f"round {number}, {name}: {_score(placed)}")
        calibration = Calibration(logit(examples), 1.0, START.cue_probability, FEATURE_VERSION, tuple(sorted(sources)), "")
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
