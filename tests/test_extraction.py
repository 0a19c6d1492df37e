"""Turns read by a model in the worker's own code path: once, in any order, visibly failing, and taking back nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memory import present
from memory.actions import refine
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine_again import refine_again
from memory.llm import failures
from memory.models import AtomicFact, InteractionState, Revision
from tests.llm.hostile import Answer, failure, hostile_server, usage, whole

KITCHEN = [
    {"id": "k1", "user": "The kitchen budget is €18,000, appliances included.", "assistant": "Noted.", "time": "2026-11-02T09:00:00+01:00"},
    {"id": "k2", "user": "My sister Nora lives in Lyon.", "assistant": "Good to know.", "time": "2026-11-03T09:00:00+01:00"},
    {"id": "k3", "user": "The kitchen budget is €21,500 now.", "assistant": "Noted: €21,500.", "time": "2026-11-09T09:00:00+01:00"},
    {"id": "k4", "user": "Thanks a lot!", "assistant": "You're welcome!", "time": "2026-11-09T09:05:00+01:00"},
]
FACTS = {
    "€18,000": ("The kitchen budget is €18,000, appliances included.", "kitchen", "budget", "€18,000"),
    "Lyon": ("The user's sister Nora lives in Lyon.", "Nora", "home", "Lyon"),
    "€21,500": ("The kitchen budget is €21,500.", "kitchen", "budget", "€21,500"),
}


def reads(body: dict[str, Any]) -> Answer:
    """A model that knows these turns, cites what it is shown, and adds an invention to each."""
    content = body["messages"][-1]["content"]
    said = re.search(r"<user>(.*?)</user>", content, re.DOTALL)
    known = re.search(r"(\d+): [^\n]*budget = ", content)
    facts = [
        {
            "fact": text,
            "subject": subject,
            "attribute": attribute,
            "value": value,
            "replaces": int(known[1]) if known and attribute == "budget" else 0,
        }
        for sign, (text, subject, attribute, value) in FACTS.items()
        if said and sign in said[1]
    ]
    invented = {"fact": "The user owns a boat called Zora.", "subject": "boat", "attribute": "name", "value": "Zora", "replaces": 99}
    found = {"reasoning": "", "summary": "", "entities": [], "facts": [*facts, invented], "states": [], "events": [], "artifacts": []}
    return whole(json.dumps(found), told=usage(600, 80))


@pytest.fixture
def server(settings, monkeypatch):
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    with hostile_server() as hostile:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.EXTRACTION = hostile.url, "m", "one-call"
        hostile.always = reads
        yield hostile


def learned(forest) -> list[tuple]:
    columns = ("text", "slot", "value", "status", "made_by", "state__turn__client_id", "superseded_by__text")
    return sorted(AtomicFact.objects.in_forest(forest).values_list(*columns), key=str)


def test_a_correction_replaces_what_it_cites_and_inventions_are_dropped_and_counted(ines, server):
    forest = create_forest(ines, "Home", time_zone="Europe/Berlin")
    observe(forest, [{**line, "new_root": True} if line["id"] in ("k1", "k2") else {**line, "parent": "k1"} for line in KITCHEN])
    assert refine.drain(forest.pk) == 4
    old, new = AtomicFact.objects.in_forest(forest).get(value="€18,000"), AtomicFact.objects.in_forest(forest).get(value="€21,500")
    assert (old.status, old.superseded_by_id, new.status, new.made_by) == ("superseded", new.pk, "current", "rule")
    assert Revision.objects.in_forest(forest).filter(old_item=old.pk, new_item=new.pk).count() == 1
    assert not AtomicFact.objects.in_forest(forest).filter(text__contains="Zora").exists()
    shown = present.state_json(new.state)["extraction"]
    assert (shown["mode"], shown["calls"], shown["kept"], shown["dropped"]["fact: a value nobody said"]) == ("one-call", 1, {"fact": 1}, 1)
    thanks = InteractionState.objects.in_forest(forest).get(position=4)
    assert (thanks.extraction_report["calls"], AtomicFact.objects.filter(state=thanks).count()) == (0, 0)


def test_delivered_again_it_changes_nothing(ines, server):
    forest = create_forest(ines, "Home")
    observe(forest, KITCHEN)
    refine.drain(forest.pk)
    before, calls = learned(forest), len(server.requests)
    assert (refine.drain(forest.pk), learned(forest), len(server.requests)) == (0, before, calls)


def test_read_again_it_adds_what_is_new_and_takes_back_nothing(ines, server):
    forest = create_forest(ines, "Home")
    observe(forest, KITCHEN[:2])
    refine.drain(forest.pk)
    before = learned(forest)
    state = InteractionState.objects.in_forest(forest).get(position=2)
    refine_again(state, ines)
    refine.drain(forest.pk)
    assert learned(forest) == before
    server.always = whole(json.dumps({"reasoning": "", "summary": "", "entities": [], "facts": [], "states": [], "events": [], "artifacts": []}))
    refine_again(state, ines)
    refine.drain(forest.pk)
    assert learned(forest) == before


def test_the_order_of_arrival_does_not_change_what_holds(ines, server):
    there, back = create_forest(ines, "there"), create_forest(ines, "back")
    given = [{**line, "new_root": True} for line in KITCHEN]
    observe(there, given)
    observe(back, reversed(given))
    for forest in (there, back):
        refine.drain(forest.pk)
    assert learned(there) == learned(back)


def test_a_failure_is_shown_keeps_the_turn_and_can_be_tried_again(ines, server):
    forest = create_forest(ines, "Home")
    observe(forest, KITCHEN[:1])
    server.always = failure(401)
    assert refine.drain(forest.pk) == 0
    state = InteractionState.objects.select_related("turn").get(forest=forest)
    assert state.user_text == KITCHEN[0]["user"] and state.refined_at is None
    error = present.turn_json(state.turn)["error"]
    assert error["code"] == "model_key" and error["message"] and error["action"]
    assert not learned(forest)
    server.always = reads
    refine_again(state, ines)
    refine.drain(forest.pk)
    state.refresh_from_db()
    assert state.refine_error is None and len(learned(forest)) == 1


def test_a_model_that_is_away_is_waited_for_and_one_that_reads_badly_given_up(ines, server):
    forest = create_forest(ines, "Home")
    observe(forest, KITCHEN[:2])
    server.always = failure(503)
    states = InteractionState.objects.in_forest(forest).order_by("position")
    for _ in range(5):
        refine.drain(forest.pk)
        for state in states.all():
            assert state.refine_error["attempts"] == 0 and state.refine_error["retry_at"] > state.refine_error["at"][:19]
            refine.drain(forest.pk)  # not before its time
        calls = len(server.requests)
        for state in states.all():
            InteractionState.objects.filter(pk=state.pk).update(refine_error={**state.refine_error, "retry_at": "2026-01-01T00:00:00+00:00"})
    assert len(server.requests) == calls
    assert {state.refine_error["tries"] for state in states.all()} == {5}
    server.always = whole("I found nothing.")
    for _ in range(4):
        refine.drain(forest.pk)
        for state in states.all():
            InteractionState.objects.filter(pk=state.pk).update(refine_error={**state.refine_error, "retry_at": "2026-01-01T00:00:00+00:00"})
    assert {(state.refine_error["code"], state.refine_error["attempts"]) for state in states.all()} == {("structured_invalid", 3)}
