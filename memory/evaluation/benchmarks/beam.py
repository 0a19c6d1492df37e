"""BEAM (Tavakoli et al. 2026): one long conversation with an assistant and twenty probing questions of ten kinds.

    {"conversation_id": "1",
     "chat": [{"batch_number": 1, "time_anchor": null,
               "turns": [[{"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "… ->-> 1,1"},
                          {"role": "assistant", "id": 1, "content": "…"}]]}],
     "probing_questions": {"knowledge_update": [{"question": "…", "answer": "…", "rubric": ["…"], "source_chat_ids": {"updated_info": [58]}}]}}

One state a round: a user's message and its reply. The generator's markers (`->-> 1,1`) at the end of messages are stripped. `source_chat_ids` are ids of
messages, in a list or a dict of lists; the evidence is the rounds they lie in. The repository's own layout (`1/chat.json` beside
`1/probing_questions/probing_questions.json`) is read too.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from memory.evaluation.benchmarks.files import WrongFileError, documents, items, read, require
from memory.evaluation.benchmarks.rounds import History, Round, rounds, strings
from memory.evaluation.cases import Asked, Benchmark, Case, Given, Question, Step

EXPECTED: Final = "a BEAM conversation: an object with conversation_id, chat and probing_questions (mohammadtavakoli78/BEAM)"
ANSWERS: Final = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
ABSTENTION: Final = "abstention"
START: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)  # for a conversation that dates nothing

_MARKER = re.compile(r"\s*->\s*->\s*\d[\d\s,./A-Z]*\)?\s*$")


def load(path: Path) -> Iterator[Case]:
    """The conversations of a file, or of all *.json of a directory or archive. Raises WrongFileError."""
    chats = sorted(path.rglob("chat.json*")) if path.is_dir() else []
    if chats:
        for chat in chats:
            yield from _from_repository(chat)
        return
    for name, file in documents(path, ".json"):
        for value in items(name, file):
            row = require(value, ("chat", "probing_questions"), name, EXPECTED)
            yield _case(str(row.get("conversation_id") or name.removesuffix(".json")), row["chat"], row["probing_questions"], name)


def _from_repository(chat: Path) -> Iterator[Case]:
    id = chat.parent.name
    for name, file in documents(chat, ".json"):
        batches = list(items(f"{id}/{name}", file))
    for name, file in documents(chat.parent / "probing_questions", ".json"):
        yield _case(id, batches, read(name, file), f"{id}/{name}")


def _case(id: str, chat: Any, probing: Any, name: str) -> Case:
    notes: list[str] = []
    steps: list[Step] = []
    sessions: dict[str, str] = {}
    place: dict[int, str] = {}  # id of a message → id of its round
    now, marked = START, 0
    for number, value in enumerate(chat if isinstance(chat, list) else [chat], 1):
        batch = require(value, ("turns",), name, EXPECTED)
        for talk in batch["turns"]:
            for round in _rounds(talk, name):
                anchor = next((tag["time_anchor"] for tag in round.tags if tag.get("time_anchor")), None) or (batch.get("time_anchor") if not steps else None)
                now = _moment(anchor, now, notes) if anchor else now + timedelta(minutes=1)  # the set dates the beginning of a batch only
                ids = [int(tag["id"]) for tag in round.tags]
                user, assistant = _MARKER.sub("", round.user), _MARKER.sub("", round.assistant)
                marked += (user != round.user) + (assistant != round.assistant)
                given = Given(f"m{ids[0]}", user, assistant, now)
                if given.id in sessions:
                    raise WrongFileError(f"{name} has the message id {ids[0]} twice: which one the evidence means can't be told. Expected {EXPECTED}.")
                steps.append(Step(given))
                sessions[given.id] = f"batch {batch.get('batch_number', number)}"
                place.update((message, given.id) for message in ids)
    if not steps:
        raise WrongFileError(f"{name} has no messages. Expected {EXPECTED}.")
    if marked:
        notes.append(f"{marked} messages ended in a marker of the generator, which is stripped")
    history, asked = History(steps), now + timedelta(minutes=1)
    questions = tuple(
        _question(f"beam-{id}/{kind}/{number}", kind, require(value, ("question",), name, EXPECTED), asked, place, history, notes)
        for kind, listed in _probing(probing, name).items()
        for number, value in enumerate(listed, 1)
    )
    return Case(f"beam-{id}", tuple(steps), questions, sessions=sessions, notes=tuple(notes))


def _rounds(talk: Any, name: str) -> list[Round[Mapping[str, Any]]]:
    if isinstance(talk, dict):  # a turn that isn't wrapped into a list
        talk = [talk]
    messages = [require(message, ("role", "id", "content"), name, EXPECTED) for message in talk]
    return rounds((str(message["role"]), str(message["content"] or ""), message) for message in messages)


def _moment(anchor: Any, now: datetime, notes: list[str]) -> datetime:
    """Nine o'clock on the day of a `March-15-2024`. Time never runs back; an anchor that can't be read, or lies before, only goes on."""
    try:
        day = datetime.strptime(str(anchor).strip(), "%B-%d-%Y").replace(hour=9, tzinfo=UTC)
    except ValueError:
        notes.append(f"time anchor {anchor!r} can't be read and is left out")
        return now + timedelta(minutes=1)
    if day <= now and now != START:
        notes.append(f"time anchor {anchor!r} lies before what was said already: time goes on from there")
        return now + timedelta(minutes=1)
    return day


def _probing(value: Any, name: str) -> Mapping[str, list[Any]]:
    """The questions by category; some copies hold them as text, in JSON or as Python writes it."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            try:
                value = ast.literal_eval(value)
            except (ValueError, SyntaxError) as error:
                raise WrongFileError(f"{name} has probing questions that are neither JSON nor a Python literal. Expected {EXPECTED}.") from error
    return {kind: list(listed) for kind, listed in require(value, (), name, EXPECTED).items()}


def _question(id: str, kind: str, row: Mapping[str, Any], asked: datetime, place: Mapping[int, str], history: History, notes: list[str]) -> Question:
    answers = tuple(next((strings(row[key]) for key in ANSWERS if row.get(key)), []))
    if not answers:
        notes.append(f"question {id} has no answer under any known key: it is judged by its rubric alone")
    sources = _flat(row.get("source_chat_ids"))
    if lost := [source for source in sources if source not in place]:
        notes.append(f"question {id}: evidence {', '.join(map(str, lost))} names no message and is left out")
    evidence = tuple(dict.fromkeys(place[source] for source in sources if source in place))
    if not evidence and kind != ABSTENTION:
        notes.append(f"question {id} has no evidence: not counted among those whose evidence is looked for")
    return Question(
        id=id,
        asked=Asked(str(row["question"]), asked),
        type=kind,
        evidence=evidence,
        answers=answers,
        span=history.has(answers),
        abstain=kind == ABSTENTION,
        rubric=tuple(strings(row.get("rubric"))),
    )


def _flat(value: Any) -> list[int]:
    """Message ids of a list, a dict of lists or one id."""
    if isinstance(value, dict | list):
        return [id for one in (value.values() if isinstance(value, dict) else value) for id in _flat(one)]
    found = re.search(r"\d+", str(value)) if value is not None else None
    return [int(found[0])] if found else []


BENCHMARK: Final = Benchmark(
    name="beam",
    title="BEAM 100K",
    load=load,
    measures=frozenset({"evidence", "answers"}),
    source="Tavakoli et al. 2026, mohammadtavakoli78/BEAM, treated as CC BY-SA 4.0",
    unit="one user–assistant round",
)
