"""Whether the true branch is among the candidates when very many are open: dialogues of all sources at once, each begun and, once all are, resumed.

The right prefix is given: what is measured is recall and the choice of branches that are ranked (`engine/recall.ranked_branches`), not the ranking's errors.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from memory.engine import localize
from memory.engine.calibration import Calibration
from memory.engine.forest import Recall
from memory.engine.query import Query
from memory.evaluation import interleave
from memory.evaluation.interleave import START, Kind
from memory.evaluation.recipe import FILES
from memory.evaluation.streams import CachedEmbedder, GoldTurn, replay

LONGEST: Final = 6  # interactions of a dialogue


@dataclass(frozen=True, slots=True)
class Found:
    """Of `resumed` turns with `branches` open: those whose branch is among the candidates, and those put there; `ranked`: the most candidates of a turn."""

    branches: int
    resumed: int
    among: int
    right: int
    ranked: int


def stream(shared: Path, half: int, branches: int, seed: int) -> list[GoldTurn]:
    """So many dialogues of a half, drawn from all sources in turn: all begun first, then each told to its end, in drawn order.

    Raises ValueError where there aren't so many."""
    chance = random.Random(f"candidates/{half}/{seed}")
    kinds: tuple[Kind, ...] = ("oasst", "cast", "longmemeval")
    pools = [
        [
            turns[:LONGEST]
            for pool in interleave.READERS[kind](interleave.items(shared / FILES[kind]))
            for _, turns in sorted(interleave.part_of(pool, kind, (half, 2)).items())
        ]
        for kind in kinds
    ]
    for pool in pools:
        chance.shuffle(pool)
    chosen = [pool[place] for place in range(max(map(len, pools))) for pool in pools if place < len(pool)][:branches]
    if len(chosen) < branches:
        raise ValueError(f"There are {len(chosen)} dialogues in half {half}, {branches} wanted.")
    begun = [chance.randint(1, len(turns) - 1) if len(turns) > 1 else 1 for turns in chosen]
    order = [(dialogue, index) for dialogue, first in enumerate(begun) for index in range(first)]
    again = list(range(branches))
    chance.shuffle(again)
    order += [(dialogue, index) for dialogue in again for index in range(begun[dialogue], len(chosen[dialogue]))]
    at: dict[tuple[int, int], int] = {}
    told: list[GoldTurn] = []
    for number, (dialogue, index) in enumerate(order):
        said = chosen[dialogue][index]
        parent = None if said.parent is None else at[dialogue, said.parent]
        told.append(GoldTurn(said.user, said.assistant, START + timedelta(minutes=number), parent, number if parent is None else told[parent].tree))
        at[dialogue, index] = number
    return told


def measure(turns: list[GoldTurn], branches: int, embed: CachedEmbedder, calibration: Calibration) -> Found:
    """Replay under gold parents; counted are turns that resume a dialogue other than the one used last once all are open."""
    among: dict[int, bool] = {}  # by number of the turn
    ranked = 0

    def watch(turn: GoldTurn, asked: Query, brought: Recall, trees: list[int]) -> None:
        nonlocal ranked
        if turn.parent is not None and len(set(trees)) >= branches and trees[-1] != turn.tree:
            among[len(trees)] = any(trees[tip - 1] == turn.tree for tip in brought.tips.values())
            ranked = max(ranked, len(brought.tips))

    placed = replay(turns, embed, lambda asked, brought: localize.localize(asked, brought, calibration), teacher=True, watch=watch)
    right = sum(row.judged.right for row in placed if row.index in among)
    return Found(branches, len(among), sum(among.values()), right, ranked)
