"""Later turns localized again, by a real worker: a job that proposes, ends, and can be started anew."""

from __future__ import annotations

import time

import pytest

from memory.actions import replay_turns
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.publish_outbox import publish_outbox
from memory.actions.refine import drain
from memory.actions.reroute import reroute
from memory.errors import Refused
from memory.models import InteractionState, Job


def test_the_worker_reads_what_was_moved_then_proposes(worker, django_user_model):
    ines = django_user_model.objects.create_user("ines")
    forest = create_forest(ines, "Home")
    talk = ["I am planning our kitchen in white oak.", "Help me write my talk about volcanoes in Iceland.", "The kitchen in white oak needs a hood.", "Go on."]
    for number, user in enumerate(talk):
        observe(forest, [{"id": f"t{number}", "user": user, "assistant": "Fine.", "time": f"2026-03-{number + 5:02d}T10:00:00Z"}])
        drain(forest.pk)
    kitchen, talk_state, hood, _ = InteractionState.objects.filter(forest=forest).order_by("position")
    reroute(hood, talk_state if hood.parent_id == kitchen.pk else kitchen, ines)
    job = replay_turns.begin(forest, kitchen.position)
    publish_outbox(forest.pk)
    deadline = time.monotonic() + 30
    while job.status in replay_turns.OPEN and time.monotonic() < deadline:
        time.sleep(0.1)
        job.refresh_from_db()
    assert (job.status, job.error) == ("done", None)
    assert job.result["looked_at"] == job.done == 2  # the talk and “Go on.”; the hood is where a person put it
    assert not InteractionState.objects.filter(forest=forest, refined_at=None).exists()


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
