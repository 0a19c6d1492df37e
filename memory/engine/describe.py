"""Descriptions of somebody or something in place of a name: “the one with the grey bird”, “the woman who cuts my fringe”, “my mother's other child”.

Of a long question such a phrase alone says which matter is meant; so it is compared by itself, with what was told of people and things and how they were
introduced (“my hairdresser Lucia”).
"""

from __future__ import annotations

import re
from typing import Final

DESCRIPTION_LIMIT: Final = 2
INTRODUCTION_LIMIT: Final = 3
_END = r"(?=[,.;:?!…–—\n]|$)"
_WHOM = (
    r"(?:the|that|this|those|these|a|an|our|my|his|her|their)?\s*(?:one|ones|man|woman|person|people|lady|gentleman|guy|fellow|chap|lad|boy|girl|child|kid|friend"
    r"|place|house|flat|shop|thing|matter|project|trip|case|him|her|she|he|them|those|they)"
)
_LINK = r"(?:who|whom|whose|that|which|where|with|without|in|on|of|at|from|for|behind|beside|under|over|near|next to|above|below|run|made|called|owned|married)"
_DESCRIBED = re.compile(rf"\b({_WHOM} {_LINK}\b[^,.;:?!…–—\n]{{3,80}}?){_END}", re.IGNORECASE)
_SAYS = r"(?:has|have|had|is|was|says|said|wants|rang|phoned|called|wrote|keeps|left|sent|just|then|on|agrees|in)"
_KIN = re.compile(
    r"\b((?:my|our|his|her|their|mum|mom|dad)(?:'s|’s)? (?:\w+ ){0,2}?\w+(?:'s|’s) (?:\w+ ){0,2}?(?:\w+))" rf"(?= {_SAYS}\b|[,.;:?!…]|$)",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(r"\b((?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Aa]n?)(?: [a-z][\w-]*){1,3} [A-Z]\w+)")


def descriptions(text: str) -> list[str]:
    """The descriptions in a text, as written, at most DESCRIPTION_LIMIT, the longest first."""
    found = [match[1].strip() for pattern in (_DESCRIBED, _KIN) for match in pattern.finditer(text[:1_000])]
    return sorted(dict.fromkeys(found), key=lambda phrase: -len(phrase))[:DESCRIPTION_LIMIT]


def introductions(text: str) -> list[str]:
    """How a text introduces people and things by name, as written, at most INTRODUCTION_LIMIT."""
    return list(dict.fromkeys(match[1] for match in _INTRODUCED.finditer(text[:2_000])))[:INTRODUCTION_LIMIT]
