"""What a turn says about where it belongs: go on, back to then, something new, and how it is worded.

A *continuation cue* is a whole message or an opening that can only mean the matter at hand (“go on”, “in your last answer”).
A *temporal-return cue* names a time **and** the talk that took place then (“what we said on Monday”): “yesterday I ran 5 km” tells news and is none.
The other cues are features: they lean one way, and the ranker learns how far. Their phrases are data, by language: wording.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.engine import wording
from memory.engine.phrases import PAUSES, STOPS
from memory.engine.terms import content_terms
from memory.engine.when import Window, windows
from memory.engine.wording import Wording


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one input. `continuation`, `returning` and `fresh` hold the words that are the cue, empty when there is none."""

    continuation: str = ""
    """Can only mean the matter at hand: “go on”, “in your last answer”."""
    temporal: Window | None = None
    """Where on the timeline a temporal return looks."""
    returning: str = ""
    """Goes back to an earlier matter without saying when: “back to the kitchen”, “as we said before”."""
    fresh: str = ""
    """Announces another matter: “new question”, “by the way”."""
    pronoun: bool = False
    """Leans on something said before: “it”, “those”, “the other”."""
    inward: float = 0.0
    """How far its first pronoun may mean something of the same input, 0…1 by the content words before that: “I learn the cello and practise scales on it”."""
    opener: bool = False
    """Opens like a reply: “and”, “but”, “yes”."""
    answer: bool = False
    """Speaks of an answer or asks to redo it: “shorter”, “your list”, “again”."""
    greeting: bool = False
    """Opens with a greeting, as matters are opened."""
    additive: bool = False
    """Adds to the matter at hand: “one more thing”, “while we're at it”, “… as well?”"""
    topical: bool = False
    """Opens by naming its matter: “regarding the kitchen”, “as for Anna”, “Kitchen: …”"""
    reporting: bool = False
    """Tells news of somebody or something: “she called”, “heard back from the bank”, “the caterer says …”"""
    contrast: bool = False
    """Tells apart: “not hers, the other one”, “instead of”, “no longer”."""
    picking: bool = False
    """Points into a list or among options: “the second one”, “the one with the garden”, “number three”, “the cheaper one”."""
    reconsidering: bool = False
    """Goes back on an earlier choice: “changed my mind”, “on second thoughts”, “let's go back to the options”. It may return to an earlier state of a tree."""
    choosing: bool = False
    """Decides or books: “I'll take it”, “let's go with”, “that's the one”."""
    first_person: bool = False
    """Speaks of its writer: “I”, “our”. “Tell me” alone doesn't."""
    third_person: bool = False
    """Leans on a third person or thing: “she”, “it”, “these”. “It is raining” and “I think that …” don't."""
    question: bool = False
    """Asks: by its mark, a question word or the order of its words."""
    request: bool = False
    """Wants something done: “write …”, “could you …”, “I need a …”. It may be a question as well."""
    statement: bool = False
    """Neither asks nor wants anything done; False for an input without words."""
    introducing: bool = False
    """Brings in someone or something by name: “my sister Anna”, “a company called …”"""
    elliptical: bool = False
    """Can't be understood by itself: “and for two?”, “the blue”, “Tuesday works”."""


def detect(text: str, at: datetime, zone: str) -> Cues:
    """The cues of an input that arrived at `at` (aware) from someone in the IANA `zone`. An unknown zone raises ZoneInfoNotFoundError."""
    worded = wording.read(text)
    fresh, returning, temporal = worded.said("fresh").rstrip(",.:"), worded.said("returning"), None
    if worded.has("talk"):
        temporal = next((window for window in windows(text[:_HEAD], at, zone) if window.start <= at), None)
    question, request = _asks(worded), worded.has("request")
    return Cues(
        continuation="" if fresh or returning or temporal else worded.said("continuation"),
        temporal=temporal,
        returning=returning,
        fresh=fresh,
        pronoun=worded.has("pronoun", "third_person"),
        inward=_inward(worded),
        opener=worded.has("opener"),
        answer=worded.has("answer"),
        greeting=worded.has("greeting"),
        additive=worded.has("additive"),
        topical=worded.has("topical"),
        reporting=worded.has("reporting") and not question,
        contrast=worded.has("contrast"),
        picking=worded.has("picking"),
        reconsidering=worded.has("reconsidering"),
        choosing=worded.has("choosing"),
        first_person=worded.has("first_person"),
        third_person=worded.has("third_person"),
        question=question,
        request=request,
        statement=worded.words > 0 and not question and not request,
        introducing=worded.has("introducing"),
        elliptical=_elliptical(worded, request),
    )


_NEXT = 2  # words after “rather than” that say what isn't meant


def set_aside(text: str) -> str:
    """What of a text says whom or what it doesn't mean, folded: “not meera's”, “without viktor”, “put ilse aside”. Empty where it says nothing of the
    kind."""
    worded = wording.read(text)
    leading = frozenset().union(*(wording.languages()[code].common for code in worded.languages))
    ends = (*PAUSES, *STOPS)
    said = []
    for first, after in worded.found.get("contrast", ()):
        end = after
        if worded.tokens[after - 1] in leading:  # “rather than” says nothing by itself, “the other trip” does
            end = next((place for place in range(after, len(worded.tokens)) if worded.tokens[place] in ends), len(worded.tokens))
        said.append(worded.text[worded.spans[first][0] : worded.spans[min(end, after + _NEXT) - 1][1]])
    return ". ".join(said)


def tells(text: str) -> bool:
    """Whether a text tells something: words that are neither a question nor a request."""
    worded = wording.read(text)
    return worded.words > 0 and not _asks(worded) and not worded.has("request")


def _asks(worded: Wording) -> bool:
    return worded.has("question") or "?" in worded.tokens


def _inward(worded: Wording) -> float:
    """0 without a pronoun, and with one word before it, which is mostly what is done to it (“can I freeze it?”); ½ with two, ¾ with four."""
    spans = [*worded.found.get("pronoun", ()), *worded.found.get("third_person", ())]
    before = len(content_terms(worded.text[: worded.spans[min(spans)[0]][0]])) if spans else 0
    return 1.0 - 1.0 / max(1, before)


_HEAD = 400  # characters that a time is looked for in: a pasted text has none of its writer's
_SHORT, _FEW = 8, 4  # words: the longest message that leans on others by its form, the longest that does by having no verb


def _elliptical(worded: Wording, request: bool) -> bool:
    """Whether a short message can't be understood alone: its language says so, or it has no verb and is a part of a sentence, or very
    short and no request. A message that names its matter or brings someone in stands alone."""
    if not 0 < worded.words <= _SHORT or worded.has("topical", "introducing"):
        return False
    return worded.has("elliptical") or (not worded.has("verb") and (worded.has("fragment") or (worded.words <= _FEW and not request)))
