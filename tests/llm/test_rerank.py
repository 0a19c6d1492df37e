"""A cross-encoder behind /rerank, in every shape servers have, and the paper's sum on its scores."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from memory.llm.capabilities import Kept
from memory.llm.endpoints import Endpoint
from memory.llm.interface import ModelError
from memory.llm.rerank import FOIL, Reranker
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Answer, Hostile, Scripted

TEXTS = ["The oven stands on the left.", "My starter smells."]
LOGITS = {TEXTS[0]: 6.0, TEXTS[1]: -4.0, FOIL: -11.0}


def sigmoid(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def cohere(probability: bool = False) -> Scripted:
    """Cohere, Jina, vLLM: best first."""

    def reply(body: dict[str, Any]) -> Answer:
        rows = [{"index": index, "relevance_score": LOGITS[text]} for index, text in enumerate(body["documents"])]
        rows = [{**row, "relevance_score": sigmoid(row["relevance_score"])} for row in rows] if probability else rows
        return Answer([json.dumps({"id": "1", "results": sorted(rows, key=lambda row: -row["relevance_score"])})])

    return reply


def tei(body: dict[str, Any]) -> Answer:
    """Text Embeddings Inference: takes `texts` alone, answers a bare list."""
    if "documents" in body:
        return Answer([json.dumps({"error": "missing field `texts`", "error_type": "Validation"})], status=422)
    return Answer([json.dumps([{"index": index, "score": LOGITS[text]} for index, text in enumerate(body["texts"])][::-1])])


@pytest.fixture
def reranker(hostile: Hostile) -> Reranker:
    return Reranker(Endpoint(hostile.url, "bge-reranker-v2-m3", KEY), Kept())


@pytest.mark.parametrize("script", [cohere(), cohere(probability=True), tei], ids=["logits", "probabilities", "TEI"])
def test_scores_are_logits_in_the_order_of_the_texts(hostile: Hostile, reranker: Reranker, script: Scripted) -> None:
    hostile.always = script
    assert reranker.scores("Where does the oven go?", TEXTS) == pytest.approx([6.0, -4.0])


def test_the_shape_is_found_once(hostile: Hostile, reranker: Reranker) -> None:
    hostile.always = tei
    reranker.scores("Where?", TEXTS)
    reranker.scores("Where?", TEXTS)
    assert [("documents" in body) for body in hostile.bodies] == [True, False, False]
    assert hostile.requests[0].path == "/v1/rerank" and hostile.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_nothing_to_score_asks_nobody(hostile: Hostile, reranker: Reranker) -> None:
    assert reranker.scores("Where?", []) == [] and not hostile.requests


@pytest.mark.parametrize(
    "body", ["{}", "[]", '{"results": [{"index": 0, "relevance_score": null}]}', '{"results": [{"index": 0, "relevance_score": 1.0}]}', '"x"']
)
def test_scores_that_miss_a_text_are_an_error(hostile: Hostile, reranker: Reranker, body: str) -> None:
    hostile.always = Answer([body])
    with pytest.raises(ModelError) as raised:
        reranker.scores("Where?", TEXTS)
    assert raised.value.code == "model_nonsense"


def test_a_server_without_rerank_says_which_settings_to_set(hostile: Hostile, reranker: Reranker) -> None:
    hostile.always = scripts.failure(404)
    with pytest.raises(ModelError) as raised:
        reranker.scores("Where?", TEXTS)
    assert raised.value.code == "no_rerank" and "RERANK_BASE_URL" in raised.value.action
    hostile.always = scripts.failure(401)
    with pytest.raises(ModelError) as raised:
        reranker.scores("Where?", TEXTS)
    assert "RERANK_API_KEY" in raised.value.action and KEY not in f"{raised.value!r}"
