"""ChatGPT: `conversations.json`, or `conversations-000.json` and so on, each a list of conversations; every message is a node of a `mapping`.

    [{"title": "Pots", "create_time": 1735689600.5, "conversation_id": "c1", "current_node": "n4", "mapping": {
        "n1": {"id": "n1", "message": null, "parent": null, "children": ["n2"]},
        "n2": {"id": "n2", "parent": "n1", "children": ["n3", "n4"], "message": {"id": "n2", "author": {"role": "user"}, "create_time": 1735689600.5,
               "content": {"content_type": "text", "parts": ["Which pot for basil?"]}, "metadata": {}, "recipient": "all"}},
        "n3": {"id": "n3", "parent": "n2", "children": [], "message": {"author": {"role": "assistant"}, "create_time": 1735689604.0,
               "content": {"content_type": "text", "parts": ["One of 20 cm. \ue200cite\ue202turn0search1\ue201"]}, "metadata": {}, "recipient": "all"}},
        "n4": {"id": "n4", "parent": "n2", "children": [], "message": {"author": {"role": "assistant"}, "create_time": 1735689630.0,
               "content": {"content_type": "text", "parts": ["Terracotta, 20 cm."]}, "metadata": {}, "recipient": "all"}}}}]

Here n3 and n4 are two answers to n2. Hidden nodes, tool calls, what tools returned, and thoughts say nothing themselves.
"""

from __future__ import annotations

import re
from typing import Any

from memory.imports import tree
from memory.imports.stream import decode
from memory.imports.values import Conversation, Message, Unreadable, id_of, is_id, join, listing, made_up_id, mapping, named, text_of, time_of

NAME = "chatgpt"

_NAMED = re.compile('\ue200entity\ue202\\["[^"]*",\\s*"([^"]*)"[^\ue201]*\ue201')
_CITED = re.compile("[ \\t]?\ue200[^\ue201]*\ue201|[ \t]?【[^】\n]{0,80}†[^】\n]{0,200}】|[\ue200-\ue206]")
_CONTEXT = ("user_editable_context", "model_editable_context")
_THOUGHTS = ("thoughts", "reasoning_recap")
_SAID = ("text", "multimodal_text", "code")


def fits(value: dict[str, Any]) -> bool:
    return isinstance(value.get("mapping"), dict)


def read(value: dict[str, Any]) -> Conversation:
    """One conversation. Raises Unreadable."""
    if not fits(value):
        raise Unreadable("it has no mapping of messages")
    identity = value.get("conversation_id") or value.get("id")
    conversation = Conversation(
        id_of(identity) if is_id(identity) else made_up_id(value.get("title"), value.get("create_time"), sorted(map(str, value["mapping"]))[:3]),
        text_of(value.get("title")),
        time_of(value.get("create_time")),
    )
    nodes: dict[str, dict[str, Any]] = {text_of(key): mapping(node) for key, node in value["mapping"].items()}
    above = {child: key for key, node in nodes.items() for child in listing(node.get("children")) if isinstance(child, str)}
    order = _order(nodes)
    return tree.grow(conversation, (_message(key, nodes, above) for key in order))


def _order(nodes: dict[str, dict[str, Any]]) -> list[str]:
    """Ids so that siblings come in the order in which their parent lists them."""
    rank = {child: number for node in nodes.values() for number, child in enumerate(listing(node.get("children"))) if isinstance(child, str)}
    return sorted(nodes, key=lambda key: rank.get(key, 0))


def _message(key: str, nodes: dict[str, dict[str, Any]], above: dict[str, str]) -> Message:
    node = nodes[key]
    parent = node.get("parent")
    message = mapping(node.get("message"))
    role, text, why = _said(message) if message else ("none", "", "")
    return Message(
        id=key,
        parent=parent if isinstance(parent, str) and (parent in nodes or key not in above) else above.get(key),
        role=role,  # type: ignore[arg-type]
        text=text,
        time=time_of(message.get("create_time")),
        why=why,
    )


def _said(message: dict[str, Any]) -> tuple[str, str, str]:
    """Role, text, and why there is none."""
    author, content, more = mapping(message.get("author")), mapping(message.get("content")), mapping(message.get("metadata"))
    role, kind = author.get("role"), content.get("content_type")
    if more.get("is_visually_hidden_from_conversation") is True or kind in _CONTEXT:
        return "none", "", "hidden" if _parts(content) or kind in _CONTEXT else ""
    if role == "tool":
        pictures = [part for part in listing(content.get("parts")) if isinstance(part, dict)]
        return ("assistant", join(map(_picture, pictures)), "") if pictures else ("none", "", "output of a tool")
    if role not in ("user", "assistant"):
        return "none", "", "a system message" if _parts(content) else ""
    if kind in _THOUGHTS or message.get("channel") == "analysis":
        return "none", "", "thoughts"
    recipient = message.get("recipient")
    if role == "assistant" and recipient not in (None, "", "all"):
        written = _canvas(content) if isinstance(recipient, str) and recipient.startswith("canmore.create") else ""
        return ("assistant", written, "") if written else ("none", "", "a call of a tool")
    if kind not in _SAID and not isinstance(content.get("parts"), list):
        return "none", "", f"content of the kind {text_of(kind)[:40] or 'unknown'}"
    files = [named("File", mapping(file).get("name")) for file in listing(more.get("attachments")) if isinstance(file, dict)]
    text = join([_parts(content), *(files if role == "user" else [])])
    return (role, text, "") if text else ("none", "", "empty")


def _parts(content: dict[str, Any]) -> str:
    parts = content.get("parts")
    if not isinstance(parts, list):
        code = content.get("text")
        language = text_of(content.get("language"))
        said = text_of(code)
        return (
            f"```{language if language.isalnum() and language != 'unknown' else ''}\n{said}\n```"
            if content.get("content_type") == "code" and said
            else _clean(said)
        )
    return join(_clean(text_of(part)) if isinstance(part, str) else _picture(part) for part in parts)


def _picture(part: Any) -> str:
    """A part that isn't text, in words; what was spoken is what was said."""
    part = mapping(part)
    kind = text_of(part.get("content_type"))
    if kind == "audio_transcription" or ("text" in part and not part.get("asset_pointer")):
        return _clean(text_of(part.get("text")))
    if "audio" in kind:
        return ""  # the transcription stands beside it
    prompt = mapping(mapping(part.get("metadata")).get("dalle")).get("prompt")
    return named("Image" if "image" in kind else "Video" if "video" in kind else "Attachment", prompt)


def _canvas(content: dict[str, Any]) -> str:
    """The document that an assistant wrote beside the chat."""
    try:
        document = mapping(decode(_parts(content).removeprefix("```json").strip("`\n")))
    except ValueError:
        return ""
    return join([text_of(document.get("name")), text_of(document.get("content"))])


def _clean(text: str) -> str:
    """Without the marks of citations; what is only wrapped in one is kept."""
    if "\ue200" in text or "†" in text or "\ue203" in text or "\ue206" in text:
        text = _CITED.sub("", _NAMED.sub(r"\1", text))
    return text
