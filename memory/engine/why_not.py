"""Why a turn didn't go to a certain place: what spoke against it beside the place that won, part by part, in a plain sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memory.engine.contrast import contrast
from memory.engine.forest import Candidate, Method
from memory.engine.localize import place_words
from memory.engine.query import Query
from memory.engine.text import ended, excerpt, one_line

NAMED: Final = 2  # parts named on either side


@dataclass(frozen=True, slots=True)
class Leaves:
    """That a place isn't the end of its branch: what came after is left aside, since it was put there `unsurely`, or the input goes back to before it.
    `later`: the state a person asks about came after."""

    unsurely: bool
    later: bool


def words(query: Query, method: Method, candidate: Candidate, winner: Candidate, *, given: bool = False, leaves: Leaves | None = None) -> str:
    """What spoke against `candidate`, the branch a person asks about, when `winner` was chosen by `method`; `given`: a person had chosen it.
    `leaves`: of one branch, where on it the place is, if not its end."""
    if candidate.state == winner.state:
        if leaves is not None:
            aside = "what came after was put there unsurely, and is left aside" if leaves.unsurely else "what came after is left aside"
            after = ", but after the place" if leaves.later else ""
            return f"It lies on the branch that was chosen{after}: it goes on from an earlier turn, {place_words(winner)}; {aside}."
        return f"It lies on the branch that was chosen, which goes on from its end, {ended(place_words(winner))}"
    weighed = _weighed(candidate, winner)
    if given:
        return f"You said where it goes: {ended(place_words(winner))} Without that, by the score: {weighed}"
    if method == "asked":
        return f"Ranking alone was unsure, so the language model was asked, and with its word it was {ended(place_words(winner))} By the score alone: {weighed}"
    if method == "continuation" and winner.active:
        return f"“{excerpt(query.cues.continuation, 40)}” can only mean the matter at hand, {ended(place_words(winner))} By the score alone: {weighed}"
    if method == "temporal" and query.cues.temporal is not None:
        return f"“{one_line(query.cues.temporal.phrase)}” points to what was said then, in {ended(place_words(winner))} By the score alone: {weighed}"
    return weighed[:1].upper() + weighed[1:]


def _weighed(candidate: Candidate, winner: Candidate) -> str:
    """Both scores, and what speaks for either, most first."""
    scores = f"it scores {_number(candidate.score)} against {_number(winner.score)} of {place_words(winner)}"
    found = contrast(candidate, winner)
    against, for_it = ([one.words for one in found if (one.by > 0) is favours][:NAMED] for favours in (False, True))
    that = "a new topic" if winner.state is None else "that one"
    sides = [f"For {name}: {', and '.join(said)}." for name, said in ((that, against), ("this one", for_it)) if said]
    if candidate.score >= winner.score:
        return " ".join([f"nothing: {ended(scores)}", *reversed(sides)])
    return " ".join([ended(scores), *sides])


def _number(score: float) -> str:
    return f"{score:.1f}".replace("-", "−")
