"""Localization (paper §3.2): the interaction state an input resumes, by a cascade of explicit cues, then hybrid recall and branch-aware ranking.

1. A continuation cue leads to the active state.
2. A temporal-return cue leads to what was said in the window it names (`window`; the store brings the states of that window as `then`).
3. Otherwise the likeliest branch, if it beats the new root, whose own score is the threshold τ: by a fitted score (`localize`), or by the paper's additive one
   (`localize_additive`).

The place is the tip of a branch, or an earlier state of it where the input goes back to that (`back_jump`).
Below `SURE` the model is shown the runner-up's path too; below `UNSURE` the page says that it may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import inner, rank, signs
from memory.engine.calibration import Calibration
from memory.engine.contrast import favouring
from memory.engine.feature_names import PARTS
from memory.engine.features import Places
from memory.engine.forest import Candidate, Decision, Interaction, Lanes, Method, Recall, Recalled
from memory.engine.query import Query
from memory.engine.rank import Branch, Field
from memory.engine.text import ended, excerpt, one_line
from memory.engine.when import Window

SURE: Final = 0.9  # from this probability a decision stands alone: on held-out dialogues such are right 98 times in 100
UNSURE: Final = 0.7  # below this one it is marked: of such, every other one is wrong there, above it one in fifteen
WORTH_SHOWING: Final = 0.1  # from this probability the runner-up of an unsure decision is shown to the model too
SHOWN: Final = 8  # candidates kept on a decision, beside the new root
LABEL: Final = 60  # characters of a label
LEFT_ASIDE: Final = " What came after on that path was put there unsurely, and is left aside."
SPOKEN: Final = 44  # … within a sentence


def needs_recall(query: Query, active: Interaction | None) -> bool:
    """Whether the input has to be looked up at all: a continuation cue with an active state decides by itself."""
    return active is None or not query.cues.continuation


def window(query: Query) -> Window | None:
    """The window of a temporal return: the store brings the states of that time to `localize` as `then`. None when the input names no such time."""
    return query.cues.temporal


def localize(query: Query, recall: Recall, calibration: Calibration, then: Sequence[Recalled] = (), *, shown: int = SHOWN) -> Decision:
    """Decide where the input goes. Without any state in the forest: a new root, surely. At most `shown` candidates are kept, beside the new root.

    `then` are the states of `window(query)`, if it names one; their branches are candidates like all others."""
    found = rank.read(query, _with(recall, then))
    ranker = f"logit-{calibration.features}-{calibration.hash[:8]}"
    scored = Scored(found, found.places, found.scores(calibration), lambda places: found.parts(calibration, places))
    return _decide(query, recall, then, scored, calibration.temperature, calibration.cue_probability, ranker, shown)


def localize_additive(
    query: Query,
    recall: Recall,
    ce_scores: Mapping[int, float],
    calibration: Calibration,
    then: Sequence[Recalled] = (),
    threshold: float = rank.PAPER_THRESHOLD,
    *,
    shown: int = SHOWN,
) -> Decision:
    """The same cascade with the paper's own sum and its fixed τ (§3.2). `ce_scores` are a cross-encoder's logits by state, on the scale of
    BGE-Reranker-v2-M3 (another scale needs a `threshold` of its own); a branch has that of its best state.
    Of `calibration` only the worth of cues is used: these probabilities aren't fitted."""
    found = rank.read(query, replace(_with(recall, then), earlier=(), further=None))  # the paper knows the tips of what it recalled
    lowest = min(ce_scores.values(), default=0.0)
    parts = [
        rank.additive_parts(
            max((ce_scores.get(state.id, lowest) for state in (branch.tip, *(found.interaction for found in branch.evidence))), default=lowest),
            len(branch.shared),
            branch.recent,
            branch.topic if recall.anchors else None,
        )
        for branch in found.branches
    ]
    parts.append({**dict.fromkeys(PARTS, 0.0), "path": threshold})
    scored = Scored(found, Places.of(query, recall), [sum(one.values()) for one in parts], lambda places: [parts[place] for place in places])
    return _decide(query, recall, then, scored, 1.0, calibration.cue_probability, "additive-ce", shown)


def back_jump(query: Query, recall: Recall, decision: Decision, calibration: Calibration) -> tuple[int, float] | None:
    """The earlier state of the chosen branch that the input goes back to, with its share of the branch's probability; None: the place stays the tip.

    Only for a place that ranking found; `inner.back_to` makes the decision that place's."""
    if decision.method != "recall":
        return None
    lane = next((lane for lane in recall.lanes.values() if lane.tip.id == decision.parent), None)
    if lane is None:
        return None
    active = recall.active is not None and recall.active.branch == lane.tip.branch
    return inner.earlier(query, lane, active, calibration.earlier, calibration.threshold)


@dataclass(frozen=True, slots=True)
class Scored:
    """The places with their `scores`, the last of which is the new root's. `parts` tells those of some places, by their number, −1 being the new root: of a
    few hundred a handful is looked at. `beside`: these places, and what else there is to tell them from."""

    field: Field
    beside: Places
    scores: Sequence[float]
    parts: Callable[[Sequence[int]], Sequence[Mapping[str, float]]]

    @property
    def lanes(self) -> Lanes:
        return self.field.places.columns


def _decide(
    query: Query,
    recall: Recall,
    then: Sequence[Recalled],
    scored: Scored,
    temperature: float,
    cue_probability: Mapping[str, float],
    ranker: str,
    shown: int,
) -> Decision:
    threshold = scored.scores[-1]
    every = rank.probabilities(scored.scores, temperature)
    method, chosen = _choose(query, scored, every, recall, then)
    shares, fresh = _best_places(scored.lanes.branches, every, chosen), every[-1]
    if method in ("continuation", "temporal") and chosen is not None:
        *given, fresh = _given([*shares.values(), fresh], list(shares).index(chosen), cue_probability.get(method, SURE))
        shares = dict(zip(shares, given, strict=True))
    ids = scored.lanes.ids.tolist()
    order = sorted(shares, key=lambda place: (place != chosen, -shares[place], ids[place]))[:shown]
    branches = {place: scored.field.branch(place) for place in order}
    *parts, fresh_parts = scored.parts([*order, -1])
    likeliest = [_candidate(branches[place], told, scored.scores[place], shares[place]) for place, told in zip(order, parts, strict=True)]
    new = Candidate(None, None, "A new topic", "", False, threshold, fresh, fresh_parts)
    ranked = sorted([*likeliest, new], key=lambda one: ((one is not new) if chosen is None else (one is not likeliest[0]), -one.probability, one.state or 0))
    kept = _signed(query, recall, scored.beside, branches, ranked)
    winner, runner_up = kept[0], kept[1] if len(kept) > 1 else None
    leaves = chosen is not None and branches[chosen].aside is not None
    sure, unsure = winner.probability >= SURE, winner.probability < UNSURE
    second = (
        next((candidate.state for candidate in kept[1:] if candidate.state is not None and candidate.probability >= WORTH_SHOWING), None) if not sure else None
    )
    return Decision(
        method=method,
        parent=winner.state,
        root=winner.root,
        probability=winner.probability,
        margin=winner.probability - (runner_up.probability if runner_up else 0.0),
        threshold=threshold,
        unsure=unsure,
        why=_why(query, method, winner, runner_up, second is not None) + (LEFT_ASIDE if leaves else ""),
        candidates=kept,
        second=second,
        ranker=ranker,
    )


def _with(recall: Recall, then: Sequence[Recalled]) -> Recall:
    known = {found.interaction.id for found in recall.recalled}
    return replace(recall, recalled=[*recall.recalled, *(found for found in then if found.interaction.id not in known)]) if then else recall


def given(parent: Interaction | None, *, edited: bool = False) -> Decision:
    """The decision when the sender said where the turn goes (None: to a new root), or edited another turn, beside which it then goes."""
    tree = _tree(parent) if parent else ""
    candidate = Candidate(
        parent.id if parent else None, parent.root if parent else None, _label(parent) if parent else "A new topic", tree, False, 0.0, 1.0, {}
    )
    if edited:
        why = f"You edited an earlier turn, so it goes beside that one, under {place_words(candidate)}." if parent else "You edited the beginning of a topic."
    else:
        why = f"You chose {place_words(candidate)}." if parent else "You chose to begin a new topic."
    return Decision("given", candidate.state, candidate.root, 1.0, 1.0, 0.0, False, why, [candidate])


def _choose(query: Query, scored: Scored, shares: Sequence[float], recall: Recall, then: Sequence[Recalled]) -> tuple[Method, int | None]:
    """The method that decides, and the index of the place it picks (None = a new root). `shares`: of all places, the new root last."""
    lanes = scored.lanes
    active = next(iter(np.flatnonzero((lanes.branches == recall.active.branch) & ~lanes.aside).tolist()), None) if recall.active else None
    if active is not None and query.cues.continuation:
        return "continuation", active
    if query.cues.temporal is not None and then:
        at_that_time = {
            found.interaction.branch: max(other.interaction.position for other in then if other.interaction.branch == found.interaction.branch)
            for found in then
        }
        eligible = np.flatnonzero(np.isin(lanes.branches, list(at_that_time)) & ~lanes.aside).tolist()
        if eligible:
            # What was said then is asked for by its matter, not by how lately it was used: cue and recency don't count, the latest of equals wins.
            # Without words in common (“where did we stop yesterday?”) only the time is left.
            told = any(scored.field.table.shared(index) for index in eligible)
            parts = dict(zip(eligible, scored.parts(eligible), strict=True))
            matter = {index: sum(parts[index][part] for part in ("meaning", "words", "names", "path")) if told else 0.0 for index in eligible}
            return "temporal", max(eligible, key=lambda index: (matter[index], at_that_time[int(lanes.branches[index])]))
    places = _best_places(lanes.branches, shares)
    best = max(places, key=places.__getitem__, default=None)
    if best is None or not places[best] > shares[-1]:
        return "new_root", None
    return "recall", best


def _best_places(branches: NDArray[np.int64], shares: Sequence[float], chosen: int | None = None) -> dict[int, float]:
    """Of each branch the likeliest of its places (or the chosen one), by index, with the share of them all: first the branch is decided, then where on it.

    `branches` is that of each place; `shares` may go on behind them."""
    if not len(branches):
        return {}
    every = np.array(shares[: len(branches)])
    _, of = np.unique(branches, return_inverse=True)
    likely = every.copy()
    if chosen is not None:
        likely[chosen] = np.inf
    order = np.lexsort((-likely, of))  # by branch, of each the likeliest place first
    best = order[np.r_[True, np.diff(of[order]) > 0]]
    return dict(zip(best.tolist(), np.bincount(of, every).tolist(), strict=True))


def _given(shares: Sequence[float], chosen: int, probability: float) -> list[float]:
    """The shares when a cue decided: the chosen one has what such cues are worth, the others share the rest as they did."""
    rest = sum(share for index, share in enumerate(shares) if index != chosen)
    return [probability if index == chosen else (1 - probability) * (share / rest if rest else 0.0) for index, share in enumerate(shares)]


def _candidate(branch: Branch, parts: Mapping[str, float], total: float, share: float) -> Candidate:
    return Candidate(branch.tip.id, branch.tip.root, _label(branch.tip), _tree(branch.tip), branch.active, total, share, parts, branch.channels)


def _signed(query: Query, recall: Recall, places: Places, branches: Mapping[int, Branch], kept: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with what spoke for each. `branches`: theirs, by place."""
    found = signs.read(query, recall, places, {place: branch.shared for place, branch in branches.items()})
    return [replace(candidate, signs=found[candidate.state]) for candidate in kept]


# --- In plain words ------------------------------------------------------------------------------------------------------


def _label(state: Interaction) -> str:
    return excerpt(state.node_summary or state.user or state.assistant, LABEL)


def _tree(state: Interaction) -> str:
    return excerpt(state.topic, LABEL)


def spoken(name: str) -> str:
    """A label or a topic as it stands within a sentence."""
    return excerpt(name, SPOKEN).rstrip(" .!?,")


def place_words(candidate: Candidate) -> str:
    """What a candidate is called in a sentence."""
    if candidate.state is None:
        return "a new topic"
    parts = [spoken(part) for part in (candidate.tree, candidate.label) if part]
    return ", ".join(parts) if parts else "an earlier turn"


def _why(query: Query, method: Method, winner: Candidate, runner_up: Candidate | None, shown_too: bool) -> str:
    """What decided and what nearly did, in one or two plain sentences."""
    place = place_words(winner)
    if method == "continuation":
        return f"“{excerpt(query.cues.continuation, 40)}” can only mean the matter at hand, so it continues {ended(place)}"
    if method == "temporal" and query.cues.temporal is not None:
        return f"“{one_line(query.cues.temporal.phrase)}” points to what was said then, in {ended(place)}"
    rival = _rival(winner, runner_up, shown_too)
    if winner.state is None:
        if runner_up is None:
            return "The first turn of the forest begins its first topic."
        if query.cues.fresh:
            return f"“{one_line(query.cues.fresh)}” announces another matter, so it begins a new topic.{rival}"
        named = [one.words for one in favouring(winner, runner_up) if one.sign is not None][:1]
        return f"Begins a new topic: {', and '.join(['no path is close enough to it', *named])}.{rival}"
    verb = "Continues" if winner.active else "Returns to"
    return f"{verb} {ended(place)} {_reasons(winner, runner_up)}{rival}"


def _reasons(winner: Candidate, runner_up: Candidate | None) -> str:
    """What spoke for the winner most, and what else did: rather something that can be named."""
    leading = favouring(winner, runner_up) if runner_up else []
    others = sorted(leading[1:], key=lambda one: (one.sign is None, -one.by))
    text = ", and ".join(one.words for one in [*leading[:1], *others[:1]]) or "it is the likeliest place"
    return f"{text[0].upper()}{text[1:]}."


def _rival(winner: Candidate, runner_up: Candidate | None, shown_too: bool) -> str:
    if runner_up is None or runner_up.probability < 0.03:
        return ""
    share = f"{round(runner_up.probability * 100)} %"
    if runner_up.state is None:
        return f" A new topic was the other choice ({share})."
    if shown_too:
        return f" {place_words(runner_up)} was close ({share}), and the model was also shown it."
    return f" Next was {place_words(runner_up)} ({share})."
