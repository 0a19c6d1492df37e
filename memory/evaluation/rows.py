"""The rows of a run, as JSON lines: what was measured, case by case, with everything needed to judge it later; kept whole however a run ends.

`OUT/BENCHMARK/SYSTEM.jsonl`: the rows of a case stand together and end with its `case` row, written at once; what a killed run left without that row is dropped
when the next one opens the file. `….answers.jsonl` and `….judged.jsonl` grow line by line: an answer is never generated twice, nor judged twice.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]
# What two rows must share to stand in one table.
SAME: Final = ("benchmark", "split", "commit", "seed", "conditions")


class OtherRunError(RuntimeError):
    """The file has rows of another run: other code, data, seed or conditions. The message says which."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every row says of its run."""

    benchmark: str
    system: str
    split: str
    commit: str
    seed: int
    conditions: str
    machine: str

    def on(self, row: Mapping[str, Any]) -> Row:
        """The row with the stamp."""
        return {
            **row,
            "benchmark": self.benchmark,
            "system": self.system,
            "split": self.split,
            "commit": self.commit,
            "seed": self.seed,
            "conditions": self.conditions,
            "machine": self.machine,
        }


class Ledger:
    """The rows of one system in one benchmark."""

    def __init__(self, directory: Path, stamp: Stamp) -> None:
        self.stamp = stamp
        self.path = directory / stamp.benchmark / f"{stamp.system}.jsonl"
        self.answers = self.path.with_suffix(".answers.jsonl")
        self.judged = self.path.with_suffix(".judged.jsonl")

    def open(self, *, again: bool = False) -> dict[str, Row]:
        """The cases that are done, each with its `case` row; what isn't whole is dropped. `again` drops all.

        Raises OtherRunError for rows that can't stand beside those to come."""
        if again:
            for path in (self.path, self.answers, self.judged):
                path.unlink(missing_ok=True)
        rows = list(read(self.path))
        done = {row["case"]: row for row in rows if row["kind"] == "case"}
        for row in [*rows[:1], *read(self.answers)][:1]:
            mine = self.stamp.on({})
            if differ := [name for name in SAME if row.get(name) != mine[name]]:
                told = "; ".join(f"{name}: {row.get(name)} / {mine[name]}" for name in differ)
                raise OtherRunError(f"{self.path} has rows of another run ({told}).")
        kept = [row for row in rows if row["kind"] == "case" or row.get("case") in done]
        if len(kept) != len(rows) or not _ends_whole(self.path):
            _write(self.path, kept)
        return done

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append the rows of a case, stamped, in one piece."""
        append(self.path, [self.stamp.on(row) for row in rows])

    def answer(self, row: Mapping[str, Any]) -> None:
        """Append one answer, at once: it may have cost money."""
        append(self.answers, [self.stamp.on(row)])


def read(path: Path) -> Iterator[Row]:
    """The rows of a file in order; one that a kill cut short is passed over. None when there is no such file."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(row, dict):
                yield row


def append(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows; several processes may write to one file. NaN is null."""
    text = "".join(_line(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not _ends_whole(path):  # what a kill cut short stays a line of its own
            text = "\n" + text
        file.write(text.encode())


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    aside = path.with_suffix(".aside")
    aside.write_text("".join(_line(row) for row in rows), encoding="utf-8")
    os.replace(aside, path)


def _ends_whole(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(_plain(row), ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value
