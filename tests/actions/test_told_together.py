"""What waits to be told anew after a deletion is read, embedded and written many states at a time, and comes to the same as one by one."""

from __future__ import annotations

import random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory import messages
from memory.actions import refine
from memory.actions.forget import delete_state
from memory.llm.embed import embedder, embedding_with
from memory.llm.interface import ModelError
from memory.llm.offline import OfflineModel
from memory.models import InteractionState, Topic, Turn
from memory.store import refine as store
from tests.actions.test_forget_equal import assert_equal, grow_late, memory_of, random_history, vectors_of

pytestmark = pytest.mark.django_db


def path_of(length):
    """A tree whose turns each say something of their own, one after the other."""
    turns = [("t0", None, "Let us plan the kitchen. The kitchen budget is €20,000.", "Good.")]
    return [*turns, *((f"t{n}", f"t{n - 1}", f"Paul has {n} lamps in Porto.", "Noted.") for n in range(1, length))]


def state(forest, name):
    return InteractionState.objects.get(forest=forest, turn__client_id=name)


def waiting(forest):
    return set(InteractionState.objects.filter(forest=forest, refined_at=None).values_list("turn__client_id", flat=True))


@pytest.mark.parametrize("seed", range(4))
def test_it_comes_to_the_same_as_one_by_one(ines, monkeypatch, seed):
    turns = random_history(random.Random(f"together/{seed}"))
    forests = [grow_late(ines, turns, name) for name in ("Together", "Singly")]
    for forest, together in zip(forests, (64, 1), strict=True):
        monkeypatch.setattr(refine, "TOGETHER", together)
        delete_state(state(forest, "t1"), "children_to_parent", ines, redact_quotes=True)
        refine.drain(forest.pk)
    assert_equal(*forests)


def test_a_tree_that_is_named_anew_is_named_within_the_batch(ines):
    turns = [("t0", None, "Hello!", "Hi."), ("t1", "t0", "Let us plan the kitchen.", "Good."), ("t2", "t1", "Let us plan the garden.", "Yes.")]
    turns += [(f"t{n}", f"t{n - 1}", f"The budget is now €{n},500.", "Noted.") for n in range(3, 9)]
    forest = grow_late(ines, turns)
    other = grow_late(ines, [(key, "t0" if key == "t2" else parent, user, answer) for key, parent, user, answer in turns if key != "t1"], "Without")
    delete_state(state(forest, "t1"), "children_to_parent", ines)
    assert Topic.objects.get(root=state(forest, "t0")).key == ""
    refine.drain(forest.pk)
    assert Topic.objects.get(root=state(forest, "t0")).key == "Garden"
    assert "garden|budget" in {row[3] for row in memory_of(forest)["evidence"]}
    assert_equal(forest, other)


def test_more_states_take_hardly_more_statements(ines):
    took = {}
    for length in (8, 24):
        forest = grow_late(ines, path_of(length), f"of {length}")
        delete_state(state(forest, "t0"), "children_to_parent", ines)
        assert len(waiting(forest)) == length - 1
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert refine.drain(forest.pk, tell=False) == length - 1
        took[length] = len(asked)
        assert not waiting(forest)
    assert took[24] <= took[8] + 10 and took[24] < 5 * 24, took


def test_what_is_the_same_again_is_neither_embedded_nor_written_again(ines):
    forest = grow_late(ines, path_of(12))
    before, rows = vectors_of(forest), {row[2] for row in memory_of(forest)["evidence"]}
    said = []

    class Listening:
        identity, dimensions, weights_hash = embedder().identity, embedder().dimensions, embedder().weights_hash

        def embed(self, texts):
            said.extend(texts)
            return real.embed(texts)

    real = embedder()
    delete_state(state(forest, "t4"), "children_to_parent", ines)
    with embedding_with(Listening()):
        refine.drain(forest.pk)
    assert said and all(text.startswith("Kitchen\n") for text in said), "only branch-aware texts differ"
    assert {key for key in before if key[0] != "t4"} == set(vectors_of(forest))
    assert {row[2] for row in memory_of(forest)["evidence"]} < rows


def test_one_that_can_not_be_read_stops_none_of_the_others(ines, monkeypatch):
    forest = grow_late(ines, path_of(10))
    bad = state(forest, "t5").pk
    extract = OfflineModel.extract

    def fails(self, interaction, path, **more):
        if interaction.id == bad:
            raise ValueError
        return extract(self, interaction, path, **more)

    delete_state(state(forest, "t0"), "children_to_parent", ines)
    monkeypatch.setattr(OfflineModel, "extract", fails)
    assert refine.drain(forest.pk) == 8
    assert waiting(forest) == {"t5"}
    row = state(forest, "t5")
    assert (row.refine_error["code"], row.refine_error["attempts"], row.refined_by) == ("extraction_failed", 1, store.ANEW)
    assert row.turn.status == Turn.Status.ANSWERED


def test_an_embedder_that_refuses_one_text_embeds_the_others(ines):
    forest = grow_late(ines, path_of(10))
    real, tried = embedder(), []

    class Picky:
        identity, dimensions, weights_hash = real.identity, real.dimensions, real.weights_hash

        def embed(self, texts):
            tried.append(len(texts))
            if any("\nPaul has 5 lamps" in text for text in texts):
                raise ModelError("prompt_too_long", "It is too long.", "Shorten it.")
            return real.embed(texts)

    delete_state(state(forest, "t0"), "children_to_parent", ines)
    with embedding_with(Picky()):
        refine.drain(forest.pk)
    assert waiting(forest) == {"t5"}, tried
    assert state(forest, "t5").refine_error["code"] == "prompt_too_long"


def test_a_worker_that_dies_while_it_writes_has_written_nothing_of_them(ines, monkeypatch):
    forest, other = grow_late(ines, path_of(10)), grow_late(ines, path_of(10), "Other")
    for one in (forest, other):
        delete_state(state(one, "t0"), "children_to_parent", ines)
    before = memory_of(forest)

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(store, "_write_vectors", dies)
        with pytest.raises(KeyboardInterrupt):
            refine.drain(forest.pk)
    assert memory_of(forest) == before and len(waiting(forest)) == 9
    for one in (forest, other):
        refine.drain(one.pk)
    assert_equal(forest, other)


@pytest.mark.parametrize(("length", "expected"), [(10, {"state.changed": 9}), (50, {("forest.changed", "refined"): 1})])
def test_pages_are_told_of_each_or_of_very_many_once(ines, monkeypatch, length, expected):
    forest = grow_late(ines, path_of(length))
    delete_state(state(forest, "t0"), "children_to_parent", ines)
    told: dict = {}

    def note(kind):
        told[kind] = told.get(kind, 0) + 1

    monkeypatch.setattr(messages, "publish", lambda forest, turn, kind, payload: note(kind))
    monkeypatch.setattr(messages, "announce", lambda forest, kind, payload: note((kind, payload["why"])))
    refine.drain(forest.pk)
    assert told == expected
