"""Store as Inês, read as Omar: nothing (RELIABILITY P1). Every route of the URL conf is in the table, or the test fails."""

from __future__ import annotations

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from memory.models import AtomicFact, Forest, InteractionState, Turn
from tests.api.conftest import CANARY

pytestmark = pytest.mark.django_db

# What Omar asks with Inês's ids: (route name, method, path, body). Each must answer 404 to him.
HERS = [
    ("one-forest", "GET", "forests/{forest.pk}/", None),
    ("one-forest", "PATCH", "forests/{forest.pk}/", {"name": "Mine now"}),
    ("one-forest", "DELETE", "forests/{forest.pk}/?preview=1", None),
    ("one-forest", "DELETE", "forests/{forest.pk}/", None),
    ("turns", "GET", "forests/{forest.pk}/turns/", None),
    ("turns", "POST", "forests/{forest.pk}/turns/", {"text": "Hello"}),
    ("observe", "POST", "forests/{forest.pk}/observe/", {"interactions": [{"user": "Hi", "time": "2026-03-01T10:00:00Z"}]}),
    ("recall", "POST", "forests/{forest.pk}/recall/", {"text": CANARY}),
    ("states", "GET", "forests/{forest.pk}/states/", None),
    ("facts", "GET", "forests/{forest.pk}/facts/?status=all", None),
    ("records", "GET", "forests/{forest.pk}/records/?status=all", None),
    ("revisions", "GET", "forests/{forest.pk}/revisions/", None),
    ("search", "GET", f"forests/{{forest.pk}}/search/?q={CANARY}", None),
    ("export", "GET", "forests/{forest.pk}/export/", None),
    ("reembed", "POST", "forests/{forest.pk}/reembed/", {}),
    ("import", "POST", "forests/{forest.pk}/import/", {}),
    ("one-turn", "GET", "turns/{turn.pk}/", None),
    ("one-turn", "DELETE", "turns/{waiting.pk}/", None),
    ("trace", "GET", "turns/{turn.pk}/trace/", None),
    ("retry-turn", "POST", "turns/{broken.pk}/retry/", None),
    ("cancel-turn", "POST", "turns/{waiting.pk}/cancel/", None),
    ("keep-turn", "POST", "turns/{broken.pk}/keep/", None),
    ("one-state", "GET", "states/{state.pk}/", None),
    ("one-state", "DELETE", "states/{state.pk}/?preview=1", None),
    ("one-state", "DELETE", "states/{state.pk}/", None),
    ("move-state", "POST", "states/{state.pk}/move/", {"new_root": True}),
    ("state-moves", "GET", "states/{later.pk}/moves/", None),
    ("why-not", "GET", "turns/{turn.pk}/candidates/{root.pk}/", None),
    ("moves", "POST", "forests/{forest.pk}/moves/", {"moves": [{"state": 1, "parent": None}]}),
    ("replay", "POST", "forests/{forest.pk}/replay/", {"after": 0}),
    ("changes", "GET", "forests/{forest.pk}/changes/", None),
    ("undo-change", "POST", "changes/{change.pk}/undo/", None),
    ("one-item", "GET", "items/fact/{fact.pk}/", None),
    ("one-item", "GET", "items/event/{record.pk}/", None),
    ("revise-item", "POST", "items/fact/{fact.pk}/revise/", {"do": "retract"}),
    ("jobs", "GET", "jobs/?forest={forest.pk}", None),
    ("job", "GET", "jobs/{job.pk}/", None),
]
# Routes without an id of hers: what Omar gets there holds nothing of hers either.
HIS_OWN = ["me", "model", "forests", "jobs", "schema", "api-docs"]
# Making something of one's own, or nothing at all.
OTHERWISE = {"sample-forest", "model-connection", "test-model", "unknown"}


def route_names() -> set[str]:
    [api] = [entry for entry in get_resolver().url_patterns if isinstance(entry, URLResolver) and str(entry.pattern) == "api/"]
    assert all(isinstance(entry, URLPattern) for entry in api.url_patterns), "a nested URL conf needs its routes here as well"
    return {str(entry.name) for entry in api.url_patterns}


def test_every_route_is_in_the_table():
    assert route_names() == {name for name, *_ in HERS} | set(HIS_OWN) | OTHERWISE


def snapshot():
    return [list(model.objects.order_by("pk").values()) for model in (Forest, Turn, InteractionState, AtomicFact)]


@pytest.mark.parametrize(("name", "method", "path", "body"), HERS)
def test_omar_finds_nothing_and_changes_nothing(planted, as_omar, name, method, path, body):
    before = snapshot()
    answer = as_omar.ask(method, path.format(**vars(planted)), body)
    assert answer.status_code == 404
    assert set(answer.json()["error"]) == {"code", "message", "action"}
    assert CANARY not in answer.content.decode()
    assert snapshot() == before


@pytest.mark.parametrize(("name", "method", "path", "body"), [row for row in HERS if row[1] == "GET"])
def test_ines_finds_it_there(planted, as_ines, name, method, path, body):
    answer = as_ines.ask(method, path.format(**vars(planted)), body)
    assert answer.status_code == 200
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert CANARY in content.decode()


@pytest.mark.parametrize("name", HIS_OWN)
def test_lists_hold_nothing_of_hers(planted, as_omar, name):
    path = {"me": "me/", "model": "model/", "forests": "forests/", "jobs": "jobs/", "schema": "schema/", "api-docs": "docs/"}[name]
    answer = as_omar.ask("GET", path)
    assert answer.status_code == 200
    assert CANARY not in answer.content.decode()


@pytest.mark.parametrize(("name", "method", "path", "body"), HERS)
def test_nobody_gets_in_unsigned(planted, anonymous, name, method, path, body):
    answer = anonymous.ask(method, path.format(**vars(planted)), body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_signed_in")


def test_a_parent_from_another_forest_is_unknown(planted, as_omar, omar):
    from tests.forests import plant, say

    own = plant(omar)
    mine = say(own, "Mine")
    answer = as_omar.ask("POST", f"forests/{own.pk}/turns/", {"text": "Hi", "parent": planted.state.pk})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_state")
    answer = as_omar.ask("POST", f"states/{mine.pk}/move/", {"parent": planted.state.pk})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_state")
    for move in ({"state": mine.pk, "parent": planted.state.pk}, {"state": planted.state.pk, "parent": None}):
        answer = as_omar.ask("POST", f"forests/{own.pk}/moves/", {"moves": [move]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_state")
    answer = as_omar.ask("GET", f"turns/{mine.turn_id}/candidates/{planted.state.pk}/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_state")
