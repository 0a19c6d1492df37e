"""Messages with parents → interactions with parents: the same for every format.

An interaction is a user's message and what was answered until the next one. What says nothing itself (system, tool, hidden, empty messages) is passed
through: its children belong to what it answers. A user's message edited, or an answer regenerated, gives another interaction under the same parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memory.imports.values import Conversation, Given, Message, Note, id_of, join

# An answer in more pieces than this is cut; it also bounds the work on a chain of answers without questions.
MOST_PARTS = 200


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn under way: the user's message, if there is one, the chain of answers so far (newest first), and the interaction it continues."""

    question: Message | None
    answers: tuple[Message, object] | None
    parent: str | None

    @property
    def last(self) -> Message | None:
        return self.answers[0] if self.answers else self.question


def grow(conversation: Conversation, messages: Iterable[Message]) -> Conversation:
    """Fill a conversation with the interactions of its messages."""
    known = _sound(conversation, messages)
    conversation.given = list(_timed(conversation, _interactions(conversation, known)))
    conversation.time = conversation.time or min((given.time for given in conversation.given if given.time), default=None)
    return conversation


def _sound(conversation: Conversation, messages: Iterable[Message]) -> dict[str, Message]:
    """The messages by id, each with a parent that exists and no circles."""
    known: dict[str, Message] = {}
    for message in messages:
        if message.id in known:
            twin = next(name for number in range(2, len(known) + 3) if (name := f"{message.id}~{number}") not in known)
            conversation.notes.append(_note(conversation, "duplicate id", f"two messages have the id {message.id[:60]}; the later one is kept as {twin[:60]}"))
            message = replace(message, id=twin)
        known[message.id] = message
    for message in known.values():
        if message.parent is not None and message.parent not in known:
            conversation.notes.append(_note(conversation, "unknown parent", f"message {message.id[:60]} names a parent that isn't there; it begins a tree"))
            message.parent = None
    sound: set[str] = set()
    for start in known:
        way: list[str] = []
        here: str | None = start
        on_way: set[str] = set()
        while here is not None and here not in sound:
            if here in on_way:
                conversation.notes.append(_note(conversation, "circle", f"message {here[:60]} is above itself; it begins a tree"))
                known[here].parent = None
                break
            way.append(here)
            on_way.add(here)
            here = known[here].parent
        sound.update(way)
    return known


def _interactions(conversation: Conversation, known: dict[str, Message]) -> Iterator[Given]:
    children: dict[str | None, list[Message]] = {}
    for message in known.values():
        children.setdefault(message.parent, []).append(message)
        if message.role == "none" and message.why:
            conversation.notes.append(_note(conversation, message.why, f"message {message.id[:60]} left out: {message.why}"))
    told: dict[str, Given] = {}
    bare: set[str] = set()  # questions that end there without an answer
    asked: set[str] = set()
    waiting = [(message, _Turn(None, None, None)) for message in reversed(children.get(None, []))]
    while waiting:
        message, turn = waiting.pop()
        below = children.get(message.id, [])
        if message.role == "user":
            ended = turn.last
            parent = turn.parent
            if ended is not None:
                parent = id_of(conversation.id, ended.id)
                if parent not in told or parent in bare:
                    told[parent] = _given(conversation, turn, parent)
                    asked.add(told[parent].question)
                    bare.discard(parent)
            turn = _Turn(message, None, parent)
        elif message.role == "assistant":
            turn = replace(turn, answers=(message, turn.answers))
        if below:
            waiting += [(child, turn) for child in reversed(below)]
        elif (ended := turn.last) is not None:
            name = id_of(conversation.id, ended.id)
            if name not in told:
                told[name] = _given(conversation, turn, name)
                if turn.answers is None:
                    bare.add(name)
                else:
                    asked.add(told[name].question)
    # A question that ended in nothing is told without an answer, unless another attempt was answered.
    yield from (given for name, given in told.items() if name not in bare or given.question not in asked)


def _given(conversation: Conversation, turn: _Turn, name: str) -> Given:
    parts: list[Message] = []
    link = turn.answers
    while link is not None and len(parts) < MOST_PARTS:
        part, rest = link
        parts.append(part)
        link = rest  # type: ignore[assignment]
    if link is not None:
        conversation.notes.append(_note(conversation, "long answer", f"an answer has more than {MOST_PARTS} parts; the first ones are left out"))
    parts.reverse()
    question = turn.question
    first = question or parts[0]
    return Given(
        id=name,
        parent=turn.parent,
        user=question.text if question else "",
        assistant=join(part.text for part in parts),
        time=first.time or next((part.time for part in parts if part.time), None),
        answered=parts[-1].time if parts else None,
        question=id_of(conversation.id, first.id),
    )


def _timed(conversation: Conversation, given: Iterable[Given]) -> Iterator[Given]:
    """Each with a time: its own, else that of what it continues, else the conversation's (None when that has none either)."""
    times: dict[str, datetime | None] = {}
    inherited = 0
    for one in given:
        time = one.time
        if time is None:
            time = times.get(one.parent) if one.parent else None
            time = time or conversation.time
            inherited += 1
        times[one.id] = time
        yield one if one.time else replace(one, time=time)
    if inherited:
        what = f"{inherited} of its turns have no time; they get the time of what they continue, or of the conversation"
        conversation.notes.append(_note(conversation, "no time", what))


def _note(conversation: Conversation, reason: str, what: str) -> Note:
    """A remark without what was said, titles included: reports outlive the turns they speak of."""
    day = f" of {conversation.time:%Y-%m-%d}" if conversation.time else ""
    return Note(reason, f"Conversation{day} ({conversation.id[:40]})", what)
