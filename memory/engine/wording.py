"""How a text is worded: what the phrase lists in `languages/*.toml` find in it. One reading serves every cue.

A language's file has `common`, the words by which it is told from others; `[lists]` that phrases call by name; and for each tag a table whose keys say
where its phrases stand: `opens` the message, `first` with nothing at all before, `starts` a sentence or clause, `ends` a sentence, `whole` message,
`anywhere`; a match that begins inside an `unless` counts as none. The tag `skip` are pleasantries and little words that may stand before an opening.
How phrases are written: phrases.py.
"""

# ruff: noqa: SIM905 - lists of words read best as text

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from memory.engine.phrases import PAUSES, STOPS, Phrases, placed, split
from memory.engine.terms import count_words, fold, is_common

TAGS: Final = frozenset(
    """continuation returning fresh pronoun opener answer greeting talk
    skip verb fragment additive topical reporting contrast picking reconsidering choosing first_person third_person question request introducing elliptical
    asks_yes_no asks_number asks_time asks_place asks_person asks_name asks_choice asks_open or yes no unknown
    tells_number tells_time tells_place tells_person offer begs""".split()
)
NAMING: Final = frozenset(["describing", "introduced"])  # found on demand, `names`: they are long, and no cue
GENDERS: Final = ("he", "she")  # lists that no phrase calls: gender.py
PLACES: Final = frozenset("first opens starts ends whole anywhere unless".split())
_INSIDE, _OPENING, _FIRST = range(3)  # how a place begins: a sentence or clause, the message but for pleasantries, the message
_NEEDED = {"starts": _INSIDE, "opens": _OPENING, "whole": _OPENING, "first": _FIRST}
_WHOLE, _HEAD, _TAIL = 480, 320, 160  # characters: a longer text is pasted in between; its writer's words stand where it begins and where it ends
_CAPITAL = re.compile(r"[^\W\d_a-z]\w*")
_FEW_HAN = 6  # characters without kana that may be Japanese as well
_SENTENCE = 5  # weight of known words from which Latin letters beside another script are a sentence
_SCRIPTS = {
    "zh": re.compile("[\u3400-\u9fff]"),
    "ja": re.compile("[\u3041-\u30fa]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0620-\u06ff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
}


_Match = tuple[str, str, int, int]  # tag, where it may stand, first token, token after the last


@dataclass(frozen=True, slots=True)
class Language:
    """The phrases of one language, by where they stand: at a start, or anywhere; those of `NAMING` apart. `common` and `listed` words tell it from others;
    `he` and `she` are the words that speak of a man and of a woman, `calendar` the names of days and months."""

    code: str
    common: frozenset[str]
    listed: frozenset[str]
    starting: Phrases
    anywhere: Phrases
    naming: Phrases
    he: frozenset[str]
    she: frozenset[str]
    calendar: frozenset[str]


@dataclass(frozen=True, slots=True)
class Wording:
    """A text's tokens and how many words they make, the languages it may be in, and where each tag was found, as (first token, token after the last)."""

    text: str
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    words: int
    languages: tuple[str, ...]
    found: Mapping[str, tuple[tuple[int, int], ...]]

    def has(self, *tags: str) -> bool:
        """Whether any of these tags was found."""
        return any(tag in self.found for tag in tags)

    def said(self, tag: str) -> str:
        """The words, folded, that have a tag: the first and longest of them; empty when there are none."""
        spans = self.found.get(tag)
        if not spans:
            return ""
        first, after = min(spans, key=lambda span: (span[0], -span[1]))
        return " ".join(self.text[self.spans[first][0] : self.spans[after - 1][1]].split())


def load(folder: Path) -> dict[str, Language]:
    """The languages whose files lie in a folder, by code. Raises ValueError that names file, place and fault."""
    return {path.stem: _language(path) for path in sorted(folder.glob("*.toml"))}


def _language(path: Path) -> Language:
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}") from error
    lists = data.get("lists", {})
    if not isinstance(data.get("common"), str) or not all(isinstance(entries, str) for entries in lists.values()):
        raise ValueError(f"{path.name}: `common` and every list is a text")
    if unknown := data.keys() - {"common", "lists", "phrases"}:
        raise ValueError(f"{path.name}: no such part as {', '.join(sorted(unknown))}")
    joined = {name: "|".join(" ".join(entry.split()) for entry in entries.split("|")) for name, entries in lists.items()}
    starting, anywhere, naming = Phrases(joined), Phrases(joined), Phrases(joined)
    for tag, places in data.get("phrases", {}).items():
        if tag not in TAGS | NAMING:
            raise ValueError(f"{path.name}: no such tag as {tag}")
        for place, phrases in places.items():
            if place not in PLACES:
                raise ValueError(f"{path.name}, {tag}: no such place as {place}")
            for phrase in phrases:
                try:
                    (naming if tag in NAMING else starting if place in _NEEDED else anywhere).add(phrase, f"{tag} {place}")
                except ValueError as error:
                    raise ValueError(f"{path.name}, {tag}, {place}: {error}") from error
    listed = frozenset(word for name, entries in joined.items() for word in split(entries) if word.isalpha() and name not in GENDERS)
    he, she, days, months = (frozenset(fold(word) for word in joined.get(name, "").split("|") if word) for name in (*GENDERS, "day", "month"))
    return Language(path.stem, frozenset(fold(data["common"]).split()), listed, starting, anywhere, naming, he, she, days | months)


@cache
def languages() -> Mapping[str, Language]:
    """The languages that are read, by code; built on first use, since that takes most of a second and most commands read no text."""
    return load(Path(__file__).parent / "languages")


@cache
def _known() -> Mapping[str, Sequence[tuple[str, int]]]:
    """Words that tell a language of the Latin script from others, with what each counts for which: its common ones two, those of its lists one."""
    known: dict[str, list[tuple[str, int]]] = {}
    for code, language in languages().items():
        for word in language.common | language.listed if code not in _SCRIPTS else ():
            known.setdefault(word, []).append((code, 2 if word in language.common else 1))
    return known


def read(text: str) -> Wording:
    """The wording of a text, as far as its head and its end show it."""
    return _read(text if len(text) <= _WHOLE else f"{text[:_HEAD]}\n{text[-_TAIL:]}")


@lru_cache(maxsize=1024)
def _read(text: str) -> Wording:
    return _worded(text, _match)


def is_date(name: str, text: str) -> bool:
    """Whether a name, folded, that stands in a text is nothing but days and months."""
    known = languages()
    return all(any(word in known[code].calendar for code in read(text).languages) for word in name.split())


def names(text: str) -> Wording:
    """What of a text, all of it, stands in place of a name or brings one in: the tags of `NAMING`."""
    return _worded(text, _match_names)


def _worded(text: str, match: Callable[[Language, list[str], frozenset[str]], list[_Match]]) -> Wording:
    folded = fold(text)
    pieces = placed(folded)
    listed = [token for token, _, _ in pieces]
    codes = told(folded, listed)
    capital = frozenset(fold(word) for word in _CAPITAL.findall(text) if not is_common(word))
    found: dict[str, list[tuple[int, int]]] = {}
    for language in (languages()[code] for code in codes):
        matches = match(language, listed, capital - language.common)
        barred = [(tag, start, end) for tag, where, start, end in matches if where == "unless"]
        for tag, where, start, end in matches:
            if where != "unless" and not any(tag == other and first <= start < after for other, first, after in barred):
                found.setdefault(tag, []).append((0, len(listed)) if where == "whole" else (start, end))
    spans = tuple((start, end) for _, start, end in pieces)
    return Wording(folded, tuple(listed), spans, count_words(text), codes, {tag: tuple(places) for tag, places in found.items()})


def told(folded: str, listed: Sequence[str]) -> tuple[str, ...]:
    """The languages a folded text may be in: by its script, and among those of the Latin one by the words they know; all of these where they know none."""
    scripts: list[str] = []
    if not folded.isascii():
        scripts = [code for code, script in _SCRIPTS.items() if code in languages() and script.search(folded)]
        if "ja" in scripts and "zh" in scripts:
            scripts.remove("zh")  # kana are only Japanese, Han are both
        elif scripts == ["zh"] and "ja" in languages() and len(listed) <= _FEW_HAN:
            scripts.append("ja")
    weights = dict.fromkeys((code for code in languages() if code not in _SCRIPTS), 0)
    for token in set(listed):
        for code, weight in _known().get(token, ()):
            weights[code] += weight
    most = max(weights.values(), default=0)
    if scripts and most < _SENTENCE:  # a name in Latin letters; “What does 你好 mean?” is English around a word
        return tuple(scripts)
    return tuple(scripts) + tuple(code for code, weight in weights.items() if weight == most)


def _match(language: Language, listed: list[str], capital: frozenset[str]) -> list[_Match]:
    """What one language's phrases find, where they may stand."""
    matches: list[_Match] = []
    for named, start, end in language.anywhere.find(listed, capital):
        tag, where = named.split()
        if where != "ends" or (end < len(listed) and listed[end] in STOPS) or _over(language, listed, capital, end):
            matches.append((tag, where, start, end))
    # Where a sentence or a clause begins, what may stand before it taken off: does the message begin there too, with nothing before?
    starts = {place + 1: _INSIDE for place, token in enumerate(listed) if token in STOPS or token in PAUSES} | {0: _FIRST}
    for place, token in enumerate(listed):
        if place not in starts:
            continue
        level = starts[place]
        if token in PAUSES or token in STOPS:
            starts[place + 1] = max(starts.get(place + 1, _INSIDE), level)
            continue
        skipped = 0
        for named, end in language.starting.at(place, listed, capital):
            tag, where = named.split()
            if tag == "skip":
                skipped = end  # the longest: what “thank you for that” leaves isn't “for that”
            elif level >= _NEEDED[where] and (where != "whole" or _over(language, listed, capital, end)):
                matches.append((tag, where, place, end))
        if skipped:
            starts[skipped] = max(starts.get(skipped, _INSIDE), min(level, _OPENING))
    return matches


def _match_names(language: Language, listed: list[str], capital: frozenset[str]) -> list[_Match]:
    return [(*named.split(), start, end) for named, start, end in language.naming.find(listed, capital)]  # type: ignore[misc]


def _over(language: Language, listed: list[str], capital: frozenset[str], place: int) -> bool:
    """Whether nothing but pleasantries and punctuation comes from a place on."""
    while place < len(listed):
        if listed[place] in PAUSES or listed[place] in STOPS:
            place += 1
            continue
        ends = [end for tag, end in language.starting.at(place, listed, capital) if tag.startswith("skip ")]
        if not ends:
            return False
        place = max(ends)
    return True
