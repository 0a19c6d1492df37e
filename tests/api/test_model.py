"""Which model plays which role, and whether its server works: shown without keys, tested by the staff."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory.models import ModelCapability
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Answer, hostile_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hostile(settings):
    with hostile_server() as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = server.url, "large", KEY
        settings.OPENAI_PRICE_INPUT = 0.5
        yield server


def good(body: dict[str, Any]) -> Answer:
    if "input" in body:
        return Answer([json.dumps({"data": [{"index": 0, "embedding": [1.0, 2.0, 2.0]}]})])
    if body.get("stream"):
        return scripts.said("ready", told=scripts.usage(9, 1))
    return scripts.whole('{"shade": "teal", "count": 7}' if "response_format" in body else "teal")


def test_without_an_endpoint_everything_is_local(as_ines):
    answer = as_ines.ask("get", "model/").json()
    assert [(role["role"], role["model"], role["local"]) for role in answer["roles"]] == [
        ("answer", "offline", True),
        ("extract", "offline", True),
        ("embed", "all-MiniLM-L6-v2 int8", True),
    ]
    assert answer["localizer"] == "calibrated" and answer["roles"][2]["vector_length"] == 384


def test_the_staff_tests_and_everyone_sees_what_was_found(as_ines, ines, hostile, settings):
    settings.EMBEDDINGS_MODEL, settings.OPENAI_EXTRACT_MODEL = "bge-m3", "small"
    hostile.models = Answer([json.dumps({"data": [{"id": "small", "max_model_len": 4096}, {"id": "large", "meta": {"n_ctx": 8192}}]})])
    hostile.always = good
    assert as_ines.ask("post", "model/test/").status_code == 403
    ines.is_staff = True
    ines.save()
    answer = as_ines.ask("post", "model/test/")
    assert [(test["role"], test["works"], test["error"]) for test in answer.json()["tests"]] == [(role, True, None) for role in ("answer", "extract", "embed")]
    ines.is_staff = False
    ines.save()
    seen = as_ines.ask("get", "model/")
    large, small, embeds = seen.json()["roles"]
    assert (large["structured"], large["streaming_usage"], large["context_length"], large["price_input"]) == ("json_schema", True, 8192, 0.5)
    assert (small["context_length"], embeds["vector_length"], large["address"]) == (4096, 3, None)
    assert answer.json()["roles"][0]["address"] == hostile.url
    assert KEY not in answer.content.decode() + seen.content.decode() + str(list(ModelCapability.objects.values()))


def test_what_is_wrong_is_said(as_ines, ines, hostile):
    ines.is_staff = True
    ines.save()
    hostile.always = scripts.failure(401)
    [test] = as_ines.ask("post", "model/test/").json()["tests"]
    assert (test["works"], test["error"]["code"]) == (False, "model_key") and KEY not in str(test)
