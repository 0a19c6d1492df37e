"""Our own lines, as `observe/` takes and `replay` reads them; also as one list.

    {"id": "k1", "user": "We plan a kitchen.", "assistant": "Nice.", "time": "2026-01-05T10:00:00+01:00", "parent": null}
    {"id": "k2", "user": "Oak or tiles?", "time": "2026-01-05T10:05:00+01:00", "parent": "k1"}
    {"id": "s1", "user": "How warm should a sourdough rest?", "time": "2026-01-06T10:05:00+01:00"}

`parent` is an id given before, null (or `new_root`) a new root; a line that says neither finds its own place.
"""

from __future__ import annotations

from typing import Any

from memory.imports.values import Conversation, Given, Unreadable, id_of, is_id, made_up_id, text_of, time_of

NAME = "jsonl"


def fits(value: dict[str, Any]) -> bool:
    return isinstance(value.get("user"), str) and not any(key in value for key in ("mapping", "chat_messages", "messages", "chat"))


def read(value: dict[str, Any]) -> Conversation:
    """One line. Raises Unreadable."""
    user = text_of(value.get("user"))
    if not user.strip():
        raise Unreadable("it has no user's text")
    parent = value.get("parent")
    if parent is not None and not is_id(parent):
        raise Unreadable("its parent is no id")
    assistant, time = value.get("assistant"), value.get("time")
    if assistant is not None and not isinstance(assistant, str):
        raise Unreadable("its assistant's text is no text")
    name = id_of(value["id"]) if is_id(value.get("id")) else made_up_id(user, time, parent)
    free = parent is None and value.get("new_root") is not True and "parent" not in value
    given = Given(name, id_of(parent) if parent is not None else None, user, text_of(assistant), time_of(time), question=name, free=free)
    return Conversation(name, "", given.time, [given])
