"""“Why not that one?”: a place that wasn't chosen beside the one that was. What is said of both is in `engine/why_not.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memory import steps
from memory.engine import why_not as wording
from memory.engine.forest import Candidate, Method, Recall
from memory.errors import conflict
from memory.models import Forest, InteractionState, RoutingDecision, Turn
from memory.store import read

# Scores are kept to four decimals, similarities in half floats.
SAME_SCORE = 0.005


@dataclass(frozen=True, slots=True)
class Weighed:
    """A place that wasn't chosen beside the one that was, both scored as the forest stood just before the turn."""

    candidate: Candidate
    winner: Candidate
    words: str
    changed: bool  # the winner scores otherwise than it did: the forest was corrected since


def weigh(turn: Turn, state: InteractionState) -> Weighed:
    """What spoke against the branch of `state` when the turn was localized. Reads only; raises Refused for a state that came later than the turn."""
    forest = Forest.objects.get(pk=turn.forest_id)
    own = InteractionState.objects.filter(turn=turn).first()
    decision = RoutingDecision.objects.filter(turn=turn).first()
    if decision is None:
        raise conflict("This turn has no place yet.", "Wait until it is localized.")
    if own is not None and state.position >= own.position:
        raise conflict("This state came later than the turn.", "Choose an earlier one.")
    told = decision.candidates[0] if decision.candidates else None
    chosen = told["state"] if told else decision.chosen_id
    branches = {one.id: one.branch for one in read.interactions(forest.pk, {state.pk, *([chosen] if chosen else [])}).values()}
    said, before = (own.user_text, own.position - 1) if own else (turn.text, None)
    place = steps.localize_text(forest, said, turn.sent_at, as_of=before, besides=())
    # What recall didn't bring is scored among the others; what it brought, without it: scores look at who else is there.
    wide = place
    if not place.recall.tips.keys() >= set(branches.values()):
        wide = steps.localize_text(forest, said, turn.sent_at, as_of=before, besides=branches.values())
    candidate = _candidate(wide, state.pk, branches)
    if told and chosen is None:
        winner = _candidate(place, None, branches)
    elif chosen in branches:
        winner = _candidate(place if branches[chosen] in place.recall.tips else wide, chosen, branches)
    else:  # it was deleted
        winner = place.decision.candidates[0]
    if chosen in branches and told and branches[chosen] == branches[state.pk]:  # where on the branch, the kept decision says
        candidate = winner = replace(winner, state=chosen, label=told["label"])
    given = told is not None and not told["parts"]
    changed = told is not None and not given and abs(winner.score - told["score"]) > SAME_SCORE
    method: Method = "asked" if decision.method == RoutingDecision.Method.ASKED else place.decision.method
    leaves = _leaves(forest, wide.recall, winner.state, state) if winner.state is not None and winner.state == candidate.state else None
    return Weighed(candidate, winner, wording.words(place.query, method, candidate, winner, given=given, leaves=leaves), changed)


def _leaves(forest: Forest, found: Recall, place: int, asked: InteractionState) -> wording.Leaves | None:
    """What a place leaves aside of its branch, on which also `asked` lies; None for the end of a branch."""
    if place in found.tips.values():
        return None
    at = read.interactions(forest.pk, [place]).get(place)
    return wording.Leaves(unsurely=place in found.ends, later=at is not None and asked.position > at.position)


def _candidate(place: steps.Place, state: int | None, branches: Mapping[int, int]) -> Candidate:
    """The candidate that is a state, else that of its branch; None being the new root. `branches`: the branch of each state."""
    candidates = {candidate.state: candidate for candidate in place.decision.candidates}
    if state in candidates:
        return candidates[state]
    found = place.recall
    of = {end: branch for branch, end in found.tips.items()}
    of |= {end: lane.tip.branch for lane in found.looked_at for end in (*lane.latest, lane.tip.id)}  # a place may be an earlier state than an end
    return next(candidate for end, candidate in candidates.items() if end is not None and state is not None and of.get(end) == branches[state])
