"""Which models may be chosen to answer: what a server lists, kept for a while, without what can't talk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from memory.llm import choices, usage
from tests.llm.hostile import KEY, Answer, Hostile, failure


def listing(*rows: Any) -> Answer:
    return Answer([json.dumps({"data": [row if isinstance(row, dict) else {"id": row} for row in rows]})])


@pytest.fixture
def server(hostile: Hostile, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    monkeypatch.setattr(choices, "_known", {})
    settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = hostile.url, "large", KEY
    return hostile


def test_models_that_cannot_talk_are_left_out(server: Hostile) -> None:
    server.models = listing(
        "small", "Large", "large", "text-embedding-3-small", "nomic-embed-text:latest", "bge-m3", "whisper-1", "tts-1", "dall-e-3", "gpt-image-1",
        "omni-moderation-latest", "jina-reranker-v2", "all-minilm:l6", {"id": "e5", "type": "embeddings"}, {"id": "qwen", "type": "llm"},
        {"id": "painter", "architecture": {"output_modalities": ["image"]}}, {"id": "vision", "architecture": {"output_modalities": ["text"]}},
    )  # fmt: skip
    assert choices.offered() == ("Large", "large", "qwen", "small", "vision")


@pytest.mark.parametrize(
    "answer", [Answer(["[]"]), Answer(['{"data": 3}']), Answer(['{"data": [3, {"id": 4}, {"id": ""}, {"id": "a\\u0007b"}]}']), Answer(["no"])]
)
def test_nonsense_is_no_choice(server: Hostile, answer: Answer) -> None:
    server.models = answer
    assert choices.offered() == ()


def test_there_is_an_end_to_them(server: Hostile) -> None:
    server.models = listing(*[f"m{number:04}" for number in range(1_000)], "x" * 201)
    assert len(choices.offered()) == choices.MOST


def test_a_list_is_kept_and_outlives_a_server_that_is_away(server: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(choices.time, "monotonic", lambda: now[0])
    server.models = listing("a", "b")
    assert choices.offered() == ("a", "b")
    server.models = listing("c")
    assert choices.offered() == ("a", "b")
    now[0] += choices.FRESH_SECONDS + 1
    assert choices.offered() == ("c",)
    server.models = failure(500)
    now[0] += choices.FRESH_SECONDS + 1
    assert choices.offered() == ("c",)
    server.models = listing("d")
    assert choices.offered() == ("c",)
    now[0] += choices.AGAIN_SECONDS + 1
    assert choices.offered() == ("d",)


def test_another_server_has_a_list_of_its_own(server: Hostile, settings: Settings) -> None:
    server.models = listing("a", "b")
    assert choices.offered() == ("a", "b")
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    assert choices.offered() == ()
    settings.OPENAI_BASE_URL = ""
    assert choices.offered() == ()


def test_the_chosen_model_answers_while_it_is_offered(server: Hostile) -> None:
    server.models = listing("large", "small")
    spent: usage.Spent = {}
    with usage.counted(spent):
        assert [choices.model_for(name).name for name in ("", "large", "small")] == ["large", "large", "small"]
        assert not spent
        assert choices.model_for("gone").name == "large"
    assert spent["answer"].notes == ("model_gone",)


def test_offline_nothing_is_chosen(settings: Settings) -> None:
    settings.OPENAI_BASE_URL = ""
    spent: usage.Spent = {}
    with usage.counted(spent):
        assert choices.model_for("small").name == "offline"
    assert not spent
