"""Two things at once on one forest: whatever comes first, nothing is lost, doubled, or left hanging."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memory import generation, refining, steps
from memory.actions import refine
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest, delete_state
from memory.actions.keep_turn import keep_turn
from memory.actions.observe import observe
from memory.actions.send_turn import send_turn
from memory.errors import Refused
from memory.models import Forest, InteractionState, Turn
from memory.store import write

pytestmark = pytest.mark.django_db(transaction=True)
TIME = "2026-03-09T14:00:00Z"


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Home", time_zone="Europe/Berlin")


def wait_for_lock() -> None:
    """Until some other connection waits for a lock, at most a second."""
    for _ in range(50):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
            if cursor.fetchone()[0]:
                return
        threading.Event().wait(0.02)


@contextmanager
def after(statement: str, do: Callable[[], Any]) -> Iterator[list[Any]]:
    """`do` begins when this connection has executed a statement that begins so, inside its transaction; what it returned is in the list."""
    begun: list[Any] = []

    def watch(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if sql.startswith(statement) and not begun:
            begun.append(do())
            wait_for_lock()
        return result

    with connection.execute_wrapper(watch):
        yield begun


def test_a_deletion_and_a_turn_on_its_way_never_wait_for_each_other(forest, ines, beside):
    observe(forest, [{"user": "We plan a kitchen.", "time": TIME}])
    state = InteractionState.objects.get()
    send_turn(forest, "The kitchen budget is €18,000.")
    turn, _ = generation.claim(forest.pk, "a process")
    place = steps.localize_turn(turn)
    for step in (lambda: steps.localize_turn(turn), lambda: steps.assemble_turn(turn, place)):
        with after('UPDATE "memory_turn"', lambda: beside(delete_state, state, "with_children", ines)) as begun:
            step()
        with pytest.raises(Refused, match="being answered"):
            begun[0].result(10)
    turn.refresh_from_db()
    assert turn.status == "answering"


def test_a_part_is_kept_while_what_it_continues_is_deleted(forest, ines, beside):
    observe(forest, [{"user": "We plan a kitchen.", "time": TIME}])
    kitchen = InteractionState.objects.get()
    turn = Turn.objects.create(forest=forest, client_id="c", text="Go on", partial="The walls", status="cancelled", sent_at=timezone.now())
    with after('INSERT INTO "memory_routingdecision"', lambda: beside(delete_state, kitchen, "children_to_parent", ines)) as begun:
        state = keep_turn(turn)
    begun[0].result(10)
    state.refresh_from_db()
    assert (state.parent_id, state.assistant_text) == (None, "The walls")
    assert InteractionState.objects.get() == state


def test_given_interactions_find_their_place_while_it_is_deleted(forest, ines, beside, monkeypatch):
    observe(forest, [{"id": "kitchen", "user": "We plan a kitchen.", "time": TIME}])
    kitchen = InteractionState.objects.get()
    localized = steps.localize_text

    def localize(*args: Any, **more: Any) -> Any:
        place = localized(*args, **more)
        beside(delete_state, kitchen, "children_to_parent", ines)
        wait_for_lock()
        return place

    monkeypatch.setattr(steps, "localize_text", localize)
    [given] = observe(forest, [{"user": "The kitchen gets oak.", "time": TIME, "parent": "kitchen"}])
    assert given["parent"] == "kitchen"


def test_the_same_interaction_given_many_times_at_once_is_one(forest, beside):
    given = [{"id": "a", "user": "We plan a kitchen.", "time": TIME}]
    states = {future.result(20)[0]["state"] for future in [beside(observe, forest, given) for _ in range(6)]}
    assert states == {InteractionState.objects.get().pk}


def test_the_id_of_a_turn_that_waits_is_not_taken_over_by_a_given_interaction(forest):
    turn, _ = send_turn(forest, "What is the budget?", client_id="a")
    with pytest.raises(Refused, match="isn't answered yet"):
        observe(forest, [{"id": "a", "user": "Hello", "assistant": "It is €1.", "time": TIME}])
    turn.refresh_from_db()
    assert (turn.status, turn.text) == ("received", "What is the budget?")


def test_an_interaction_that_is_refused_leaves_nothing(forest, monkeypatch):
    def breaks(*args: Any, **more: Any) -> None:
        raise write.TurnTakenError

    monkeypatch.setattr(write, "commit_rough", breaks)
    with pytest.raises(write.TurnTakenError):
        observe(forest, [{"user": "Hello", "time": TIME}])
    assert not Turn.objects.exists()


def test_a_turn_for_what_was_deleted_a_moment_ago_is_refused(forest, ines, monkeypatch):
    observe(forest, [{"user": "We plan a kitchen.", "time": TIME}])
    state = InteractionState.objects.get()
    found = InteractionState.objects.get(pk=state.pk)
    delete_state(state, "with_children", ines)
    monkeypatch.setattr("memory.actions.send_turn.find_parent", lambda forest, parent: found)
    with pytest.raises(Refused, match="state doesn't exist"):
        send_turn(forest, "And salt?", parent=found.pk)
    monkeypatch.undo()
    gone = Forest.objects.get(pk=forest.pk)
    delete_forest(forest, ines)
    with pytest.raises(Refused, match="forest doesn't exist"):
        send_turn(gone, "Hello")
    with pytest.raises(Forest.DoesNotExist):
        observe(gone, [{"user": "Hello", "time": TIME}])


def test_a_state_deleted_while_it_is_read_is_passed_over(forest, ines, monkeypatch):
    observe(forest, [{"user": "The kitchen budget is €18,000.", "time": TIME}, {"user": "My sister Nora lives in Lyon.", "time": TIME, "new_root": True}])
    first, second = InteractionState.objects.order_by("position")
    plan = refining.plan

    def deleted_first(forest_id: int, states: Any) -> Any:
        if first.pk in states:
            delete_state(first, "with_children", ines)
        return plan(forest_id, states)

    monkeypatch.setattr(refining, "plan", deleted_first)
    refine.drain(forest.pk)  # the deletion ended its lease
    refine.drain(forest.pk)
    assert InteractionState.objects.get() == second
    second.refresh_from_db()
    assert (second.refined_at is not None, second.refine_error) == (True, None)
