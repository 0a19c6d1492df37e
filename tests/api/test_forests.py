"""Forests, jobs and the person over REST."""

from __future__ import annotations

import json

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from memory.models import AuditEntry, Forest, InteractionState, Turn
from memory.threads import in_thread
from tests.forests import learn, plant, say

pytestmark = pytest.mark.django_db


def test_me_and_its_settings(as_ines, settings):
    me = as_ines.ask("GET", "me/").json()
    assert (me["username"], me["time_zone"], me["evidence_budget"], me["model"], me["max_turn_bytes"]) == (
        "ines",
        "UTC",
        settings.EVIDENCE_BUDGET,
        "offline",
        32768,
    )
    assert me["max_import_bytes"] == settings.MAX_IMPORT_MB * 1024 * 1024
    changed = as_ines.ask("PATCH", "me/", {"time_zone": "Pacific/Kiritimati", "evidence_budget": 4096}).json()
    assert (changed["time_zone"], changed["evidence_budget"]) == ("Pacific/Kiritimati", 4096)
    assert as_ines.ask("PATCH", "me/", {"evidence_budget": 8192}).json()["time_zone"] == "Pacific/Kiritimati"


def test_a_forest_from_planting_to_deletion(as_ines, ines, settings):
    as_ines.ask("PATCH", "me/", {"time_zone": "Europe/Lisbon"})
    made = as_ines.ask("POST", "forests/", {"name": "Home"})
    forest = made.json()
    assert made.status_code == 201 and forest["time_zone"] == "Europe/Lisbon"
    assert forest["counts"] == {"states": 0, "trees": 0, "turns": 0, "facts": 0, "pending": 0}
    row = Forest.objects.get()
    assert row.weights_hash and row.dimensions == 384  # pinned
    path = f"forests/{forest['id']}/"
    assert as_ines.ask("PATCH", path, {"name": "House", "time_zone": "Asia/Tokyo"}).json()["name"] == "House"
    say(row, "Hello")
    preview = as_ines.ask("DELETE", path + "?preview=1").json()
    assert preview["preview"] is True and {"states": 1, "trees": 1, "turns": 1, "facts": 0, "pending": 0}.items() <= preview["counts"].items()
    assert Forest.objects.exists()
    assert as_ines.ask("DELETE", path).json()["preview"] is False
    assert as_ines.ask("GET", path).status_code == 404
    assert AuditEntry.objects.get().action == "delete_forest"


def test_forests_come_page_by_page(as_ines, ines, omar):
    names = [f"Forest {number}" for number in range(5)]
    for name in names:
        plant(ines, name)
    plant(omar, "His")
    seen, cursor = [], 0
    while cursor is not None:
        page = as_ines.ask("GET", f"forests/?limit=2&after={cursor}").json()
        seen += [forest["name"] for forest in page["results"]]
        cursor = page["next"]
    assert seen == names


def test_the_sample_grows_by_a_job(as_ines, as_omar):
    answer = as_ines.ask("POST", "forests/sample/", {})
    assert answer.status_code == 201
    body = answer.json()
    assert body["forest"]["sample"] is True
    job = as_ines.ask("GET", f"jobs/{body['job']['id']}/").json()
    assert (job["forest"], job["status"]) == (body["forest"]["id"], "waiting")
    assert as_omar.ask("GET", f"jobs/{job['id']}/").status_code == 404


def test_observe_localizes_or_follows_the_parent_given(as_ines, ines):
    forest = as_ines.ask("POST", "forests/", {"name": "Home"}).json()
    path = f"forests/{forest['id']}/observe/"
    given = [
        {"id": "a", "user": "Plan the kitchen", "assistant": "Gladly.", "time": "2026-03-01T10:00:00Z", "new_root": True},
        {"id": "b", "user": "Which extractor hood?", "assistant": "Recirculating.", "time": "2026-03-01T10:05:00+01:00", "parent": "a"},
    ]
    results = as_ines.ask("POST", path, {"interactions": given}).json()["results"]
    assert [(row["id"], row["parent"], row["root"], row["method"]) for row in results][1] == ("b", "a", "a", "given")
    assert (results[0]["parent"], results[0]["root"]) == (None, "a")
    again = as_ines.ask("POST", path, {"interactions": given}).json()["results"]
    assert [row["state"] for row in again] == [row["state"] for row in results] and InteractionState.objects.count() == 2
    assert Turn.objects.filter(origin="observed").count() == 2


def test_recall_writes_nothing(as_ines, ines):
    forest = as_ines.ask("POST", "forests/", {"name": "Home"}).json()
    interaction = {"id": "a", "user": "The kitchen budget is €21,500", "assistant": "Noted.", "time": "2026-03-01T10:00:00Z"}
    as_ines.ask("POST", f"forests/{forest['id']}/observe/", {"interactions": [interaction]})
    before = (Turn.objects.count(), list(Forest.objects.values()))
    answer = as_ines.ask("POST", f"forests/{forest['id']}/recall/", {"text": "What is the kitchen budget?", "budget": 512})
    body = answer.json()
    assert answer.status_code == 200 and set(body) == {"localization", "tokens", "blocks"}
    assert "21,500" in answer.content.decode() and body["tokens"] <= 512
    assert {source for block in body["blocks"] for item in block["items"] for source in item["sources"]} == {"a"}
    assert (Turn.objects.count(), list(Forest.objects.values())) == before


def test_export_downloads_the_forest(as_ines, ines):
    forest = plant(ines)
    learn(say(forest, "Hello"), "A fact")
    answer = as_ines.ask("GET", f"forests/{forest.pk}/export/")
    assert "attachment" in answer.headers["Content-Disposition"]
    document = json.loads(b"".join(answer.streaming_content))
    assert document["facts"][0]["text"] == "A fact"


def test_export_as_markdown_is_of_the_forest_or_of_the_path_to_a_turn(as_ines, as_omar, ines):
    forest, other = plant(ines, name="Home"), plant(ines, name="Other")
    root = say(forest, "Hello", topic="Greetings")
    leaf, elsewhere = say(forest, "And on", parent=root), say(other, "Elsewhere")
    say(forest, "Something else")

    def asked(caller, **query):
        return caller.ask("GET", f"forests/{forest.pk}/export/?" + "&".join(f"{name}={value}" for name, value in query.items()))

    answer = asked(as_ines, format="markdown")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8" and f"forest-{forest.pk}.md" in answer.headers["Content-Disposition"]
    text = b"".join(answer.streaming_content).decode()
    assert text.startswith("# Home\n") and "> Something else" in text
    path = asked(as_ines, format="markdown", state=leaf.pk)
    assert f"forest-{forest.pk}-turn-2.md" in path.headers["Content-Disposition"]
    text = b"".join(path.streaming_content).decode()
    assert "> And on" in text and "Something else" not in text
    assert asked(as_ines, format="markdown", state=elsewhere.pk).json()["error"]["code"] == "unknown_state"
    assert asked(as_omar, format="markdown").json()["error"]["code"] == "unknown_forest"
    assert asked(as_ines, format="pdf").status_code == 400


@pytest.mark.django_db(transaction=True)
async def test_export_streams_under_the_real_server_as_well(ines):
    """Under ASGI the file is read off the event loop, piece by piece."""
    forest = await in_thread(plant, ines)
    for number in range(30):
        await in_thread(say, forest, f"turn {number} " + "long " * 2000)
    client = AsyncClient()
    await client.aforce_login(ines)
    answer = await client.get(f"/api/forests/{forest.pk}/export/")
    pieces = [piece async for piece in answer.streaming_content]
    await sync_to_async(connections.close_all)()  # the view's thread; a server does it at the end of the request
    assert len(pieces) > 2
    assert len(json.loads(b"".join(pieces))["states"]) == 30
