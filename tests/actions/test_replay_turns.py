"""Later turns localized again, by a real worker: a job that proposes, ends, and can be started anew."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from memory.actions import replay_turns
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.publish_outbox import publish_outbox
from memory.actions.refine import drain
from memory.actions.reroute import reroute
from memory.errors import Refused
from memory.models import InteractionState, Job, Outbox
from memory.store import jobs
from memory.tasks import sweep_outbox


def moved(owner):
    """A forest with a turn that was moved, and the job that looks at the later ones."""
    forest = create_forest(owner, "Home")
    talk = ["I am planning our kitchen in white oak.", "Help me write my talk about volcanoes in Iceland.", "The kitchen in white oak needs a hood.", "Go on."]
    for number, user in enumerate(talk):
        observe(forest, [{"id": f"t{number}", "user": user, "assistant": "Fine.", "time": f"2026-03-{number + 5:02d}T10:00:00Z"}])
        drain(forest.pk)
    kitchen, talk_state, hood, _ = InteractionState.objects.filter(forest=forest).order_by("position")
    reroute(hood, talk_state if hood.parent_id == kitchen.pk else kitchen, owner)
    return replay_turns.begin(forest, kitchen.position)


def ended(job):
    deadline = time.monotonic() + 30
    while job.status in jobs.OPEN and time.monotonic() < deadline:
        time.sleep(0.1)
        job.refresh_from_db()
    return job


def test_the_worker_reads_what_was_moved_then_proposes(worker, django_user_model):
    job = moved(django_user_model.objects.create_user("ines"))
    publish_outbox(job.forest_id)
    ended(job)
    assert (job.status, job.error) == ("done", None)
    assert job.result["looked_at"] == job.done == 2  # the talk and “Go on.”; the hood is where a person put it
    assert not InteractionState.objects.filter(forest=job.forest_id, refined_at=None).exists()


@pytest.mark.parametrize("status", ["running", "waiting"])
def test_one_that_was_left_behind_is_taken_up_by_the_next_sweep(worker, django_user_model, status):
    """By a worker that was killed, or with a word to the worker that got lost."""
    job = moved(django_user_model.objects.create_user("ines"))
    Outbox.objects.all().delete()
    Job.objects.filter(pk=job.pk).update(status=status, done=1, updated_at=timezone.now() - timedelta(seconds=jobs.STALE_SECONDS + 1))
    sweep_outbox()
    assert (ended(job).status, job.result["looked_at"]) == ("done", 2)


@pytest.mark.django_db
def test_one_that_somebody_does_is_left_to_them(ines):
    job = moved(ines)
    Job.objects.filter(pk=job.pk).update(status="running", updated_at=timezone.now())
    assert jobs.left(replay_turns.KIND) == []
    replay_turns.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.result["proposals"], job.result["looked_at"]) == ("running", [], 0)


def test_who_does_one_shows_signs_of_life_while_a_step_takes_long(transactional_db, ines, monkeypatch):
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.05)
    job = moved(ines)
    seen = []

    def slow(forest):
        old = timezone.now() - timedelta(seconds=jobs.STALE_SECONDS + 1)
        Job.objects.filter(pk=job.pk).update(updated_at=old)
        time.sleep(0.5)
        seen.append(jobs.left(replay_turns.KIND))

    monkeypatch.setattr(replay_turns, "drain", slow)
    replay_turns.run(job.pk)
    assert seen and not any(seen)
    assert Job.objects.get(pk=job.pk).status == "done"


@pytest.mark.django_db
def test_one_replay_at_a_time_and_another_after_it(home):
    job = replay_turns_of(home.forest)
    with pytest.raises(Refused, match="already"):
        replay_turns_of(home.forest)
    Job.objects.filter(pk=job.pk).update(status="done")
    assert replay_turns_of(home.forest).pk != job.pk


def replay_turns_of(forest):
    from memory.llm.embed import embedder

    here = embedder()
    type(forest).objects.filter(pk=forest.pk).update(embedder=here.identity, dimensions=here.dimensions, weights_hash=here.weights_hash)
    forest.refresh_from_db()
    return replay_turns.begin(forest, 0)
