"""What the sets of user–assistant talk share: rounds out of messages, and whether a gold answer is a span of a history."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory.evaluation.answers import contains, normalize
from memory.evaluation.cases import Step

Tag = TypeVar("Tag")
_NO_LETTERS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True)
class Round(Generic[Tag]):
    """One round: all that the user said in a row, then all that was answered in a row. tags: one of each message in it."""

    user: str
    assistant: str
    tags: tuple[Tag, ...]


def rounds(messages: Iterable[tuple[str, str, Tag]]) -> list[Round[Tag]]:
    """The rounds of (role, content, tag) messages. Several messages of one side in a row are one side of a round, blank ones give no text;
    a record that begins with a reply begins with a round without a user. A round without any text is kept: it is the caller's to leave out."""
    made: list[tuple[list[str], list[str], list[Tag]]] = []
    replied = True  # whether the round at hand has its reply, so that the next user message opens another
    for role, content, tag in messages:
        user = role == "user"
        if not made or (user and replied):
            made.append(([], [], []))
        replied = not user
        said, answered, tags = made[-1]
        (said if user else answered).append(content.strip())
        tags.append(tag)
    return [Round("\n\n".join(filter(None, said)), "\n\n".join(filter(None, answered)), tuple(tags)) for said, answered, tags in made]


class History:
    """All that was said in a case. A gold answer is a span when it stands in it: only such a gold can be looked for in a context, which quotes it."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._texts = [f"{step.given.user}\n{step.given.assistant}" for step in steps]
        self._folded = [_NO_LETTERS.sub("", text.casefold()) for text in self._texts]
        self._normalized: dict[int, str] = {}

    def has(self, answers: Iterable[str]) -> bool:
        """Whether one of the answers stands in one interaction, normalized, at token boundaries."""
        return any(self._has(answer) for answer in answers)

    def _has(self, answer: str) -> bool:
        # Normalizing half a megabyte takes a quarter of a second: only what has the longest plain word of the answer is looked at closely.
        plain = [word for word in normalize(answer).split() if word.isalpha() and word != "and"]
        word = max(plain, key=len, default="")
        return any(word in folded and contains(self._of(index), answer, normalized=True) for index, folded in enumerate(self._folded))

    def _of(self, index: int) -> str:
        if index not in self._normalized:
            self._normalized[index] = normalize(self._texts[index])
        return self._normalized[index]


def strings(value: Any) -> list[str]:
    """Answers as text, whatever shape a file gives them (a number, a list, nothing)."""
    if value is None:
        return []
    return [text for one in value for text in strings(one)] if isinstance(value, list) else [str(value).strip()]
