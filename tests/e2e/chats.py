"""Small exports of other chats, written here, in the shapes they have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGAN = 1767600000.5  # 5 January 2026


def gpt(identity: str, nodes: dict[str, Any], began: float = BEGAN) -> dict[str, Any]:
    """A ChatGPT conversation of nodes given as `id: (parent, role, text, more of the message)`."""
    mapping: dict[str, Any] = {"top": {"id": "top", "message": None, "parent": None, "children": []}}
    for number, (key, (parent, role, text, *more)) in enumerate(nodes.items()):
        message = {
            "id": key,
            "author": {"role": role},
            "create_time": began + 60 * number,
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {},
            "recipient": "all",
            **(more[0] if more else {}),
        }
        mapping[key] = {"id": key, "parent": parent or "top", "children": [], "message": message}
        mapping[parent or "top"]["children"].append(key)
    return {"title": identity, "create_time": began, "conversation_id": identity, "current_node": next(reversed(nodes)), "mapping": mapping}


# A question that was edited: two branches below the first answer. The hidden system message says nothing itself.
EDITED = [
    gpt(
        "herbs",
        {
            "s0": (None, "system", "You are a gardener.", {"metadata": {"is_visually_hidden_from_conversation": True}}),
            "u1": ("s0", "user", "Which herbs stand a dark balcony?"),
            "a1": ("u1", "assistant", "Mint, parsley and chives grow in shade."),
            "u2": ("a1", "user", "How often is mint watered?"),
            "a2": ("u2", "assistant", "Whenever the soil feels dry, about every second day."),
            "u2b": ("a1", "user", "How often is parsley watered?"),
            "a2b": ("u2b", "assistant", "Twice a week; it hates wet feet."),
            "u3b": ("a2b", "user", "And in winter?"),
            "a3b": ("u3b", "assistant", "Once a week is plenty."),
        },
    ),
    gpt(
        "bicycle",
        {
            "u1": (None, "user", "My bicycle chain squeaks. What helps?"),
            "a1": ("u1", "assistant", "Clean it, dry it, then one drop of oil on every link."),
        },
        began=BEGAN + 86400,
    ),
]
EDITED_TURNS, EDITED_TREES = 5, 2


def lines(count: int, free: bool = True) -> str:
    """JSON lines, a turn each; `free` ones find their own place, others begin a tree."""
    matters = ("the roof", "a violin", "tomatoes", "the passport", "a tent", "bread", "the tax form", "a kite")
    return "\n".join(
        json.dumps(
            {
                "id": f"line-{number}",
                "user": f"Note {number} about {matters[number % len(matters)]}: it took {number + 3} minutes.",
                "assistant": f"Noted, {number + 3} minutes.",
                "time": f"2026-01-{6 + number // 60:02d}T10:{number % 60:02d}:00+01:00",
                **({} if free else {"parent": None}),
            }
        )
        for number in range(count)
    )


def kept(folder: Path, name: str, content: Any) -> Path:
    """A file with this content; anything but text is written as JSON."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path
