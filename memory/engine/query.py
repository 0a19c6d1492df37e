"""What an input asks: its words, names, times and cues, and the kind of question it is. One reading serves localization, retrieval and assembly."""

# ruff: noqa: SIM905 - lists of words read best as text

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.engine import cues, terms, wording
from memory.engine.cues import Cues
from memory.engine.terms import fold
from memory.engine.when import Window, windows

QueryKind = Literal[
    "previous", "current", "update", "ordinal", "count", "sum", "latest", "earliest", "difference", "compare", "yes_no", "preference", "bridge", "past", "order"
]


@dataclass(frozen=True, slots=True)
class Query:
    """An input as the engine reads it. `terms` are distinct and stemmed, in order; `content` those of them that say what it is about;
    `entities` as the entity index has them; `names` those of them that name somebody or something, neither a date nor a number, and `set_aside` the names
    that the input says it doesn't mean (“not Anna's, the other one”); `dates` are the windows of time it names; `ordinal` 2 for “the second one”, −1 for
    “the last one”."""

    text: str
    time: datetime
    zone: str
    terms: tuple[str, ...]
    content: tuple[str, ...]
    entities: tuple[str, ...]
    cues: Cues
    dates: tuple[Window, ...]
    kinds: frozenset[QueryKind]
    ordinal: int | None = None
    word_count: int = 0
    names: tuple[str, ...] = ()
    set_aside: frozenset[str] = frozenset()

    def asks(self, *kinds: QueryKind) -> bool:
        """Whether the input is of any of these kinds."""
        return not self.kinds.isdisjoint(kinds)


_PATTERNS: dict[QueryKind, str] = {
    "previous": (
        r"\b(?:previous(?:ly)?|former(?:ly)?|original(?:ly)?|old|older|used to|before (?:that|it|we|i) (?:changed|switched|moved)"
        r"|initial(?:ly)?|at first|first (?:choice|plan|idea))\b|\bvorher|\bantes\b|\bavant\b|之前|以前|原来|元々"
    ),
    "current": (
        r"\b(?:current(?:ly)?|now|latest|these days|at the moment|right now|still|so far|nowadays|as of today|today)\b|\bjetzt|\baktuell"
        r"|\bahora\b|\bmaintenant\b|现在|目前|今は"
    ),
    "update": (
        r"\b(?:chang(?:ed?|ing)|updat(?:ed?|ing)|switch(?:ed)?|mov(?:ed) (?:to|from)|instead|no longer|anymore|new (?:value|date|time|price"
        r"|address|plan|budget))\b|\bgeandert|\bcambi[oa]|改"
    ),
    "count": r"\b(?:how many|number of|how often|count)\b|\bwie viele|\bcuant[oa]s\b|\bcombien d|多少|几个|いくつ|何回|몇",
    "sum": (
        r"\b(?:in total|total|altogether|sum|overall|how much (?:have|did|do|has|money|time|is|was|were)|combined)\b|\binsgesamt"
        r"|\ben total\b|一共|总共|合計"
    ),
    "latest": r"\b(?:latest|most recent(?:ly)?|last time|last|newest)\b|\bzuletzt|\bultim[oa]\b|\bderni[e]re?\b|最近|最后|最新",
    "earliest": r"\b(?:earliest|first time|first|oldest)\b|\bzuerst|\bprimer[oa]?\b|最早|第一次|最初",
    "difference": (
        r"\b(?:how (?:long|many (?:days|weeks|months|years|hours|minutes)) (?:ago|between|before|after|since|until|passed|had|have|did|was"
        r"|were|has|is|elapsed)|(?:days|weeks|months|years) (?:between|since|passed|before|after)|difference|how long (?:ago|since|between)"
        r"|more than|less than)\b"
    ),
    "compare": (
        r"\b(?:compared? (?:to|with)|versus|vs|which (?:one )?(?:is|was|came|happened|did).{0,60}\bor\b|(?:more|less|cheaper|earlier|later"
        r"|longer|bigger|better|higher|lower|older|newer|faster|first).{0,80}\bor\b|which .{0,40}(?:first|earlier|later|more|cheaper"
        r"|cheapest))\b"
    ),
    "preference": (
        r"\b(?:recommend(?:ations?)?|suggest(?:ions?)?|any (?:ideas|tips|advice|suggestions)|what should i|where should i"
        r"|can you (?:help me )?(?:choose|pick|find)|advice|ideas for|good (?:place|book|movie|film|recipe|restaurant|gift)s?"
        r"|inspiration)\b|\bempfiehl|\brecomienda|\brecommande|推荐|おすすめ"
    ),
    "bridge": (
        r"\b(?:same (?:\w+ ){1,3}(?:as|that|we|i)|whose|as the (?:one|person|place|day|date|week)|(?:person|place|day|date|week|city|shop"
        r"|colleague|friend) (?:who|that|where|when|i|we) (?:\w+ ){1,6}(?:also|too)?|the (?:one|person) (?:from|of|in|behind) (?:the|my"
        r"|our)|on the (?:day|date|week) (?:of|that|when))\b"
    ),
    "order": r"\b(?:in (?:which|what) order|order (?:of|in which)|chronological|sequence|timeline of|walk me through)\b",
    "past": (
        r"\b(?:did (?:i|we|you)|have (?:i|we|you)|what (?:was|were)|when (?:did|was|were)|where (?:did|was|were)|who (?:did|was|were)"
        r"|which .{0,30} (?:was|were|did)|remind me|remember|do you (?:recall|know (?:my|our|what|when|where))|what(?:'s| is) (?:my|our)"
        r"|had (?:i|we|you)|told you|mentioned|we (?:said|agreed|decided|discussed|talked))\b"
    ),
}
_KINDS = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_YES_NO = re.compile(
    r"^(?:and |so |but |then |ok(?:ay)? |,)*(?:(?:is|are|was|were|am|do|does|did|has|have|had|will|would|should) (?:it|its|he|she|they|we|i|you"
    r"|there|that|this|the|my|our|any|\w+)\b|(?:can|could|may|might|must) (?:i|we|he|she|they|it|there|one)\b|isn't|aren't|wasn't|don't|didn't"
    r"|haven't)"
    r"|吗[?？]?$|ですか[?？]?$|ますか[?？]?$"
)
_ORDINALS = {name: number for number, name in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1)}
_THING = (
    r"(?:one|item|option|point|step|suggestion|idea|entry|choice|recommendation|link|book|movie|film|recipe|place|restaurant|thing|part|question"
    r"|name|title|tip|bullet|exercise|song|dish|city|method)"
)
_ORDINAL = re.compile(
    rf"\b(?:the |your |my )(?P<word>{'|'.join(_ORDINALS)}|last|final|\d{{1,2}}(?:st|nd|rd|th)) (?:\w+ )?{_THING}s?\b|\b(?:number|item|option"
    rf"|step|point|no\.?|#) ?(?P<number>\d{{1,2}})\b(?![.:]\d)"
    rf"|\b(?P<listed>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th)) (?:\w+ ){{0,3}}(?:on|in|of|from) (?:the|your|that|my) (?:\w+ ){{0,2}}list\b"
    rf"|第(?P<han>[一二三四五六七八九十]|\d{{1,2}})[个個つ項项条條番]"
)
_HAN = {character: number for number, character in enumerate("一二三四五六七八九十", 1)}
_LONG = 4_000  # characters that the question patterns look at: a pasted document is not asked


def read(text: str, time: datetime, zone: str = "UTC") -> Query:
    """Read an input that arrived at `time` (aware) from someone in the IANA `zone`.

    Raises ValueError for a naive time, ZoneInfoNotFoundError for no such zone."""
    if time.tzinfo is None:
        raise ValueError("A time without a zone can't be related to a day; pass an aware datetime.")
    folded = " ".join(fold(text[:_LONG]).split())
    said = tuple(dict.fromkeys(terms.terms(text)))
    informative = set(terms.content_terms(text))
    ordinal = _ordinal(folded)
    kinds: set[QueryKind] = {kind for kind, pattern in _KINDS.items() if pattern.search(folded)}
    dates = tuple(windows(text[:_LONG], time, zone))
    if ordinal is not None:
        kinds.add("ordinal")
    if _YES_NO.search(folded):
        kinds.add("yes_no")
    if any(window.end <= time for window in dates):
        kinds.add("past")
    entities = tuple(terms.entity_terms(text))
    names = tuple(name for name in entities if not name[0].isdigit() and not wording.is_date(name, text))
    unmeant = cues.set_aside(text) if names else ""
    return Query(
        text=text,
        time=time,
        zone=zone,
        terms=said,
        content=tuple(term for term in said if term in informative),
        entities=entities,
        names=names,
        set_aside=frozenset(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", unmeant)),
        cues=cues.detect(text, time, zone),
        dates=dates,
        kinds=frozenset(kinds),
        ordinal=ordinal,
        word_count=terms.count_words(text),
    )


def _ordinal(folded: str) -> int | None:
    match = _ORDINAL.search(folded)
    if match is None:
        return None
    if match["han"]:
        return _HAN.get(match["han"]) or int(match["han"])
    written = match["word"] or match["listed"] or match["number"]
    if written in ("last", "final"):
        return -1
    return _ORDINALS.get(written) or int(re.sub(r"\D", "", written))
