"""The two models behind one interface: the offline engine, and an endpoint on a real server."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pytest_django.fixtures import Settings

from memory.engine import query
from memory.engine.forest import Context, Decision, Interaction, Pool
from memory.llm import endpoints
from memory.llm.capabilities import Kept, Remembered
from memory.llm.client import EndpointClient
from memory.llm.endpoint import EndpointModel
from memory.llm.endpoints import Endpoint
from memory.llm.interface import LanguageModel, get_model
from memory.llm.offline import OfflineModel
from memory.models import ModelCapability
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Hostile

NOW = datetime(2026, 11, 15, 8, 31, tzinfo=UTC)
NEW = Decision("new_root", None, None, 0.9, 0.5, 0.0, False, "", ())
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


async def pieces(model: LanguageModel, text: str = "I live in Porto.") -> list[str]:
    stream = model.stream_answer(MESSAGES, Context((), (), 0, 0), query.read(text, NOW), NEW, Pool((), (), (), (), ()), now=NOW, zone="UTC")
    return [piece async for piece in stream]


# --- Offline ---------------------------------------------------------------------------------------------------------------


async def test_offline_answers_at_once_when_no_pace_is_set(settings: Settings) -> None:
    settings.OFFLINE_WORDS_PER_SECOND = 0
    assert await pieces(OfflineModel()) == ["Noted: You live in Porto."]


async def test_offline_answers_word_by_word_at_a_pace(settings: Settings) -> None:
    settings.OFFLINE_WORDS_PER_SECOND = 10_000
    assert await pieces(OfflineModel()) == ["Noted: ", "You ", "live ", "in ", "Porto."]


def test_offline_is_what_there_is_without_an_endpoint(settings: Settings) -> None:
    settings.OPENAI_BASE_URL = ""
    assert get_model().name == "offline"
    assert get_model() is get_model()


def test_both_read_turns_by_the_same_rules_when_asked_to(settings: Settings) -> None:
    settings.EXTRACTION = "rules"
    turn = Interaction(1, 1, None, 1, 1, 0, NOW, "I live in Porto.", "Noted.")
    nobody = EndpointClient(Endpoint("http://127.0.0.1:9/v1", "m"), Kept())
    offline, endpoint = OfflineModel(), EndpointModel(nobody, nobody, nobody)
    assert offline.extract(turn, [], zone="UTC", topic="") == endpoint.extract(turn, [], zone="UTC", topic="")
    assert offline.extractors == endpoint.extractors


# --- Endpoint --------------------------------------------------------------------------------------------------------------


def model(client: EndpointClient) -> EndpointModel:
    return EndpointModel(client, client, client)


async def test_deltas_arrive_in_order_and_the_request_is_ours(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.said("Hello", ", ", "Ines"))
    assert await pieces(model(client)) == ["Hello", ", ", "Ines"]
    [request] = hostile.requests
    assert request.body["messages"] == MESSAGES
    assert (request.body["model"], request.body["stream"]) == ("m", True)
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_what_the_model_thinks_goes_no_further(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.thinking_split(), scripts.reasoning_field("reasoning"))
    assert "zyzzyva" not in "".join(await pieces(model(client)) + await pieces(model(client)))


def test_each_role_has_its_model(settings: Settings) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = "http://127.0.0.1:9/v1", "large", KEY
    assert get_model().name == "large"
    assert (endpoints.answering(), endpoints.embedding(), endpoints.reranking()) == (endpoints.extracting(), None, None)
    settings.OPENAI_EXTRACT_MODEL, settings.OPENAI_EXTRACT_PRICE_INPUT = "small", 0.1
    settings.EMBEDDINGS_MODEL, settings.RERANK_BASE_URL = "bge-m3", "http://127.0.0.1:10"
    extracting, embedding, reranking = endpoints.extracting(), endpoints.embedding(), endpoints.reranking()
    assert extracting and embedding and reranking
    assert (extracting.model, extracting.price_input, extracting.api_key) == ("small", 0.1, KEY)
    assert (embedding.model, embedding.base_url, embedding.api_key) == ("bge-m3", "http://127.0.0.1:9/v1", KEY)
    assert reranking.api_key == ""
    settings.EMBEDDINGS_BASE_URL = "http://127.0.0.1:11/v1"
    other = endpoints.embedding()
    assert other and other.api_key == ""  # a key goes to its own server only


@pytest.mark.django_db(transaction=True)
def test_capabilities_are_remembered_without_a_key(hostile: Hostile) -> None:
    endpoint = Endpoint(hostile.url.replace("//", f"//user:{KEY}@"), "m", KEY)
    memory = Remembered()
    memory.learn(endpoint, structured="json_object", rejected=("temperature",))
    memory.learn(endpoint, context_length=8192)
    known = memory.known(endpoint)
    assert (known.structured, known.rejected, known.context_length, known.streaming_usage) == ("json_object", ("temperature",), 8192, None)
    [row] = ModelCapability.objects.values()
    assert KEY not in str(row) and row["address"] == hostile.url
