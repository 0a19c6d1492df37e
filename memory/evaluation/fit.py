"""Fitting of the localization weights: a conditional logit with a small hidden layer over branches and the new root, and one softmax temperature.

Three rounds: examples first come from replay on gold parents, then from online replay with the weights so far, errors kept, so that the weights learn from
forests as they are in use. The temperature is read from each half of the streams by the weights of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Final, NamedTuple

import numpy as np

from memory.engine import inner, localize, rank
from memory.engine.calibration import NAMES, Calibration
from memory.engine.forest import Method, Recall
from memory.engine.query import Query
from memory.evaluation import learn
from memory.evaluation.learn import Example, Matrix
from memory.evaluation.localization import Judged, Score, summarize
from memory.evaluation.streams import CachedEmbedder, Embed, GoldTurn, Vector, replay

Streams = Sequence[Sequence[GoldTurn]]
ROUNDS: Final = 3  # on gold parents, then on the forests that the weights so far make
NEARLY: Final = 0.5  # what another state of the right tree is worth beside the turn's very parent
START: Final = Calibration.linear({"near_best": 6.0, "words_tip": 3.0, "words_path": 2.0, "active": 1.5, "new": 3.5}, {"continuation": 0.9, "temporal": 0.9})


def example(turn: GoldTurn, asked: Query, found: Recall, trees: Sequence[int], weight: float) -> Example | None:
    """The example of a turn; None when no place is right any more (its tree's tips were taken by other matters) or only one place exists."""
    field = rank.read(asked, found)
    if not field.branches:
        return None
    parent = None if turn.parent is None else turn.parent + 1
    right = [_rightness(branch, parent, turn, trees) for branch in field.branches]
    if parent is not None and not any(right):  # other matters were put on its branch: that branch, from where it stood before
        right = [float(branch.aside is None and parent in branch.lane.latest) for branch in field.branches]
    right.append(float(parent is None))
    return Example(field.table.rows, np.array(right), weight) if any(right) else None


def _rightness(branch: rank.Branch, parent: int | None, turn: GoldTurn, trees: Sequence[int]) -> float:
    """1 where the turn goes on from its very parent, NEARLY where from another state of its tree."""
    if branch.tip.id == parent:
        return 1.0
    return NEARLY if parent is not None and trees[branch.tip.id - 1] == turn.tree else 0.0


def jump_of(turn: GoldTurn, asked: Query, found: Recall, weight: float) -> Example | None:
    """The turn as one that resumes its branch at the tip or before; None for a root, and when its parent isn't among a branch's last states."""
    if turn.parent is None or asked.cues.continuation:
        return None
    parent = turn.parent + 1
    for lane in found.lanes.values():
        if parent in lane.latest:
            states, rows = inner.rows(asked, lane, found.active is not None and found.active.branch == lane.tip.branch)
            return Example(rows, np.array([float(state == parent) for state in states]), weight) if len(states) > 1 else None
    return None


class Row(NamedTuple):
    """A replayed turn: its number in the stream, the judgement, what decided."""

    number: int
    judged: Judged
    method: Method


@dataclass(slots=True)
class Replayed:
    """What a replay of one stream taught: its turns as examples of places and of back-jumps, and how each went."""

    examples: list[Example] = field(default_factory=list)
    jumps: list[Example] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def _replayed(stream: Sequence[GoldTurn], embed: Embed, calibration: Calibration | None, weight: float) -> Replayed:
    """On gold parents without a calibration, online with one."""
    found, used = Replayed(), calibration or START

    def watch(turn: GoldTurn, asked: Query, brought: Recall, trees: list[int]) -> None:
        if not asked.cues.continuation and (made := example(turn, asked, brought, trees, weight)) is not None:
            found.examples.append(made)
        if (jump := jump_of(turn, asked, brought, weight)) is not None:
            found.jumps.append(jump)

    placed = replay(
        stream,
        embed,
        lambda asked, brought: localize.localize(asked, brought, used),
        jump=lambda asked, brought, decision: localize.back_jump(asked, brought, decision, used),
        teacher=calibration is None,
        watch=watch,
    )
    found.rows = [Row(row.index, row.judged, row.decision.method) for row in placed]
    return found


def replayed(streams: Streams, embed: CachedEmbedder, calibration: Calibration | None, weight: float = 1.0, processes: int = 1) -> list[Replayed]:
    """Replays of streams, in their order; vectors made by other processes are kept in `embed`."""
    if processes == 1 or len(streams) < 2:
        return [_replayed(stream, embed, calibration, weight) for stream in streams]
    global _shared
    _shared = (streams, embed, calibration, weight)  # what a fork inherits isn't pickled
    found: dict[int, Replayed] = {}
    longest_first = sorted(range(len(streams)), key=lambda index: -len(streams[index]))
    try:
        with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
            for index, made, vectors in pool.map(_one, longest_first):
                found[index] = made
                embed.known.update(vectors)
    finally:
        _shared = None
    return [found[index] for index in range(len(streams))]


_shared: tuple[Streams, CachedEmbedder, Calibration | None, float] | None = None


def _one(index: int) -> tuple[int, Replayed, dict[str, Vector]]:
    assert _shared is not None
    streams, embed, calibration, weight = _shared
    known = set(embed.known)
    made = _replayed(streams[index], embed, calibration, weight)
    return index, made, {text: vector for text, vector in embed.known.items() if text not in known}


def fit(
    sources: Mapping[str, Streams],
    embed: CachedEmbedder,
    tell: Callable[[str], None] = lambda line: None,
    weights: Mapping[str, float] | None = None,
    processes: int = 1,
    steps: int = learn.STEPS,
    folds: Mapping[str, Sequence[int]] | None = None,
) -> Calibration:
    """Fit on the named streams, every source with the same weight unless `weights` says otherwise. Raises ValueError without any stream.

    `folds`: 0 or 1 for each stream of a source, such that the two share no dialogue: from these temperature and the threshold of back-jumps are read, each
    by weights of the other fold. Without, every other stream; where streams share dialogues both are then too sure of themselves."""
    if not any(sources.values()):
        raise ValueError("There is nothing to fit on.")
    examples: dict[str, list[list[Example]]] = {name: [[] for _ in streams] for name, streams in sources.items()}
    fold = {name: (folds or {}).get(name) or [index % 2 for index in range(len(streams))] for name, streams in sources.items()}
    jumps: dict[int, list[Example]] = {0: [], 1: []}  # by fold
    rows: list[Row] = []
    calibration: Calibration | None = None
    for number in range(ROUNDS):
        rows = []
        for name, streams in sources.items():
            share = (weights or {}).get(name, 1.0) / max(1, sum(map(len, streams)))
            made = replayed(streams, embed, calibration, share, processes)
            for index, one in enumerate(made):
                examples[name][index] += one.examples
                jumps[fold[name][index]] += one.jumps
            went = [row for one in made for row in one.rows]
            rows += went
            tell(f"round {number}, {name}: {_score(went)}")
        last = number == ROUNDS - 1
        both = [*jumps[0], *jumps[1]]
        earlier, threshold = START.earlier, inner.NEVER
        if any(not jump.right[0] for jump in both):
            earlier = learn.learn_jumps(both, nets=learn.NETS if last else 1, steps=steps // 2)
            threshold = learn.threshold_of([(jumps[0], jumps[1]), (jumps[1], jumps[0])], steps=steps // 2)
        tell(f"back-jumps: {sum(not jump.right[0] for jump in both)} of {len(both)}; followed above {threshold}")
        places = learn.learn(
            [item for streams in examples.values() for stream in streams for item in stream], NAMES, nets=learn.NETS if last else 1, steps=steps
        )
        calibration = replace(START, places=places, earlier=earlier, threshold=threshold)
    assert calibration is not None
    halves = [
        [item for name, streams in examples.items() for index, stream in enumerate(streams) if fold[name][index] == half for item in stream] for half in (0, 1)
    ]
    temperature = _temperature(halves, steps)
    worth = {}
    for method in ("continuation", "temporal"):
        decided = [row.judged.right for row in rows if row.method == method and row.number > 0]
        worth[method] = round((sum(decided) + 9) / (len(decided) + 10), 3)  # ten imagined ones, nine right: a cue is explicit
        tell(f"{method}: {sum(decided)} of {len(decided)} right")
    return replace(
        calibration,
        temperature=round(temperature, 3),
        cue_probability=worth,
        fitted_on=tuple(sorted(sources)),
    )


def _temperature(halves: Sequence[Sequence[Example]], steps: int) -> float:
    """The temperature under which the right places are likeliest, on streams that the weights in question haven't seen: each half by those of the other."""
    scored: list[tuple[Matrix, Example]] = []
    for seen, unseen in (halves, halves[::-1]):
        if seen and unseen:
            tried = learn.learn(seen, NAMES, nets=learn.NETS, steps=steps)
            scored += [(tried.scores(item.rows), item) for item in unseen]
    if not scored:
        return 1.0

    def loss(temperature: float) -> float:
        chances = [(item.weight, float(np.array(rank.probabilities(scores.tolist(), temperature)) @ (item.right > 0))) for scores, item in scored]
        return -sum(weight * float(np.log(max(chance, 1e-6))) for weight, chance in chances)

    return min(np.geomspace(0.4, 4.0, 60).tolist(), key=loss)


def measure(streams: Streams, embed: CachedEmbedder, calibration: Calibration, processes: int = 1) -> Score:
    """The figures of an online replay."""
    return _score([row for one in replayed(streams, embed, calibration, processes=processes) for row in one.rows])


def _score(rows: Sequence[Row]) -> Score:
    """The first turn of a stream is left out: it can only be a new root."""
    return summarize(row.judged for row in rows if row.number > 0)
