"""Which vectors are compared with a query: all of them, or of a large forest those whose signs are most alike."""

from typing import Any

import numpy as np
import pytest

from memory.actions.create_forest import create_forest
from memory.evaluation import seeding, synthetic
from memory.llm.embed import embedder
from memory.models import Forest
from memory.store import evidence, recall

pytestmark = pytest.mark.django_db
LARGE = recall.EXACT_STATES + 1
ASKED = recall.literal(np.ones(384, dtype=np.float32) / 384**0.5)


@pytest.fixture
def forest(ines: Any) -> Forest:
    forest = create_forest(ines, "Made up")
    seeding.seed(forest, list(synthetic.history(120, trees=6, seed=1)), embedder().embed)
    return forest


def asked(forest: Forest) -> str:
    """A query near one of the matters."""
    return recall.literal(embedder().embed([next(synthetic.history(1, trees=6, seed=1)).user])[0])


def test_the_nearest_are_among_those_whose_signs_are_most_alike(forest: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "ALIKE", 120)  # of 240
    every = recall.semantic(forest.pk, asked(forest), 20, 120)
    alike = recall.semantic(forest.pk, asked(forest), 20, LARGE)
    assert len(every) == 20 and len({state for state, _ in every} & {state for state, _ in alike}) >= 18
    assert dict(alike).items() <= dict(recall.semantic(forest.pk, asked(forest), 120, 120)).items()  # scored by the whole vector


def test_of_facts_too_and_only_of_the_kinds_asked_for(forest: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "ALIKE", 40)  # of 60
    every, alike = (evidence.nearest(forest.pk, asked(forest), 10, ["fact"], states) for states in (120, LARGE))
    assert len(every) == 10 and len(every.keys() & alike.keys()) >= 9
    assert evidence.nearest(forest.pk, asked(forest), 10, ["event"], LARGE) == {}


def test_fewer_are_compared_in_a_large_forest(forest: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "ALIKE", 3)
    assert len(recall.semantic(forest.pk, ASKED, 20, recall.EXACT_STATES)) == 20
    assert 0 < len(recall.semantic(forest.pk, ASKED, 20, LARGE)) <= 3


def test_a_past_has_no_later_states(forest: Forest) -> None:
    first = sorted(state for state, _ in recall.semantic(forest.pk, ASKED, 120, LARGE))[:30]
    assert sorted(state for state, _ in recall.semantic(forest.pk, ASKED, 120, LARGE, as_of=30)) == first
