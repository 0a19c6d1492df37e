"""Pieces of turns get their vectors where these are missing: after an upgrade, a restore, a move to another embedder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memory import tasks
from memory.actions import index_pieces, reembed
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.llm.embed import embedder
from memory.models import Forest, InteractionState, Outbox, PieceVector
from tests.actions.test_reembed import LENGTH, TALK, moved  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def forest(ines: Any) -> Forest:
    forest = create_forest(ines, "Home", time_zone="Europe/Berlin")
    observe(forest, [*TALK, {"id": "s2", "user": "Cold", "assistant": "How warm is your fridge?", "time": "2026-11-05T09:00:00Z", "parent": "s1"}])
    drain(forest.pk)
    return Forest.objects.get(pk=forest.pk)


def kept(forest: Forest) -> dict[tuple[int, int], np.ndarray]:
    rows = PieceVector.objects.in_forest(forest)
    return {(row.state_id, row.number): np.array(row.vector.to_list() if hasattr(row.vector, "to_list") else row.vector) for row in rows}


def test_what_is_missing_comes_back_as_it_was_and_only_once(forest: Forest) -> None:
    before = kept(forest)
    assert {number for _, number in before} >= {0, 10, 20}
    PieceVector.objects.all().delete()
    assert tasks.index_pieces(forest.pk) == 4
    after = kept(forest)
    assert after.keys() == before.keys()
    assert all(after[key] @ before[key] > 0.999 for key in before)
    assert tasks.index_pieces(forest.pk) == 0


def test_a_turn_that_waits_to_be_read_gets_its_pieces_with_that_reading(forest: Forest) -> None:
    PieceVector.objects.all().delete()
    waiting = InteractionState.objects.in_forest(forest).earliest("position")
    InteractionState.objects.filter(pk=waiting.pk).update(refined_at=None, refined_by="")
    assert index_pieces.index_pieces(forest.pk) == 3
    assert not PieceVector.objects.filter(state=waiting).exists()
    drain(forest.pk)
    assert PieceVector.objects.filter(state=waiting, number=0).exists()


def test_a_forest_that_was_deleted_or_has_another_embedder_is_left_alone(forest: Forest) -> None:
    PieceVector.objects.all().delete()
    Forest.objects.filter(pk=forest.pk).update(weights_hash="f" * 64)
    assert index_pieces.index_pieces(forest.pk) == 0
    assert index_pieces.index_pieces(0) == 0


def test_a_move_to_another_embedder_takes_the_old_ones_and_orders_new_ones(forest: Forest, moved: Any) -> None:  # noqa: F811 - the fixture
    moved()
    reembed.run(reembed.begin(forest, queue=False).pk)
    assert not PieceVector.objects.exists()
    assert Outbox.objects.filter(forest=forest, kind=index_pieces.KIND).exists()
    assert index_pieces.index_pieces(forest.pk) == 4
    assert {len(vector) for vector in kept(forest).values()} == {LENGTH}
    assert embedder().dimensions == LENGTH
