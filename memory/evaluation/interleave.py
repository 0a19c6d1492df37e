"""Streams with gold trees out of real dialogues: several at once, each left and resumed, texts untouched. What `bench streams` reads.

Dialogues come from OASST1 message trees (the longest chain of a tree, by the best-ranked replies), CAsT 2022 topics (every user turn with its first reply;
a topic jumps back by itself, so a parent may lie inside its tree), or LongMemEval sessions (of one case, one user, each left at least once). Halves share no
dialogue: a dialogue's half follows from a hash of its id alone, so that what was fitted on half 0 of 2 is tested on half 1 of 2. Times are made up: nothing
may be learned from them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal

from memory.engine import cues, text

LEAVE: Final = 0.35  # chance after an interaction that its dialogue is left
RESUME: Final = 0.5  # chance on leaving to resume a paused dialogue where one could be opened too
OPEN: Final = (4, 6)  # dialogues of a stream, from … to
START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
SHORTEST: Final = 3  # interactions of a LongMemEval session: enough to be left and resumed
READ: Final = 1_500  # characters of a turn, for what it tells
FEWEST_WORDS: Final = 4
Kind = Literal["oasst", "cast", "longmemeval"]


@dataclass(frozen=True, slots=True)
class Said:
    """One interaction of a dialogue: its texts, the index of its parent there (None: it begins a tree), and its words made self-contained."""

    user: str
    assistant: str
    parent: int | None
    resolved: str


Dialogue = Sequence[Said]


def write(
    out: Path,
    kind: Kind,
    file: Path,
    *,
    part: tuple[int, int] = (1, 2),
    streams: int = 10,
    seed: int = 1,
    resolved: bool = False,
    branches: tuple[int, int] = OPEN,
    told: bool = False,
) -> int:
    """Write streams (`KIND-000.jsonl` …) made of one part of the dialogues; how many interactions they have. Every dialogue is used once before one is again.

    `resolved` (CAsT): a dialogue is resumed in self-contained wording. `branches`: how many dialogues a stream has, from … to. `told`: only
    dialogues that begin by telling something, without what is asked after it (`telling`). Raises ValueError for fewer dialogues than a stream needs."""
    every = (part_of(found, kind, part) for found in READERS[kind](items(file)))
    pools = [pool for pool in (telling(found) if told else found for found in every) if len(pool) >= branches[1]]
    if not pools:
        raise ValueError(f"{file.name} has too few dialogues in part {part[0]} of {part[1]}: a stream takes up to {branches[1]}.")
    out.mkdir(parents=True, exist_ok=True)
    chance = random.Random(f"streams/{kind}/{part}/{seed}")
    decks: dict[int, list[str]] = {}
    written = 0
    for number in range(streams):
        pool, deck = pools[number % len(pools)], decks.setdefault(number % len(pools), [])
        chosen: list[str] = []
        wanted = chance.randint(*branches)
        while len(chosen) < wanted:
            if not deck:
                deck.extend(chance.sample(sorted(pool), len(pool)))
            if (name := deck.pop()) not in chosen:
                chosen.append(name)
        lines = list(_lines([pool[name] for name in chosen], chance, resolved=resolved, all_left=kind == "longmemeval"))
        (out / f"{kind}-{number:03d}.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        written += len(lines)
    return written


def telling(dialogues: Mapping[str, Dialogue]) -> dict[str, Dialogue]:
    """The dialogues whose user begins by telling something, cut to that: of the first turn one sentence, of later ones what they tell before they ask.

    People begin a matter by a bare statement too (“We are redoing our kitchen.”); in public dialogues a question nearly always follows it."""
    found: dict[str, Dialogue] = {}
    for name, turns in dialogues.items():
        leads = [_told(turn.user) for turn in turns]
        if leads[0]:
            cut = [" ".join(lead) if number else lead[0] for number, lead in enumerate(leads) if lead or number]
            found[name] = [replace(turn, user=said or turn.user, resolved=said or turn.resolved) for turn, said in zip(turns, cut, strict=True)]
    return found


def _told(user: str) -> list[str]:
    """The sentences that tell something before one asks; none when they say too little."""
    told = list(takewhile(cues.tells, text.sentences(user[:READ])))
    return told if sum(len(sentence.split()) for sentence in told[:1]) >= FEWEST_WORDS else []


def among(lines: Sequence[Mapping[str, Any]], dialogues: Sequence[Dialogue], chance: random.Random, share: float = 0.15) -> Iterator[dict[str, Any]]:
    """A stream with turns of real dialogues dealt into it: after each of its turns, with the chance `share`, one to three of a dialogue opened or resumed.

    What only generated streams teach, such as that every new matter is introduced in so many words, doesn't hold in these."""
    unopened, paused = list(dialogues), list[tuple[Dialogue, int]]()
    for line in lines:
        yield dict(line)
        if chance.random() >= share or not (unopened or paused):
            continue
        time = datetime.fromisoformat(line["time"])
        resumed = bool(paused) and (not unopened or chance.random() < RESUME)
        turns, at = paused.pop(chance.randrange(len(paused))) if resumed else (unopened.pop(0), 0)
        number = len(dialogues) - len(unopened) if not resumed else next(place for place, one in enumerate(dialogues, 1) if one is turns)
        for index in range(at, min(len(turns), at + chance.randint(1, 3))):
            said, time = turns[index], time + timedelta(seconds=1)
            above = None if said.parent is None else f"d{number}-{said.parent}"
            yield {"id": f"d{number}-{index}", "user": said.user, "assistant": said.assistant, "time": time.isoformat(), "parent": above}
            at = index + 1
        if at < len(turns):
            paused.append((turns, at))


def _lines(dialogues: Sequence[Dialogue], chance: random.Random, *, resolved: bool, all_left: bool) -> Iterator[dict[str, Any]]:
    ids: dict[tuple[int, int], str] = {}
    time = START + timedelta(minutes=chance.randrange(120 * 24 * 60))
    for dialogue, index, left in _schedule([len(turns) for turns in dialogues], chance, all_left):
        said = dialogues[dialogue][index]
        ids[dialogue, index] = f"t{len(ids) + 1:04d}"
        yield {
            "id": ids[dialogue, index],
            "user": said.resolved if resolved and left and index else said.user,
            "assistant": said.assistant,
            "time": time.isoformat(),
            "parent": None if said.parent is None else ids[dialogue, said.parent],
        }
        time += timedelta(seconds=round(chance.lognormvariate(4.5, 1.5)))


def _schedule(lengths: Sequence[int], chance: random.Random, all_left: bool) -> Iterator[tuple[int, int, bool]]:
    """(dialogue, index, whether another one was left for it), until no dialogue that is open or unopened has anything left.

    `all_left`: every dialogue is left somewhere, as long as there is another to go to."""
    surely = [chance.randrange(1, length) for length in lengths] if all_left else []
    at = [0] * len(lengths)
    unopened, paused = list(range(len(lengths))), list[int]()
    now: int | None = None
    while True:
        done = now is None or at[now] == lengths[now]
        left = (done or chance.random() < LEAVE or (all_left and now is not None and at[now] == surely[now])) and bool(unopened or paused)
        if left:
            resumed = paused and (not unopened or chance.random() < RESUME)
            if resumed:  # the later it was left, the likelier
                other = chance.choices(paused, [1 / (len(paused) - place) for place in range(len(paused))])[0]
                paused.remove(other)
            else:
                other = unopened.pop(0)
            if now is not None and not done:
                paused.append(now)
            now = other
        elif done or now is None:
            return
        yield now, at[now], left
        at[now] += 1


# --- Dialogues --------------------------------------------------------------------------------------------------------


def part_of(dialogues: Mapping[str, Dialogue], kind: Kind, part: tuple[int, int]) -> dict[str, Dialogue]:
    """The dialogues of part (i, n): by the hash of their ids; of CAsT's few topics by its rank, so that parts are of one size.

    Sessions that LongMemEval made of one persona share the beginning of their ids and stay in one part."""
    number, parts = part
    if kind == "cast":
        return {name: dialogues[name] for name in sorted(dialogues, key=_hash)[number::parts]}
    return {name: turns for name, turns in dialogues.items() if _hash(_persona(name) if kind == "longmemeval" else name) % parts == number}


def _persona(session: str) -> str:
    """What numbered sessions have in common: a persona, or one long talk that was cut."""
    name = session.removeprefix("answer_")
    return name if name.startswith("ultrachat") else name.rsplit("_", 1)[0].removesuffix("_abs")


def _hash(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def items(file: Path) -> list[Any]:
    """The objects of a JSONL file or of one JSON list, gz or plain."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as opened:
        text = opened.read()
    return list(json.loads(text)) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines() if line.strip()]


def oasst(messages: Sequence[Any]) -> Iterator[dict[str, Dialogue]]:
    """One pool: tree → its longest chain of (prompt, reply), of equals the one by better-ranked replies; chains of one interaction are left out."""
    below: dict[str | None, list[Any]] = defaultdict(list)
    roots = []
    for message in messages:
        below[message["parent_id"]].append(message)
        if message["parent_id"] is None:
            roots.append(message)

    def chain(prompt: Any) -> list[tuple[str, str]]:
        best: list[tuple[str, str]] = []
        for reply in sorted(below[prompt["message_id"]], key=lambda one: (one.get("rank") is None, one.get("rank") or 0, one["message_id"])):
            later = [chain(after) for after in sorted(below[reply["message_id"]], key=lambda one: one["message_id"])]
            best = max(best, [(prompt["text"], reply["text"]), *max(later, key=len, default=[])], key=len)
        return best

    found = {root["message_tree_id"]: chain(root) for root in roots}
    yield {
        name: [Said(user, assistant, number - 1 if number else None, user) for number, (user, assistant) in enumerate(turns)]
        for name, turns in found.items()
        if len(turns) > 1
    }


def cast(topics: Sequence[Any]) -> Iterator[dict[str, Dialogue]]:
    """One pool: topic → its user turns, each with its first reply, under the user turn that its parent (a reply) belongs to."""
    found: dict[str, Dialogue] = {}
    for topic in topics:
        replies: dict[str, str] = {}
        for turn in topic["turn"]:
            if turn["participant"] == "System":
                replies.setdefault(turn.get("parent"), turn.get("response", ""))
        at: dict[str, int | None] = {}
        turns: list[Said] = []
        for turn in topic["turn"]:
            above = at.get(turn.get("parent"))
            if turn["participant"] == "User":
                at[turn["number"]] = len(turns)
                turns.append(Said(turn["utterance"], replies.get(turn["number"], ""), above, turn.get("manual_rewritten_utterance") or turn["utterance"]))
            else:
                at[turn["number"]] = above
        found[str(topic["number"])] = turns
    yield found


def longmemeval(cases: Sequence[Any]) -> Iterator[dict[str, Dialogue]]:
    """A pool for each case: session → its rounds, those of a user turn without a reply left out. Sessions of fewer than SHORTEST rounds are left out."""
    for case in cases:
        found: dict[str, Dialogue] = {}
        for name, session in zip(case["haystack_session_ids"], case["haystack_sessions"], strict=True):
            turns: list[Said] = []
            user: str | None = None
            for message in session:
                if message["role"] == "user":
                    user = message["content"]
                elif user is not None:
                    turns.append(Said(user, message["content"], len(turns) - 1 if turns else None, user))
                    user = None
            if len(turns) >= SHORTEST:
                found[name] = turns
        yield found


READERS: Final = {"oasst": oasst, "cast": cast, "longmemeval": longmemeval}
