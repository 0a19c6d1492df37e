"""LoCoMo (Maharana et al. 2024): two people's long conversations, and questions with the messages that answer them.

    [{"sample_id": "conv-1",
      "conversation": {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
                       "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "…", "blip_caption": "a photo of …"}]},
      "qa": [{"question": "…", "answer": "…", "evidence": ["D1:1"], "category": 4}]}]

Nobody is “the assistant”: one observed state a message. Evidence strings are mended where their meaning is plain (`D8:6; D9:17`, `D:11:26`, `D30:05`).
About 6 % of the golds are wrong, so that the ceiling of answer accuracy is near .936. Category 5 (adversarial) is reported apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from memory.evaluation.benchmarks.files import WrongFileError, documents, items, require
from memory.evaluation.benchmarks.rounds import History, strings
from memory.evaluation.cases import Asked, Benchmark, Case, Given, Question, Step

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL: Final = CATEGORIES[5]
EXPECTED: Final = "the LoCoMo file: a list of objects with sample_id, conversation and qa (locomo10.json of snap-research/locomo)"

_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"session_(\d+)_date_time")
_EVIDENCE = re.compile(r"D:?\s*(\d+):(\d+)", re.IGNORECASE)


def load(path: Path) -> Iterator[Case]:
    """The conversations of a file, or of all *.json of a directory. Raises WrongFileError."""
    for name, file in documents(path, ".json"):
        for number, value in enumerate(items(name, file), 1):
            row = require(value, ("conversation", "qa"), name, EXPECTED)
            yield _case(str(row.get("sample_id") or f"{name}-{number}"), row, name)


def _case(id: str, row: Mapping[str, Any], name: str) -> Case:
    talk = require(row["conversation"], (), name, EXPECTED)
    notes: list[str] = []
    steps: list[Step] = []
    sessions: dict[str, str] = {}
    for session, messages, start in _sessions(talk, name, notes):
        for minute, value in enumerate(messages):  # the set dates sessions only; their messages follow each other at a minute's distance
            message = require(value, ("speaker", "dia_id", "text"), name, EXPECTED)
            given = Given(_unique(str(message["dia_id"]), sessions, notes), said(message), "", start + timedelta(minutes=minute))
            steps.append(Step(given))
            sessions[given.id] = session
    if not steps:
        raise WrongFileError(f"{name}: conversation {id} has no session with messages. Expected {EXPECTED}.")
    asked = steps[-1].given.time + timedelta(minutes=1)
    history = History(steps)
    questions = tuple(_question(f"{id}/q{number:03}", value, asked, sessions, history, name, notes) for number, value in enumerate(row["qa"], 1))
    return Case(id, tuple(steps), questions, sessions=sessions, notes=tuple(notes))


def said(message: Mapping[str, Any]) -> str:
    """A message as a system sees it: who speaks, the words, and what a shared picture shows."""
    caption = message.get("blip_caption")
    return f"{message['speaker']}: {message['text']}" + (f" [shares a picture: {caption}]" if caption else "")


def _sessions(talk: Mapping[str, Any], name: str, notes: list[str]) -> list[tuple[str, list[Any], datetime]]:
    """(session, messages, start) in the order of their numbers. Dates without a session are left out; a session without a date gets the day after the last."""
    numbers = sorted(int(found[1]) for key, value in talk.items() if (found := _SESSION.fullmatch(key)) and isinstance(value, list))
    if idle := sorted(int(found[1]) for key in talk if (found := _DATE.fullmatch(key)) and int(found[1]) not in numbers):
        notes.append(f"{len(idle)} dates have no session and are left out: {', '.join(map(str, idle))}")
    made: list[tuple[str, list[Any], datetime]] = []
    for number in numbers:
        stamp = talk.get(f"session_{number}_date_time")
        if stamp is None:
            start = made[-1][2] + timedelta(days=1) if made else datetime(2023, 1, 1, tzinfo=UTC)
            notes.append(f"session {number} has no date: taken for {start:%Y-%m-%d}")
        else:
            start = _start(str(stamp), number, name)
        made.append((f"session_{number}", talk[f"session_{number}"], start))
    return made


def _start(stamp: str, number: int, name: str) -> datetime:
    try:
        return datetime.strptime(" ".join(stamp.split()), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise WrongFileError(f"{name}: session {number} is dated {stamp!r}; expected a date like “1:56 pm on 8 May, 2023”.") from error


def _unique(id: str, known: Mapping[str, str], notes: list[str]) -> str:
    if id not in known:
        return id
    notes.append(f"message id {id} is used twice: evidence means the first one")
    return next(name for number in range(2, len(known) + 3) if (name := f"{id}#{number}") not in known)


def _question(id: str, value: Any, asked: datetime, known: Mapping[str, str], history: History, name: str, notes: list[str]) -> Question:
    qa = require(value, ("question", "category"), name, EXPECTED)
    category = qa["category"]
    if category not in CATEGORIES:
        raise WrongFileError(f"{name}: question {id} has the category {category!r}; expected 1 to 5.")
    answers = tuple(strings(qa.get("answer")))
    evidence = _evidence(id, strings(qa.get("evidence")), known, notes)
    if not evidence:
        notes.append(f"question {id} has no evidence: not counted among those whose evidence is looked for")
    return Question(
        id=id,
        asked=Asked(str(qa["question"]), asked),
        type=CATEGORIES[category],
        evidence=evidence,
        answers=answers,
        span=history.has(answers),
        confounders=tuple(strings(qa.get("adversarial_answer"))) if category == 5 else (),
        abstain=category == 5 and not answers,
    )


def _evidence(id: str, given: list[str], known: Mapping[str, str], notes: list[str]) -> tuple[str, ...]:
    """Ids of evidence strings. What is mended or names no message is noted."""
    by_number = {(int(found[1]), int(found[2])): name for name in reversed(list(known)) if (found := _EVIDENCE.fullmatch(name))}  # the first of equals stays
    ids: list[str] = []
    for text in given:
        if text in known:
            ids.append(text)
            continue
        named = [(int(found[1]), int(found[2])) for found in _EVIDENCE.finditer(text)]
        meant = [by_number[number] for number in named if number in by_number]
        ids += meant
        if not named:
            notes.append(f"question {id}: evidence {text!r} names no message and is left out")
        elif len(meant) < len(named):
            lost = ", ".join(f"D{session}:{message}" for session, message in named if (session, message) not in by_number)
            notes.append(f"question {id}: evidence {text!r} names a message that doesn't exist ({lost}); it is left out")
        else:
            notes.append(f"question {id}: evidence {text!r} read as {', '.join(meant)}")
    return tuple(dict.fromkeys(ids))


BENCHMARK: Final = Benchmark(
    name="locomo",
    title="LoCoMo",
    load=load,
    measures=frozenset({"evidence", "answers"}),
    source="Maharana et al. 2024, snap-research/locomo, CC BY-NC 4.0",
    unit="one message",
    apart=frozenset({ADVERSARIAL}),
)
