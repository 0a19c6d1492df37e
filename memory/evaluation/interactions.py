"""Files of interactions as replay takes them: JSONL streams, and conversations of the LoCoMo set. gz and plain are both read.

A JSONL line: `{"id": "t0002", "user": "…", "assistant": "…", "time": "2026-01-13T07:53:00+00:00", "branch": "a", "parent": "t0001"}`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast


def open_text(path: Path) -> IO[str]:
    """A text file, unpacked when its name ends in .gz."""
    return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8")) if path.suffix == ".gz" else path.open(encoding="utf-8")


def jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
    """(line number, interaction) of a JSONL file; a line that is none comes as the ValueError that says why, so that the rest is kept."""
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield number, read_line(line)
                except ValueError as error:
                    yield number, error


def read_line(line: str) -> dict[str, Any]:
    """One interaction of a JSONL line. Raises ValueError saying what is wrong with it."""
    try:
        interaction = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at character {error.pos})") from error
    if not isinstance(interaction, dict):
        raise ValueError("not a JSON object")
    missing = [key for key in ("id", "user", "time") if not interaction.get(key)]
    if missing:
        raise ValueError(f"without {', '.join(missing)}")
    return interaction


def locomo(path: Path, index: int = 0) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
    """The messages of the `index`-th LoCoMo conversation, one observed interaction each: two people talk, nobody is the assistant.

    Sessions are dated to the minute ("1:56 pm on 8 May, 2023"); their messages follow each other at a minute's distance, since the set doesn't say.
    """
    with open_text(path) as file:
        conversation = json.load(file)[index]["conversation"]
    number = 0
    sessions = [key for key, value in conversation.items() if key.startswith("session_") and isinstance(value, list)]
    for session in sorted(sessions, key=lambda key: int(key.split("_")[1])):
        start = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for minute, message in enumerate(conversation[session]):
            number += 1
            said = f"{message['speaker']}: {message['text']}"
            if caption := message.get("blip_caption"):
                said += f" [shares a picture: {caption}]"
            time = start.timestamp() + 60 * minute
            yield number, {"id": message["dia_id"], "user": said, "time": datetime.fromtimestamp(time, UTC).isoformat()}
