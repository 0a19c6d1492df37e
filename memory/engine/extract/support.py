"""Whether what a model says is backed by what was said: words, numbers and values, compared as the indexes know them.

Nothing here knows what a sentence means. It knows that a number nobody said, or a word from nowhere, can't be a fact of this turn.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory.engine import revise, terms

_NUMBER = re.compile(r"\d+(?:[.,:/'\u00a0\u202f-]\d+)*(?:k\b)?")
_COUNTED = {name: str(n) for n, name in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())} | {
    "dozen": "12",
    "twice": "2",
    "once": "1",
    "both": "2",
    "noon": "12",
}
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_MONTHS = {name: str(n) for n, name in enumerate("january february march april may june july august september october november december".split(), 1)}
# Words with which a sentence is told about somebody: they say nothing by themselves and may stand in a fact though nobody said them.
_NEUTRAL = frozenset(
    terms.stem(word)
    for word in """user users person name named called is currently current now also new located location live lives living city town located
    amount value total takes place scheduled set date time day belongs has have had owns costs price priced mentioned stated says said plans planned""".split()
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|cannot|won't|haven't|hasn't|without|stopped|quit|"
    r"no longer|nicht|kein\w*|ne|pas|jamais|nie)\b|不|没|ない|ません|안 |없"
)


@dataclass(frozen=True, slots=True)
class Said:
    """What may back a fact: the terms and numbers of the user's own words, and the terms of what the turn leans on (its path, the offered slots)."""

    text: str
    terms: frozenset[str]
    numbers: frozenset[str]
    context: frozenset[str]


def said(text: str, context: Iterable[str] = ()) -> Said:
    """Read the user's words, and the texts around them."""
    around = frozenset(term for other in context for term in terms.terms(other))
    return Said(text, frozenset(terms.terms(text)), numbers(text), around)


def numbers(text: str) -> frozenset[str]:
    """Every number of a text as it is compared: “€21,500” and “21.5k” are both 21500; a date counts whole and by its parts; “three” is 3."""
    folded = _ORDINAL.sub("", terms.fold(text))
    found: set[str] = set()
    for match in _NUMBER.finditer(folded):
        written = match.group()
        if written.endswith("k"):
            value = terms.number(written[:-1])
            found.add(f"{float(value) * 1000:.0f}" if re.fullmatch(r"\d+(?:\.\d+)?", value) else value)
            continue
        found.add(terms.number(written))
        if re.search(r"[:/-]|\d\.\d+\.\d", written):
            found |= {part.lstrip("0") or "0" for part in re.split(r"[:/.-]", written) if part}
    found |= {_COUNTED[word] for word in re.findall(r"[a-z]+", folded) if word in _COUNTED}
    return frozenset(found)


def unsaid_numbers(text: str, backing: Said) -> set[str]:
    """Numbers of a text that the user didn't say in this turn. The parts of a date or an hour may be written in another order."""
    found = set()
    for match in _NUMBER.finditer(_ORDINAL.sub("", terms.fold(text))):
        whole = numbers(match.group())
        if not whole & backing.numbers or (re.search(r"[:/-]", match.group()) and not _parts(match.group()) <= backing.numbers | _months(backing)):
            found.add(match.group())
    return found


def _parts(written: str) -> frozenset[str]:
    return frozenset(part.lstrip("0") or "0" for part in re.split(r"[:/-]", written) if part.isdigit()) or numbers(written)


def _months(backing: Said) -> frozenset[str]:
    """The numbers of the months the user named."""
    return frozenset(number for name, number in _MONTHS.items() if terms.stem(name) in backing.terms)


def unsaid_words(text: str, backing: Said) -> set[str]:
    """Content words of a text that neither the turn nor what it leans on has. Numbers are looked at by themselves."""
    unknown = {term for term in terms.terms(text) if term not in backing.terms and term not in backing.context and term not in _NEUTRAL}
    return {term for term in unknown if not any(character.isdigit() for character in term)}


def has_value(value: str, text: str) -> bool:
    """Whether a value stands in a text, however its number is written: “21,500 EUR” in “make it €21.5k”."""
    folded, within = " ".join(terms.fold(value).split()), " ".join(terms.fold(text).split())
    if not folded:
        return False
    if re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", within) or (not folded.isascii() and folded in within):
        return True
    if numbers(value):
        words = {term for term in terms.terms(value) if not any(character.isdigit() for character in term)} - _CURRENCIES
        return numbers(value) <= numbers(text) and words <= set(terms.terms(text))
    wanted = terms.content_terms(value)
    return bool(wanted) and set(wanted) <= set(terms.terms(text))


_CURRENCIES = frozenset(terms.stem(name) for name in "eur euro euros usd dollar dollars gbp pound pounds chf".split())


def negated(text: str) -> bool:
    """Whether a sentence denies something."""
    return bool(_NEGATION.search(text.lower().replace("’", "'")))


def same(one: str, other: str) -> bool:
    """Whether two values are one."""
    return revise.normalize(one) == revise.normalize(other)


def quoted(evidence: str, text: str) -> bool:
    """Whether `evidence` is quoted from `text`, but for blanks, case and the marks around it."""
    words = re.findall(r"\w+", terms.fold(evidence))
    return bool(words) and " ".join(words) in " ".join(re.findall(r"\w+", terms.fold(text)))
