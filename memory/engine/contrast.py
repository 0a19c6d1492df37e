"""What spoke for one place against another, part by part, in words: for the inspector, for the sentence that says why, and for “why not that one?”"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.engine.forest import Candidate, Sign

SLIGHT: Final = 0.05  # a difference of scores that decides nothing
SLIGHT_BESIDE: Final = 0.06  # … as a share of the largest one

# What a sign says of its place, which “there” is. {quotes}: “pipe” and “wall”; {was}: was or were.
SAYS: Final[Mapping[str, str]] = {
    "described": "{quotes} is nearest there",
    "near_sentence": "a sentence said there is nearest to it",
    "near_last": "what was said last there is nearest to it",
    "near_lately": "the latest turns there are nearest to it",
    "near_earlier": "an earlier turn there is nearest to it",
    "only_words": "only there {was} {quotes} said",
    "last_words": "{quotes} {was} said there last",
    "words": "{quotes} {was} spoken of on that path",
    "only_names": "only there {was} {quotes} spoken of",
    "about": "{quotes} {was} what that topic began with",
    "names": "{quotes} {was} spoken of there",
    "he": "it speaks of him, as that path does",
    "she": "it speaks of her, as that path does",
    "answers": "it answers {quotes}",
    "asks_about": "it asks about {quotes}, which was left open there",
    "picks": "it picks from what was listed there",
    "topic": "the topic there is named",
    "began": "how that topic began is nearest to it",
    "last": "that was the last matter spoken about",
    "additive": "it adds to what was just spoken of",
    "answer": "it speaks of the last answer",
    "elliptical": "it only makes sense with what was just said",
    "pronoun": "its pronouns lean on what was just said",
    "opener": "it opens like a reply",
    "choosing": "it decides on what was just spoken of",
    "picking": "it points into what was just said",
    "short": "so few words mostly go on with what was just said",
    "returning": "{quotes} goes back to an earlier matter",
    "reconsidering": "it goes back on an earlier choice",
    "unsaid": "{quotes} {was} never said before",
    "unnamed": "{quotes} {was} never spoken of before",
    "introduced": "it brings in {quotes}",
    "fresh": "{quotes} announces another matter",
    "greeting": "it opens with a greeting",
}
# Signs whose words must be those of one place alone to speak for it.
SHARED: Final = frozenset({"last_words", "words", "names"})
# What a part says without a sign: of a branch beside another, of a branch beside a new topic, of a new topic.
BRANCH: Final[Mapping[str, str]] = {
    "meaning": "the meaning there is nearer",
    "words": "more of the words were said there",
    "names": "the names that were said fit better there",
    "reply": "it fits better what was left open there",
    "path": "the path as a whole has more to do with it",
    "cue": "the way it was said points there",
    "recency": "that was spoken of more lately",
}
OLD: Final[Mapping[str, str]] = {
    **BRANCH,
    "meaning": "the meaning there is near enough",
    "words": "enough of the words were said there",
    "names": "no name in it calls for a new one",
    "reply": "it fits what was left open there",
    "path": "the path as a whole has enough to do with it",
    "recency": "that was spoken of lately",
}
NEW: Final[Mapping[str, str]] = {
    "meaning": "no meaning there is near enough",
    "words": "too few of the words were said there",
    "names": "the names that were said don’t belong there",
    "reply": "it answers nothing that was left open there",
    "path": "that path has too little to do with it",
    "cue": "the way it was said begins something new",
    "recency": "that was spoken of too long ago",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much a part of one place's score exceeds that of another (below 0: falls short), and what speaks for the place it favours."""

    part: str
    by: float
    words: str
    sign: Sign | None


def contrast(place: Candidate, other: Candidate) -> list[Difference]:
    """What speaks for `place` against `other`, and for the other, longest first, slight differences left out."""
    by = {part: place.parts.get(part, 0.0) - other.parts.get(part, 0.0) for part in dict.fromkeys([*place.parts, *other.parts])}
    least = max(SLIGHT, SLIGHT_BESIDE * max(map(abs, by.values()), default=0.0))
    found = [_difference(part, lead, *((place, other) if lead > 0 else (other, place))) for part, lead in by.items() if abs(lead) >= least]
    return sorted(found, key=lambda one: -abs(one.by))


def favouring(place: Candidate, other: Candidate) -> list[Difference]:
    """The part of the contrast that speaks for `place`."""
    return [one for one in contrast(place, other) if one.by > 0]


def _difference(part: str, by: float, favoured: Candidate, beside: Candidate) -> Difference:
    sign = favoured.signs.get(part)
    if sign is not None and sign.kind in SHARED and (theirs := beside.signs.get(part)) is not None:
        sign = Sign(sign.kind, tuple(quote for quote in sign.quotes if quote not in theirs.quotes), sign.state)
    said = says(sign) if sign is not None else ""
    plain = NEW if favoured.state is None else OLD if beside.state is None else BRANCH
    return Difference(part, by, said or plain.get(part, "it scores higher there"), sign if said else None)


def says(sign: Sign) -> str:
    """What a sign says of its place; empty for one that has nothing to quote, or of a kind that isn't known."""
    words = SAYS.get(sign.kind, "")
    if "{quotes}" in words and not sign.quotes:
        return ""
    return words.format(quotes=listed(sign.quotes), was="were" if len(sign.quotes) > 1 else "was")


def listed(quotes: Sequence[str]) -> str:
    """“pipe”, “wall” and “sink”."""
    *first, last = [f"“{quote}”" for quote in quotes] or [""]
    return f"{', '.join(first)} and {last}" if first else last
