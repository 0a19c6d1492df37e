"""Metrics of localization over a replayed stream (BENCHMARKS “Metrics”): where turns went against where they belong.

A turn's gold tree is found by following gold parents; a placement is right when the state it chose belongs to that tree by gold,
whatever tree earlier mistakes have put it into, or when both say new root.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

BINS = 10
GAPS = (0, 1, 2, 4, 8, 16, 32)  # where the bins of `by_gap` begin


@dataclass(frozen=True, slots=True)
class Gold:
    """Where a turn belongs: the id of its parent, None for a new root."""

    id: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a turn was put, with the probability the decision carried and what it took. `others`: the other places it considered, best first."""

    id: str
    parent: str | None
    root: str | None
    probability: float
    ms: float
    others: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """One turn, judged: whether its tree, its parent and its being a root are right, and the previous-turn baseline beside it.

    tree, said: its gold tree, and the gold tree of the state it was put under (None: a new root). gap: turns of other trees since its tree was last
    active (None for a root). top_2: right at the first or the second place. on_path: its gold parent is on the chosen path, or both say new root.
    back_jump: its gold parent isn't the latest state of its gold tree. jumped: it was put under a state that isn't the latest one of that state's gold tree.
    None where it isn't known.
    """

    right: bool
    parent_right: bool
    gold_root: bool
    said_root: bool
    resumption: bool
    baseline_right: bool
    probability: float
    ms: float
    tree: object | None = None
    said: object | None = None
    gap: int | None = None
    top_2: bool | None = None
    on_path: bool | None = None
    back_jump: bool = False
    jumped: bool = False


def gold_trees(gold: Sequence[Gold]) -> dict[str, str]:
    """The gold tree (id of its root) of every turn, by following parents. Raises ValueError for a parent that doesn't come before."""
    trees: dict[str, str] = {}
    for turn in gold:
        if turn.parent is None:
            trees[turn.id] = turn.id
        elif turn.parent in trees:
            trees[turn.id] = trees[turn.parent]
        else:
            raise ValueError(f"turn {turn.id} has the parent {turn.parent}, which doesn't come before it")
    return trees


def judge_turn(
    *,
    tree: object,
    root: bool,
    before: object | None,
    said: object | None,
    said_root: bool,
    parent_right: bool,
    probability: float,
    ms: float = math.nan,
    gap: int | None = None,
    second_right: bool | None = None,
    on_path: bool | None = None,
    back_jump: bool = False,
    jumped: bool = False,
) -> Judged:
    """Judge one turn of the gold `tree`: `before` is the gold tree of the turn before it (None: there is none), `said` that of the state it was put under."""
    right = said_root if root else not said_root and said == tree
    return Judged(
        right=right,
        parent_right=parent_right,
        gold_root=root,
        said_root=said_root,
        resumption=not root and before is not None and before != tree,
        baseline_right=not root and before == tree,
        probability=probability,
        ms=ms,
        tree=tree,
        said=said,
        gap=gap,
        top_2=None if second_right is None else right or second_right,
        on_path=on_path,
        back_jump=back_jump,
        jumped=jumped,
    )


def judge(gold: Sequence[Gold], placed: Sequence[Placed], *, teacher: bool = False) -> list[Judged]:
    """Judge one stream, turn by turn; both sequences in the stream's order, of the same turns. The first one is left out: it can only be a new root.

    The chosen path is looked up in the forest as it grew: every turn under the parent it was put under, or (`teacher`) under its gold parent.
    """
    trees = gold_trees(gold)
    above = {turn.id: turn.parent for turn in (gold if teacher else placed)}
    active = {trees[turn.id]: 0 for turn in gold[:1]}  # gold tree → index of its last turn
    latest = {tree: tree for tree in active}  # gold tree → id of its last turn
    judged: list[Judged] = []
    for index, (earlier, truth, said) in enumerate(zip(gold, gold[1:], placed[1:], strict=False), 1):
        tree, second = trees[truth.id], said.others[0] if said.others else ""
        chosen = trees.get(said.parent or "")
        judged.append(
            judge_turn(
                tree=tree,
                root=truth.parent is None,
                before=trees[earlier.id],
                said=chosen,
                said_root=said.parent is None,
                parent_right=said.parent == truth.parent,
                probability=said.probability,
                ms=said.ms,
                gap=None if truth.parent is None else index - active[tree] - 1,
                second_right=truth.parent is None if second is None else truth.parent is not None and trees.get(second) == tree,
                on_path=truth.parent in path(said.parent, above) if truth.parent is not None else said.parent is None,
                back_jump=truth.parent is not None and truth.parent != latest[tree],
                jumped=chosen is not None and said.parent != latest[chosen],
            )
        )
        active[tree], latest[tree] = index, truth.id
    return judged


def path(state: str | None, above: Mapping[str, str | None]) -> list[str]:
    """A state and everything over it, up to its root; none for a new root."""
    found: list[str] = []
    while state is not None:
        found.append(state)
        state = above.get(state)
    return found


def said_trees(placed: Iterable[Placed]) -> dict[str, str]:
    """The tree (id of its root) every turn went into, its errors kept: what clusters.compare sets against `gold_trees`. Call it with the whole stream."""
    trees: dict[str, str] = {}
    for turn in placed:
        trees[turn.id] = turn.id if turn.parent is None else trees.get(turn.parent, turn.parent)
    return trees


def by_gap(judged: Iterable[Judged]) -> dict[str, tuple[float, int]]:
    """Branch accuracy, and of how many turns, by the turns of other trees since the turn's own tree was last active: `0`, `1`, `2–3` … `32+`. No roots."""
    bins: dict[int, list[Judged]] = {start: [] for start in GAPS}
    for turn in judged:
        if turn.gap is not None:
            bins[max(start for start in GAPS if start <= turn.gap)].append(turn)
    ends = [*(start - 1 for start in GAPS[1:]), None]
    names = [f"{start}+" if end is None else str(start) if start == end else f"{start}–{end}" for start, end in zip(GAPS, ends, strict=True)]
    return {name: (_share(sum(turn.right for turn in bin), len(bin)), len(bin)) for name, bin in zip(names, bins.values(), strict=True)}


def propagation(streams: Iterable[Sequence[Judged]]) -> float:
    """Error-propagation length: how many turns in a row a first error takes with it.

    The turns of one gold tree, in the order of its stream, up to the first that is placed wrong: the length is the number of turns of that tree that
    follow it and are wrong too, before one is right again. The mean over the trees that have an error; NaN without one. 0: errors stay alone.
    """
    lengths: list[int] = []
    for judged in streams:
        runs: dict[object, list[bool]] = {}
        for turn in judged:
            runs.setdefault(turn.tree, []).append(turn.right)
        for rights in runs.values():
            if not all(rights):
                after = rights[rights.index(False) + 1 :]
                lengths.append(after.index(True) if True in after else len(after))
    return _share(sum(lengths), len(lengths))


@dataclass(frozen=True, slots=True)
class BackJumps:
    """Inner back-jumps: how many there are by gold, how many a system made, and how many of both are the same: under exactly the gold parent."""

    gold: int
    made: int
    right: int

    @property
    def recall(self) -> float:
        """Of those by gold, the share put under exactly their gold parent. NaN where there is none."""
        return _share(self.right, self.gold)

    @property
    def precision(self) -> float:
        """Of those a system made, the share that is right. NaN where it made none."""
        return _share(self.right, self.made)


def back_jumps(judged: Iterable[Judged]) -> BackJumps:
    """Count inner back-jumps.

    A turn is one *by gold* when its gold parent isn't the latest state of its gold tree: what was said since in that tree is left aside, whether the parent
    has children already or is the end of another branch of the tree. A system *made* one where it put a turn under a state that wasn't the latest of the gold
    tree *of that state*, whatever tree its own earlier errors have put that state into: a place before a turn of another matter that stands there by mistake
    is none. But where a latest turn was put elsewhere by mistake, going on at what the system takes for the end of its tree is one. A turn put under exactly
    its gold parent is one of both or of neither, so that one number serves recall and precision.
    """
    judged = list(judged)
    right = sum(turn.back_jump and turn.parent_right for turn in judged)
    return BackJumps(sum(turn.back_jump for turn in judged), sum(turn.jumped for turn in judged), right)


def swapped(judged: Iterable[Judged], twins: Mapping[str, Collection[str]]) -> float:
    """Swapped-entity confusion: of the turns whose gold tree has twins (tree → trees of the same shape about another one), the share put into a twin."""
    among = [turn for turn in judged if turn.tree in twins and not turn.gold_root]
    return _share(sum(turn.said in twins[str(turn.tree)] for turn in among), len(among))


def at_coverage(judged: Sequence[Judged], share: float) -> float:
    """Branch accuracy over the surest `share` of the turns."""
    sure = sorted(judged, key=lambda turn: -turn.probability)[: max(1, round(share * len(judged)))]
    return _share(sum(turn.right for turn in sure), len(sure))


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one or more streams. Shares are 0…1, NaN where nothing was to be judged; times in ms."""

    turns: int
    branch: float
    previous_turn: float
    resumption: float
    resumptions: int
    parent: float
    root_precision: float
    root_recall: float
    root_f1: float
    ece: float
    at_80: float
    on_path: float
    top_2: float
    p50: float
    p95: float

    def __str__(self) -> str:
        return (
            f"branch {self.branch:.3f} (previous turn {self.previous_turn:.3f}) · resumptions {self.resumption:.3f} of {self.resumptions}"
            f" · new root P {self.root_precision:.3f} R {self.root_recall:.3f} F1 {self.root_f1:.3f} · parent {self.parent:.3f}"
            f" · ECE {self.ece:.3f} · surest 80 % {self.at_80:.3f} · {self.turns} turns"
        )


def summarize(judged: Iterable[Judged]) -> Score:
    """All figures over judged turns, of however many streams."""
    judged = list(judged)
    hit = sum(turn.gold_root and turn.said_root for turn in judged)
    precision = _share(hit, sum(turn.said_root for turn in judged))
    recall = _share(hit, sum(turn.gold_root for turn in judged))
    resumed = [turn for turn in judged if turn.resumption]
    times = sorted(turn.ms for turn in judged if not math.isnan(turn.ms))
    return Score(
        turns=len(judged),
        branch=_share(sum(turn.right for turn in judged), len(judged)),
        previous_turn=_share(sum(turn.baseline_right for turn in judged), len(judged)),
        resumption=_share(sum(turn.right for turn in resumed), len(resumed)),
        resumptions=len(resumed),
        parent=_share(sum(turn.parent_right for turn in judged), len(judged)),
        root_precision=precision,
        root_recall=recall,
        root_f1=2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0,
        ece=calibration_error(judged),
        at_80=at_coverage(judged, 0.8),
        on_path=_known(turn.on_path for turn in judged),
        top_2=_known(turn.top_2 for turn in judged),
        p50=quantile(times, 0.5),
        p95=quantile(times, 0.95),
    )


def calibration_error(judged: Sequence[Judged]) -> float:
    """Expected calibration error over ten equal bins of probability, in 0…1."""
    bins: Mapping[int, list[Judged]] = {index: [] for index in range(BINS)}
    for turn in judged:
        bins[min(BINS - 1, int(turn.probability * BINS))].append(turn)
    gap = sum(abs(sum(turn.right for turn in bin) - sum(turn.probability for turn in bin)) for bin in bins.values())
    return _share(gap, len(judged))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _known(values: Iterable[bool | None]) -> float:
    known = [value for value in values if value is not None]
    return _share(sum(known), len(known))


def quantile(values: Sequence[float], at: float) -> float:
    """The value at share `at` (nearest rank) of values in ascending order; NaN of none."""
    return values[min(len(values) - 1, math.ceil(at * len(values)) - 1)] if values else math.nan


NAMES: Mapping[str, str] = {
    "turns": "turns",
    "branch": "branch accuracy",
    "previous_turn": "branch accuracy of “previous turn”, same turns",
    "resumption": "branch accuracy, resumptions only",
    "resumptions": "resumptions",
    "parent": "parent exact",
    "root_precision": "new-root precision",
    "root_recall": "new-root recall",
    "root_f1": "new-root F1",
    "ece": "expected calibration error",
    "at_80": "branch accuracy at 80 % coverage",
    "on_path": "true parent on the chosen path",
    "top_2": "branch right at the first or second place",
    "p50": "ms a turn, localize and commit, p50",
    "p95": "ms a turn, localize and commit, p95",
}


def rows(score: Score) -> list[tuple[str, str]]:
    """A score as (what, figure); what was not to be judged says so."""
    return [(label, _figure(getattr(score, name), name)) for name, label in NAMES.items()]


def latency(times: Sequence[float]) -> list[tuple[str, str]]:
    """Only the times, for a replay without gold."""
    ordered = sorted(times)
    return [("turns", str(len(times)))] + [(NAMES[name], _figure(quantile(ordered, at), name)) for name, at in (("p50", 0.5), ("p95", 0.95))]


def _figure(value: float, name: str) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "not measured"
    return f"{value:.1f}" if name in ("p50", "p95") else f"{value:.3f}"
