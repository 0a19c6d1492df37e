"""Streams as real servers send them (M1, M2, M3): each named script of the hostile server, and what becomes of it."""

from __future__ import annotations

import pytest

from memory.llm.client import EndpointClient
from memory.llm.interface import IncompleteAnswerError, ModelError
from memory.llm.usage import Spent, counted
from tests.llm import hostile as scripts
from tests.llm.hostile import Answer, Hostile

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which colour?"}]


async def hear(client: EndpointClient) -> tuple[str, str]:
    """(answer, reasoning)."""
    heard = {"answer": "", "reasoning": ""}
    async for kind, text in client.stream(ASKED):
        assert text
        heard[kind] += text
    return heard["answer"], heard["reasoning"]


@pytest.mark.parametrize("script", ["empty_choices", "null_choices", "null_content", "usage_only", "keep_alives", "empty_finish"])
async def test_chunks_that_say_nothing_are_survived(hostile: Hostile, client: EndpointClient, script: str) -> None:
    hostile.script(getattr(scripts, script)())
    assert await hear(client) == ("Hi", "")


@pytest.mark.parametrize(
    "script",
    [scripts.error_inside("Hal", "f"), scripts.cut_stream("Half"), scripts.ended_early("Half"), scripts.only_empty_finishes()],
    ids=["error inside", "cut", "ended early", "only empty finishes"],
)
async def test_an_answer_that_breaks_is_incomplete_and_not_tried_again(hostile: Hostile, client: EndpointClient, script: Answer) -> None:
    hostile.script(script)
    with pytest.raises(IncompleteAnswerError) as raised:
        await hear(client)
    assert raised.value.code == "answer_incomplete" and raised.value.action
    assert len(hostile.requests) == 1


@pytest.mark.parametrize("script", [scripts.error_inside(), scripts.cut_stream(), scripts.no_json()], ids=["error inside", "cut", "no JSON"])
async def test_what_breaks_before_the_first_word_is_tried_again(hostile: Hostile, client: EndpointClient, script: Answer) -> None:
    hostile.script(script, scripts.said("Blue"))
    assert await hear(client) == ("Blue", "")


async def test_it_is_tried_three_times_at_most(hostile: Hostile, client: EndpointClient) -> None:
    hostile.always = scripts.error_inside()
    with pytest.raises(ModelError) as raised:
        await hear(client)
    assert raised.value.code == "model_failed" and len(hostile.requests) == 3


async def test_a_stream_that_ends_at_once_is_a_failure(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.ended_early())
    with pytest.raises(ModelError) as raised:
        await hear(client)
    assert raised.value.code == "model_failed"


@pytest.mark.parametrize(("finish", "code"), [("length", "answer_cut"), ("content_filter", "answer_filtered")])
async def test_an_answer_that_the_server_cut_is_incomplete(hostile: Hostile, client: EndpointClient, finish: str, code: str) -> None:
    hostile.script(scripts.said("Half an ans", finish=finish))
    with pytest.raises(IncompleteAnswerError) as raised:
        await hear(client)
    assert raised.value.code == code


async def test_thinking_split_over_chunks_is_kept_apart(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.thinking_split())
    assert await hear(client) == ("It is blue <b.", "The canary is zyzzyva, hmm")


async def test_an_answer_about_the_tag_is_an_answer(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.said("Models wrap it in ", "<think>", " and </think>."))
    assert await hear(client) == ("Models wrap it in <think> and </think>.", "")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_in_a_field_of_its_own_is_kept_apart(hostile: Hostile, client: EndpointClient, name: str) -> None:
    hostile.script(scripts.reasoning_field(name))
    assert await hear(client) == ("Blue", "zyzzyva, hmm")


@pytest.mark.parametrize(
    "script", [scripts.only_reasoning(), scripts.only_reasoning("reasoning"), scripts.said("<think>zyzzyva"), scripts.said("<think>zyzzyva</think>\n")]
)
async def test_reasoning_without_an_answer_is_an_error_of_its_own(hostile: Hostile, client: EndpointClient, script: Answer) -> None:
    hostile.script(script)
    with pytest.raises(ModelError) as raised:
        await hear(client)
    assert raised.value.code == "only_reasoning" and not isinstance(raised.value, IncompleteAnswerError)


async def test_an_answer_without_a_word_is_an_error(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.said(""))
    with pytest.raises(ModelError) as raised:
        await hear(client)
    assert raised.value.code == "empty_answer"


# --- What it took ---------------------------------------------------------------------------------------------------------


async def test_the_server_s_own_count_is_taken_and_priced(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.said("Blue", told=scripts.usage(1_000, 500, reasoning_tokens=200)))
    spent: Spent = {}
    with counted(spent):
        await hear(client)
    took = spent["answer"]
    assert (took.input, took.output, took.reasoning, took.cost, took.estimated) == (1_000, 500, 200, 0.003, False)
    assert hostile.bodies[0]["stream_options"] == {"include_usage": True}
    assert client.memory.known(client.endpoint).streaming_usage is True


async def test_without_usage_it_is_counted_here(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.said("Blue", " and green"))
    spent: Spent = {}
    with counted(spent):
        await hear(client)
    assert spent["answer"].estimated and spent["answer"].input > 5 and spent["answer"].output == 3
    assert client.memory.known(client.endpoint).streaming_usage is False


async def test_a_broken_answer_tells_what_it_took(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.cut_stream("Half an answer"))
    spent: Spent = {}
    with counted(spent), pytest.raises(IncompleteAnswerError):
        await hear(client)
    assert spent["answer"].output == 3


async def test_a_prompt_that_the_server_cut_silently_is_noticed(hostile: Hostile, client: EndpointClient) -> None:
    hostile.script(scripts.said("Blue", told=scripts.usage(200, 1)), scripts.said("Blue", told=scripts.usage(1_900, 1)))
    long = [{"role": "user", "content": "oak " * 2_000}]
    spent: list[Spent] = [{}, {}]
    for one in spent:
        with counted(one):
            assert [piece async for piece in client.stream(long)]
    assert [one["answer"].notes for one in spent] == [("prompt_cut",), ()]
