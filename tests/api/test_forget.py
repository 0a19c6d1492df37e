"""Forgetting over REST and the socket: previews, one's own account, and “forget that …”, which is written nowhere."""

from __future__ import annotations

import asyncio
import logging

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from memory import messages
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.api.authentication import make_key
from memory.models import AtomicFact, AuditEntry, Forest, InteractionState, Turn
from memory.threads import in_thread
from tests.api.conftest import Caller
from tests.forests import plant, say
from tests.test_consumers import Page

CANARY = "zyzzyva7391"
GIVEN = [
    {"id": "a", "user": "My sister Nora lives in Lyon.", "assistant": "Good.", "time": "2026-03-05T10:00:00Z", "new_root": True},
    {"id": "b", "user": "The kitchen budget is €20,000.", "assistant": "Noted.", "time": "2026-03-06T10:00:00Z", "new_root": True},
    {"id": "c", "user": "I moved to Porto.", "assistant": "Nice.", "time": "2026-03-07T10:00:00Z", "new_root": True},
]


@pytest.fixture
def forest(ines):
    made = create_forest(ines, "Home")
    observe(made, GIVEN)
    drain(made.pk)
    return made


def rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_app_config("memory").get_models()}


@pytest.mark.django_db
def test_an_item_is_deleted_with_preview(as_ines, forest):
    fact = AtomicFact.objects.get(forest=forest, value="€20,000")
    path = f"items/fact/{fact.pk}/"
    preview = as_ines.ask("DELETE", path + "?preview=1").json()
    assert preview["preview"] is True and preview["counts"]["facts"] == 1 and preview["stays"][0]["kind"] == "state"
    assert as_ines.ask("GET", path).status_code == 200
    done = as_ines.ask("DELETE", path + "?redact=1")
    assert done.status_code == 200 and done.json()["preview"] is False
    assert as_ines.ask("GET", path).status_code == 404
    assert as_ines.ask("DELETE", path).json()["error"]["code"] == "unknown_item"


@pytest.mark.django_db
def test_every_deletion_answers_in_one_shape(as_ines, forest):
    state = InteractionState.objects.filter(forest=forest).first()
    keys = {"preview", "counts", "rebuilt", "stays", "restored", "used_by", "quoted_by"}
    for path in (f"states/{state.pk}/?preview=1", f"forests/{forest.pk}/?preview=1", "me/?preview=1", f"states/{state.pk}/?preview=1&redact=1"):
        answer = as_ines.ask("DELETE", path).json()
        assert set(answer) == keys and {"used_by", "quoted_by"} <= set(answer["counts"]), path


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Forget that my sister lives in Lyon.", "Nora"),
        ("Vergiss bitte, was ich über Nora gesagt habe", "Nora"),
        ("Please forget the kitchen budget", "kitchen"),
        ("Forget what I just said", "Porto"),
    ],
)
def test_a_request_to_forget_finds_what_is_meant_and_is_no_turn(as_ines, forest, text, first):
    before = rows()
    for path, body in (("turns/", {"text": text, "client_id": "c-1"}), ("forget/", {"text": text})):
        answer = as_ines.ask("POST", f"forests/{forest.pk}/{path}", body)
        assert answer.status_code == 200
        found = answer.json()["forget"] if path == "turns/" else answer.json()
        assert first in found["matches"][0]["text"] and len(found["matches"]) <= 10
        assert [match["score"] for match in found["matches"]] == sorted((match["score"] for match in found["matches"]), reverse=True)
    assert rows() == before


@pytest.mark.django_db
def test_what_is_to_be_forgotten_may_be_named_without_the_request(as_ines, forest):
    found = as_ines.ask("POST", f"forests/{forest.pk}/forget/", {"text": "the kitchen budget"}).json()
    assert found["what"] == "the kitchen budget" and "€20,000" in found["matches"][0]["text"]
    assert as_ines.ask("POST", f"forests/{forest.pk}/forget/", {"text": "quantum chromodynamics"}).json()["matches"] == []


@pytest.mark.django_db
def test_it_is_written_nowhere(as_ines, forest, caplog):
    caplog.set_level(logging.DEBUG)
    as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": f"Forget that the code is {CANARY}."})
    as_ines.ask("POST", f"forests/{forest.pk}/forget/", {"text": CANARY})
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text ILIKE %s', [f"%{CANARY}%"])
            assert cursor.fetchone()[0] == 0, table
    client = messages.client()
    for key in client.scan_iter(match=f"*{messages._prefix()}*"):
        assert CANARY not in str(client.dump(key))
    logged = [record for record in caplog.records if record.name != "django.db.backends"]
    assert not any(CANARY in record.getMessage() for record in logged)


@pytest.mark.django_db
def test_it_is_sent_as_a_turn_when_that_is_said(as_ines, forest):
    answer = as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "Forget that my sister lives in Lyon.", "as_turn": True, "client_id": "c-2"})
    assert answer.status_code == 201 and answer.json()["text"] == "Forget that my sister lives in Lyon."
    again = as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "Forget that my sister lives in Lyon.", "client_id": "c-2"})
    assert (again.status_code, again.json()["id"]) == (200, answer.json()["id"])
    assert as_ines.ask("POST", f"forests/{forest.pk}/turns/", {"text": "Don't forget that my sister lives in Lyon."}).status_code == 201


@pytest.mark.django_db(transaction=True)
async def test_over_the_socket_too(ines, forest):
    client = Client()
    await in_thread(client.force_login, ines)
    page = Page(forest.pk, client)
    assert await page.connect() == (True, None)
    await page.send_json_to({"type": "turn.send", "client_id": "c-1", "text": "Please forget the kitchen budget"})
    told = await page.receive_json_from()
    assert (told["type"], told["client_id"], told["what"]) == ("forget.asked", "c-1", "the kitchen budget")
    assert "€20,000" in told["matches"][0]["text"]
    assert await in_thread(Turn.objects.filter(client_id="c-1").count) == 0
    await page.send_json_to({"type": "turn.send", "client_id": "c-1", "text": "Please forget the kitchen budget", "as_turn": True})
    for _ in range(200):
        if await in_thread(Turn.objects.filter(client_id="c-1").exists):
            break
        await asyncio.sleep(0.02)
    else:
        raise AssertionError("it did not become a turn")
    await page.disconnect()


# --- One's own account


@pytest.mark.django_db
def test_an_account_is_deleted_by_its_owner_who_writes_their_name(ines, omar):
    plant(ines, "One")
    say(plant(ines, "Two"), "Hello")
    other = say(plant(omar, "His"), "His")
    here, elsewhere = Caller(ines), Caller(ines)
    preview = here.ask("DELETE", "me/?preview=1").json()
    assert {name: preview["counts"][name] for name in ("forests", "states")} == {"forests": 2, "states": 1}
    assert here.ask("DELETE", "me/", {"username": "omar"}).json()["error"]["fields"] == {"username": ["Not your name."]}
    assert here.ask("DELETE", "me/", {}).status_code == 400
    assert Forest.objects.filter(owner=ines).count() == 2
    done = here.ask("DELETE", "me/", {"username": "ines"})
    assert done.status_code == 200 and done.json()["preview"] is False
    assert here.ask("GET", "me/").status_code == 401 and elsewhere.ask("GET", "me/").status_code == 401
    assert list(InteractionState.objects.all()) == [other]
    entry = AuditEntry.objects.get(action="delete_person")
    assert (entry.subject, entry.actor) == (f"user {ines.pk}", None)


@pytest.mark.django_db
def test_a_key_cannot_delete_the_account_it_belongs_to_and_ends_with_it(ines):
    _, key = make_key(ines, "program")
    program = Caller()
    answer = program.ask("DELETE", "me/", {"username": "ines"}, HTTP_AUTHORIZATION=f"Bearer {key}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    Caller(ines).ask("DELETE", "me/", {"username": "ines"})
    assert program.ask("GET", "me/", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 401


@pytest.mark.django_db
def test_the_last_superuser_stays(django_user_model):
    admin = django_user_model.objects.create_superuser("admin")
    caller = Caller(admin)
    assert caller.ask("DELETE", "me/?preview=1").json()["error"]["code"] == "conflict"
    assert caller.ask("DELETE", "me/", {"username": "admin"}).status_code == 409
    django_user_model.objects.create_superuser("second")
    assert caller.ask("DELETE", "me/", {"username": "admin"}).status_code == 200
    assert not django_user_model.objects.filter(username="admin").exists()


@pytest.mark.django_db
def test_nothing_of_an_account_goes_while_one_of_its_turns_is_answered(ines):
    plant(ines, "One")
    busy = plant(ines, "Two")
    Turn.objects.create(forest=busy, client_id="x", text="Now", status="answering", generator="web-1", sent_at="2026-03-01T10:00:00Z")
    assert Caller(ines).ask("DELETE", "me/", {"username": "ines"}).status_code == 409
    assert Forest.objects.filter(owner=ines).count() == 2
