"""What of an interaction has a vector of its own beside the whole: the user's words, single sentences, questions left open, list items.

A whole turn is near many things; what a later turn resumes is often one sentence of it. The numbers of pieces are those of their vectors, so that a
piece is found again by reading the texts once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.engine import describe, reply, text

SAID: Final = 0  # the user's text, whole
SENTENCES: Final = 1  # … and its sentences, when there are several
ANSWER: Final = 10  # the first sentences of the answer
QUESTIONS: Final = 20  # the last questions that the answer leaves open
ITEMS: Final = 30  # the items of its list
INTRODUCED: Final = 40  # how the user introduced people and things
SENTENCE_LIMIT: Final = 6
SPOKEN_LIMIT: Final = 4  # sentences of an input that are looked up
ANSWER_LIMIT: Final = 6
QUESTION_LIMIT: Final = 3
ITEM_LIMIT: Final = 8
LONGEST: Final = 400  # characters of a piece that are embedded; of the user's text as a whole, all
READ: Final = 6_000  # characters of a text that are looked at


def pieces(user: str, assistant: str) -> dict[int, str]:
    """The pieces of an interaction by number, none empty, none twice; a pure function of its texts."""
    found: dict[int, str] = {}
    seen: set[str] = set()
    for number, piece in _numbered(user, assistant):
        if piece and piece not in seen:
            seen.add(piece)
            found[number] = piece
    return found


def _numbered(user: str, assistant: str) -> Iterator[tuple[int, str]]:
    yield SAID, user.strip()
    yield from enumerate(_cut(_sentences(user)), SENTENCES)
    yield from enumerate(_cut(describe.introductions(user)), INTRODUCED)
    for number, question in open_questions(assistant).items():
        yield number, question[:LONGEST]
    for number, item in items(assistant).items():
        yield number, item[:LONGEST]
    yield from enumerate(_cut(text.sentences(assistant[:READ])[:ANSWER_LIMIT]), ANSWER)


@dataclass(frozen=True, slots=True)
class Spoken:
    """The texts an input is looked up by: itself, its sentences when it has several, its descriptions."""

    whole: str
    sentences: tuple[str, ...]
    descriptions: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """All of them, in that order: what is embedded."""
        return [self.whole, *self.sentences, *self.descriptions]


def is_offered(number: int) -> bool:
    """Whether a piece of this number waits for the user: an open question or a list item."""
    return QUESTIONS <= number < INTRODUCED


def spoken(said: str) -> Spoken:
    """An input cut for looking it up."""
    return Spoken(said, tuple(_cut(_sentences(said)[:SPOKEN_LIMIT])), tuple(_cut(describe.named(said))))


def _sentences(user: str) -> list[str]:
    """The sentences of a user's text, none when it is one sentence."""
    found = [sentence for sentence in text.sentences(user[:READ])[:SENTENCE_LIMIT] if len(sentence) > 3]  # “No.” says nothing alone
    return found if len(found) > 1 else []


def open_questions(assistant: str) -> dict[int, str]:
    """The last questions an answer leaves open, by the number of their piece."""
    return dict(enumerate(reply.open_questions(assistant[-READ:])[-QUESTION_LIMIT:], QUESTIONS))


def items(assistant: str) -> dict[int, str]:
    """The items of an answer's list, by the number of their piece."""
    return dict(enumerate(reply.list_items(assistant[-READ:])[:ITEM_LIMIT], ITEMS))


def _cut(sentences: list[str]) -> list[str]:
    return [sentence[:LONGEST] for sentence in sentences]
