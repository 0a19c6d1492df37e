"""What an answer leaves open for the person, and how well the *form* of a reply fits it: a number for “how many”, a place for “where”.

Whether the reply is about the same matter is for others to judge; here only its form counts. Phrases are data, by language: wording.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.engine import wording
from memory.engine.phrases import PAUSES, STOPS
from memory.engine.terms import DENSE, terms
from memory.engine.text import sentences
from memory.engine.wording import Wording

FREE: Final = 0.3  # what any telling reply is worth to a question that takes any telling reply
_TOLD, _LATE, _OTHERWISE, _UNKNOWN = 1.0, 0.6, 0.1, 0.5
_SOON = 12  # tokens: an answer comes soon or the reply is about more than the question
_KINDS = ("number", "time", "place", "person")
_READ = 6_000  # characters of the end of an answer: what it leaves open and its last list stand there
_BETWEEN = 2  # sentences that ask nothing may stand between the questions and the end

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ITEM = re.compile(r"^[ \t]{0,6}(?:[-*+•‣◦–]|\(?(?:\d{1,3}|[a-zA-Z])[.)、]|[①-⑳]|\d{1,2}\s?[.．、])[ \t]*(?=\S)")
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|`")


def fits(question: str, reply: str) -> float:
    """How well a reply's form fits an open question, 0 to 1: 1 has what was asked for, 0.1 has something else, `FREE` where any form would do."""
    asked, told = wording.read(question), wording.read(reply)
    if not told.words:
        return 0.0
    return _form(asked, told) * (0.3 if _only_asks(told) else 1.0)


def _form(asked: Wording, told: Wording) -> float:
    choice = asked.has("asks_choice", "or")
    if choice and (chosen := _chooses(asked, told)):
        return chosen
    if asked.has("asks_yes_no") and told.has("yes", "no"):
        return _TOLD
    kinds = [kind for kind in _KINDS if asked.has(f"asks_{kind}")]
    if kinds:
        places = [first for kind in kinds for first, _ in told.found.get(f"tells_{kind}", ())]
        if places:
            return _TOLD if min(places) < _SOON else _LATE
        return _UNKNOWN if told.has("unknown") else _OTHERWISE
    if choice:
        return _UNKNOWN if told.has("unknown") else _LATE if told.has("yes", "no") else _OTHERWISE  # “both”, “neither”
    if asked.has("asks_name"):
        return _TOLD if told.words <= 4 and not told.has("verb") else _UNKNOWN if told.has("unknown", "introducing", "tells_person") else FREE
    return _UNKNOWN if told.has("unknown") else FREE


def _only_asks(told: Wording) -> bool:
    """Whether a reply is nothing but a question or a request: those answer little."""
    return told.has("question", "request") and sum(token in STOPS for token in told.tokens[:-1]) == 0 and not told.has("yes", "no")


def _chooses(asked: Wording, told: Wording) -> float:
    """What a reply is worth that names one of the options of “A or B?”, or points at one; 0 when it does neither."""
    if told.has("picking"):
        return _TOLD
    said = set(terms(_joined(told.tokens)))
    for first, after in asked.found.get("or", ()):
        left, right = set(terms(_joined(asked.tokens[:first]))[-4:]), set(terms(_joined(asked.tokens[after : after + 8])))
        if said & (left ^ right):
            return _TOLD
    return 0.0


def _joined(listed: Sequence[str]) -> str:
    """Tokens as a text again: scripts without blanks get none."""
    return re.sub(rf"(?<=[{DENSE}]) (?=[{DENSE}])", "", " ".join(listed))


def open_questions(answer: str) -> list[str]:
    """The questions an answer leaves open for the person, in order, and requests such as “Let me know your budget.”

    They stand at its end: a question that the answer goes on to answer is none. Offers (“Anything else?”) are left out: `offers`."""
    return [sentence for sentence, kind in _left(answer) if kind == "question"]


def offers(answer: str) -> list[str]:
    """What an answer offers in general at its end: “Would you like to know more?”, “Can I help with anything else?”"""
    return [sentence for sentence, kind in _left(answer) if kind == "offer"]


def _left(answer: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    between = 0
    for sentence in reversed(sentences(_QUOTED.sub("\n", _CODE.sub("\n", answer[-_READ:])))):
        bare = _EMPHASIS.sub("", _ITEM.sub("", sentence)).strip()
        kind = _kind(bare)
        if kind:
            found.append((bare, kind))
            between = 0
            continue
        between += 1
        if between > _BETWEEN:
            break
    return found[::-1]


def _kind(sentence: str) -> str:
    worded = wording.read(sentence)
    asks = "?" in worded.tokens[-3:]
    if worded.has("offer") and (asks or not worded.has("begs")):
        return "offer"
    return "question" if asks or worded.has("begs") else ""


def list_items(answer: str) -> list[str]:
    """The items of the last list in an answer, without their marks: bullets and numbers, else the options of its last “A, B or C?”"""
    items: list[str] = []
    inside = False
    for line in _CODE.sub("\n", answer[-_READ:]).splitlines():
        if mark := _ITEM.match(line):
            if not inside:
                items = []
            items.append(_EMPHASIS.sub("", line[mark.end() :]).strip())
            inside = True
        elif line.strip() and not line.startswith((" ", "\t")):  # blank and indented lines belong to the item before
            inside = False
    if len(items) > 1:
        return items
    return next((options for question in reversed(open_questions(answer)) if (options := _options(question))), items)


def _options(question: str) -> list[str]:
    """The options of “Would you like the hall, the garden or the terrace?”: as many words of the first as the second has."""
    worded = wording.read(question)
    if not worded.found.get("or"):
        return []
    first, after = worded.found["or"][-1]
    listed = list(worded.tokens)
    end = next((place for place in range(after, len(listed)) if listed[place] in STOPS), len(listed))
    pieces: list[list[str]] = [[]]
    for token in listed[:first]:
        if token in PAUSES or token in STOPS:
            pieces.append([])
        else:
            pieces[-1].append(token)
    rows = [piece for piece in pieces if piece]
    last = listed[after:end]
    if not rows or not last:
        return []
    alike = [last]
    for row in reversed(rows):
        beside = alike[-1]
        if len(row) <= len(beside) + 1:
            alike.append(row)
            continue
        opens = len(row) - 1 - row[::-1].index(beside[0]) if beside[0] in row else len(row) - len(beside)  # “… like the hall, the garden”: at the article
        alike.append(row[opens:])
        break
    return [_joined(option) for option in reversed(alike)]
