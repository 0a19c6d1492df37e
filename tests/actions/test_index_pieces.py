"""Pieces of turns get their vectors where these are missing: after an upgrade, a restore, a move to another embedder."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from memory import tasks
from memory.actions import index_pieces, reembed
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.llm.embed import embedder
from memory.models import Forest, InteractionState, Job, Outbox, PieceVector
from memory.store import jobs
from tests.actions.test_reembed import LENGTH, TALK, moved  # noqa: F401 - a fixture
from tests.actions.test_replay_turns import ended
from tests.llm.hostile import Answer

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
    job = index_pieces.order(forest)
    tasks.index_pieces(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.total, job.error) == ("done", 4, 4, None)
    after = kept(forest)
    assert after.keys() == before.keys()
    assert all(after[key] @ before[key] > 0.999 for key in before)
    assert index_pieces.index_pieces(forest.pk) == 0


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
    job = Job.objects.get(forest=forest, kind=index_pieces.KIND)
    assert Outbox.objects.filter(forest=forest, kind=index_pieces.KIND, subject=job.pk).exists()
    index_pieces.run(job.pk)
    assert {len(vector) for vector in kept(forest).values()} == {LENGTH}
    assert embedder().dimensions == LENGTH


def test_blank_turns_however_many_do_not_end_it(forest: Forest) -> None:
    PieceVector.objects.all().delete()
    earliest, *later = InteractionState.objects.in_forest(forest).order_by("position")
    blanks = [{"id": f"b{number}", "user": "x", "assistant": "", "time": "2026-11-06T09:00:00Z", "parent": "s1"} for number in range(index_pieces.BATCH)]
    observe(forest, blanks)
    drain(forest.pk)
    new = InteractionState.objects.in_forest(forest).filter(turn__client_id__startswith="b")
    PieceVector.objects.filter(state__in=new).delete()
    new.update(user_text=" ", assistant_text="\n")
    forest.refresh_from_db()
    assert index_pieces.index_pieces(forest.pk) == len(blanks) + 1 + len(later)
    assert PieceVector.objects.filter(state=earliest).exists()


def left_alone(job: Job) -> list[int]:
    """What a sweep finds once nobody has said anything of the job for long enough."""
    Job.objects.filter(pk=job.pk).update(updated_at=timezone.now() - timedelta(seconds=jobs.STALE_SECONDS + 1))
    return jobs.left(index_pieces.KIND)


def test_while_the_embedder_is_away_the_job_waits_and_says_so_and_is_done_when_it_is_back(forest: Forest, moved: Any) -> None:  # noqa: F811 - the fixture
    server = moved()
    reembed.run(reembed.begin(forest, queue=False).pk)
    job = Job.objects.get(forest=forest, kind=index_pieces.KIND)
    embedding, server.always = server.always, lambda body: Answer(["{}"], status=400)
    index_pieces.run(job.pk)
    job.refresh_from_db()
    assert job.status == "waiting" and job.error["code"] and not PieceVector.objects.exists()
    server.always = embedding
    assert left_alone(job) == [job.pk]
    index_pieces.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.error, job.done) == ("done", None, 4)
    assert PieceVector.objects.exists()


def test_with_another_embedder_the_job_waits_for_the_right_one(forest: Forest) -> None:
    PieceVector.objects.all().delete()
    job = index_pieces.order(forest)
    right = forest.weights_hash
    Forest.objects.filter(pk=forest.pk).update(weights_hash="f" * 64)
    index_pieces.run(job.pk)
    job.refresh_from_db()
    assert job.status == "waiting" and not PieceVector.objects.exists()
    Forest.objects.filter(pk=forest.pk).update(weights_hash=right)
    assert left_alone(job) == [job.pk]
    index_pieces.run(job.pk)
    assert PieceVector.objects.exists()


def test_a_second_word_of_it_while_a_worker_does_it_changes_nothing_and_a_new_order_ends_it(forest: Forest) -> None:
    PieceVector.objects.all().delete()
    job = index_pieces.order(forest)
    assert jobs.claim(job.pk, index_pieces.KIND)  # a worker does it
    index_pieces.run(job.pk)
    assert not PieceVector.objects.exists()
    again = index_pieces.order(forest)
    assert Job.objects.get(pk=job.pk).status == "cancelled"
    with pytest.raises(jobs.CancelledError):
        index_pieces.index_pieces(forest.pk, lambda done: jobs.report(job.pk, done=done))
    assert not PieceVector.objects.exists()  # not even the batch under way
    index_pieces.run(again.pk)
    assert PieceVector.objects.exists()


def test_an_order_whose_word_was_lost_is_taken_up_by_the_next_sweep(worker: Any, forest: Forest) -> None:
    PieceVector.objects.all().delete()
    job = index_pieces.order(forest)
    Outbox.objects.all().delete()
    Job.objects.filter(pk=job.pk).update(updated_at=timezone.now() - timedelta(seconds=jobs.STALE_SECONDS + 1))
    tasks.sweep_outbox()
    assert (ended(job).status, job.done) == ("done", 4)
