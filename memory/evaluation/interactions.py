"""Files of interactions as replay takes them: JSONL streams, and conversations of the LoCoMo set. gz and plain are both read.

A JSONL line: `{"id": "t0002", "user": "…", "assistant": "…", "time": "2026-01-13T07:53:00+00:00", "branch": "a", "parent": "t0001"}`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from memory.evaluation import benchmarks


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
    """The messages of the `index`-th LoCoMo conversation, one observed interaction each (benchmarks/locomo.py). Raises WrongFileError, a ValueError."""
    for case in islice(benchmarks.locomo.load(path), index, index + 1):
        for number, step in enumerate(case.steps, 1):
            yield number, {"id": step.given.id, "user": step.given.user, "time": step.given.time.isoformat()}
