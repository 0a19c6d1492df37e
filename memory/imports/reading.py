"""Find the conversations of some files, in the order in which they began, and read each when its turn has come.

The format of a file is told by what is in it, never by its name. Two passes: the first keeps a few numbers for each conversation, the second reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from memory.imports import chatgpt, claude, jsonl, librechat, openwebui
from memory.imports.stream import Piece, lines, load, pieces
from memory.imports.values import Conversation, Given, Note, Unreadable, without_pictures

# One conversation is held in memory whole; so many bytes of JSON at most.
LONGEST = 32 * 1024 * 1024
# So many conversations of a file are looked at to tell its format: some may be broken.
LOOKED_AT = 20
ARBORWEB = "arborweb"
LINES = {jsonl.NAME}

FORMATS: dict[str, Any] = {module.NAME: module for module in (chatgpt, claude, openwebui, librechat, jsonl)}
TITLES = {"chatgpt": "ChatGPT", "claude": "Claude", "openwebui": "Open WebUI", "librechat": "LibreChat", "jsonl": "lines of interactions", ARBORWEB: "ArborWeb"}
_OURS = re.compile(rb'"format"\s*:\s*"arborweb-forest"')


class Found(NamedTuple):
    """Where a conversation is, when it began, and how many interactions it has."""

    file: int
    piece: Piece
    format: str
    time: datetime | None
    turns: int
    number: int


@dataclass(slots=True)
class Survey:
    """The conversations of some files, earliest first (lines in their order), with what is wrong with the files themselves."""

    files: list[Path]
    found: list[Found] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    formats: set[str] = field(default_factory=set)

    @property
    def total(self) -> int:
        return sum(found.turns for found in self.found)


def survey(files: Iterable[tuple[Path, str]], beat: Callable[[], None] = lambda: None) -> Survey:
    """Look at every file, given with the name to call it by. `beat` is called now and then."""
    named = list(files)
    result = Survey([path for path, _ in named])
    for number, (path, name) in enumerate(named):
        with path.open("rb") as file:
            form = format_of(file)
            if form is None:
                result.notes.append(Note("unknown format", name, "it holds no conversations of a known format"))
                continue
            result.formats.add(form)
            if form != ARBORWEB:
                _survey_file(result, file, number, name, form, beat)
    ordered = any(found.format not in LINES for found in result.found)
    if ordered:
        result.found.sort(key=lambda found: (found.time is None, found.time or 0, found.file, found.number))
    return result


def _survey_file(result: Survey, file: IO[bytes], number: int, name: str, form: str, beat: Callable[[], None]) -> None:
    for at, piece in enumerate(_pieces(file, form), 1):
        beat()
        where = f"{name}, {'line' if form in LINES else 'conversation'} {at}"
        try:
            value = load(file, piece, LONGEST)
            if value is None:
                continue
            conversation = _read(value, form)
        except ValueError as error:
            result.notes.append(Note("unreadable", where, f"left out: {error}"))
            continue
        result.found.append(Found(number, piece, form, conversation.time, len(conversation.given), at))


def read(surveyed: Survey, found: Found) -> Conversation:
    """One conversation. Raises ValueError when it can't be read any more."""
    with surveyed.files[found.file].open("rb") as file:
        return _read(load(file, found.piece, LONGEST), found.format)


def _read(value: Any, form: str) -> Conversation:
    if not isinstance(value, dict):
        raise Unreadable(f"it is a {_kind(value)}, not a conversation")
    try:
        conversation: Conversation = FORMATS[form].read(value)
    except Unreadable:
        raise
    except (TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:  # an odd value nobody thought of costs this conversation only
        raise Unreadable(f"it isn't as conversations of {TITLES[form]} are ({type(error).__name__})") from error
    conversation.given = [_plain(given) for given in conversation.given]
    return conversation


def _plain(given: Given) -> Given:
    if "data:" not in given.user and "data:" not in given.assistant:
        return given
    return Given(
        given.id,
        given.parent,
        without_pictures(given.user),
        without_pictures(given.assistant),
        given.time,
        given.answered,
        given.question,
        given.free,
    )


def format_of(file: IO[bytes]) -> str | None:
    """The format of a file by its content; None when it is none of ours."""
    file.seek(0)
    head = file.read(64 * 1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"[":
        for piece, _ in zip(pieces(file, 1), range(LOOKED_AT), strict=False):
            if (form := _form(file, piece)) is not None:
                return form
        return None
    if head[:1] != b"{":
        return None
    if _OURS.search(head):
        return ARBORWEB
    for piece, _ in zip(lines(file, LONGEST), range(LOOKED_AT), strict=False):
        if _form(file, piece) == jsonl.NAME:
            return jsonl.NAME
    form = _form(file, _whole(file))
    return None if form == jsonl.NAME else form


def _form(file: IO[bytes], piece: Piece) -> str | None:
    try:
        value = load(file, piece, LONGEST)
    except ValueError:
        return None
    return next((name for name, module in FORMATS.items() if module.fits(value)), None) if isinstance(value, dict) else None


def _whole(file: IO[bytes]) -> Piece:
    size = file.seek(0, 2)
    file.seek(0)
    return Piece(3 if file.read(3) == b"\xef\xbb\xbf" else 0, size)


def _pieces(file: IO[bytes], form: str) -> Iterable[Piece]:
    file.seek(0)
    first = file.read(64 * 1024).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first == b"[":
        return pieces(file, 1)
    return lines(file, LONGEST) if form in LINES else [_whole(file)]


def _kind(value: Any) -> str:
    return {list: "list", str: "text", bool: "yes or no", int: "number", float: "number"}.get(type(value), "nothing")
