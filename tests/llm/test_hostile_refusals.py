"""Refusals, waits and rejected parameters (M5, M6), and keys that reach nothing (M8)."""

from __future__ import annotations

import json
import logging
import time
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from memory.llm import failures
from memory.llm.capabilities import Kept
from memory.llm.client import EndpointClient
from memory.llm.endpoints import Endpoint
from memory.llm.interface import IncompleteAnswerError, ModelError
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Answer, Hostile

ASKED = [{"role": "user", "content": "Which colour?"}]


async def answer(client: EndpointClient) -> str:
    return "".join([text async for kind, text in client.stream(ASKED) if kind == "answer"])


async def refused(client: EndpointClient) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await answer(client)
    return raised.value


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
async def test_what_passes_is_tried_again(hostile: Hostile, client: EndpointClient, status: int) -> None:
    hostile.script(scripts.failure(status), scripts.failure(status), scripts.said("Blue"))
    assert await answer(client) == "Blue"


@pytest.mark.parametrize(("status", "code"), [(429, "model_busy"), (503, "model_refused")])
async def test_three_times_at_most(hostile: Hostile, client: EndpointClient, status: int, code: str) -> None:
    hostile.always = scripts.failure(status)
    assert (await refused(client)).code == code
    assert len(hostile.requests) == 3


@pytest.mark.parametrize(("status", "code"), [(401, "model_key"), (403, "model_key"), (404, "model_unknown"), (400, "model_refused"), (422, "model_refused")])
async def test_what_stays_is_not_tried_again(hostile: Hostile, client: EndpointClient, status: int, code: str) -> None:
    hostile.always = scripts.failure(status)
    error = await refused(client)
    assert error.code == code and error.action
    assert len(hostile.requests) == 1


@pytest.mark.parametrize("form", ["seconds", "milliseconds"])
async def test_retry_after_is_honoured(hostile: Hostile, client: EndpointClient, form: str) -> None:
    header = {"Retry-After": "0.3"} if form == "seconds" else {"retry-after-ms": "300"}
    hostile.script(scripts.failure(429, headers=header), scripts.said("Blue"))
    started = time.monotonic()
    assert await answer(client) == "Blue"
    assert time.monotonic() - started >= 0.3


async def test_retry_after_as_a_date(hostile: Hostile, client: EndpointClient) -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True)
    hostile.script(scripts.failure(503, headers={"Retry-After": at}))
    await refused(client)
    assert len(hostile.requests) == 1


async def test_a_longer_wait_than_we_take_is_told(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.failure(429, headers={"Retry-After": "90"})
    error = await refused(client)
    assert error.code == "model_busy" and "90 seconds" in error.action
    assert len(hostile.requests) == 1


async def test_after_the_first_token_nothing_is_tried_again(hostile: Hostile, client: EndpointClient) -> None:
    busy = 'data: {"error": {"message": "rate limit", "code": 429}}\n\n'
    hostile.script(scripts.stream(scripts.chunk({"content": "Half"}), busy), scripts.said("Blue"))
    assert isinstance(await refused(client), IncompleteAnswerError)
    assert len(hostile.requests) == 1


def test_waits_grow_and_differ() -> None:
    waits = [[failures._backoff(attempt) or 0.0 for _ in range(50)] for attempt in (1, 2)]
    assert max(waits[0]) <= min(waits[1]) and all(len(set(row)) > 10 for row in waits)
    assert failures._backoff(failures.ATTEMPTS) is None


async def test_a_silent_server_times_out_and_is_tried_once_more(hostile: Hostile) -> None:
    client = EndpointClient(Endpoint(hostile.url, "m"), Kept(), timeout=0.2)
    hostile.always = scripts.silence(0.6)
    error = await refused(client)
    assert error.code == "model_timeout" and len(hostile.requests) == 2


async def test_silence_in_the_middle_is_incomplete(hostile: Hostile) -> None:
    client = EndpointClient(Endpoint(hostile.url, "m"), Kept(), timeout=0.2)
    hostile.script(scripts.stream(scripts.chunk({"content": "Half"}), 0.6))
    assert isinstance(await refused(client), IncompleteAnswerError)


async def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    assert (await refused(EndpointClient(Endpoint("http://127.0.0.1:9/v1", "m"), Kept()))).code == "model_unreachable"


# --- Parameters -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["Unrecognized request argument supplied: {}", "body -> {}: extra fields not permitted", "[{{'loc': ['body', '{}']}}]"])
async def test_a_parameter_the_server_rejects_is_dropped_once_and_remembered(hostile: Hostile, client: EndpointClient, words: str) -> None:
    hostile.always = scripts.refusing("stream_options", scripts.said("Blue"), status=422, words=words)
    assert await answer(client) == await answer(client) == "Blue"
    assert [("stream_options" in body) for body in hostile.bodies] == [True, False, False]
    assert client.memory.known(client.endpoint).rejected == ("stream_options",)


def test_max_tokens_goes_by_its_newer_name_where_only_that_is_taken(hostile: Hostile, client: EndpointClient) -> None:
    words = "Unsupported parameter: '{}' is not supported with this model. Use 'max_completion_tokens' instead."
    hostile.always = _picky(words)
    for _ in range(2):
        assert client.complete(ASKED, {"temperature": 0, "max_tokens": 50})[0] == "Blue"
    assert [sorted(body.keys() - {"model", "messages"}) for body in hostile.bodies] == [
        ["max_tokens", "temperature"],
        ["max_completion_tokens", "temperature"],
        ["max_completion_tokens"],
        ["max_completion_tokens"],
    ]


def _picky(words: str) -> scripts.Scripted:
    def reply(body: dict[str, object]) -> Answer:
        if "max_tokens" in body:
            return scripts.failure(400, words.format("max_tokens"), param="max_tokens", code="unsupported_parameter")
        if "temperature" in body:
            return scripts.failure(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature")
        return scripts.whole("Blue")

    return reply


async def test_a_server_that_rejects_everything_is_asked_a_bounded_number_of_times(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.failure(400, "stream_options, model, messages: all wrong")
    assert (await refused(client)).code == "model_refused"
    assert len(hostile.requests) == 2


# --- Too long ---------------------------------------------------------------------------------------------------------------

OVERFLOWS = [
    scripts.failure(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", code="context_length_exceeded"),
    scripts.failure(
        400, "the request exceeds the available context size, try increasing it", type="exceed_context_size_error", n_prompt_tokens=9000, n_ctx=8192
    ),
    scripts.failure(413, "prompt is too long: 9000 tokens > 8192 maximum"),
]


@pytest.mark.parametrize("script", OVERFLOWS, ids=["vllm", "llama.cpp", "maximum last"])
async def test_a_prompt_too_long_says_so_and_the_length_is_remembered(hostile: Hostile, client: EndpointClient, script: Answer) -> None:
    hostile.script(script)
    error = await refused(client)
    assert error.code == "context_overflow" and len(hostile.requests) == 1
    assert client.memory.known(client.endpoint).context_length == 8192


@pytest.mark.parametrize(
    ("row", "length"),
    [
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "context_length": 8192, "top_provider": {"context_length": 4096}}, 8192),
        ({"id": "m", "meta": {"n_ctx": 2048, "n_ctx_train": 32768}}, 2048),
        ({"id": "other", "meta": {"n_ctx": 2048}}, 2048),  # the only one there is
        ({"id": "m", "object": "model"}, None),
        ("m", None),
    ],
)
def test_a_context_s_length_is_asked_for_once(hostile: Hostile, client: EndpointClient, row: object, length: int | None) -> None:
    hostile.models = Answer([json.dumps({"object": "list", "data": [row]})])
    assert client.known().context_length == length
    hostile.models = Answer([json.dumps({"data": [{"id": "m", "max_model_len": 7}]})])
    assert client.known().context_length == length


@pytest.mark.parametrize("models", [Answer(["[]"]), Answer(["no"], content_type="text/html"), Answer(["{}"], cut=True), Answer(["{}"], status=500)])
def test_a_server_without_a_list_of_models_is_no_trouble(hostile: Hostile, client: EndpointClient, models: Answer) -> None:
    hostile.models = models
    assert client.known().context_length is None


# --- Keys -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [scripts.failure(status) for status in (400, 401, 404, 422, 429, 500)] + [scripts.error_inside(), scripts.error_inside("Half"), scripts.cut_stream("Half")],
)
async def test_a_key_reaches_no_exception_and_no_log(
    hostile: Hostile, client: EndpointClient, script: Answer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    hostile.always = script
    error = await refused(client)
    shown = "".join(traceback.format_exception(error)) + f"{error!r} {error.message} {error.action} {client.endpoint!r} {vars(error)}"
    assert KEY not in shown + caplog.text + "".join(capfd.readouterr())


def test_an_address_is_shown_without_its_password_and_query() -> None:
    endpoint = Endpoint(f"https://user:{KEY}@[::1]:8443/v1/?api_key={KEY}", "m", KEY)
    assert endpoint.address == "https://[::1]:8443/v1"
    assert KEY not in repr(endpoint)


def test_the_libraries_log_nothing_of_requests(settings) -> None:
    for name in ("openai", "httpx", "httpx2", "httpcore"):
        assert settings.LOGGING["loggers"][name] == {"handlers": ["nothing"], "propagate": False}
