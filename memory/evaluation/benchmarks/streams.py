"""Real dialogues interleaved into streams, with gold trees: where does each turn belong?

A stream is a JSONL file, one interaction a line, parent null = a new root:
`{"id": "t0002", "user": "…", "assistant": "…", "time": "2026-01-13T07:53:00+00:00", "branch": "lisbon", "parent": "t0001"}`.
The gold tree is found by following `parent`; `branch` is for reading only and used by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memory.evaluation.benchmarks.files import WrongFileError, documents, items, require
from memory.evaluation.cases import Benchmark, Case, Given, Gold, Step

EXPECTED: Final = "a stream: JSON lines with id, user, assistant, time and parent (null: a new root; else the id of an earlier line)"
KEYS: Final = ("id", "user", "time", "parent")


def load(path: Path) -> Iterator[Case]:
    """The streams of a file, a directory or an archive (*.jsonl), by name. Raises WrongFileError, so for a parent that isn't an earlier line."""
    for name, file in documents(path, ".jsonl"):
        steps: list[Step] = []
        trees: dict[str, str] = {}
        for number, value in enumerate(items(name, file), 1):
            row = require(value, KEYS, f"{name}, line {number},", EXPECTED)
            id, parent = str(row["id"]), None if row["parent"] is None else str(row["parent"])
            if id in trees:
                raise WrongFileError(f"{name}, line {number}: the id {id!r} is used twice. Expected {EXPECTED}.")
            if parent is not None and parent not in trees:
                raise WrongFileError(f"{name}, line {number}: the parent {parent!r} isn't an earlier turn. Expected {EXPECTED}.")
            trees[id] = id if parent is None else trees[parent]
            given = Given(id, str(row["user"]), str(row.get("assistant") or ""), _moment(row["time"], name, number))
            steps.append(Step(given, Gold(parent, trees[id])))
        if not steps:
            raise WrongFileError(f"{name} is empty. Expected {EXPECTED}.")
        yield Case(name.removesuffix(".jsonl"), tuple(steps))


def _moment(stamp: object, name: str, number: int) -> datetime:
    try:
        time = datetime.fromisoformat(str(stamp))
    except ValueError as error:
        raise WrongFileError(f"{name}, line {number}: the time {stamp!r} isn't ISO 8601. Expected {EXPECTED}.") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


BENCHMARK: Final = Benchmark(
    name="streams",
    title="Interleaved dialogues",
    load=load,
    measures=frozenset({"localization"}),
    source="streams of OASST1 (Apache-2.0), CAsT 2022 (MIT) or LongMemEval (MIT) dialogues",
    unit="one user–assistant round",
)
