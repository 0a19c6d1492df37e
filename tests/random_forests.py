"""Small random forests for property tests, grown through the same steps as any: given interactions, refined by the offline engine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from memory import steps
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.evaluation.streams import CachedEmbedder
from memory.llm.embed import embedder
from memory.models import EVIDENCE_MODELS, Forest, InteractionState, Turn

# What is said leans on its path (“Make it …”), names a matter or none, replaces values, makes lists, tells events.
SAID = [
    ("Hi there!", "Hello! How can I help?"),
    ("I am planning our kitchen. The kitchen budget is €20,000.", "Noted."),
    ("Make it €2,000 then.", "Done."),
    ("The budget is now €21,500.", "Updated."),
    ("The kitchen budget is now €19,000.", "Updated."),
    ("Which oven should we take? The oven must be under €900.", "1. Bosch HBG\n2. Siemens HB\n3. Neff B3"),
    ("We visited the tile shop in Porto on 3 March 2026.", "Nice."),
    ("Let us plan the garden. The garden budget is €3,000.", "Good."),
    ("I live in Lisbon.", "Good to know."),
    ("We have moved: I live in Porto now.", "Noted."),
    ("What is the budget?", "The budget is €21,500."),
]
# One example is some dozen refinements: few examples, no deadline, and a failing one is shown as it was found.
quick = settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture
def embedding_once(monkeypatch):
    """The embedder of this server, which embeds each text once: random forests say the same few things again and again."""
    here = embedder()
    monkeypatch.setattr(here, "embed", _once.setdefault(here.weights_hash, CachedEmbedder(here.embed)))


_once: dict[str, CachedEmbedder] = {}
Grown = Sequence[tuple[int, int]]
_numbers = itertools.count(1)


def forests(least: int = 3, most: int = 6) -> st.SearchStrategy[Grown]:
    """What is said in order, each with the number of its parent among the earlier ones; −1 is a root of its own."""
    said = st.integers(0, len(SAID) - 1)
    return st.integers(least, most).flatmap(lambda turns: st.tuples(*(st.tuples(said, st.integers(-1, place - 1)) for place in range(turns))))


@contextmanager
def apart() -> Iterator[None]:
    """One example in a transaction of its own, which leaves nothing."""
    try:
        with transaction.atomic():
            yield
            raise _DoneError
    except _DoneError:
        pass


class _DoneError(Exception):
    pass


def empty(owner: Any) -> Forest:
    return create_forest(owner, f"Random {next(_numbers)}")


def add(forest: Forest, place: int, said: int, parent: int, *, shown: bool = False) -> InteractionState:
    """The next turn of a forest, refined; `shown`: its answer was given what was found for it."""
    user, assistant = SAID[said]
    where: dict[str, Any] = {"new_root": True} if parent < 0 else {"parent": f"t{parent}"}
    time = f"2026-03-{place + 5:02d}T10:00:00Z"
    observe(forest, [{"id": f"t{place}", "user": user, "assistant": assistant, "time": time, **where}])
    state: InteractionState = InteractionState.objects.get(forest=forest, turn__client_id=f"t{place}")
    if shown:
        forest.refresh_from_db()
        context, _ = steps.assemble(forest, steps.localize_text(forest, user, state.time, as_of=state.position - 1), 2000, as_of=state.position - 1)
        steps.write.save_context(Turn.objects.get(pk=state.turn_id), context, [], "h", 0, 0)
    drain(forest.pk)
    return state


def grow(owner: Any, grown: Grown) -> Forest:
    """A forest of these turns; the last one's answer was shown evidence."""
    forest = empty(owner)
    for place, (said, parent) in enumerate(grown):
        add(forest, place, said, parent, shown=place == len(grown) - 1)
    forest.refresh_from_db()
    return forest


def states(forest: Forest) -> list[InteractionState]:
    return list(InteractionState.objects.filter(forest=forest).order_by("position"))


def places(forest: Forest, state: InteractionState) -> list[InteractionState | None]:
    """Where a state may be moved: under any earlier state, or to a root of its own."""
    earlier: list[InteractionState | None] = [other for other in states(forest) if other.position < state.position and other.pk != state.parent_id]
    return [*earlier, *([None] if state.parent_id is not None else [])]


def rows(forest: Forest) -> list[Any]:
    return [row for model in EVIDENCE_MODELS.values() for row in model.objects.filter(forest=forest).order_by("pk")]
