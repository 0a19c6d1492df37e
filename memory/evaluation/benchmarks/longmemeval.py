"""LongMemEval (Wu et al. 2025): a question over some 48 sessions with an assistant; one case a question.

    [{"question_id": "ab12_abs", "question_type": "temporal-reasoning", "question": "…", "answer": "…", "question_date": "2023/06/06 (Tue) 08:19",
      "answer_session_ids": ["answer_1"], "haystack_dates": ["2023/04/25 (Tue) 04:07"], "haystack_session_ids": ["answer_1"],
      "haystack_sessions": [[{"role": "user", "content": "…", "has_answer": true}, {"role": "assistant", "content": "…"}]]}]

One state a round. Sessions come by date, whatever their order in the file; those after the question's *day* are not visible to it, those of the same day are.
Public ids give gold away (`answer_…`, `…_abs`), so that a system sees ids of our own for the case and for each round.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from memory.evaluation.benchmarks.files import WrongFileError, documents, items, require
from memory.evaluation.benchmarks.rounds import History, Round, rounds, strings
from memory.evaluation.cases import Asked, Benchmark, Case, Given, Question, Step

EXPECTED: Final = "a LongMemEval file: a list of objects with question_id, haystack_dates, haystack_sessions … (longmemeval_s.json, _m or _oracle)"
KEYS: Final = (
    "question_id",
    "question_type",
    "question",
    "answer",
    "question_date",
    "answer_session_ids",
    "haystack_dates",
    "haystack_session_ids",
    "haystack_sessions",
)
_DATE = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)(?: \(\w+\))?(?: (\d\d?):(\d\d))?")


def load(path: Path) -> Iterator[Case]:
    """The questions of a file, or of all *.json of a directory, each with its history. Raises WrongFileError."""
    for name, file in documents(path, ".json"):
        for value in items(name, file):
            yield _case(require(value, KEYS, name, EXPECTED), name)


def _case(row: Mapping[str, Any], name: str) -> Case:
    id, asked = str(row["question_id"]), _moment(row["question_date"], name)
    steps: list[Step] = []
    sessions: dict[str, str] = {}
    evidence: dict[tuple[str, str, str], str] = {}  # a repeated session holds its evidence once
    notes: list[str] = []
    for number, (start, session, talk) in enumerate(_visible(row, asked, name, notes), 1):
        for place, round in enumerate(talk, 1):
            if not (round.user or round.assistant):
                notes.append(f"session {session}: a round without text is left out")
                continue
            if not round.user:
                notes.append(f"session {session} begins with a reply: a round without a user")
            when = start + timedelta(seconds=place - 1)  # the set dates sessions only
            when = max(when, steps[-1].given.time) if steps else when
            given = Given(f"s{number:03}r{place:02}", round.user, round.assistant, when)
            steps.append(Step(given))
            sessions[given.id] = session
            if any(round.tags):
                evidence.setdefault((session, round.user, round.assistant), given.id)
    if not steps:
        raise WrongFileError(f"{name}: question {id} has no session before the end of its day. Expected {EXPECTED}.")
    gold = _gold_sessions(row, sessions, evidence, notes)
    answers = tuple(strings(row["answer"]))
    question = Question(
        id=id,
        asked=Asked(str(row["question"]), _asked(asked, steps[-1].given.time, notes)),
        type=str(row["question_type"]),
        evidence=tuple(evidence.values()),
        answers=answers,
        span=History(steps).has(answers),
        abstain=id.endswith("_abs"),
        sessions=gold,
    )
    return Case(f"longmemeval-{hashlib.sha256(id.encode()).hexdigest()[:12]}", tuple(steps), (question,), sessions=sessions, notes=tuple(notes))


def _visible(row: Mapping[str, Any], asked: datetime, name: str, notes: list[str]) -> list[tuple[datetime, str, list[Round[bool]]]]:
    """(start, public id, rounds) of the sessions a question may see, by date; sessions of one minute stay in the order of the file."""
    dates, ids, talks = row["haystack_dates"], row["haystack_session_ids"], row["haystack_sessions"]
    if not len(dates) == len(ids) == len(talks):
        raise WrongFileError(
            f"{name}: question {row['question_id']} has {len(dates)} dates, {len(ids)} ids and {len(talks)} sessions; expected as many of each."
        )
    listed = [(_moment(date, name), str(id), talk) for date, id, talk in zip(dates, ids, talks, strict=True)]
    ordered = sorted(listed, key=lambda session: session[0])
    if ordered != listed:
        notes.append("sessions are not in the order of their dates: taken by date")
    seen = [session for session in ordered if session[0].date() <= asked.date()]
    if len(seen) < len(ordered):
        notes.append(f"{len(ordered) - len(seen)} sessions after the day of the question are left out")
    if repeated := sorted({id for _, id, _ in seen if sum(id == other for _, other, _ in seen) > 1}):
        notes.append(f"repeated session ids: {', '.join(repeated)}; each copy is kept, evidence in it counts once")
    return [(start, id, rounds(_message(message, name) for message in talk)) for start, id, talk in seen]


def _message(value: Any, name: str) -> tuple[str, str, bool]:
    message = require(value, ("role", "content"), name, EXPECTED)
    return str(message["role"]), str(message["content"] or ""), bool(message.get("has_answer"))


def _gold_sessions(row: Mapping[str, Any], sessions: Mapping[str, str], evidence: Mapping[tuple[str, str, str], str], notes: list[str]) -> tuple[str, ...]:
    named = list(dict.fromkeys(map(str, row["answer_session_ids"])))
    there = set(sessions.values())
    if hidden := [id for id in named if id not in there]:
        notes.append(f"gold sessions that the question can't see are left out: {', '.join(hidden)}")
    marked = {session for session, _, _ in evidence}
    if unmarked := [id for id in named if id in there and id not in marked]:
        notes.append(f"gold sessions without a round marked as evidence: {', '.join(unmarked)}; they count for session recall only")
    return tuple(id for id in named if id in there)


def _asked(asked: datetime, last: datetime, notes: list[str]) -> datetime:
    """When it is asked: after all that is visible, and on its own day, so that “three days ago” means the same."""
    if last <= asked:
        return asked
    notes.append("sessions later on the day of the question: it is asked after them")
    return min(last + timedelta(minutes=1), datetime.combine(asked.date(), time(23, 59, 59), UTC))


def _moment(stamp: Any, name: str) -> datetime:
    found = _DATE.fullmatch(str(stamp).strip())
    if not found:
        raise WrongFileError(f"{name} has the date {stamp!r}; expected one like “2023/06/06 (Tue) 08:19”.")
    year, month, day, hour, minute = (int(part or 0) for part in found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


BENCHMARK: Final = Benchmark(
    name="longmemeval",
    title="LongMemEval",
    load=load,
    measures=frozenset({"evidence", "answers"}),
    source="Wu et al. 2025, xiaowu0162/LongMemEval, MIT",
    unit="one user–assistant round",
)
