"""Answers against what was expected: normalization, match at token boundaries, the four outcomes of BranchMemEval (ARBORMEM §5).

Nothing here asks a model; see judge.py for answers that no rule can judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

Outcome = Literal["correct", "confusion", "ambiguous", "miss"]

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_APOSTROPHES = re.compile(r"['’‘`´]")
_PUNCTUATION = re.compile(r"[^\w.:]|_|[.:](?!\d)|(?<!\d)[.:]")
_ARTICLES = frozenset({"a", "an", "the"})


def normalize(text: str) -> str:
    """Text as answers are compared: case-folded, without punctuation and a/an/the, blanks and numeric commas normalized, `&` as `and` (ARBORMEM §5).

    Punctuation becomes a blank, so that "red,blue" stays two tokens; apostrophes and the points of initials go ("U.S." is "us", "p.m." is "pm"),
    and a point or colon between digits stays ("3.5" is one token, not a 3 and a 5).
    """
    text = unicodedata.normalize("NFKC", text).casefold().replace("&", " and ")
    text = _INITIALS.sub(lambda found: found[0].replace(".", "") + " ", _THOUSANDS.sub("", text))
    text = _PUNCTUATION.sub(" ", _APOSTROPHES.sub("", text))
    return " ".join(token for token in text.split() if token not in _ARTICLES)


def contains(text: str, answer: str, *, normalized: bool = False) -> bool:
    """Whether `answer` stands in `text` at token boundaries, both normalized first (`normalized`: `text` is already). An empty answer never does."""
    wanted = normalize(answer)
    return bool(wanted) and f" {wanted} " in f" {text if normalized else normalize(text)} "


def outcome(said: str, golds: Iterable[str], confounders: Iterable[str] = ()) -> Outcome:
    """One of four (ARBORMEM §5): gold only, `correct`; confounder only, `confusion` (of trajectories); both, `ambiguous`; neither, `miss`."""
    text = normalize(said)
    right = any(contains(text, gold, normalized=True) for gold in golds)
    confused = any(contains(text, other, normalized=True) for other in confounders)
    if right:
        return "ambiguous" if confused else "correct"
    return "confusion" if confused else "miss"
