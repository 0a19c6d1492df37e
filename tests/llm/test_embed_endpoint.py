"""Embeddings of an endpoint (M7): numbers or base64, in any order, of the pinned length, or an error that says what to do."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from pytest_django.fixtures import Settings

from memory.llm import endpoints
from memory.llm.capabilities import Kept
from memory.llm.embed import embedder
from memory.llm.embed_endpoint import EndpointEmbedder
from memory.llm.endpoints import Endpoint
from memory.llm.interface import ModelError
from memory.llm.usage import Spent, counted
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Answer, Hostile, Scripted


def vectors(length: int = 3, form: str = "float", backwards: bool = False, **more: Any) -> Scripted:
    """Each text's vector: its length in characters, then ones."""

    def reply(body: dict[str, Any]) -> Answer:
        rows = [[float(len(text)), *[1.0] * (length - 1)] for text in body["input"]]
        shown: list[Any] = [base64.b64encode(np.array(row, dtype="<f4").tobytes()).decode() if form == "base64" else row for row in rows]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(shown)]
        return Answer([json.dumps({"object": "list", "data": data[::-1] if backwards else data, **more})])

    return reply


@pytest.fixture
def embeds(hostile: Hostile) -> EndpointEmbedder:
    return EndpointEmbedder(Endpoint(hostile.url, "bge-m3", KEY, price_input=2.0), Kept())


def expected(*texts: str) -> Any:
    rows = np.array([[len(text), 1, 1] for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "script", [vectors(), vectors(form="base64"), vectors(backwards=True), vectors(extra=None)], ids=["numbers", "base64", "backwards", "no usage"]
)
def test_vectors_have_length_one_and_the_order_of_their_texts(hostile: Hostile, embeds: EndpointEmbedder, script: Scripted) -> None:
    hostile.always = script
    found = embeds.embed(["oak", "a beech tree"])
    assert found.dtype == np.float32 and np.allclose(found, expected("oak", "a beech tree"))
    assert embeds.embed([]).shape == (0, 3)


def test_what_a_forest_pins_is_asked_for_once(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    hostile.always = vectors(length=5)
    assert (embeds.identity, embeds.dimensions, len(embeds.weights_hash)) == ("bge-m3 (endpoint)", 5, 64)
    again = EndpointEmbedder(embeds.endpoint, embeds.memory)
    assert (again.dimensions, again.weights_hash) == (5, embeds.weights_hash)
    assert len(hostile.requests) == 1


def test_many_texts_go_in_batches(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    hostile.always = vectors()
    assert embeds.embed(["x" * (number % 7 + 1) for number in range(150)]).shape == (150, 3)
    assert [len(body["input"]) for body in hostile.bodies] == [1, 64, 64, 22]


def test_another_length_than_before_is_refused_with_what_to_do(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    hostile.script(vectors(3), vectors(4))
    with pytest.raises(ModelError) as raised:
        embeds.embed(["oak"])
    assert raised.value.code == "vector_length" and "4 numbers" in raised.value.message and "reembed" in raised.value.action


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_embeddings_says_which_settings_to_set(hostile: Hostile, embeds: EndpointEmbedder, status: int) -> None:
    hostile.always = scripts.failure(status)
    with pytest.raises(ModelError) as raised:
        embeds.embed(["oak"])
    assert raised.value.code == "no_embeddings" and "EMBEDDINGS_BASE_URL" in raised.value.action
    assert KEY not in f"{raised.value!r} {raised.value.action}" and len(hostile.requests) == 1


def test_a_refused_key_names_its_own_setting(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    hostile.always = scripts.failure(401)
    with pytest.raises(ModelError) as raised:
        embeds.embed(["oak"])
    assert "EMBEDDINGS_API_KEY" in raised.value.action


def test_a_busy_server_is_asked_again(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    hostile.script(scripts.failure(503), vectors(), scripts.failure(429), vectors())
    assert np.allclose(embeds.embed(["oak"]), expected("oak"))


def test_a_refused_encoding_format_is_dropped_once(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    answers = vectors(form="base64")
    assert not isinstance(answers, Answer)
    hostile.always = lambda body: scripts.failure(400, "encoding_format: extra fields not permitted") if "encoding_format" in body else answers(body)
    embeds.embed(["oak"])
    assert [("encoding_format" in body) for body in hostile.bodies] == [True, False, False]


def test_a_text_too_long_for_the_server_counts_as_far_as_it_takes_it(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    plain = vectors()
    assert not isinstance(plain, Answer)
    hostile.always = lambda body: scripts.failure(400, "maximum context length is 512 tokens") if max(map(len, body["input"])) > 600 else plain(body)
    assert np.allclose(embeds.embed(["x" * 2_000, "oak"]), expected("x" * 500, "oak"))


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        '{"data": null}',
        '{"data": []}',
        '{"data": [{"index": 0, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": [0, 0]}]}',
        '{"data": [{"index": 0, "embedding": ["a"]}]}',
        '{"data": [{"index": 0, "embedding": "!!"}]}',
        '{"data": [{"index": 7, "embedding": [1, 2]}]}',
        '{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        '{"data": [{"index": 0, "embedding": [[1], [2]]}]}',
    ],
)
def test_nonsense_is_an_error(hostile: Hostile, embeds: EndpointEmbedder, body: str) -> None:
    hostile.always = Answer([body])
    with pytest.raises(ModelError) as raised:
        embeds.embed(["oak"])
    assert raised.value.code == "model_nonsense"


@pytest.mark.parametrize("text", ["", "  \n", "\ud800 lone", "記憶の森"])
def test_any_text_has_a_vector(hostile: Hostile, embeds: EndpointEmbedder, text: str) -> None:
    hostile.always = vectors()
    assert np.isfinite(embeds.embed([text])).all()
    assert all(body["input"][0].strip() for body in hostile.bodies)


def test_tokens_and_their_price_are_counted(hostile: Hostile, embeds: EndpointEmbedder) -> None:
    hostile.script(vectors(), vectors(usage={"prompt_tokens": 500, "total_tokens": 500}), vectors())
    spent: list[Spent] = [{}, {}]
    embeds.probe()
    for one in spent:
        with counted(one):
            embeds.embed(["oak tree"])
    assert (spent[0]["embed"].input, spent[0]["embed"].cost, spent[0]["embed"].estimated) == (500, 0.001, False)
    assert (spent[1]["embed"].input, spent[1]["embed"].estimated) == (2, True)


def test_the_settings_choose_the_embedder(settings: Settings, hostile: Hostile) -> None:
    assert embedder().identity == "all-MiniLM-L6-v2 int8"
    settings.EMBEDDINGS_MODEL, settings.EMBEDDINGS_BASE_URL = "bge-m3", hostile.url
    assert embedder().identity == "bge-m3 (endpoint)" and embedder() is embedder()
    assert endpoints.embedding() == Endpoint(hostile.url, "bge-m3")
