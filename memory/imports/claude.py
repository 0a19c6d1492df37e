"""Claude: `conversations.json`, a list of conversations, each with its `chat_messages`.

    [{"uuid": "c1", "name": "Basil", "created_at": "2026-01-05T10:00:00Z", "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Which pot?", "content": [{"type": "text", "text": "Which pot?"}], "attachments": [], "files": [],
         "created_at": "2026-01-05T10:00:00Z", "parent_message_uuid": "00000000-0000-4000-8000-000000000000"},
        {"uuid": "m2", "sender": "assistant", "text": "20 cm.", "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "20 cm."}],
         "created_at": "2026-01-05T10:00:04Z", "parent_message_uuid": "m1"}]}]

An older export names no parents: there each message follows the one before it. Thoughts, tool calls and what tools returned are left out.
"""

from __future__ import annotations

from typing import Any

from memory.imports import tree
from memory.imports.values import Conversation, Message, Note, Unreadable, id_of, is_id, join, listing, made_up_id, mapping, named, text_of, time_of

NAME = "claude"
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
# Blocks that aren't said to the person.
SILENT = {"thinking", "redacted_thinking", "tool_use", "tool_result", "token_budget", "flag"}


def fits(value: dict[str, Any]) -> bool:
    return isinstance(value.get("chat_messages"), list)


def read(value: dict[str, Any]) -> Conversation:
    """One conversation. Raises Unreadable."""
    if not fits(value):
        raise Unreadable("it has no chat_messages")
    given = [message for message in value["chat_messages"] if isinstance(message, dict)]
    identity = value.get("uuid")
    conversation = Conversation(
        id_of(identity) if is_id(identity) else made_up_id(value.get("name"), value.get("created_at"), [m.get("uuid") for m in given[:3]]),
        text_of(value.get("name")),
        time_of(value.get("created_at")),
    )
    if len(given) < len(value["chat_messages"]):
        what = f"{len(value['chat_messages']) - len(given)} entries among its messages are none"
        conversation.notes.append(Note("no message", f"Conversation {conversation.id[:40]}", what))
    return tree.grow(conversation, _messages(given))


def _messages(given: list[dict[str, Any]]) -> list[Message]:
    ids = [id_of(message["uuid"]) if is_id(message.get("uuid")) else f"m{number}" for number, message in enumerate(given, 1)]
    known = set(ids)
    linked = any(message.get("parent_message_uuid") in known for message in given if isinstance(message.get("parent_message_uuid"), str))
    found = []
    for number, message in enumerate(given):
        parent = message.get("parent_message_uuid")
        before = ids[number - 1] if number else None
        text = _text(message)
        role = ROLES.get(text_of(message.get("sender")), "none")
        found.append(
            Message(
                id=ids[number],
                parent=_parent(parent, known) if linked and isinstance(parent, str) else before,
                role=role if text else "none",  # type: ignore[arg-type]
                text=text,
                time=time_of(message.get("created_at")),
                why="" if text and role != "none" else "empty" if role != "none" else "an unknown sender",
            )
        )
    return found


def _parent(uuid: str, known: set[str]) -> str | None:
    """The id named, None for the one of noughts that stands for the beginning."""
    return None if uuid not in known and not uuid.strip("0-48") else id_of(uuid)


def _text(message: dict[str, Any]) -> str:
    blocks = [block for block in listing(message.get("content")) if isinstance(block, dict)]
    said = [_block(block) for block in blocks if block.get("type") not in SILENT]
    if not any(said) and (not blocks or all(block.get("type") not in SILENT for block in blocks)):
        said = [text_of(message.get("text"))]
    attached = [_attachment(file) for file in listing(message.get("attachments")) if isinstance(file, dict)]
    files = [named("File", file.get("file_name")) for file in listing(message.get("files")) if isinstance(file, dict)]
    return join([*said, *attached, *files])


def _block(block: dict[str, Any]) -> str:
    kind = text_of(block.get("type"))
    if kind in ("text", "voice_note", "") or isinstance(block.get("text"), str):
        return text_of(block.get("text"))
    return named("Image" if kind == "image" else "Attachment", mapping(block.get("source")).get("file_name") or (kind if kind != "image" else ""))


def _attachment(file: dict[str, Any]) -> str:
    size = len(text_of(file.get("extracted_content")))
    name = text_of(file.get("file_name")) or "pasted text"
    return named("Attachment", f"{name}, {size:,} characters" if size else name)
