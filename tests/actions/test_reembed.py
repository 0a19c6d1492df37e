"""A forest moves to another embedder: beside, then all at once; never mixed, and it goes on after a break (R4)."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memory import steps
from memory.actions import reembed
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.errors import Refused
from memory.models import AuditEntry, Forest, InteractionState, Job, NewVector, Outbox, StateVector
from memory.store import recall as channels
from memory.store import refine as leases
from memory.turn import recall
from tests.llm import hostile as scripts
from tests.llm.hostile import Answer, hostile_server

pytestmark = pytest.mark.django_db(transaction=True)
TALK = [
    {"id": "k1", "user": "The kitchen budget is €18,000.", "assistant": "Noted.", "time": "2026-11-02T09:00:00+01:00", "new_root": True},
    {"id": "k2", "user": "The kitchen budget is €21,500 now.", "assistant": "Noted.", "time": "2026-11-03T09:00:00+01:00", "parent": "k1"},
    {"id": "s1", "user": "My sourdough rests 24 hours.", "assistant": "Fine.", "time": "2026-11-04T09:00:00+01:00", "new_root": True},
]
LENGTH = 6


@pytest.fixture
def forest(ines):
    forest = create_forest(ines, "Home", time_zone="Europe/Berlin")
    observe(forest, TALK)
    drain(forest.pk)
    return Forest.objects.get(pk=forest.pk)


def vector(text: str) -> list[float]:
    """A vector that tells its text: how often each of some letters occurs."""
    return [1.0 + text.lower().count(letter) for letter in "abcdef"]


def answer(body: dict[str, Any]) -> Answer:
    return Answer([json.dumps({"data": [{"index": index, "embedding": vector(text)} for index, text in enumerate(body["input"])]})])


@pytest.fixture
def moved(settings):
    """From here on the server embeds at an endpoint."""
    with hostile_server() as server:
        server.always = answer

        def move() -> Any:
            settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL = server.url, "bge-m3"
            return server

        yield move


def test_a_forest_of_another_embedder_is_refused_with_what_to_do(forest, moved):
    moved()
    with pytest.raises(Refused, match="built with the embedder all-MiniLM-L6-v2 int8") as refused:
        recall(forest, "What is the budget?")
    assert "reembed" in refused.value.action
    with pytest.raises(Refused):
        observe(forest, [{"user": "More", "time": "2026-11-05T09:00:00Z"}])
    assert drain(forest.pk) == 0


def test_every_vector_is_made_anew_of_the_same_text_and_the_pin_moves(forest, moved):
    old = {(row.state_id, row.kind, row.item) for row in StateVector.objects.all()}
    moved()
    told: list[tuple[int, int]] = []
    job = reembed.run(reembed.begin(forest).pk, lambda *progress: told.append(progress))
    assert (job.status, job.done, job.total) == ("done", len(old), len(old)) and told[-1] == (len(old), len(old))
    forest.refresh_from_db()
    assert (forest.embedder, forest.dimensions) == ("bge-m3 (endpoint)", LENGTH) and steps.fits(forest)
    assert {(row.state_id, row.kind, row.item) for row in StateVector.objects.all()} == old
    assert {len(row.vector) for row in StateVector.objects.all()} == {LENGTH} and not NewVector.objects.exists()
    state = InteractionState.objects.get(turn__client_id="k2")
    expected = np.array(vector(f"{state.user_text}\n{state.assistant_text}"))
    found = np.array(StateVector.objects.get(state=state, kind="state").vector)
    assert np.allclose(found, expected / np.linalg.norm(expected), atol=1e-3)
    assert recall(forest, "What is the kitchen budget?")["blocks"]
    assert AuditEntry.objects.get(action="reembed").counts == {"vectors": len(old)}


def test_what_refinement_and_rebuilding_embed_is_the_same_text(forest, moved):
    """Re-embedding with the same words as the two commits: a forest that moved equals one that was made there."""
    moved()
    reembed.run(reembed.begin(forest).pk)
    after = {(row.state.turn.client_id, row.kind): row.vector for row in StateVector.objects.select_related("state__turn")}
    made = create_forest(forest.owner, "Made there", time_zone="Europe/Berlin")
    observe(made, TALK)
    drain(made.pk)
    there = {(row.state.turn.client_id, row.kind): row.vector for row in StateVector.objects.in_forest(made).select_related("state__turn")}
    assert after == there


def test_exact_scans_stay_exact_at_another_length(forest, moved):
    moved()
    reembed.run(reembed.begin(forest).pk)
    forest.refresh_from_db()
    asked = np.array(vector("a budget for bread"), dtype=np.float32)
    near = channels.semantic(forest.pk, channels.literal(asked / np.linalg.norm(asked)), 3, 0)
    best: dict[int, float] = {}
    for row in StateVector.objects.in_forest(forest).filter(kind__in=["state", "branch"]):
        kept = np.array(row.vector)
        cosine = float(kept @ asked / np.linalg.norm(kept) / np.linalg.norm(asked))
        best[row.state_id] = max(best.get(row.state_id, -1.0), cosine)
    assert [state for state, _ in near] == sorted(best, key=lambda state: (-best[state], -state))
    assert [score for _, score in near] == pytest.approx(sorted(best.values(), reverse=True), abs=2e-3)


def test_it_goes_on_where_it_broke_off(forest, moved, monkeypatch):
    monkeypatch.setattr(reembed, "BATCH", 2)
    server = moved()
    server.script(answer, answer, answer)  # its length, then two batches
    server.always = scripts.failure(401)
    job = reembed.run(reembed.begin(forest).pk)
    assert job.status == "failed" and job.error["code"] == "model_key" and "EMBEDDINGS_API_KEY" in job.error["action"]
    assert NewVector.objects.count() == 4 and not steps.fits(Forest.objects.get(pk=forest.pk))
    server.always, asked = answer, len(server.requests)
    again = reembed.begin(forest)
    assert again.pk == job.pk
    assert reembed.run(again.pk).status == "done"
    assert sum(len(body["input"]) for body in server.bodies[asked:]) == StateVector.objects.count() - 4


def test_a_state_deleted_meanwhile_takes_its_new_vector_along(forest, moved):
    moved()
    job = reembed.begin(forest)
    last = InteractionState.objects.get(turn__client_id="s1")
    gone = False

    def told(done: int, total: int) -> None:
        nonlocal gone
        if not gone:
            gone = True
            StateVector.objects.filter(state=last).delete()

    assert reembed.run(job.pk, told).status == "done"
    assert not StateVector.objects.filter(state=last).exists() and not NewVector.objects.exists()


def test_a_vector_whose_text_is_gone_goes_too(forest, moved):
    StateVector.objects.create(forest=forest, state=InteractionState.objects.first(), kind="fact", item=999_999, vector=[0.1] * 384)
    moved()
    assert reembed.run(reembed.begin(forest).pk).status == "done"
    assert not StateVector.objects.filter(item=999_999).exists()


def test_vectors_of_a_third_embedder_are_not_taken(forest, moved):
    row = StateVector.objects.first()
    NewVector.objects.create(forest=forest, replaces=row, pin="1" * 64, vector=[9.0] * LENGTH)
    moved()
    reembed.run(reembed.begin(forest).pk)
    assert StateVector.objects.get(pk=row.pk).vector[0] < 1.1


def test_only_one_process_does_it(forest, moved):
    moved()
    job = reembed.begin(forest)
    leases.take_lease(forest.pk, "another")
    assert reembed.run(job.pk) is None
    assert not NewVector.objects.exists()


def test_a_process_with_the_old_embedder_leaves_it_alone(forest, moved, settings):
    server = moved()
    job = reembed.begin(forest)
    settings.EMBEDDINGS_MODEL = ""
    assert reembed.run(job.pk) is None and not server.requests[1:]


def test_the_command_tells_how_far_it_is(forest, moved):
    with pytest.raises(CommandError, match="already"):
        call_command("reembed", "Home")
    moved()
    out = io.StringIO()
    call_command("reembed", "Home", stdout=out)
    total = StateVector.objects.count()
    assert f"{total} of {total}" in out.getvalue() and "all-MiniLM-L6-v2 int8 → bge-m3 (endpoint)" in out.getvalue()
    assert not Outbox.objects.filter(kind="reembed").exists()
    with pytest.raises(CommandError, match="no such forest"):
        call_command("reembed", "Nowhere")


def test_turns_that_waited_are_refined_afterwards(forest, moved):
    observe(forest, [{"user": "The oven goes left.", "assistant": "Noted.", "time": "2026-11-05T09:00:00Z"}])
    Outbox.objects.all().delete()
    moved()
    assert drain(forest.pk) == 0
    reembed.run(reembed.begin(forest, queue=False).pk)
    assert set(Outbox.objects.values_list("kind", flat=True)) == {"refine", "pieces"}
    assert drain(forest.pk) == 1
    assert Job.objects.get(kind="reembed").status == "done"
