"""The reader's check: can somebody who only reads the text say where a turn belongs? Items without labels, a key apart, and the scoring of answers.

An item is the transcript up to a turn, with numbered states, and that turn; the matters so far are named by the state that opened each.
Items of one session come in its order and far apart, so that nobody has read on before answering. Some controls are new matters or go on.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.evaluation.branchmemeval.dataset import Row
from memory.evaluation.branchmemeval.difficulty import resumptions, trees

FOLDER: Final = Path(__file__).parent / "reader"
ITEMS: Final = FOLDER / "items.jsonl"
KEY: Final = FOLDER / "key.jsonl"
RESUMPTIONS, CONTROLS = 60, 12
EARLIEST: Final = 10  # turns before the first item of a session
WORDS: Final = 2500
NEW: Final = "new"
TASK: Final = (
    "Each item is the beginning of somebody's conversation with an assistant; several matters take turns in it. States (a message and its answer) are "
    "numbered. Read the transcript, then the next message. Which matter does it continue? Answer with the number of the state that opened that matter (they "
    'are listed under `matters`), or with "new" if it opens a matter of its own. Read the items in order and answer each before reading the next. '
    'Write one line an item: {"id": "r01", "answer": 1} or {"id": "r01", "answer": "new"}.'
)


def sample(sessions: Sequence[Row], seed: int) -> tuple[list[Row], list[Row]]:
    """(items with the task first, key). Raises ValueError when the set is too small for that many."""
    rng = random.Random(f"reader/{seed}")
    chosen: list[tuple[int, int, str]] = []
    places = [_places(session) for session in sessions]
    for sort, wanted in (("resumption", RESUMPTIONS), ("control", CONTROLS)):
        free = [(number, at, sort) for number, by_sort in enumerate(places) for at in by_sort[sort]]
        rng.shuffle(free)
        chosen += _spread(free, wanted, chosen)
    rounds: dict[int, list[tuple[int, int, str]]] = {}
    for number in range(len(sessions)):
        for turn, one in enumerate(sorted(item for item in chosen if item[0] == number)):
            rounds.setdefault(turn, []).append(one)
    items, key = [{"task": TASK}], []
    for turn in sorted(rounds):
        rng.shuffle(rounds[turn])
        for number, at, sort in rounds[turn]:
            id = f"r{len(items):02}"
            items.append(_item(id, sessions[number], at))
            key.append(_key(id, sessions[number], at, sort))
    return items, key


def _spread(free: Sequence[tuple[int, int, str]], wanted: int, before: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """As many as wanted, of as many sessions as there are."""
    used = {number: sum(item[0] == number for item in before) for number, _, _ in free}
    places = {(number, at) for number, at, _ in before}
    found: list[tuple[int, int, str]] = []
    for most in range(1, 6):
        for item in free:
            if len(found) < wanted and used[item[0]] < most and item[:2] not in places:
                found.append(item)
                used[item[0]] += 1
                places.add(item[:2])
    if len(found) < wanted:
        raise ValueError(f"There are only {len(found)} of {wanted} turns to be read.")
    return found


def _places(session: Row) -> dict[str, list[int]]:
    turns, back = session["turns"], set(resumptions(session))
    readable = [at for at in range(EARLIEST, len(turns)) if len(_transcript(turns[:at]).split()) <= WORDS]
    # “ok” and small talk go on with what was last: nothing to be read there.
    going_on = {at for at in readable if at not in back and turns[at]["gold"]["parent"] is not None and len(turns[at]["user"].split()) > 7}
    fresh = {at for at in readable if turns[at]["gold"]["parent"] is None}
    return {"resumption": [at for at in readable if at in back], "control": sorted(going_on if len(fresh) % 2 else fresh or going_on)}


def _transcript(turns: Sequence[Row]) -> str:
    return "\n".join(f"[{number}] USER: {turn['user']}\nASSISTANT: {turn['assistant']}" for number, turn in enumerate(turns, 1))


def _item(id: str, session: Row, at: int) -> Row:
    turns, tree = session["turns"], trees(session)
    opened = [{"state": number, "opens": turn["user"]} for number, turn in enumerate(turns[:at], 1) if tree[turn["id"]] == turn["id"]]
    return {"id": id, "transcript": _transcript(turns[:at]), "message": turns[at]["user"], "matters": opened}


def _key(id: str, session: Row, at: int, sort: str) -> Row:
    turns, tree = session["turns"], trees(session)
    gold = turns[at]["gold"]
    states = [number for number, turn in enumerate(turns[:at], 1) if tree[turn["id"]] == tree[turns[at]["id"]]]
    return {"id": id, "turn": turns[at]["id"], "sort": sort, "pointer": gold["pointer"], "answer": states[0] if states else NEW, "states": states}


# --- Scoring ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader got right: (right, of) on resumptions, on controls, by how the turn points; `wrong` and `missing` are ids."""

    resumptions: tuple[int, int]
    controls: tuple[int, int]
    by_pointer: Mapping[str, tuple[int, int]]
    wrong: tuple[str, ...]
    missing: tuple[str, ...]


def score(answers: Iterable[Mapping[str, Any]], key: Sequence[Row]) -> Read:
    """Answers against the key. Any state of the right matter counts. An item without an answer is wrong. Raises ValueError for an unknown item."""
    said = {str(answer["id"]): str(answer["answer"]).strip().lower() for answer in answers}
    if unknown := set(said) - {row["id"] for row in key}:
        raise ValueError(f"There is no item {', '.join(sorted(unknown))}.")
    right = {row["id"]: said.get(row["id"]) in ({str(state) for state in row["states"]} or {NEW}) for row in key}

    def share(rows: Sequence[Row]) -> tuple[int, int]:
        return sum(right[row["id"]] for row in rows), len(rows)

    sorts = {sort: [row for row in key if row["sort"] == sort] for sort in ("resumption", "control")}
    pointers = sorted({row["pointer"] for row in sorts["resumption"]})
    return Read(
        resumptions=share(sorts["resumption"]),
        controls=share(sorts["control"]),
        by_pointer={pointer: share([row for row in sorts["resumption"] if row["pointer"] == pointer]) for pointer in pointers},
        wrong=tuple(row["id"] for row in key if row["id"] in said and not right[row["id"]]),
        missing=tuple(row["id"] for row in key if row["id"] not in said),
    )
