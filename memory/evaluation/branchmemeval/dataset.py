"""A set of BranchMemEval: made by seed, written and read as JSONL, known by a hash.

The first line says what the set is; each other line is a session:
`{"id": "s01", "family": "twin", "split": "test", "domain": "moves", "zone": "UTC", "branches": [{"label": "b1", "domain": "moves", "kind": "storage",
"owner": "Matteo", "role": "my bandmate"}, …], "turns": [{"id": "s01-001", "user": "…", "assistant": "…", "time": "2026-03-12T17:42:00+00:00", "gold":
{"branch": "b1", "parent": null, "also": null, "pointer": "new"}, "keeps": ["Matteo"], "question": {"dimension": "B1", "slot": "entry", "gold": "5 April",
"confounder": "15 November", "evidence": ["s01-008"], "anchor": "name", "instance": "Matteo", "old": null, "link": null}}, …]}`.
Only `id`, `user`, `assistant` and `time` of a turn are for a system; a question's `assistant` is its canonical answer. `branch` null: an aside, its own root.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from memory.evaluation.benchmarks.branchmemeval import FORMAT
from memory.evaluation.benchmarks.files import WrongFileError, documents, items, require
from memory.evaluation.branchmemeval import bank, plan, schedule, verbalize
from memory.evaluation.branchmemeval.bank import Bank, Split
from memory.evaluation.branchmemeval.plan import Session, Turn
from memory.evaluation.branchmemeval.verbalize import Worded

SEED: Final = 20260817
Row = dict[str, Any]


def generate(seed: int = SEED, sessions: int = plan.SESSIONS, split: Split = "test") -> Iterator[Row]:
    """The head line and the sessions of a set. Everything follows from the arguments and the banks. Raises PlanError, BankError."""
    words = bank.load(split)
    rng = random.Random(f"branchmemeval/{split}/{seed}/{sessions}")
    composed = plan.composition(sessions, rng)
    decks = verbalize.Decks(rng)
    yield {"format": FORMAT, "split": split, "seed": seed, "sessions": sessions, "worded_by": "banks"}
    domains = [words.domains[at % len(words.domains)] for at in range(sessions)]
    for number, ((family, turns), domain) in enumerate(zip(composed, domains, strict=True), 1):
        planned = schedule.session(f"s{number:0{max(2, len(str(sessions)))}}", family, turns, words, domain, rng)
        yield row(planned, verbalize.words(planned, words, decks), words)


def row(session: Session, said: Sequence[Worded], words: Bank) -> Row:
    """A session as it is written."""
    ids = [f"{session.id}-{number:03}" for number in range(1, len(said) + 1)]
    return {
        "id": session.id,
        "family": session.family,
        "split": session.split,
        "domain": session.domain,
        "zone": "UTC",
        "branches": [
            {"label": f"b{number}", "domain": branch.domain, "kind": branch.kind, "owner": branch.owner.name, "role": words.voice.roles[branch.owner.role].role}
            for number, branch in enumerate(session.branches, 1)
        ],
        "turns": [_turn(session, turn, worded, ids, at) for at, (turn, worded) in enumerate(zip(session.turns, said, strict=True))],
    }


def _turn(session: Session, turn: Turn, worded: Worded, ids: Sequence[str], at: int) -> Row:
    made: Row = {"id": ids[at], "user": worded.user, "assistant": worded.assistant, "time": worded.time.isoformat()}
    made["gold"] = {
        "branch": None if turn.branch is None else f"b{turn.branch + 1}",
        "parent": None if turn.parent is None else ids[turn.parent],
        "also": None if turn.also is None else ids[turn.also],
        "pointer": turn.pointer,
    }
    if turn.question is not None:
        assert turn.branch is not None
        asking = turn.question
        made["question"] = {
            "dimension": asking.dimension,
            "slot": asking.slot,
            "gold": asking.gold,
            "confounder": asking.confounder,
            "evidence": [ids[place] for place in asking.evidence],
            "anchor": asking.anchor[0],
            "instance": session.branches[turn.branch].owner.name,
            "old": asking.old or None,
            "link": asking.link or None,
        }
    if worded.keeps:
        made["keeps"] = sorted(set(worded.keeps))
    return made


# --- Files ------------------------------------------------------------------------------------------------------------


def line(value: Row) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def write(rows: Sequence[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line(one)}\n" for one in rows), encoding="utf-8")


def write_streams(sessions: Sequence[Row], folder: Path) -> None:
    """The sessions as streams with gold parents, one file each, as `replay` and `fit_localization` read them."""
    for session in sessions:
        turns = [{**{key: turn[key] for key in ("id", "user", "assistant", "time")}, "parent": turn["gold"]["parent"]} for turn in session["turns"]]
        write(turns, folder / f"{session['id']}.jsonl")


def read(path: Path) -> list[Row]:
    """The lines of a set, its head first. Raises WrongFileError."""
    rows = lines(path)
    if not rows or rows[0].get("format") != FORMAT:
        raise WrongFileError(f"{path.name} isn't a set of {FORMAT}.")
    return rows


def lines(path: Path) -> list[Row]:
    """The objects of a JSONL file, plain, .gz or .xz. Raises WrongFileError."""
    return [dict(require(value, (), name, "JSON lines")) for name, file in documents(path, ".jsonl") for value in items(name, file)]


def moment(turn: Row) -> datetime:
    """When a turn was said."""
    return datetime.fromisoformat(turn["time"])


def digest(rows: Sequence[Row]) -> str:
    """SHA-256 of a set as it is written."""
    return hashlib.sha256("".join(f"{line(one)}\n" for one in rows).encode()).hexdigest()
