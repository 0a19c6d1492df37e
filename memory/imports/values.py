"""What every format is read into, and how its loose values (texts, times, ids) are made sound."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

LONGEST_ID = 200
# Times outside of these are mistakes of an export: before there were such chats, or where a number was no time.
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
MILLISECONDS = 1e11

Role = Literal["user", "assistant", "none"]


class Note(NamedTuple):
    """Something left out or changed: a short reason to count by, where it was, and what was the matter."""

    reason: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


@dataclass(slots=True)
class Message:
    """One message as its export has it. Of role `none` it says nothing itself, and its children belong to what it answers; `why` tells the reason."""

    id: str
    parent: str | None
    role: Role
    text: str = ""
    time: datetime | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """One interaction. `parent` is the id of another one; None is a new root, unless `free` leaves the place to localization.

    Regenerated answers are interactions of one `question` (the id of the user's message) under one parent."""

    id: str
    parent: str | None
    user: str
    assistant: str
    time: datetime | None
    answered: datetime | None = None
    question: str = ""
    free: bool = False


@dataclass(slots=True)
class Conversation:
    """A conversation's interactions, parents before their children, and what was left out of it."""

    id: str
    title: str = ""
    time: datetime | None = None
    given: list[Given] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Unreadable(ValueError):  # noqa: N818 - what it is, in one word
    """This value is no conversation of its format; the message says why."""


def text_of(value: Any) -> str:
    """A text as it can be kept: no NUL, no half surrogate pairs; anything but text is empty."""
    if not isinstance(value, str):
        return ""
    if "\x00" in value:
        value = value.replace("\x00", "")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        # Two halves side by side are one character that was escaped twice; a single half is no character.
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def join(parts: Iterable[str]) -> str:
    """Parts of one message, blank ones left out, with a line between."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def time_of(value: Any) -> datetime | None:
    """An aware time from seconds (or milliseconds) since 1970 or ISO 8601 text; a time without an offset is UTC. None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            try:
                return time_of(float(value))
            except ValueError:
                return None
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
    elif isinstance(value, int | float):
        try:
            seconds = float(value)
        except OverflowError:
            return None
        if not math.isfinite(seconds):
            return None
        seconds = seconds / 1000 if abs(seconds) > MILLISECONDS else seconds
        try:
            found = datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, OSError, ValueError):
            return None
    else:
        return None
    try:
        return found.astimezone(UTC) if EARLIEST <= found <= LATEST else None
    except OverflowError:
        return None


def id_of(*parts: Any) -> str:
    """One id of the ids of an export, at most 200 characters; a longer one ends in a digest of the whole."""
    whole = "/".join(text_of(part if isinstance(part, str) else str(part)).strip() for part in parts)
    if len(whole) <= LONGEST_ID:
        return whole
    return f"{whole[: LONGEST_ID - 33]}#{hashlib.sha256(whole.encode()).hexdigest()[:32]}"


def made_up_id(*parts: Any) -> str:
    """An id for what has none: the same for the same content."""
    return "c-" + hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:20]


def is_id(value: Any) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (isinstance(value, int) and not isinstance(value, bool))


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


_IMAGE = re.compile(r"!\[([^\]\n]{0,200})\]\(data:[^)\s]*\)|data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]+")


def without_pictures(text: str) -> str:
    """Pictures that are written into the text itself, said in words."""
    return _IMAGE.sub(lambda match: named("Image", match[1] or ""), text) if "data:" in text else text


def named(kind: str, name: Any = "") -> str:
    """An attachment in words."""
    said = " ".join(text_of(name).split())[:200]
    return f"[{kind}: {said}]" if said else f"[{kind}]"
