"""Keeps what a model thinks apart from what it says: `<think>…</think>` inside the text, also when a tag is split over chunks (M3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["answer", "reasoning"]
Piece = tuple[Kind, str]

_OPEN = ("<think>", "<thinking>", "<reasoning>")
_WHOLE = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>\s*|$)", re.DOTALL)


class Splitter:
    """Text in chunks → pieces, none empty. A tag counts only where the answer begins (or right after thinking): later it is text about tags."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""  # the tag that ends the thinking under way
        self._said = False

    def feed(self, text: str) -> Iterator[Piece]:
        self._held += text
        while self._held:
            if self._closing:
                before, tag, after = self._held.partition(self._closing)
                if tag:
                    yield from _piece("reasoning", before)
                    self._held, self._closing = after, ""
                    continue
                keep = _tail(self._held, self._closing)
                yield from _piece("reasoning", self._held[: len(self._held) - keep])
                self._held = self._held[len(self._held) - keep :]
                return
            if self._said:
                yield from _piece("answer", self._held)
                self._held = ""
                return
            start = self._held.lstrip()
            opened = next((tag for tag in _OPEN if start.startswith(tag)), None)
            if opened:
                self._closing, self._held = f"</{opened[1:]}", start[len(opened) :]
                continue
            if not start or any(tag.startswith(start) for tag in _OPEN):
                return  # blanks, or what may become a tag
            self._said = True
            self._held = start

    def end(self) -> Iterator[Piece]:
        """What was held back when the text ended."""
        if self._held.strip():
            yield from _piece("reasoning" if self._closing else "answer", self._held)
        self._held = ""


def without_thinking(text: str) -> str:
    """A whole answer without its thinking, wherever it stands; thinking that never ends takes the rest with it."""
    # Some templates open the tag in the prompt: then only its end is in the answer.
    head, tag, tail = text.partition("</think>")
    if tag and "<think>" not in head:
        text = tail
    return _WHOLE.sub("", text).strip()


def _piece(kind: Kind, text: str) -> Iterator[Piece]:
    if text:
        yield kind, text


def _tail(text: str, tag: str) -> int:
    """How many of the last characters may be the beginning of `tag`."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if tag.startswith(text[-size:])), 0)
