"""Every error has one shape, says what to do, and reveals nothing of the inside."""

import pytest
from django.db import OperationalError

from memory.api import base
from memory.models import Forest, Turn
from tests.forests import learn, plant, say

pytestmark = pytest.mark.django_db


def error(answer, status, code):
    body = answer.json()["error"]
    assert (answer.status_code, body["code"]) == (status, code)
    assert body["message"] and body["action"]
    return body


@pytest.fixture
def turns(ines):
    return f"forests/{plant(ines).pk}/turns/"


def test_malformed_json(as_ines, turns):
    error(as_ines.ask("POST", turns, '{"text": '), 400, "invalid")
    error(as_ines.ask("POST", turns, b"\xff\xfe"), 400, "invalid")
    error(as_ines.ask("POST", turns, '["a list"]'), 400, "invalid")
    error(as_ines.ask("POST", turns, '{"text":' * 20_000), 400, "invalid")
    error(as_ines.generic("POST", f"/api/{turns}", "text=hi", content_type="application/x-www-form-urlencoded"), 400, "invalid")


def test_fields_are_named(as_ines, turns):
    body = error(as_ines.ask("POST", turns, {"text": "", "parent": "x"}), 400, "invalid")
    assert set(body["fields"]) == {"text", "parent"}
    body = error(as_ines.ask("POST", turns.replace("turns", "observe"), {"interactions": [{"user": "Hi", "time": "yesterday"}]}), 400, "invalid")
    assert set(body["fields"]) == {"interactions.0.time"}
    error(as_ines.ask("POST", turns, {"text": "a", "parent": 1, "new_root": True}), 400, "invalid")


@pytest.mark.parametrize("text", ["nul \x00", "half \ud800"])
def test_what_the_database_cannot_hold_is_refused(as_ines, turns, text):
    error(as_ines.ask("POST", turns, {"text": text}), 400, "invalid")
    assert not Turn.objects.exists()


def test_half_a_character_in_a_choice_is_refused(as_ines, ines):
    fact = learn(say(plant(ines), "Hello"), "A fact")
    body = error(as_ines.ask("POST", f"items/fact/{fact.pk}/revise/", '{"do": "\\ud800"}'), 400, "invalid")
    assert set(body["fields"]) == {"do"}


def test_size_limits(as_ines, turns):
    error(as_ines.ask("POST", turns, {"text": "é" * (16 * 1024 + 1)}), 413, "too_large")
    assert not Turn.objects.exists()
    assert as_ines.ask("POST", turns, {"text": "é" * 16 * 1024}).status_code == 201
    error(as_ines.ask("POST", turns, {"text": "x" * (4 * 1024 * 1024)}), 413, "too_large")
    many = [{"user": "Hi", "time": "2026-03-01T10:00:00Z"}] * 201
    error(as_ines.ask("POST", turns.replace("turns", "observe"), {"interactions": many}), 413, "too_large")
    error(as_ines.ask("GET", turns.replace("turns", "search") + "?q=" + "x" * 201), 400, "invalid")
    error(as_ines.ask("GET", turns + "?limit=201"), 400, "invalid")
    error(as_ines.ask("GET", turns.replace("turns", "states") + "?limit=5001"), 400, "invalid")
    error(as_ines.ask("POST", "forests/", {"name": "x" * 121}), 400, "invalid")


def test_what_does_not_exist(as_ines):
    error(as_ines.ask("GET", "forests/999999/"), 404, "unknown_forest")
    error(as_ines.ask("GET", f"forests/{2**80}/"), 404, "unknown_forest")
    error(as_ines.ask("GET", "turns/999999/trace/"), 404, "unknown_turn")
    error(as_ines.ask("GET", "states/999999/"), 404, "unknown_state")
    error(as_ines.ask("GET", "items/fact/999999/"), 404, "unknown_item")
    error(as_ines.ask("GET", "items/secret/1/"), 404, "unknown_item")
    error(as_ines.ask("GET", "jobs/999999/"), 404, "not_found")
    error(as_ines.ask("GET", "nothing/here/"), 404, "not_found")
    error(as_ines.ask("POST", "nothing/here/", {}), 404, "not_found")
    error(as_ines.ask("PUT", "me/", {}), 405, "invalid")


@pytest.mark.parametrize(
    "time", ["2026-03-01T10:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30T10:00:00Z", "0001-06-01T00:00:00Z", 12, None]
)
def test_times_need_an_offset_and_a_place_in_the_calendar(as_ines, turns, time):
    body = error(as_ines.ask("POST", turns.replace("turns", "observe"), {"interactions": [{"user": "Hi", "time": time}]}), 400, "invalid")
    assert set(body["fields"]) == {"interactions.0.time"}


def test_too_many_requests(as_ines, monkeypatch):
    monkeypatch.setattr(base.PersonRate, "get_rate", lambda self: "2/min")
    answers = [as_ines.ask("GET", "me/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    error(answers[-1], 429, "too_many_requests")
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_requests_go_on_uncounted_when_valkey_is_down(as_ines, settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}}
    assert as_ines.ask("GET", "me/").status_code == 200


def test_database_down_is_503_without_details(as_ines, monkeypatch):
    def down(self, *_, **__):
        raise OperationalError("could not connect to server: secret-host")

    monkeypatch.setattr(base.View, "forest", down)
    answer = as_ines.ask("GET", "forests/1/")
    error(answer, 503, "unavailable")
    assert "secret-host" not in answer.content.decode()


def test_what_was_deleted_a_moment_ago_does_not_exist(as_ines, turns, monkeypatch):
    path = turns.replace("turns", "observe")
    given = {"interactions": [{"user": "Hi", "time": "2026-03-01T10:00:00Z"}]}
    monkeypatch.setattr("memory.api.forests.observe", lambda forest, interactions: Forest.objects.get(pk=0))
    error(as_ines.ask("POST", path, given), 404, "unknown_forest")
    monkeypatch.undo()
    for parent in ("²", "9" * 30, "none"):
        given["interactions"][0]["parent"] = parent
        error(as_ines.ask("POST", path, given), 404, "unknown_state")


def test_unknown_time_zone(as_ines):
    body = error(as_ines.ask("PATCH", "me/", {"time_zone": "Mars/Olympus"}), 400, "invalid")
    assert "time_zone" in body["fields"]
    error(as_ines.ask("PATCH", "me/", {"time_zone": "../../etc/passwd"}), 400, "invalid")


def test_a_taken_name_is_a_conflict(as_ines, ines):
    plant(ines, "Home")
    error(as_ines.ask("POST", "forests/", {"name": "Home"}), 409, "conflict")
    other = plant(ines, "Work")
    error(as_ines.ask("PATCH", f"forests/{other.pk}/", {"name": "Home"}), 409, "conflict")


# --- Where no view answers


@pytest.fixture
def outside(client):
    """A caller to whom a fault of ours is shown as the site shows it."""
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize("path", ["/api/nothing/", "/api/forests/none/", "/api/forests/1/nothing", "/api/%ff%00/", "/api/turns/-1/"])
def test_an_unknown_address_is_json(as_ines, path):
    error(as_ines.get(path), 404, "not_found")


@pytest.mark.parametrize("path", ["/api", "/api/forests", "/api/me"])
def test_an_address_without_its_last_slash_is_json_or_leads_there(as_ines, path):
    answer = as_ines.get(path, follow=True)
    error(answer, 404, "not_found")


@pytest.mark.parametrize(("method", "path"), [("PUT", "me/"), ("POST", "schema/"), ("DELETE", "docs/"), ("PATCH", "jobs/"), ("POST", "forests/1/export/")])
def test_another_method_is_json(as_ines, method, path):
    error(as_ines.ask(method, path), 405, "invalid")


def test_what_django_itself_refuses_is_json(outside):
    answer = outside.get("/api/me/", HTTP_HOST="elsewhere.example")
    error(answer, 400, "invalid")
    assert b"<h1>" in outside.get("/sign-in/", HTTP_HOST="elsewhere.example").content.lower()


def test_a_body_with_too_many_parts_is_json(as_ines, settings, ines):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2
    as_ines.raise_request_exception = False
    path = f"/api/forests/{plant(ines).pk}/import/"
    error(as_ines.post(path, {f"f{number}": "x" for number in range(5)}, format="multipart"), 400, "invalid")


def test_a_fault_of_ours_is_json_and_says_nothing_of_the_inside(as_ines, monkeypatch, caplog):
    def broken(self, *_, **__):
        raise RuntimeError("secret-row")

    as_ines.raise_request_exception = False
    monkeypatch.setattr(base.View, "forest", broken)
    answer = as_ines.ask("GET", "forests/1/")
    error(answer, 500, "failed")
    assert answer["content-type"] == "application/json" and "secret-row" not in answer.content.decode()
    assert "default-src 'none'" in answer["content-security-policy"]


def test_what_a_middleware_raises_is_json(as_ines, monkeypatch):
    as_ines.raise_request_exception = False

    def broken(self, request):
        raise RuntimeError("secret-row")

    monkeypatch.setattr("django.contrib.messages.middleware.MessageMiddleware.process_request", broken)
    error(as_ines.get("/api/me/"), 500, "failed")
    assert b"Something failed" in as_ines.get("/sign-in/").content


def test_pages_stay_pages(client, ines):
    client.force_login(ines)
    for path in ("/nothing/", "/apiary/", "/forests/999/"):
        answer = client.get(path)
        assert answer.status_code == 404 and b"Nothing grows here" in answer.content
