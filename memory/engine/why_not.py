"""Why a turn didn't go to a certain place: what spoke against it beside the place that won, part by part, in a plain sentence."""

from __future__ import annotations

from typing import Final

from memory.engine.forest import Candidate, Method
from memory.engine.localize import place_words
from memory.engine.query import Query
from memory.engine.text import excerpt, one_line

NAMED: Final = 2  # parts named on either side
SLIGHT: Final = 0.05  # a difference that decides nothing

# What a lower score in a part says of a branch, and a higher one.
AGAINST: Final = {
    "meaning": "its meaning is further from what was said",
    "words": "fewer of the words were spoken of there",
    "names": "the names that were said belong elsewhere",
    "reply": "nothing was left open there that this answers",
    "path": "its path as a whole has less to do with it",
    "cue": "the way it was said points elsewhere",
    "recency": "it was spoken of longer ago",
}
FOR: Final = {
    "meaning": "its meaning is nearer",
    "words": "more of the words were spoken of there",
    "names": "the names that were said belong there",
    "reply": "it answers something that was left open there",
    "path": "its path as a whole has more to do with it",
    "cue": "the way it was said points to it",
    "recency": "it was spoken of more lately",
}


def words(query: Query, method: Method, candidate: Candidate, winner: Candidate, *, given: bool = False) -> str:
    """What spoke against `candidate`, the branch a person asks about, when `winner` was chosen by `method`; `given`: a person had chosen it."""
    if candidate.state == winner.state:
        return f"It lies on the branch that was chosen, which goes on from its end, {place_words(winner)}."
    weighed = _weighed(candidate, winner)
    if given:
        return f"You said where it goes: {place_words(winner)}. Without that, by the score: {weighed}"
    if method == "asked":
        return f"Ranking alone was unsure, so the language model was asked, and with its word it was {place_words(winner)}. By the score alone: {weighed}"
    if method == "continuation" and winner.active:
        return f"“{excerpt(query.cues.continuation, 40)}” can only mean the matter at hand, {place_words(winner)}. By the score alone: {weighed}"
    if method == "temporal" and query.cues.temporal is not None:
        return f"“{one_line(query.cues.temporal.phrase)}” points to what was said then, in {place_words(winner)}. By the score alone: {weighed}"
    return weighed[:1].upper() + weighed[1:]


def _weighed(candidate: Candidate, winner: Candidate) -> str:
    scores = f"{_number(candidate.score)} against {_number(winner.score)} of {place_words(winner)}"
    lead = {part: candidate.parts.get(part, 0.0) - winner.parts.get(part, 0.0) for part in AGAINST}
    worse = [part for part in sorted(lead, key=lambda part: lead[part]) if lead[part] < -SLIGHT][:NAMED]
    better = [part for part in sorted(lead, key=lambda part: -lead[part]) if lead[part] > SLIGHT][:NAMED]
    if candidate.score >= winner.score:
        if winner.state is None:
            return f"nothing: it scores {scores}."
        return f"nothing: it scores {scores}{_because(better, FOR)}."
    if winner.state is None:
        return f"it scores {scores}: what was said is too far from that branch to go on with it."
    says = f"it scores {scores}{_because(worse, AGAINST)}."
    if better:
        says += f" For it: {' and '.join(FOR[part] for part in better)}."
    return says


def _because(parts: list[str], phrases: dict[str, str]) -> str:
    return f": {' and '.join(phrases[part] for part in parts)}" if parts else ""


def _number(score: float) -> str:
    return f"{score:.1f}".replace("-", "−")
