"""LibreChat: one conversation a file, its `messages` flat with parents, or nested (`recursive`) with `children`.

{"conversationId": "c1", "title": "Bread", "recursive": true, "messages": [
    {"messageId": "m1", "parentMessageId": "00000000-0000-0000-0000-000000000000", "isCreatedByUser": true, "sender": "User", "text": "How warm?",
     "createdAt": "2026-01-05T10:00:00.000Z", "children": [
        {"messageId": "m2", "parentMessageId": "m1", "isCreatedByUser": false, "sender": "GPT", "content": [{"type": "think", "think": "…"},
         {"type": "text", "text": "24 °C."}], "children": []},
        {"messageId": "m3", "parentMessageId": "m1", "isCreatedByUser": false, "sender": "GPT", "text": "Warm.", "children": []}]}]}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory.imports import tree
from memory.imports.values import Conversation, Message, Unreadable, id_of, is_id, join, listing, made_up_id, mapping, named, text_of, time_of

NAME = "librechat"
_THOUGHT = re.compile(r":::thinking.*?:::\s*|<think>.*?</think>\s*", re.DOTALL)


def fits(value: dict[str, Any]) -> bool:
    first = next((message for message in listing(value.get("messages")) if isinstance(message, dict)), {})
    return isinstance(value.get("messages"), list) and ("conversationId" in value or "messageId" in first)


def read(value: dict[str, Any]) -> Conversation:
    """One conversation. Raises Unreadable."""
    if not fits(value):
        raise Unreadable("it has no messages")
    identity = value.get("conversationId")
    nodes = list(_flat(value["messages"]))
    conversation = Conversation(
        id_of(identity) if is_id(identity) else made_up_id(value.get("title"), [key for key, _, _ in nodes[:3]]),
        text_of(value.get("title")),
        next((time for _, _, node in nodes if (time := time_of(node.get("createdAt")))), time_of(value.get("exportAt"))),
    )
    return tree.grow(conversation, (_message(*node) for node in nodes))


def _flat(messages: list[Any]) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Id, parent and message of each, whether nested or not."""
    waiting: list[tuple[Any, str | None]] = [(message, None) for message in reversed(messages)]
    number = 0
    while waiting:
        message, above = waiting.pop()
        if not isinstance(message, dict):
            continue
        number += 1
        key = id_of(message["messageId"]) if is_id(message.get("messageId")) else f"m{number}"
        parent = message.get("parentMessageId")
        begins = not isinstance(parent, str) or not parent.strip("0-")
        yield key, above or (None if begins else id_of(parent)), message
        waiting += [(child, key) for child in reversed(listing(message.get("children")))]


def _message(key: str, parent: str | None, node: dict[str, Any]) -> Message:
    by_user = node.get("isCreatedByUser")
    if not isinstance(by_user, bool):
        by_user = text_of(node.get("sender")).lower() == "user"
    text = _text(node)
    failed = node.get("error") is True and not by_user
    kept = bool(text) and not failed
    why = "" if kept else "an error instead of an answer" if failed else "empty"
    return Message(key, parent, ("user" if by_user else "assistant") if kept else "none", text, time_of(node.get("createdAt")), why)


def _text(node: dict[str, Any]) -> str:
    blocks = listing(node.get("content"))
    said = [part for block in blocks if (part := _block(block))]
    plain = text_of(node.get("text"))
    if not said and plain:
        said = [_THOUGHT.sub("", plain)]
    files = [file for key in ("files", "attachments") for file in listing(node.get(key)) if isinstance(file, dict)]
    return join(
        [*said, *(named("Image" if text_of(file.get("type")).startswith("image") else "File", file.get("filename") or file.get("name")) for file in files)]
    )


def _block(block: Any) -> str:
    if isinstance(block, str):
        return text_of(block)
    block = mapping(block)
    kind = text_of(block.get("type"))
    if kind in ("think", "tool_call", "agent_update", "error"):
        return ""
    said = block.get("text")
    if kind == "text" or said is not None:
        return text_of(mapping(said).get("value") if isinstance(said, dict) else said)
    return named("Image" if kind.startswith("image") else "Attachment")
