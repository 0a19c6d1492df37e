"""Whether a text speaks of a man or of a woman, as far as its pronouns and words of kinship say: “she has test nerves” is hardly about an uncle's exam.

Words are data, by language: the lists `he` and `she` of `languages/*.toml`. A word that may mean either, or several (“sie” in German), stands in neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memory.engine import wording
from memory.engine.forest import Interaction
from memory.engine.terms import DENSE, fold

_SAID, _TOLD = 600, 1_200  # characters of the user's and of all words of an interaction that are looked at


class Spoken(NamedTuple):
    """How often a text speaks of a man, and of a woman."""

    he: int
    she: int

    @property
    def one(self) -> int:
        """1 for a man, −1 for a woman, 0 for neither or both."""
        return bool(self.he) - bool(self.she)


def spoken_of(text: str, languages: tuple[str, ...]) -> Spoken:
    """Of whom a text speaks, by the words of these languages."""
    he, she = _words(languages)
    folded = fold(text)
    return Spoken(len(he.findall(folded)), len(she.findall(folded)))


def asked_of(query: str) -> int:
    """1 where an input speaks of a man, −1 where of a woman, 0 where of neither or of both."""
    return spoken_of(query[:_SAID], wording.read(query).languages).one


def agreement(query: str, of: Sequence[Interaction]) -> list[float]:
    """How far each interaction and its path speak of a man or of a woman as the input does, −1 to 1: above 0 as it does, below 0 of the other.

    All 0 for an input that speaks of neither, or of both."""
    asked = asked_of(query)
    if not asked:
        return [0.0] * len(of)
    languages = wording.read(query).languages
    found = [spoken_of(f"{state.path_summary[:_TOLD]}\n{state.user[:_SAID]}\n{state.assistant[:_SAID]}", languages) for state in of]
    return [asked * (told.he - told.she) / (1 + told.he + told.she) for told in found]


@lru_cache
def _words(languages: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    known = wording.languages()
    return (_any(sorted({word for code in languages for word in known[code].he})), _any(sorted({word for code in languages for word in known[code].she})))


def _any(listed: list[str]) -> re.Pattern[str]:
    """Any of these as whole words; those of a script without blanks wherever they stand, the longest first."""
    ordered = sorted(listed, key=lambda word: -len(word))
    patterns = [re.escape(word) if re.match(f"[{DENSE}]", word) else rf"(?<!\w){re.escape(word)}(?!\w)" for word in ordered]
    return re.compile("|".join(patterns) if patterns else r"(?!)")
