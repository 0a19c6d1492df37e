"""Descriptions of somebody or something in place of a name: “the one with the grey bird”, “the woman who cuts my fringe”, “my mother's other child”.

Of a long question such a phrase alone says which matter is meant; so it is compared by itself, with what was told of people and things and how they were
introduced (“my hairdresser Lucia”). Phrases are data, by language: wording.py.
"""

from __future__ import annotations

from typing import Final

from memory.engine import wording
from memory.engine.phrases import PAUSES, STOPS
from memory.engine.wording import Wording

DESCRIPTION_LIMIT: Final = 2
INTRODUCTION_LIMIT: Final = 3
_MATTER_WORDS = 4  # words of a matter, at most, where nothing ends it
_OPENING = 3  # tokens that a pause may stand in: “der Frau, die mir die Haare schneidet”
_DESCRIBED_IN, _INTRODUCED_IN = 1_000, 2_000  # characters that are looked at


def descriptions(text: str) -> list[str]:
    """The descriptions in a text, as written, at most DESCRIPTION_LIMIT, the longest first."""
    return sorted(_said(text[:_DESCRIBED_IN], "describing"), key=lambda phrase: -len(phrase))[:DESCRIPTION_LIMIT]


def matter(text: str) -> str:
    """The matter that a text names before it comes to the point, as written: “on the subject of the brewing”, “zum Teich”. Empty where it names none.

    It ends where its clause does, else after _MATTER_WORDS words."""
    worded = wording.read(text)
    spans = worded.found.get("topical")
    if not spans:
        return ""
    first, after = min(spans, key=lambda span: (span[0], -span[1]))
    ended = (place for place in range(first + 1, len(worded.tokens)) if worded.tokens[place] in PAUSES or worded.tokens[place] in STOPS)
    end = next(ended, len(worded.tokens))
    return _as_written(worded.text, worded, first, end if end <= after + 2 * _MATTER_WORDS else after + _MATTER_WORDS)


def named(text: str) -> list[str]:
    """What of a text tells which matter it belongs to: the one it names first, its descriptions; at most DESCRIPTION_LIMIT."""
    return list(dict.fromkeys(filter(None, [matter(text), *descriptions(text)])))[:DESCRIPTION_LIMIT]


def introductions(text: str) -> list[str]:
    """How a text introduces people and things by name, as written, at most INTRODUCTION_LIMIT, in order."""
    return _said(text[:_INTRODUCED_IN], "introduced")[:INTRODUCTION_LIMIT]


def _said(text: str, tag: str) -> list[str]:
    """The phrases of a tag, each as long as it goes without a pause; one inside another counts once."""
    worded = wording.names(text)
    found: list[str] = []
    until = 0
    for first, after in sorted(worded.found.get(tag, ()), key=lambda span: (span[0], -span[1])):
        end = next((place for place in range(first + _OPENING, after) if worded.tokens[place] in PAUSES), after)
        if first >= until and end > first + 1:
            found.append(_as_written(text, worded, first, end))
            until = end
    return list(dict.fromkeys(found))


def _as_written(text: str, worded: Wording, first: int, after: int) -> str:
    """Tokens as the text has them; folded where folding changed how long it is."""
    source = text if len(text) == len(worded.text) else worded.text
    return " ".join(source[worded.spans[first][0] : worded.spans[after - 1][1]].split())
