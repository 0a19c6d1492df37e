"""What a system of ours hands to a reader, and how contexts of the engine become those of the instruments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from memory.engine import query
from memory.engine.assemble import LABELS, rendered, state_text
from memory.engine.forest import Block, Interaction, Item, Pool
from memory.engine.forest import Context as Assembled
from memory.engine.forest import Decision as EngineDecision
from memory.engine.localize import given as told
from memory.engine.query import Query
from memory.evaluation.cases import Asked
from memory.evaluation.systems.base import Context, Shown
from memory.llm.embed import Embeds
from memory.llm.tokens import count

BLOCK = "SupplementalEvidence"


@dataclass(frozen=True, slots=True)
class Setting:
    """What the systems of a run share: who embeds, what their forests are called, whether those stay, and the Python of the peers."""

    embedder: Embeds
    run: str = "bench"
    keep: bool = False
    peers: Path | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model that answers is given at one budget: enough for an endpoint's request and for the offline engine."""

    query: Query
    decision: EngineDecision
    context: Assembled
    pool: Pool
    zone: str


@runtime_checkable
class Readable(Protocol):
    """A system whose contexts a model can answer from."""

    def reading(self, budget: int) -> Reading:
        """What the question recalled last is answered from. Raises KeyError for a budget that wasn't recalled."""
        ...


@runtime_checkable
class Keeping(Protocol):
    """A system that keeps values with a status, so that its revisions can be judged."""

    def holds(self, id: str, value: str) -> bool | None:
        """Whether the value that an interaction said still holds, as far as the system knows; None: it kept no such value of it."""
        ...


def shown(context: Assembled, names: Mapping[int, str]) -> Context:
    """An assembled context with the ids of the case; `names` maps states to them."""
    items = tuple(
        Shown("turn" if item.kind == "state" else item.kind, item.text, tuple(names[source] for source in item.sources if source in names))
        for block in context.blocks
        for item in block.items
    )
    return Context("".join(rendered(block) for block in context.blocks), context.tokens, items)


def fill(ranked: Iterable[Interaction], budget: int, zone: str, *, skipping: bool = True) -> Assembled:
    """One block of whole interactions within `budget` tokens, heading and dates included: taken in rank order, shown in the order of time.

    What doesn't fit is skipped, or ends it (`skipping` False)."""
    used = count(rendered(Block(BLOCK, LABELS[BLOCK], (), 0)))
    taken: list[tuple[Interaction, Item]] = []
    for state in ranked:
        # The text as shown is never shorter than what was said: counting it can be spared.
        item = _item(state, zone) if used + state.tokens <= budget else None
        if item is not None and used + item.tokens + 1 <= budget:
            taken.append((state, item))
            used += item.tokens + 1
        elif not skipping:
            break
    while taken:
        items = tuple(item for _, item in sorted(taken, key=lambda pair: pair[0].position))
        exact = count(rendered(Block(BLOCK, LABELS[BLOCK], items, 0)))
        if exact <= budget:
            return Assembled((Block(BLOCK, LABELS[BLOCK], items, exact),), (), exact, budget)
        taken.pop()
    return Assembled((), (), 0, budget)


def _item(state: Interaction, zone: str) -> Item:
    text = state_text(state, zone)
    return Item("state", text, count(text), (state.id,), state.id)


def plain_reading(asked: Asked, context: Assembled, states: Sequence[Interaction], zone: str) -> Reading:
    """The reading of a system without a forest: its turns are the pool, and the question resumes nothing."""
    by_id = {state.id: state for state in states}
    there = [by_id[source] for block in context.blocks for item in block.items for source in item.sources]
    pool = Pool((), (), [(state, 0.0) for state in there], (), ())
    return Reading(query.read(asked.text, asked.time, zone), told(None), context, pool, zone)
