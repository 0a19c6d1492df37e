"""Turns over REST."""

from __future__ import annotations

import threading
import time

import pytest

from memory.api import turns as views
from memory.models import Turn
from tests.forests import plant, say, wait

pytestmark = pytest.mark.django_db


@pytest.fixture
def forest(ines):
    return plant(ines)


def test_sending_twice_with_one_client_id_is_one_turn(as_ines, forest, monkeypatch):
    kicked = []
    monkeypatch.setattr(views.generation, "kick", kicked.append)
    answers = [as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "  Hello\n", "client_id": "c-1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json()["id"] == answers[1].json()["id"] and Turn.objects.count() == 1
    assert answers[0].json()["text"] == "  Hello\n"  # as it was said
    assert kicked == [forest.pk, forest.pk]


def test_sending_under_a_state_or_to_a_new_root(as_ines, forest):
    state = say(forest, "Hello")
    as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "a", "parent": state.pk})
    as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "b", "new_root": True})
    assert list(Turn.objects.order_by("pk").values_list("asked_parent", "asked_new_root"))[1:] == [(state.pk, False), (None, True)]


def test_an_edit_goes_beside_its_original_and_says_so(as_ines, forest):
    root = say(forest, "We plan a kitchen.")
    oven = say(forest, "Where does the oven go?", parent=root)
    path = f"forests/{forest.pk}/turns/"
    made = as_ines.ask("POST", path, {"text": "Where does the fridge go?", "edit_of": oven.turn_id})
    assert made.status_code == 201
    assert made.json()["edited_from"] == {"turn": oven.turn_id, "state": oven.pk, "label": "Where does the oven go?", "again": False}
    assert Turn.objects.get(pk=made.json()["id"]).asked_parent == root
    waiting = as_ines.ask("POST", path, {"text": "And?", "edit_of": made.json()["id"]})
    assert (waiting.status_code, waiting.json()["error"]["code"]) == (409, "conflict")
    for place in ({"parent": root.pk}, {"new_root": True}):
        both = as_ines.ask("POST", path, {"text": "And?", "edit_of": oven.turn_id, **place})
        assert (both.status_code, list(both.json()["error"]["fields"])) == (400, ["edit_of"])
    assert Turn.objects.count() == 3


def test_nobody_edits_the_turns_of_others(planted, as_omar, omar):
    own = plant(omar)
    for forest, turn in ((own, planted.turn), (planted.forest, planted.turn)):
        answer = as_omar.ask("POST", f"forests/{forest.pk}/turns/", {"text": "Hi", "edit_of": turn.pk})
        assert answer.status_code == 404
    assert not Turn.objects.in_forest(own).exists() and not Turn.objects.filter(edited_from__isnull=False).exists()


def test_the_conversation_is_read_backwards_page_by_page(as_ines, forest):
    texts = [f"turn {number}" for number in range(5)]
    for text in texts:
        wait(forest, text)
    seen, before = [], ""
    while before is not None:
        page = as_ines.ask("GET", f"forests/{forest.pk}/turns/?limit=2{before and f'&before={before}'}").json()
        seen = [turn["text"] for turn in page["results"]] + seen
        before = page["next"]
    assert seen == texts


def test_a_broken_turn_is_retried_or_dropped_and_a_committed_one_neither(as_ines, forest):
    broken = wait(forest, "Hello", "interrupted", partial="Half")
    assert as_ines.ask("POST", f"turns/{broken.pk}/retry/").json()["status"] == "received"
    assert as_ines.ask("POST", f"turns/{broken.pk}/cancel/").json()["status"] == "cancelled"
    assert as_ines.ask("DELETE", f"turns/{broken.pk}/").status_code == 204
    assert not Turn.objects.exists()
    state = say(forest, "Kept")
    for method, path in (("POST", "retry/"), ("POST", "cancel/"), ("POST", "keep/"), ("DELETE", "")):
        answer = as_ines.ask(method, f"turns/{state.turn_id}/{path}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")


def test_the_part_of_a_broken_answer_can_be_kept(as_ines, ines):
    forest = as_ines.ask("POST", "forests/", {"name": "Pinned"}).json()["id"]
    turn = as_ines.ask("POST", f"forests/{forest}/turns/", {"text": "Plan the kitchen"}).json()["id"]
    Turn.objects.filter(pk=turn).update(status="interrupted", partial="Half an answer")
    kept = as_ines.ask("POST", f"turns/{turn}/keep/").json()
    assert (kept["status"], kept["answer"], kept["partial"]) == ("answered", "Half an answer", "") and kept["state"]


@pytest.mark.django_db(transaction=True)
def test_wait_answers_when_the_turn_has_ended(as_ines, forest):
    def end_it():
        from django.db import connection

        deadline = time.monotonic() + 5
        while not Turn.objects.filter(status="received").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        Turn.objects.update(status="failed", error={"code": "failed", "message": "m", "action": "a"})
        connection.close()

    other = threading.Thread(target=end_it)
    other.start()
    started = time.monotonic()
    answer = as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "Hello", "wait": True})
    other.join()
    assert answer.json()["status"] == "failed" and 0.2 < time.monotonic() - started < 20


@pytest.mark.django_db(transaction=True)
def test_wait_gives_up_after_its_time(as_ines, forest, monkeypatch):
    monkeypatch.setattr(views, "WAIT_SECONDS", 0.1)
    assert as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "Hello", "wait": True}).json()["status"] == "received"


def test_a_trace_without_decision_or_context_is_a_trace(as_ines, forest):
    turn = wait(forest, "Hello")
    trace = as_ines.ask("GET", f"turns/{turn.pk}/trace/").json()
    assert (trace["decision"], trace["context"], trace["position"], trace["text"]) == (None, None, None, "Hello")
