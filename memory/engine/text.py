"""Text cut and joined: sentences, trimming to tokens, and the branch-aware text a ranker reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Count = Callable[[str], int]

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|prof|st|no|approx|fig|jr|sr|inc|ltd|u\.s|a\.m|p\.m|z\.b|bzw|ca|nr)|(?<![\w.])[A-Za-z])\.$", re.IGNORECASE
)
_BREAK = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])|\n+|(?<=؟)\s*|(?<=।)\s*")
_LINE_END = re.compile("\r\n?|\u2028|\u2029|\x85")
_BLANKS = re.compile(r"\s+")
# Controls, and the marks that turn the reading direction of what follows: they would reorder the words around a quotation.
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def sentences(text: str) -> list[str]:
    """The sentences of a text, blanks trimmed, none empty. Lines end sentences; initials and common abbreviations don't."""
    return [sentence for start, end in sentence_places(text) if (sentence := text[start:end].strip())]


def sentence_places(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end, with the blanks that follow them: the places cover the whole text."""
    found: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        piece = text[start : match.start()]
        if "\n" not in match.group() and _ABBREVIATION.search(piece[-12:].rstrip()):
            continue
        found.append((start, match.end()))
        start = match.end()
    return [*found, (start, len(text))]


def one_line(text: str) -> str:
    """The text on one line, without control characters or direction overrides: safe in a label or a sentence of ours."""
    return _BLANKS.sub(" ", _UNSAFE.sub("", text)).strip()


def printable(text: str) -> str:
    """The text with its lines ended alike, without control characters or direction overrides: safe to be written line by line."""
    return _UNSAFE.sub("", _LINE_END.sub("\n", text))


def ended(sentence: str) -> str:
    """The sentence with its full stop; one that ends with an excerpt's ellipsis has its end."""
    return sentence if sentence.endswith("…") else f"{sentence}."


def excerpt(text: str, characters: int) -> str:
    """The start of a text on one line, at most so many characters, cut at a word with an ellipsis."""
    line = one_line(text)
    if len(line) <= characters:
        return line
    head = line[: max(0, characters - 1)]
    cut = head.rfind(" ")
    return (head[:cut] if cut > characters // 2 else head).rstrip(" ,;:.–—-") + "…"


def trim(text: str, tokens: int, count: Count) -> str:
    """The longest start of the text, whole words and an ellipsis, of at most `tokens` tokens as `count` counts; empty when nothing fits."""
    if count(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:  # the count grows with the length, all but at single characters
        middle = (low + high + 1) // 2
        if count(text[:middle].rstrip() + "…") <= tokens:
            low = middle
        else:
            high = middle - 1
    head = text[:low]
    cut = max(head.rfind(" "), head.rfind("\n"))
    shorter = (head[:cut] if cut > low // 2 else head).rstrip()
    for piece in (shorter, head.rstrip()):
        if piece and count(piece + "…") <= tokens:
            return piece + "…"
    return ""


def branch_text(topic: str, path_summary: str, node_summary: str, entities: Iterable[str]) -> str:
    """What the ranker reads for a candidate: topic key, path summary, node summary and entities, so that the trajectory is judged (paper §3.2).

    The same words are embedded as the state's branch-aware vector. Empty parts are left out."""
    names = ", ".join(dict.fromkeys(one_line(entity) for entity in entities if entity.strip()))
    return "\n".join(part for part in (one_line(topic), one_line(path_summary), one_line(node_summary), names) if part)
