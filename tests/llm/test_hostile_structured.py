"""Structured output from servers that don't keep to it (M4)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memory.llm.client import EndpointClient
from memory.llm.interface import ModelError
from memory.llm.structured import Structured
from tests.llm import hostile as scripts
from tests.llm.hostile import Hostile

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]}}},
    "required": ["facts"],
    "additionalProperties": False,
}
GOOD = {"facts": [{"fact": "The budget is €21,500."}, {"fact": "Nora lives in {Lyon}."}]}
TEXT = json.dumps(GOOD, ensure_ascii=False)
ASKED = [{"role": "system", "content": "Read the turn."}, {"role": "user", "content": "The budget is €21,500."}]


def ask(client: EndpointClient, mode: str | None = "json_schema") -> Structured:
    if mode:
        client.memory.learn(client.endpoint, structured=mode)
    return client.structured(ASKED, SCHEMA, name="facts", max_tokens=300)


# --- Which form -------------------------------------------------------------------------------------------------------------


def probes(*honoured: str) -> scripts.Scripted:
    """A server that holds to these forms and answers anything else with prose; it refuses none."""

    def answer(body: dict[str, Any]) -> scripts.Answer:
        form = body.get("response_format", {}).get("type", "prompted")
        probe = "shade" in json.dumps(body)
        if form not in honoured:
            return scripts.whole(f"Here you are: {TEXT}" if not probe else "I pick teal and 7.")
        return scripts.whole('{"shade": "teal", "count": 7}' if probe else TEXT)

    return answer


@pytest.mark.parametrize(
    ("honoured", "mode", "calls"),
    [(("json_schema", "json_object"), "json_schema", 1), (("json_object",), "json_object", 2), ((), "prompted", 2)],
)
def test_the_strongest_form_is_found_once_and_remembered(hostile: Hostile, client: EndpointClient, honoured: tuple[str, ...], mode: str, calls: int) -> None:
    hostile.always = probes(*honoured)
    for number in (1, 2):
        answer = ask(client, None)
        assert (answer.value, answer.mode) == (GOOD, mode)
        assert len(hostile.requests) == calls + number
    assert hostile.bodies[-1].get("response_format", {}).get("type", "prompted") == mode


def test_a_server_that_refuses_forms_is_only_told(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.refusing("response_format", scripts.whole(TEXT))
    answer = ask(client, None)
    assert (answer.value, answer.mode) == (GOOD, "prompted")
    system = hostile.bodies[-1]["messages"][0]["content"]
    assert system.startswith("Read the turn.") and '"facts"' in system


def test_a_form_refused_later_is_left_for_the_next_one(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.refusing("response_format", scripts.whole(TEXT), words="response_format.type 'json_schema' isn't available")
    assert ask(client, "json_schema").mode == "prompted"
    assert client.memory.known(client.endpoint).structured == "prompted"


def test_the_schema_is_sent_as_it_is(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.whole(TEXT, told=scripts.usage(100, 50)))
    answer = ask(client)
    assert hostile.bodies[0]["response_format"] == {"type": "json_schema", "json_schema": {"name": "facts", "schema": SCHEMA, "strict": True}}
    assert (answer.attempts, answer.repairs, answer.usage.input, answer.usage.output, answer.usage.calls) == (1, (), 100, 50, 1)
    assert hostile.bodies[0]["temperature"] == 0 and hostile.bodies[0]["max_tokens"] == 300


# --- What is put right ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (f"```json\n{TEXT}\n```", ("fence",)),
        (f"```\n{TEXT}", ("fence",)),
        (f"Sure! Here is the JSON:\n{TEXT}\nLet me know {{if}} that helps.", ("prose",)),
        (f"<think>What of {{it}}?</think>{TEXT}", ()),
        (f"What of {{it}}?</think>\n{TEXT}", ()),
        (TEXT.replace('"}]', '",},]'), ("comma",)),
        ("Here:\n```json\n" + TEXT.replace('"}]}', '"},],}') + "\n```", ("fence", "comma")),
        (json.dumps({"type": "object", "properties": GOOD}), ("echo",)),
    ],
    ids=["fence", "open fence", "prose", "thinking", "thinking opened by the template", "trailing commas", "fence and commas", "echo with values"],
)
def test_what_can_be_put_right_without_guessing_is(hostile: Hostile, client: EndpointClient, text: str, repairs: tuple[str, ...]) -> None:
    hostile.script(scripts.whole(text))
    answer = ask(client)
    assert (answer.value, answer.attempts, answer.repairs) == (GOOD, 1, repairs)


def test_trailing_commas_inside_a_text_stay(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.whole('{"facts": [{"fact": "He wrote [a, b,] and {c,}"},]}'))
    assert ask(client).value == {"facts": [{"fact": "He wrote [a, b,] and {c,}"}]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (json.dumps(SCHEMA), "That was the schema"),
        ("The budget is €21,500.", "no JSON object"),
        ('{"facts": "The budget"}', 'facts must be "array"'),
        ('{"fact": "The budget is €21,500."}', "lacks facts"),
        ('["The budget is €21,500."]', "no JSON object"),
        ('{"facts": [{"fact": "The budget is €21,', "ended in the middle|no JSON object"),
    ],
    ids=["schema echoed", "prose only", "wrong type", "wrong name", "a list", "cut"],
)
def test_what_does_not_fit_is_asked_for_once_more_with_the_reason(hostile: Hostile, client: EndpointClient, text: str, told: str) -> None:
    hostile.script(scripts.whole(text), scripts.whole(TEXT))
    answer = ask(client)
    assert (answer.value, answer.attempts, answer.usage.calls) == (GOOD, 2, 2)
    again = hostile.bodies[1]["messages"]
    assert again[:2] == ASKED and again[2]["role"] == "assistant" and re.search(told, again[3]["content"])


@pytest.mark.parametrize("text", [json.dumps(SCHEMA), "No.", '{"facts": 1}', "", None, "<think>{}"])
def test_a_second_misfit_is_an_error_never_nothing(hostile: Hostile, client: EndpointClient, text: str | None) -> None:
    hostile.always = scripts.whole(text)
    with pytest.raises(ModelError) as raised:
        ask(client)
    assert raised.value.code == "structured_invalid" and len(hostile.requests) == 2


CUT = '{"facts": [{"fact": "The budget is €21,500."}, {"fact": "Nora li'


def test_a_cut_list_gets_twice_the_room(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.whole(CUT, finish="length"), scripts.whole(TEXT))
    answer = ask(client)
    assert (answer.value, answer.attempts, answer.repairs) == (GOOD, 2, ())
    assert [body["max_tokens"] for body in hostile.bodies] == [300, 600]
    assert hostile.bodies[1]["messages"] == ASKED


def test_a_list_cut_twice_keeps_its_whole_entries_and_says_so(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.whole(CUT, finish="length")
    answer = ask(client)
    assert (answer.value, answer.attempts, answer.repairs) == ({"facts": GOOD["facts"][:1]}, 2, ("cut",))


def test_a_list_cut_in_its_first_entry_is_an_error(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.whole('{"facts": [{"fact": "The bud', finish="length")
    with pytest.raises(ModelError) as raised:
        ask(client)
    assert raised.value.code == "structured_invalid"


@pytest.mark.parametrize("text", ['{"list": [{"fact": "a"}, {"fact": "b"}], "more": 1, ', '[{"fact": "a"}, {"fact": "b"', '{"facts": {"fact": "a"}}'])
def test_a_part_is_never_taken_for_the_whole(hostile: Hostile, client: EndpointClient, text: str) -> None:
    hostile.always = scripts.whole(text)
    client.memory.learn(client.endpoint, structured="prompted")
    lenient = {"type": "object", "properties": {"fact": {"type": "string"}}, "additionalProperties": False}
    with pytest.raises(ModelError):
        client.structured(ASKED, lenient, name="facts", max_tokens=100)


def test_reasoning_without_an_answer_is_an_error_of_its_own(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.whole("", reasoning_content="zyzzyva"))
    with pytest.raises(ModelError) as raised:
        ask(client)
    assert raised.value.code == "only_reasoning"


def test_reasoning_that_used_up_the_room_is_asked_again_with_more(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.whole("", finish="length", reasoning_content="zyzzyva"), scripts.whole(TEXT, reasoning_content="zyzzyva"))
    answer = ask(client)
    assert answer.value == GOOD and hostile.bodies[1]["max_tokens"] == 600
    assert answer.usage.reasoning > 0
