"""Deleting while something is under way – a commit, a model call, an import, a re-embedding, a message – leaves nothing of what was deleted."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from memory import generation, messages, present, refining, steps
from memory.actions import import_chat, observe, reembed, refine, structure
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest, delete_state
from memory.actions.forget_item import delete_item
from memory.actions.send_turn import send_turn
from memory.errors import Refused
from memory.llm.interface import ModelError
from memory.llm.offline import OfflineModel
from memory.models import AtomicFact, Forest, InteractionState, Lease, NewVector, Posting, RoutingDecision, StateVector, TermStat, Turn
from memory.store import bulk, write
from tests.forests import learn

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "zyzzyva7391"
TIME = "2026-03-09T14:00:00Z"
# All 200 moments take a quiet machine a minute; here as many as fit into SECONDS, nightly all of them, five times over.
NIGHTLY = bool(os.environ.get("ARBORWEB_LONG_TESTS"))
MOMENTS, SECONDS = (1000, 3600.0) if NIGHTLY else (200, 40.0)


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Home", time_zone="Europe/Berlin")


@pytest.fixture(autouse=True)
def no_messages_of_other_tests():
    client = messages.client()
    for key in client.scan_iter(match=f"{messages._prefix()}:turn:*", count=1000):
        client.delete(key)


def sung_in() -> list[str]:
    """Tables and streams that hold the canary."""
    found = []
    with connection.cursor() as cursor:
        for model in apps.get_app_config("memory").get_models():
            cursor.execute(f'SELECT count(*) FROM "{model._meta.db_table}" t WHERE t::text ILIKE %s', [f"%{CANARY}%"])
            if cursor.fetchone()[0]:
                found.append(model.__name__)
    return found + streams()


def streams() -> list[str]:
    client = messages.client()
    keys = client.scan_iter(match=f"{messages._prefix()}:turn:*:messages", count=1000)
    return [key.decode() for key in keys if CANARY in str(client.xrange(key))]


def given(name: str, user: str, assistant: str, parent: str | None) -> dict[str, Any]:
    return {"id": name, "user": user, "assistant": assistant, "time": TIME, **({"parent": parent} if parent else {"new_root": True})}


def say(forest: Forest, name: str, user: str, assistant: str = "Noted.", parent: str | None = None) -> InteractionState:
    observe.observe(forest, [given(name, user, assistant, parent)])
    return InteractionState.objects.get(forest=forest, turn__client_id=name)


def test_at_random_moments_of_a_running_commit(forest, ines, beside):
    """Rough and refined commit in another thread, with the worker's own code and the messages it publishes; the deletion comes at any moment of them."""
    root = say(forest, "root", "We plan the kitchen.")
    refine.drain(forest.pk)
    rng, took, begun, number = random.Random(5), 0.2, time.monotonic(), 0
    moments = {"rough": 0, "refined": 0}
    while number < MOMENTS and time.monotonic() - begun < SECONDS:
        running = beside(commit_secret, forest, root, number)
        time.sleep(rng.random() * took)
        state = wait_for(f"secret-{number}")
        moments["refined" if InteractionState.objects.filter(pk=state.pk, refined_at__isnull=False).exists() else "rough"] += 1
        delete_state(state, "children_to_parent" if number % 2 else "with_children", ines, redact_quotes=True)
        took = 0.8 * took + 0.2 * running.result(20)
        for left in InteractionState.objects.filter(forest=forest, turn__client_id=f"after-{number}"):
            assert left.assistant_text == "(deleted)"
            delete_state(left, "with_children", ines)
        assert streams() == []
        number += 1
        if number % 20 == 0:
            refine.drain(forest.pk)
            assert sung_in() == []
    refine.drain(forest.pk)
    assert sung_in() == []
    assert number >= 25 and min(moments.values()) >= number // 20, (number, moments)
    assert set(InteractionState.objects.values_list("turn__client_id", flat=True)) == {"root"}
    counted = dict.fromkeys(Posting.objects.values_list("kind", "term"), 1)
    assert counted == {(kind, term): number for kind, term, number in TermStat.objects.values_list("kind", "term", "states")}


def commit_secret(forest: Forest, root: InteractionState, number: int) -> float:
    """A turn with the canary and one whose answer quotes it, each committed, told and refined; the seconds it took."""
    started, parent = time.perf_counter(), root
    for name, user, answer in (("secret", f"The alarm code is {CANARY}.", f"Noted {CANARY}."), ("after", "And then?", f"The code {CANARY} is safe.")):
        turn = Turn.objects.create(forest=forest, client_id=f"{name}-{number}", origin="observed", text=user, sent_at=root.time)
        try:
            parent = steps.commit(turn, steps.placed(forest, user, root.time, parent), answer, generator="")
            structure.tell_changed(forest.pk, [parent.pk])
        except (write.ParentGoneError, KeyError):  # deleted before this one came
            turn.delete()
    refine.drain(forest.pk)
    return time.perf_counter() - started


def until_done_or_waiting(work: Any) -> None:
    """Until it is done, or waits for a lock that we hold."""
    for _ in range(1000):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
            if work.done() or cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    raise AssertionError("it neither ends nor waits")


def wait_for(name: str) -> InteractionState:
    deadline = time.monotonic() + 10
    while (state := InteractionState.objects.filter(turn__client_id=name).first()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return state


def test_while_a_model_reads_the_turn(forest, ines, monkeypatch):
    state = say(forest, "secret", f"The alarm code is {CANARY}.")
    say(forest, "after", "And then?", "Nothing.", "secret")
    extract = OfflineModel.extract

    def slow(self: Any, interaction: Any, path: Any, **more: Any) -> Any:
        found = extract(self, interaction, path, **more)
        if interaction.id == state.pk and InteractionState.objects.filter(pk=state.pk).exists():
            delete_state(state, "children_to_parent", ines)
        return found

    monkeypatch.setattr(OfflineModel, "extract", slow)
    refine.drain(forest.pk)
    refine.drain(forest.pk)
    assert sung_in() == []
    assert InteractionState.objects.get().refined_at is not None


def test_while_a_model_that_reads_the_turn_fails(forest, ines, monkeypatch):
    state = say(forest, "secret", f"The alarm code is {CANARY}.")

    def fails(self: Any, interaction: Any, path: Any, **more: Any) -> Any:
        delete_state(state, "with_children", ines)
        raise ModelError("model_busy", "It is busy.", "Wait.")

    monkeypatch.setattr(OfflineModel, "extract", fails)
    assert refine.drain(forest.pk) == 0
    assert sung_in() == []


def test_a_forest_deleted_while_it_is_read_ends_the_work_quietly(forest, ines, monkeypatch):
    say(forest, "secret", f"The alarm code is {CANARY}.")
    plan = refining.plan

    def planned(forest_id: int, states: Any) -> Any:
        found = plan(forest_id, states)
        delete_forest(forest, ines)
        return found

    monkeypatch.setattr(refining, "plan", planned)
    assert refine.drain(forest.pk) == 0
    assert sung_in() == [] and not Lease.objects.exists()


def test_what_is_told_of_a_refinement_is_read_and_told_before_a_deletion_or_after_it(forest, ines, beside, monkeypatch):
    state = say(forest, "secret", f"The alarm code is {CANARY}.")
    read = present.refined
    begun: list[Any] = []

    def slow(*args: Any) -> Any:
        told = read(*args)
        begun.append(beside(delete_state, state, "with_children", ines))
        until_done_or_waiting(begun[0])
        return told

    monkeypatch.setattr(present, "refined", slow)
    refine.drain(forest.pk)
    begun[0].result(10)
    assert sung_in() == []


def test_a_turn_that_is_being_answered_holds_a_deletion_off(forest, ines):
    state = say(forest, "secret", f"The alarm code is {CANARY}.")
    refine.drain(forest.pk)
    send_turn(forest, "What is the alarm code?")
    turn, _ = generation.claim(forest.pk, "a process")
    steps.localize_turn(turn)
    fact = AtomicFact.objects.filter(forest=forest).first() or learn(state, f"The code is {CANARY}")
    for attempt in (lambda: delete_state(state, "with_children", ines), lambda: delete_item(fact, ines), lambda: delete_forest(forest, ines)):
        with pytest.raises(Refused, match="being answered"):
            attempt()
    assert InteractionState.objects.filter(pk=state.pk).exists()


# --- Imports


def lines(*turns: tuple[str, str, str | None]) -> str:
    rows = [{"id": name, "user": user, "assistant": "Noted.", "time": TIME, "parent": parent} for name, user, parent in turns]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.jsonl"
    others = [(f"o{number}", f"We plan the garden, part {number}.", None) for number in range(70)]
    path.write_text(lines(("secret", f"The alarm code is {CANARY}.", None), *others, ("later", "The gate is green.", "secret")))
    return path


def test_a_turn_deleted_while_its_import_is_under_way_does_not_come_back(forest, ines, export, uploads_folder, monkeypatch):
    commit = bulk.commit

    def delete_once() -> None:
        for state in InteractionState.objects.filter(forest=forest, turn__client_id="secret"):
            delete_state(state, "with_children", ines)

    job = import_chat.begin(forest, export)
    monkeypatch.setattr(bulk, "commit", lambda *args, **more: (commit(*args, **more), delete_once())[0])

    import_chat.run(job.pk)
    again = import_chat.begin(forest, export)
    monkeypatch.setattr(bulk, "commit", commit)
    import_chat.run(again.pk)
    again.refresh_from_db()
    assert sung_in() == []
    assert (again.status, again.given.left_out) == ("done", ["a turn that was deleted in this forest isn't taken in again"])
    assert InteractionState.objects.filter(forest=forest).count() == 71


def test_a_turn_is_placed_and_written_before_a_deletion_or_after_it(forest, ines, tmp_path, beside, uploads_folder, monkeypatch):
    state = say(forest, "secret", f"The alarm code is {CANARY}.")
    path = tmp_path / "export.jsonl"
    path.write_text(lines(("again", "What was the alarm code?", None)))
    localize = steps.localize_text
    begun: list[Any] = []

    def slow(*args: Any, **more: Any) -> Any:
        place = localize(*args, **more)
        begun.append(beside(delete_state, state, "children_to_parent", ines))
        until_done_or_waiting(begun[0])
        return place

    monkeypatch.setattr(steps, "localize_text", slow)
    job = import_chat.begin(forest, path, relocalize=True)
    import_chat.run(job.pk)
    begun[0].result(10)
    job.refresh_from_db()
    assert job.status == "done"
    assert sung_in() == []
    assert RoutingDecision.objects.filter(forest=forest).count() == 1


# --- Re-embedding


def test_a_redaction_while_a_forest_is_embedded_anew_leaves_no_vector_of_the_old_words(forest, ines, monkeypatch):
    secret = say(forest, "secret", f"The alarm code is {CANARY}.")
    quoting = say(forest, "after", "Is it safe?", f"The code {CANARY} is safe.", "secret")
    refine.drain(forest.pk)
    Forest.objects.filter(pk=forest.pk).update(weights_hash="of another")
    job = reembed.begin(Forest.objects.get(pk=forest.pk), queue=False)
    real, asked = reembed.embedder(), []

    class Slow:
        identity, dimensions, weights_hash = real.identity, real.dimensions, real.weights_hash

        def embed(self, texts: Any) -> Any:
            asked.append(texts)
            if len(asked) == 1:
                delete_state(secret, "children_to_parent", ines, redact_quotes=True)
            return real.embed(texts)

    monkeypatch.setattr(reembed, "embedder", Slow)
    for _ in range(2):  # a deletion ends its lease; it is started again, as the worker does
        reembed.run(job.pk)
    refine.drain(forest.pk)
    assert sung_in() == [] and not NewVector.objects.exists()
    quoting.refresh_from_db()
    assert quoting.assistant_text == "(deleted)"
    kept = StateVector.objects.get(state=quoting, kind="state").vector
    [expected] = real.embed(["Is it safe?\n(deleted)"])
    assert max(abs(one - other) for one, other in zip(kept, expected, strict=True)) < 0.02


def test_a_rough_commit_and_a_deletion_of_its_parent_leave_one_forest(forest, ines, beside):
    """The commit comes before the deletion or finds its parent gone: never a state below one that isn't there."""
    say(forest, "root", "We plan the kitchen.")
    for number in range(20):
        parent = say(forest, f"p{number}", f"The code is {CANARY}.", "Ok.", "root")
        ready = threading.Barrier(2)

        def commit(parent: InteractionState = parent, number: int = number, ready: threading.Barrier = ready) -> None:
            turn = Turn.objects.create(forest=forest, client_id=f"c{number}", origin="observed", text="And then?", sent_at=parent.time)
            place = steps.placed(forest, "And then?", parent.time, parent)
            ready.wait(10)
            try:
                steps.commit(turn, place, "Nothing.", generator="")
            except write.ParentGoneError:
                turn.delete()

        running = beside(commit)
        ready.wait(10)
        delete_state(parent, "children_to_parent", ines)
        running.result(10)
    refine.drain(forest.pk)
    assert sung_in() == []
    ids = set(InteractionState.objects.values_list("pk", flat=True))
    assert all(parent is None or parent in ids for parent in InteractionState.objects.values_list("parent_id", flat=True))
