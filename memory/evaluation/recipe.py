"""What the shipped localization weights are fitted on: streams made of development dialogues and of generated forests, and how much each counts.

Halves share no dialogue, so that weights of one half can be measured on the other. Streams of two and three dialogues are how a forest begins, those of twenty
how it is after a while. In some every matter is begun by a bare statement, which in public dialogues a question nearly always follows. Into every
sixth of the generated streams real dialogues are dealt: without, every bare statement would go on with a matter, since new ones are introduced there in so
many words.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.evaluation import interleave
from memory.evaluation.branchmemeval import dataset
from memory.evaluation.interleave import OPEN, Dialogue, Kind
from memory.evaluation.streams import GoldTurn, load
from memory.evaluation.suite import CAST, LONGMEMEVAL, OASST

FILES: Final[dict[Kind, str]] = {"oasst": OASST, "cast": CAST, "longmemeval": LONGMEMEVAL}
GENERATED: Final = "branchmemeval-fit"
WEIGHTS: Final = {"cast-resolved": 0.3, "longmemeval-told": 2.0, "branchmemeval-fit": 3.0}  # of a source beside the others, which count 1
PLAIN_SEEDS, DEALT_SEEDS = (1, 2, 3, 11, 12), (4,)  # of generated streams as they are, and with real dialogues dealt into them
DEALT: Final = 0.3  # chance after a generated turn that a real dialogue comes in
LONGEST: Final = 6  # interactions of a dialogue that is dealt in
PER_TREE: Final = 2  # LongMemEval sessions among those, beside each OASST tree


@dataclass(frozen=True, slots=True)
class Made:
    """One call of `interleave.write`: `streams` of `branches` dialogues each."""

    source: str
    kind: Kind
    streams: int
    seed: int
    branches: tuple[int, int] = OPEN
    resolved: bool = False
    told: bool = False


INTERLEAVED: Final = (
    *(Made("oasst", "oasst", 40, seed) for seed in (3, 5, 11)),
    Made("oasst", "oasst", 60, 31, (2, 2)),
    Made("oasst", "oasst", 40, 32, (3, 3)),
    Made("oasst", "oasst", 8, 33, (20, 20)),
    *(Made("cast", "cast", 12, seed) for seed in (3, 5)),
    Made("cast", "cast", 12, 36, (2, 2)),
    Made("cast-resolved", "cast", 12, 3, resolved=True),
    Made("longmemeval", "longmemeval", 16, 3),
    Made("longmemeval", "longmemeval", 30, 34, (2, 2)),
    Made("longmemeval", "longmemeval", 6, 35, (20, 20)),
    Made("longmemeval-told", "longmemeval", 16, 37, told=True),
    Made("longmemeval-told", "longmemeval", 40, 38, (2, 2), told=True),
    Made("longmemeval-told", "longmemeval", 30, 39, (3, 3), told=True),
)


Streams = dict[str, list[list[GoldTurn]]]


def sources(shared: Path, halves: Sequence[int], out: Path, tell: Callable[[str], None] = lambda line: None) -> tuple[Streams, dict[str, list[int]]]:
    """Make the streams of these halves under `out` and read them, by source; beside it the fold of each: of two halves its half, of one every other stream.

    Raises OSError or ValueError for development data that can't be read."""
    found: Streams = {}
    folds: dict[str, list[int]] = {}

    def take(source: str, folder: Path, fold: int | None) -> None:
        streams = load(folder)
        found.setdefault(source, []).extend(streams)
        folds.setdefault(source, []).extend(index % 2 if fold is None else fold for index in range(len(streams)))

    for half in halves:
        for made in INTERLEAVED:
            folder = out / f"{made.source}-{half}-{made.seed}"
            how = {"streams": made.streams, "seed": made.seed, "branches": made.branches, "resolved": made.resolved, "told": made.told}
            interleave.write(folder, made.kind, shared / FILES[made.kind], part=(half, 2), **how)  # type: ignore[arg-type]
            take(made.source, folder, half if len(halves) > 1 else None)
    for seed in PLAIN_SEEDS:
        folder = out / f"{GENERATED}-{seed}"
        dataset.write_streams(list(dataset.generate(seed, split="fit"))[1:], folder)
        take(GENERATED, folder, None)
    for half in halves:
        dialogues = _dialogues(shared, half)
        for seed in DEALT_SEEDS:
            plain, folder = out / f"{GENERATED}-{seed}", out / f"{GENERATED}-{seed}-{half}"
            dataset.write_streams(list(dataset.generate(seed, split="fit"))[1:], plain)
            _deal(plain, folder, dialogues, f"{seed}/{half}")
            take(GENERATED, folder, half if len(halves) > 1 else None)
    for name, streams in found.items():
        tell(f"{name}: {len(streams)} streams, {sum(map(len, streams))} turns")
    return found, folds


def _dialogues(shared: Path, half: int) -> tuple[list[Dialogue], list[Dialogue]]:
    """The dialogues of a half, at most LONGEST turns each: OASST trees, LongMemEval sessions."""
    kinds: tuple[Kind, Kind] = ("oasst", "longmemeval")
    trees, sessions = (
        {
            name: turns[:LONGEST]
            for pool in interleave.READERS[kind](interleave.items(shared / FILES[kind]))
            for name, turns in interleave.part_of(pool, kind, (half, 2)).items()
        }
        for kind in kinds
    )
    return [trees[name] for name in sorted(trees)], [sessions[name] for name in sorted(sessions)]


def _deal(plain: Path, folder: Path, dialogues: tuple[list[Dialogue], list[Dialogue]], seed: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    trees, sessions = dialogues
    for file in sorted(plain.glob("*.jsonl")):
        chance = random.Random(f"{seed}/{file.stem}")
        dealt = [*trees, *chance.sample(sessions, min(len(sessions), PER_TREE * len(trees)))]
        chance.shuffle(dealt)
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        mixed = interleave.among(lines, dealt, chance, DEALT)
        (folder / file.name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in mixed), encoding="utf-8")
