"""Small exports of our own making, in the shapes other chats export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memory.imports import Conversation, read, survey
from memory.imports.values import Given

BEGAN = 1767600000.5  # 5 January 2026


def gpt(nodes: dict[str, Any], began: float = BEGAN, **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation of nodes given as `id: (parent, role, parts or content, more of the message)`; role None is a node without a message."""
    mapping: dict[str, Any] = {}
    for number, (key, (parent, role, said, *rest)) in enumerate(nodes.items()):
        extra = rest[0] if rest else {}
        content = said if isinstance(said, dict) else {"content_type": "text", "parts": said if isinstance(said, list) else [said]}
        message = {"id": key, "author": {"role": role}, "create_time": began + number, "content": content, "metadata": {}, "recipient": "all", **extra}
        mapping[key] = {"id": key, "parent": parent, "children": [], "message": message if role else None}
    for key, node in mapping.items():
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(key)
    return {"title": "Pots", "create_time": began, "conversation_id": "c1", "mapping": mapping, **more}


def read_all(tmp_path: Path, content: Any, name: str = "export.txt") -> tuple[list[Conversation], list[str]]:
    """The conversations of a file with this content (JSON of it, or the text or bytes as they are), and what was left out of the file."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())
    surveyed = survey([(path, name)])
    return [read(surveyed, found) for found in surveyed.found], [str(note) for note in surveyed.notes]


def told(conversation: Conversation) -> list[tuple[str, str | None, str, str]]:
    """(id, parent, user, assistant) of each interaction, ids without the conversation's."""

    def short(name: str | None) -> str | None:
        return name.removeprefix(f"{conversation.id}/") if name else None

    return [(str(short(one.id)), short(one.parent), one.user, one.assistant) for one in conversation.given]


def reasons(conversation: Conversation) -> list[str]:
    return [note.reason for note in conversation.notes]


def first(conversations: list[Conversation]) -> Given:
    return conversations[0].given[0]
