"""Asking where a turn goes at servers that do what real ones do: one try, within its time, and never half an answer."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.engine.ask import Option, Question
from memory.engine.forest import Interaction
from memory.llm import usage
from memory.llm.client import EndpointClient
from memory.llm.endpoint import EndpointModel
from memory.llm.interface import ModelError
from memory.llm.usage import Spent
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Hostile

STATE = Interaction(1, 1, None, 1, 1, 0, datetime(2026, 11, 15, tzinfo=UTC), "The wall stays.", "Fine.", topic="Kitchen")
OTHER = Interaction(2, 2, None, 2, 2, 0, datetime(2026, 11, 15, tzinfo=UTC), "Ten slides.", "Fine.", topic="Talk")
ASKED = Question("Which hood?", (Option(None), Option(STATE), Option(OTHER, True)))


def choose(client: EndpointClient, seconds: float = 2.0) -> tuple[int, Spent]:
    client.stage = "route"
    spent: Spent = {}
    with usage.counted(spent):
        return EndpointModel(client, client, client).choose(ASKED, seconds=seconds), spent


def failed(client: EndpointClient, seconds: float = 2.0) -> ModelError:
    with pytest.raises(ModelError) as raised:
        choose(client, seconds)
    assert KEY not in f"{raised.value} {raised.value.action}"
    return raised.value


def test_one_small_request_in_the_strongest_form(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.whole('{"place": 2}', told=scripts.usage(400, 6)))
    number, spent = choose(client)
    assert number == 2
    [body] = hostile.bodies
    assert body["response_format"]["json_schema"]["schema"]["properties"]["place"] == {"type": "integer", "enum": [0, 1, 2]}
    assert (body["temperature"], "stream" in body) == (0, False) and body["max_tokens"] <= 200
    assert (spent["route"].input, spent["route"].output, spent["route"].calls) == (400, 6, 1) and spent.keys() == {"route"}
    assert spent["route"].cost == pytest.approx((400 * 1.0 + 6 * 4.0) / 1_000_000)


def test_a_form_that_is_known_to_be_refused_is_not_asked_for(hostile: Hostile, client: EndpointClient) -> None:
    client.memory.learn(client.endpoint, structured="prompted")
    hostile.script(scripts.whole('I think it is {"place": 1}.'))
    assert choose(client)[0] == 1
    assert "response_format" not in hostile.bodies[0] and "JSON schema" in hostile.bodies[0]["messages"][0]["content"]


@pytest.mark.parametrize("parameter", ["response_format", "temperature", "max_tokens"])
def test_what_a_server_refuses_at_once_is_left_out_and_remembered(hostile: Hostile, client: EndpointClient, parameter: str) -> None:
    hostile.always = scripts.refusing(parameter, scripts.whole('{"place": 1}'))
    assert choose(client)[0] == 1
    before = len(hostile.requests)
    assert choose(client)[0] == 1
    assert len(hostile.requests) == before + 1


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (scripts.failure(429, headers={"Retry-After": "1"}), "model_busy"),
        (scripts.failure(500), "model_refused"),
        (scripts.failure(401), "model_key"),
        (scripts.failure(400, "maximum context length is 256 tokens"), "context_overflow"),
        (scripts.whole(None), "structured_invalid"),
        (scripts.whole("It is the second one."), "structured_invalid"),
        (scripts.whole('{"place": 3}'), "structured_invalid"),
        (scripts.whole('{"place": "Kitchen"}'), "structured_invalid"),
        (scripts.whole('{"place": 1', finish="length"), "structured_invalid"),
        (scripts.whole(None, reasoning_content="zyzzyva"), "only_reasoning"),
        (scripts.Answer(["<html>no"], content_type="text/html"), None),
        (scripts.Answer(['{"choices": null}']), "structured_invalid"),
        (scripts.Answer(['{"id": "1", "choi'], cut=True), None),
    ],
)
def test_a_failure_is_told_at_once_and_tried_no_second_time(hostile: Hostile, client: EndpointClient, script: scripts.Answer, code: str | None) -> None:
    hostile.script(script, scripts.whole('{"place": 1}'))
    started = time.monotonic()
    error = failed(client, seconds=20)
    assert code is None or error.code == code
    assert len(hostile.requests) == 1 and time.monotonic() - started < 10


def drip(seconds: float) -> scripts.Answer:
    """A byte now and then: no single silence is long."""
    return scripts.Answer([piece for _ in range(40) for piece in (seconds, " ")] + ['{"place": 1}'])


@pytest.mark.parametrize("script", [scripts.silence(3), drip(0.1)])
def test_a_slow_server_is_waited_for_no_longer_than_said(hostile: Hostile, client: EndpointClient, script: scripts.Answer) -> None:
    hostile.script(script)
    started = time.monotonic()
    assert failed(client, seconds=0.4).code == "model_timeout"
    assert time.monotonic() - started < 2.5
    assert len(hostile.requests) == 1


def test_the_time_is_for_all_tries_together(hostile: Hostile, client: EndpointClient) -> None:
    """A server that refuses a parameter, then the form, each after a while."""

    def slow(body: dict[str, Any]) -> scripts.Answer:
        time.sleep(0.3)
        return scripts.failure(400, "Unsupported parameter: 'response_format'") if "response_format" in body else scripts.whole('{"place": 1}')

    hostile.always = slow
    started = time.monotonic()
    assert failed(client, seconds=0.4).code == "model_timeout"
    assert time.monotonic() - started < 2.5


def test_a_server_that_is_not_there_is_told_at_once(client: EndpointClient, hostile: Hostile) -> None:
    hostile.server.server_close()
    assert failed(client).code in ("model_unreachable", "model_timeout")
