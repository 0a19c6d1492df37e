"""Labels, times and set-returning columns that several shapes share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.models import BigIntegerField, Func

from memory.engine.text import excerpt

LABEL_LENGTH = 80
# A label never needs more of a long turn than this.
LABEL_SOURCE_LENGTH = 240

Json = dict[str, Any]


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, as the page's `Date` reads it."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def shorten(text: str, length: int = LABEL_LENGTH) -> str:
    """One line of at most `length` characters, cut between words where there are any; safe in a label."""
    return excerpt(text, length)


def label_of(node_summary: str, user_text: str, assistant_text: str = "") -> str:
    """What a state is called in the drawing, a crumb or a list: its summary once there is one, the words said until then."""
    return shorten(node_summary or user_text or assistant_text) or "…"


class Unnest(Func):
    """The elements of an array column, one row each."""

    function = "unnest"
    set_returning = True
    output_field = BigIntegerField()
