"""Connecting a model over REST: by whom, where the key goes, and that it is nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from memory.actions import probe_models
from memory.llm import choices, connection, failures
from memory.llm.connection import Connection
from memory.models import AuditEntry, Forest, ModelCapability
from tests.forests import plant
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Answer, hostile_server

pytestmark = pytest.mark.django_db(transaction=True)

OTHER = "http://127.0.0.1:9/v1"
NO_ADDRESSES = [
    *("ftp://models/v1", "models/v1", "http://", "javascript:alert(1)", "file:///etc/passwd", f"http://ines:{KEY}@models/v1", "http://models/v1?key=1"),
    *(
        "http://models/#a",
        "http://mod els/v1",
        "http://models:port/v1",
        "http://models\\@other/v1",
        "http://models/\x00",
        "http://[::1/v1",
        "http://" + "m" * 500,
    ),
]


@pytest.fixture(autouse=True)
def file(settings, tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(choices, "_known", {})
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    settings.CONNECTION_FILE = tmp_path / "connection.json"
    return settings.CONNECTION_FILE


@pytest.fixture
def server():
    with hostile_server() as server:
        server.models = Answer([json.dumps({"data": [{"id": "large", "max_model_len": 8192}, {"id": "small"}, {"id": "nomic-embed-text"}]})])
        server.always = good
        yield server


@pytest.fixture
def as_staff(as_ines, ines):
    ines.is_staff = True
    ines.save()
    return as_ines


def good(body: dict[str, Any]) -> Answer:
    if body.get("stream"):
        return scripts.said("ready", told=scripts.usage(9, 1))
    return scripts.whole('{"shade": "teal", "count": 7}' if "response_format" in body else "teal")


def everything_kept() -> str:
    return "\n".join(str(list(model._default_manager.values())) for app in apps.get_app_configs() for model in app.get_models())


def test_connect_look_and_disconnect(as_staff, server, file):
    nothing = as_staff.ask("get", "model/").json()
    assert nothing["connection"] == {"source": "none", "base_url": None, "has_key": False, "model": "", "extract_model": ""} and nothing["choices"] == []
    typed = {"base_url": f" {server.url.upper().replace('/V1', '/v1/')} ", "api_key": KEY, "model": "large", "extract_model": "small"}
    answer = as_staff.ask("put", "model/connection/", typed).json()
    assert answer["connection"] == {"source": "page", "base_url": server.url, "has_key": True, "model": "large", "extract_model": "small"}
    assert (answer["choices"], [role["model"] for role in answer["roles"][:2]]) == (["large", "small"], ["large", "small"])
    assert as_staff.ask("get", "me/").json()["model"] == "large"
    assert file.stat().st_mode & 0o777 == 0o600
    gone = as_staff.ask("delete", "model/connection/").json()
    assert gone["connection"]["source"] == "none" and as_staff.ask("get", "me/").json()["model"] == "offline" and not file.exists()
    assert as_staff.ask("delete", "model/connection/").status_code == 200
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "actor__username")) == [("connect_model", "ines"), ("disconnect_model", "ines")]


@pytest.mark.parametrize(("method", "path"), [("put", "model/connection/"), ("delete", "model/connection/"), ("post", "model/test/")])
def test_it_is_the_staffs(as_omar, anonymous, server, file, method, path):
    typed = {"base_url": server.url, "api_key": KEY, "model": "large"}
    connection.keep(Connection(OTHER, "before"))
    for caller, status in ((as_omar, 403), (anonymous, 401)):
        assert caller.ask(method, path, typed).status_code == status
        assert caller.ask(method, path, {"base_url": "nonsense"}).status_code == status
    assert connection.kept() == Connection(OTHER, "before") and not server.requests


def test_everyone_sees_what_answers_but_not_where(as_omar, server):
    connection.keep(Connection(server.url, "large", "", KEY))
    seen = as_omar.ask("get", "model/")
    assert seen.json()["connection"] == {"source": "page", "base_url": None, "has_key": True, "model": "large", "extract_model": ""}
    assert server.url not in seen.content.decode() and KEY not in seen.content.decode()
    assert as_omar.ask("get", "me/").json()["model"] == "large"


@pytest.mark.parametrize("base_url", NO_ADDRESSES)
def test_an_address_is_one_a_server_can_be_asked_at(as_staff, file, base_url):
    for method, path in (("put", "model/connection/"), ("post", "model/test/")):
        answer = as_staff.ask(method, path, {"base_url": base_url})
        assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, ["base_url"]), base_url
        assert KEY not in answer.content.decode()
    assert not file.exists()


@pytest.mark.parametrize("field", ["api_key", "model", "extract_model"])
@pytest.mark.parametrize("value", ["x" * 5_000, "sk-secret\u200b7391", "sk-secret\n7391", ["sk-secret"]])
def test_names_and_keys_are_bounded(as_staff, file, field, value):
    answer = as_staff.ask("put", "model/connection/", {"base_url": OTHER, field: value})
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, [field])
    assert "sk-secret" not in answer.content.decode() and not file.exists()


def test_a_key_never_goes_to_another_address(as_staff, server, file):
    """The heart of it: what is saved or tried without a key gets the kept one for its own address only."""

    def key() -> str:
        kept = connection.kept()
        assert kept
        return kept.api_key

    as_staff.ask("put", "model/connection/", {"base_url": OTHER, "api_key": KEY, "model": "m"})
    as_staff.ask("put", "model/connection/", {"base_url": OTHER + "/", "model": "other"})
    assert key() == KEY
    as_staff.ask("post", "model/test/", {"base_url": server.url, "model": "large"})
    as_staff.ask("post", "model/test/", {"base_url": server.url, "list_only": True})
    assert server.requests and all("sk-" not in str(request.headers) for request in [*server.requests, *server.lists])
    for other in (OTHER.replace("http:", "https:"), OTHER.replace(":9/", ":10/"), OTHER + "/more", "http://localhost:9/v1", server.url):
        as_staff.ask("put", "model/connection/", {"base_url": OTHER, "api_key": KEY})
        as_staff.ask("put", "model/connection/", {"base_url": other})
        assert key() == "", other
    assert all("sk-" not in str(request.headers) for request in server.lists)
    as_staff.ask("put", "model/connection/", {"base_url": OTHER, "api_key": KEY})
    as_staff.ask("put", "model/connection/", {"base_url": OTHER, "api_key": ""})
    assert key() == ""


def test_a_server_that_leads_elsewhere_takes_no_key_along(as_staff, server):
    with hostile_server() as elsewhere:
        elsewhere.always, elsewhere.models = good, server.models
        server.models = Answer(status=307, headers={"Location": f"{elsewhere.url}/models"})
        server.always = Answer(status=307, headers={"Location": f"{elsewhere.url}/chat/completions"})
        as_staff.ask("post", "model/test/", {"base_url": server.url, "api_key": KEY, "model": "large"})
        assert server.lists and server.requests and elsewhere.lists
        assert all(KEY not in str(request.headers) for request in [*elsewhere.lists, *elsewhere.requests])


def test_the_key_of_the_environment_goes_nowhere_else_either(as_staff, server, settings):
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = OTHER, KEY
    as_staff.ask("post", "model/test/", {"base_url": server.url, "model": "large"})
    assert server.requests and all("sk-" not in str(request.headers) for request in [*server.requests, *server.lists])


def test_the_environment_is_not_changed_from_the_page(as_staff, server, settings, file):
    settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = server.url, "large", KEY
    for method in ("put", "delete"):
        answer = as_staff.ask(method, "model/connection/", {"base_url": OTHER})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert not file.exists()
    assert as_staff.ask("get", "model/").json()["connection"] == {
        "source": "environment",
        "base_url": server.url,
        "has_key": True,
        "model": "large",
        "extract_model": "",
    }
    assert [test["works"] for test in as_staff.ask("post", "model/test/").json()["tests"]] == [True]


def test_trying_what_is_typed_connects_nothing(as_staff, server, file):
    answer = as_staff.ask("post", "model/test/", {"base_url": server.url, "api_key": KEY, "model": "large", "extract_model": "small"}).json()
    large, small = answer["tests"]
    assert [(check["check"], check["error"]) for check in large["checks"]] == [("list", None), ("stream", None), ("structured", None)]
    assert [check["check"] for check in small["checks"]] == ["list", "structured"]
    assert (large["works"], answer["models"], answer["connection"]["source"], file.exists()) == (True, ["large", "small"], "none", False)
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    # What was found out is known when it is connected afterwards.
    known = ModelCapability.objects.get(model="large")
    assert (known.structured, known.streaming_usage, known.context_length) == ("json_schema", True, 8192)


def test_looking_for_models_asks_for_nothing_else(as_staff, server):
    answer = as_staff.ask("post", "model/test/", {"base_url": server.url, "list_only": True}).json()
    assert answer["models"] == ["large", "small"] and [len(test["checks"]) for test in answer["tests"]] == [1] and not server.requests
    server.models = scripts.failure(404)
    [test] = as_staff.ask("post", "model/test/", {"base_url": server.url, "list_only": True}).json()["tests"]
    assert test["error"]["code"] == "no_models" and "/v1" in test["error"]["action"]


@pytest.mark.parametrize(
    ("listed", "answers", "check", "code"),
    [
        (scripts.failure(401), None, "list", "model_key"),
        (None, scripts.failure(401), "stream", "model_key"),
        (None, scripts.failure(404), "stream", "model_unknown"),
        (None, scripts.only_reasoning(), "stream", "only_reasoning"),
        (scripts.failure(404), scripts.cut_stream("Hi"), "stream", "answer_incomplete"),
    ],
)
def test_the_first_check_that_fails_says_what_to_do(as_staff, server, listed, answers, check, code):
    server.models, server.always = listed or server.models, answers or server.always
    answer = as_staff.ask("post", "model/test/", {"base_url": server.url, "api_key": KEY, "model": "large"})
    [test] = answer.json()["tests"]
    last = test["checks"][-1]
    assert (test["works"], last["check"], last["error"]["code"]) == (False, check, code)
    assert test["error"] == last["error"] and last["error"]["action"] and "OPENAI" not in last["error"]["action"]
    assert KEY not in answer.content.decode() and not ModelCapability.objects.exists()


def test_a_server_nobody_runs_is_said_at_once(as_staff):
    [test] = as_staff.ask("post", "model/test/", {"base_url": OTHER, "model": "m"}).json()["tests"]
    assert (test["checks"][0]["error"]["code"], len(test["checks"])) == ("model_unreachable", 1)
    assert "the address under Models" in test["error"]["action"]


def test_a_server_that_drips_ends_the_test_in_time(as_staff, server, monkeypatch):
    monkeypatch.setattr(probe_models, "TEST_SECONDS", 0.5)
    server.always = scripts.stream(*[piece for _ in range(40) for piece in (": wait\n\n", 0.1)])
    [test] = as_staff.ask("post", "model/test/", {"base_url": server.url, "model": "m"}).json()["tests"]
    assert test["error"]["code"] == "model_timeout" and 400 < test["ms"] < 2_000


def test_the_key_is_nowhere(as_staff, server, caplog, file):
    caplog.set_level("DEBUG")
    typed = {"base_url": server.url, "api_key": KEY, "model": "large"}
    told = [as_staff.ask("post", "model/test/", typed), as_staff.ask("put", "model/connection/", typed), as_staff.ask("get", "model/")]
    server.always = scripts.failure(500)
    told += [as_staff.ask("post", "model/test/"), as_staff.ask("get", "schema/"), as_staff.ask("delete", "model/connection/")]
    assert all(answer.status_code == 200 for answer in told)
    assert KEY not in "".join(answer.content.decode() for answer in told) + caplog.text + everything_kept()
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_a_folder_that_cannot_be_written_is_said(as_staff, settings, tmp_path):
    (tmp_path / "no-folder").write_text("")
    settings.CONNECTION_FILE = tmp_path / "no-folder" / "connection.json"
    answer = as_staff.ask("put", "model/connection/", {"base_url": OTHER, "api_key": KEY})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable") and "OPENAI_BASE_URL" in answer.json()["error"]["action"]


# --- A model of a forest's own


def test_a_forest_chooses_among_what_is_offered(as_omar, omar, server):
    forest = plant(omar)
    path = f"forests/{forest.pk}/"
    assert as_omar.ask("patch", path, {"answer_model": "small"}).status_code == 400  # nothing is connected
    connection.keep(Connection(server.url, "large"))
    assert as_omar.ask("patch", path, {"answer_model": "small"}).json()["answer_model"] == "small"
    refused = as_omar.ask("patch", path, {"answer_model": "nomic-embed-text"})
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["answer_model"])
    assert as_omar.ask("get", path).json()["answer_model"] == "small"
    assert as_omar.ask("patch", path, {"name": "House"}).json()["answer_model"] == "small"
    # The site's own model is no choice of the forest's: it follows when another one is connected.
    assert as_omar.ask("patch", path, {"answer_model": "large"}).json()["answer_model"] == ""
    as_omar.ask("patch", path, {"answer_model": "small"})
    assert as_omar.ask("patch", path, {"answer_model": ""}).json()["answer_model"] == "" and Forest.objects.get().answer_model == ""
