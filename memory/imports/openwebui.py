"""Open WebUI: a list of chats (or one), each with `history.messages` by id.

    [{"id": "c1", "title": "Garden", "created_at": 1767600000, "chat": {"title": "Garden", "history": {"currentId": "m3", "messages": {
        "m1": {"id": "m1", "parentId": null, "childrenIds": ["m2", "m3"], "role": "user", "content": "Which herb?", "timestamp": 1767600000},
        "m2": {"id": "m2", "parentId": "m1", "childrenIds": [], "role": "assistant", "content": "Basil.", "timestamp": 1767600003, "model": "a"},
        "m3": {"id": "m3", "parentId": "m1", "childrenIds": [], "role": "assistant", "content": "Thyme.", "timestamp": 1767600004, "model": "b"}}}}}]

Answers of several models to one question are answers beside each other, as regenerated ones are. A chat without a history has a plain list of messages.
"""

from __future__ import annotations

import re
from typing import Any

from memory.imports import tree
from memory.imports.values import Conversation, Message, Unreadable, id_of, is_id, join, listing, made_up_id, mapping, named, text_of, time_of

NAME = "openwebui"
_ASIDE = re.compile(r"<details\s[^>]*type=\"(?:reasoning|tool_calls|code_interpreter)\"[^>]*>.*?</details>\s*|<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)


def fits(value: dict[str, Any]) -> bool:
    return _history(value) is not None or isinstance(_chat(value).get("messages"), list)


def _chat(value: dict[str, Any]) -> dict[str, Any]:
    """A chat as the server exports it has its content under `chat`; one that was copied out of it stands alone."""
    chat = value.get("chat")
    return chat if isinstance(chat, dict) else value if "history" in value else {}


def _history(value: dict[str, Any]) -> dict[str, Any] | None:
    messages = mapping(_chat(value).get("history")).get("messages")
    return messages if isinstance(messages, dict) else None


def read(value: dict[str, Any]) -> Conversation:
    """One chat. Raises Unreadable."""
    if not fits(value):
        raise Unreadable("it has no history of messages")
    chat, history = _chat(value), _history(value)
    title = text_of(value.get("title")) or text_of(chat.get("title"))
    began = time_of(value.get("created_at")) or time_of(chat.get("timestamp"))
    identity = value.get("id") or chat.get("id")
    if not is_id(identity):
        identity = made_up_id(title, value.get("created_at"), sorted(map(str, history or {}))[:3])
    conversation = Conversation(id_of(identity), title, began)
    return tree.grow(conversation, _nodes(history) if history else _listed(listing(chat.get("messages"))))


def _nodes(history: dict[str, Any]) -> list[Message]:
    nodes = {text_of(key): mapping(node) for key, node in history.items()}
    above = {child: key for key, node in nodes.items() for child in listing(node.get("childrenIds")) if isinstance(child, str)}
    found = []
    for key, node in nodes.items():
        parent = node.get("parentId")
        named_parent = parent if isinstance(parent, str) and parent and (parent in nodes or key not in above) else above.get(key)
        found.append(_message(key, named_parent, node))
    return found


def _listed(messages: list[Any]) -> list[Message]:
    found: list[Message] = []
    for number, node in enumerate(messages, 1):
        node = mapping(node)
        key = id_of(node["id"]) if is_id(node.get("id")) else f"m{number}"
        found.append(_message(key, found[-1].id if found else None, node))
    return found


def _message(key: str, parent: str | None, node: dict[str, Any]) -> Message:
    role = node.get("role")
    text = _text(node)
    kept = role in ("user", "assistant") and bool(text)
    why = (
        ""
        if kept
        else "empty"
        if role in ("user", "assistant")
        else "a system message"
        if role == "system"
        else "output of a tool"
        if role == "tool"
        else "no message"
    )
    return Message(key, parent, role if kept else "none", text, time_of(node.get("timestamp")), why)  # type: ignore[arg-type]


def _text(node: dict[str, Any]) -> str:
    content = node.get("content")
    if isinstance(content, list):
        parts = [mapping(part) for part in content]
        said = join(
            text_of(part.get("text")) if part.get("type") in ("text", None) else named("Image" if "image" in text_of(part.get("type")) else "Attachment")
            for part in parts
        )
    else:
        said = text_of(content)
    if node.get("role") == "assistant" and "<" in said:
        said = _ASIDE.sub("", said)
    files = [file for file in listing(node.get("files")) if isinstance(file, dict)]
    return join(
        [said, *(named("Image" if file.get("type") == "image" else "File", file.get("name") or mapping(file.get("file")).get("filename")) for file in files)]
    )
