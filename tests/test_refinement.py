"""The refined commit: in the worker alone, in turn order, once, whatever is delivered twice or breaks on the way."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from memory import generation, refining, steps
from memory.actions import refine
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.publish_outbox import publish_outbox
from memory.actions.send_turn import send_turn
from memory.llm.offline import OfflineModel
from memory.models import EVIDENCE_MODELS, Artifact, AtomicFact, InteractionState, Lease, Outbox, Posting, Revision, StateVector, Topic, Turn
from memory.store import refine as store
from memory.turn import recall

KITCHEN = [
    {"id": "k1", "user": "The kitchen budget is €18,000, appliances included.", "assistant": "Noted.", "time": "2026-11-02T09:00:00+01:00"},
    {"id": "k2", "user": "My sister Nora lives in Lyon.", "assistant": "Good to know.", "time": "2026-11-03T09:00:00+01:00"},
    {"id": "k3", "user": "The kitchen budget is €21,500 now.", "assistant": "Noted: €21,500.", "time": "2026-11-09T09:00:00+01:00"},
]


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Home", time_zone="Europe/Berlin")


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


def learned(forest) -> dict[str, list[tuple]]:
    """All evidence of a forest, without ids and clocks."""
    columns = ("text", "slot", "value", "status", "event_time", "valid_to", "state__turn__client_id", "superseded_by__text")
    return {kind: sorted(model.objects.in_forest(forest).values_list(*columns), key=str) for kind, model in EVIDENCE_MODELS.items()}


def counts(forest) -> dict[str, int]:
    models = (*EVIDENCE_MODELS.values(), Revision, StateVector, Posting, Topic, InteractionState, Turn)
    return {model.__name__: model.objects.in_forest(forest).count() for model in models}


def test_nothing_is_learned_while_the_worker_is_stopped_and_everything_by_another_process_afterwards(worker, forest):
    worker.stop()
    observe(forest, KITCHEN)
    publish_outbox()
    time.sleep(1)
    assert not any(learned(forest).values())
    assert InteractionState.objects.in_forest(forest).filter(refined_at__isnull=False).count() == 0

    worker.start()
    wait_until(lambda: not InteractionState.objects.in_forest(forest).filter(refined_at__isnull=True).exists())
    assert any("21,500" in fact.text for fact in AtomicFact.objects.in_forest(forest))
    refined = list(InteractionState.objects.in_forest(forest).order_by("refined_at").values_list("position", flat=True))
    assert refined == [1, 2, 3]
    assert f":{worker.process.pid}:" in Lease.objects.get(forest=forest).last_holder
    assert not Outbox.objects.in_forest(forest).exists()


def test_the_next_turn_reads_an_unrefined_one_raw(forest):
    observe(forest, KITCHEN[:1])
    answer = recall(forest, "What did I say the kitchen budget is?")
    shown = " ".join(item["text"] for block in answer["blocks"] for item in block["items"])
    assert "€18,000" in shown
    assert not AtomicFact.objects.in_forest(forest).exists()


def test_draining_twice_changes_nothing(forest):
    observe(forest, KITCHEN)
    assert refine.drain(forest.pk) == 3
    before = (counts(forest), learned(forest))
    assert refine.drain(forest.pk) == 0
    assert (counts(forest), learned(forest)) == before


def test_a_plan_delivered_twice_is_applied_once(forest):
    observe(forest, KITCHEN)
    state = InteractionState.objects.in_forest(forest).get(position=1)
    token = store.take_lease(forest.pk, "one")
    plans = refining.plan(forest.pk, [state.pk])
    assert store.apply(forest.pk, token, plans) is not None
    before = counts(forest)
    assert store.apply(forest.pk, token, plans) is None
    assert counts(forest) == before


def test_a_worker_that_lost_its_lease_writes_nothing(forest):
    observe(forest, KITCHEN[:1])
    state = InteractionState.objects.in_forest(forest).get()
    old = store.take_lease(forest.pk, "slow")
    plans = refining.plan(forest.pk, [state.pk])
    store.release(forest.pk, old)
    assert store.take_lease(forest.pk, "quick") == old + 1
    with pytest.raises(store.LeaseLostError):
        store.apply(forest.pk, old, plans)
    assert not any(learned(forest).values())


def test_only_one_worker_drains_a_forest(forest):
    observe(forest, KITCHEN)
    assert store.take_lease(forest.pk, "first") is not None
    assert refine.drain(forest.pk) == 0
    assert not any(learned(forest).values())


def test_a_changed_value_replaces_the_old_one_and_says_so(forest):
    observe(forest, KITCHEN)
    refine.drain(forest.pk)
    old = AtomicFact.objects.in_forest(forest).get(value__contains="18,000")
    new = AtomicFact.objects.in_forest(forest).get(value__contains="21,500")
    assert (old.status, old.superseded_by_id, old.known_until) == ("superseded", new.pk, 3)
    assert new.status == "current"
    assert Revision.objects.in_forest(forest).filter(kind="fact", old_item=old.pk, new_item=new.pk, verdict="superseded").count() == 1


def test_the_order_of_arrival_does_not_change_what_holds(ines):
    there, back = create_forest(ines, "there"), create_forest(ines, "back")
    given = [{**line, "new_root": True} for line in KITCHEN]
    observe(there, given)
    observe(back, reversed(given))
    for forest in (there, back):
        refine.drain(forest.pk)
    assert learned(there) == learned(back)


def test_a_failed_extraction_keeps_the_turn_shows_why_and_lets_the_next_one_go_on(forest, monkeypatch):
    observe(forest, KITCHEN)
    extract = OfflineModel.extract

    def breaks(self, interaction, *args, **kwargs):
        if "Nora" in interaction.user:
            raise ValueError("no sense in this")
        return extract(self, interaction, *args, **kwargs)

    monkeypatch.setattr(OfflineModel, "extract", breaks)
    assert refine.drain(forest.pk) == 2
    failed = InteractionState.objects.in_forest(forest).get(position=2)
    assert failed.user_text == KITCHEN[1]["user"]
    assert failed.refined_at is None
    assert failed.refine_error["attempts"] == 1
    monkeypatch.undo()
    assert refine.drain(forest.pk) == 1
    failed.refresh_from_db()
    assert failed.refined_at is not None
    assert failed.refine_error is None


def test_the_outbox_keeps_what_the_broker_does_not_take(transactional_db, forest):
    """Another process, with the address of a broker that isn't there, hands nothing over and loses nothing."""
    observe(forest, KITCHEN[:1])
    here = os.environ["DATABASE_URL"]
    database = urlunsplit(urlsplit(here)._replace(path="/" + connection.settings_dict["NAME"]))
    code = "import django; django.setup(); from memory.actions.publish_outbox import publish_outbox; print(publish_outbox())"
    environment = {**os.environ, "DATABASE_URL": database, "REDIS_URL": "unix:///nowhere/valkey.sock?db=0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0", done.stderr
    assert "the broker does not answer" in done.stderr
    assert Outbox.objects.in_forest(forest).count() == 1
    assert publish_outbox() == 1
    assert not Outbox.objects.in_forest(forest).exists()


def test_what_an_answer_repeats_from_memory_is_not_learned_again(forest):
    """The offline engine lists what it remembers; a list like that is no list the assistant made (W5)."""
    observe(forest, KITCHEN)
    refine.drain(forest.pk)
    turn, _ = send_turn(forest, "What do you remember of the kitchen budget and of Nora?")
    generation.claim(forest.pk, "here")
    turn.refresh_from_db()
    place = steps.localize_turn(turn)
    evidenced = steps.assemble_turn(turn, place)
    answer = "Here is what I have:\n\n1. The kitchen budget is €21,500 now.\n2. My sister Nora lives in Lyon.\n3. Ask her about tiles."
    state = steps.commit(turn, place, answer, generator="here", evidenced=evidenced)
    refine.drain(forest.pk)
    assert not Artifact.objects.in_forest(forest).filter(state=state).exists()
    # Answered by a model, only what memory had not told it is new.
    Turn.objects.filter(pk=turn.pk).update(answered_by="some-model")
    InteractionState.objects.filter(pk=state.pk).update(refined_at=None, refined_by="")
    refine.drain(forest.pk)
    assert [artifact.item_text for artifact in Artifact.objects.in_forest(forest).filter(state=state)] == ["Ask her about tiles."]
