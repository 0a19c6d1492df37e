"""Small exports of other chats, written here, in the shapes they have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.imports.samples import BEGAN, gpt


def chat(name: str, nodes: dict[str, Any], began: float = BEGAN) -> dict[str, Any]:
    """A ChatGPT conversation of that name, which was left at its last node."""
    return gpt(nodes, began, title=name, conversation_id=name, current_node=next(reversed(nodes)))


# A question that was edited: two branches below the first answer. The hidden system message says nothing itself.
EDITED = [
    chat(
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
    chat(
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
