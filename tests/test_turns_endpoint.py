"""Turns answered by an endpoint that misbehaves: what is kept, what is shown, and what never is."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.apps import apps

from memory import generation, messages, present
from memory.actions.create_forest import create_forest
from memory.actions.retry_turn import retry_turn
from memory.actions.send_turn import send_turn
from memory.actions.update_forest import update_forest
from memory.llm import choices, connection, failures
from memory.llm.connection import Connection
from memory.models import InteractionState, ModelCapability, Turn
from memory.threads import in_thread
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, hostile_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Home", time_zone="Europe/Berlin")


@pytest.fixture
def hostile(settings, monkeypatch):
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    with hostile_server() as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = server.url, "m", KEY
        settings.OPENAI_PRICE_INPUT, settings.OPENAI_PRICE_OUTPUT = 1.0, 4.0
        yield server


@pytest.fixture
async def answering(hostile):
    await generation.startup()
    yield
    await generation.shutdown()


async def reach(turn: Turn, *statuses: str, calls: int = 1) -> Turn:
    for _ in range(300):
        await in_thread(turn.refresh_from_db)
        if turn.status in statuses and ("answered" not in statuses or turn.usage.get("answer", {}).get("calls", 0) >= calls):
            return turn  # what a turn took is written right after its commit
        await asyncio.sleep(0.05)
    raise AssertionError(f"turn is {turn.status}: {turn.error}")


async def send(forest, text: str) -> Turn:
    turn, _ = await in_thread(send_turn, forest, text)
    generation.kick(forest.pk)
    return turn


def everything() -> str:
    """Every row of every table of ours, and all messages kept."""
    rows = [str(list(model._default_manager.values())) for model in apps.get_app_config("memory").get_models()]
    return "\n".join(rows) + json.dumps([messages.replay(turn, 0) for turn in Turn.objects.values_list("pk", flat=True)])


@pytest.mark.parametrize("script", [scripts.thinking_split(), scripts.reasoning_field("reasoning_content")])
async def test_what_the_model_thinks_is_counted_and_never_kept(forest, answering, hostile, script):
    hostile.script(script)
    turn = await reach(await send(forest, "Which colour?"), "answered")
    assert (await InteractionState.objects.aget()).assistant_text in ("It is blue <b.", "Blue")
    assert turn.usage["answer"]["reasoning"] > 0
    kept = await in_thread(everything)
    assert "zyzzyva" not in kept and KEY not in kept


async def test_tokens_and_cost_are_on_the_trace(forest, answering, hostile):
    hostile.script(scripts.said("Blue", told=scripts.usage(1_000, 500)))
    turn = await reach(await send(forest, "Which colour?"), "answered")
    tokens = (await in_thread(present.trace_json, await Turn.objects.select_related("state", "decision", "context").aget(pk=turn.pk)))["tokens"]
    assert (tokens["input"], tokens["output"], tokens["cost"], tokens["notes"]) == (1_000, 500, 0.003, [])
    assert tokens["stages"]["answer"]["calls"] == 1


async def test_a_prompt_the_server_cut_is_shown(forest, answering, hostile):
    hostile.script(scripts.said("Blue", told=scripts.usage(20, 1)))
    turn = await reach(await send(forest, "Which colour? " + "oak " * 500), "answered")
    [note] = (await in_thread(present.trace_json, await Turn.objects.select_related("state", "decision", "context").aget(pk=turn.pk)))["tokens"]["notes"]
    assert note["code"] == "prompt_cut" and "EVIDENCE_BUDGET" in note["words"]


@pytest.mark.parametrize("script", [scripts.error_inside("Half an"), scripts.cut_stream("Half an"), scripts.ended_early("Half an")])
async def test_an_answer_that_breaks_stays_a_turn_with_its_part(forest, answering, hostile, script):
    hostile.script(script)
    turn = await reach(await send(forest, "Which colour?"), "interrupted")
    assert (turn.partial, turn.error["code"]) == ("Half an", "answer_incomplete") and turn.error["action"]
    assert not await InteractionState.objects.aexists()
    assert KEY not in await in_thread(everything)
    hostile.script(scripts.said("Blue"))
    await in_thread(retry_turn, turn)
    generation.kick(forest.pk)
    turn = await reach(turn, "answered", calls=2)
    assert turn.usage["answer"]["calls"] == 2  # both are paid for


@pytest.mark.parametrize(
    ("script", "code"), [(scripts.only_reasoning(), "only_reasoning"), (scripts.failure(401), "model_key"), (scripts.said(""), "empty_answer")]
)
async def test_a_failure_says_what_to_do(forest, answering, hostile, caplog, script, code):
    hostile.script(script)
    turn = await reach(await send(forest, "Which colour?"), "failed")
    assert turn.error["code"] == code and turn.error["action"]
    assert not await InteractionState.objects.aexists()
    assert KEY not in await in_thread(everything) + caplog.text and "Traceback" not in caplog.text


async def test_a_context_too_short_is_learned_and_the_next_try_fits(forest, answering, hostile):
    hostile.script(scripts.said("An oak is a tree. " * 400), scripts.failure(400, "maximum context length is 4096 tokens"), scripts.said("Blue"))
    await reach(await send(forest, "What is an oak?"), "answered")
    turn = await reach(await send(forest, "Go on."), "failed")
    assert turn.error["code"] == "context_overflow"
    assert (await ModelCapability.objects.aget()).context_length == 4096
    await in_thread(retry_turn, turn)
    generation.kick(forest.pk)
    await reach(turn, "answered")
    sizes = [len(str(body["messages"])) for body in hostile.bodies]
    assert sizes[2] < 4096 * 4 and sizes[2] <= sizes[1]


async def test_the_model_chosen_for_the_forest_answers(forest, answering, hostile, settings):
    settings.EXTRACTION = "rules"
    hostile.models = scripts.Answer([json.dumps({"data": [{"id": "m"}, {"id": "small", "max_model_len": 4096}]})])
    await in_thread(update_forest, forest, answer_model="small")
    hostile.script(scripts.said("Blue"), scripts.said("Green"))
    turn = await reach(await send(forest, "Which colour?"), "answered")
    assert (hostile.bodies[0]["model"], turn.answered_by) == ("small", "small")
    assert turn.usage["answer"]["cost"] is None  # the price is that of another model
    assert {row.model: row.context_length async for row in ModelCapability.objects.all()} == {"small": 4096}
    await in_thread(update_forest, forest, answer_model="")
    turn = await reach(await send(forest, "Go on."), "answered")
    assert (hostile.bodies[1]["model"], turn.answered_by) == ("m", "m") and turn.usage["answer"]["cost"] is not None


async def test_a_model_chosen_while_a_turn_is_broken_answers_the_next_try(forest, answering, hostile):
    hostile.models = scripts.Answer([json.dumps({"data": [{"id": "m"}, {"id": "small"}]})])
    hostile.script(scripts.cut_stream("Half an"))
    turn = await reach(await send(forest, "Which colour?"), "interrupted")
    assert turn.answered_by == "m"
    await in_thread(update_forest, forest, answer_model="small")
    hostile.script(scripts.said("Blue"))
    await in_thread(retry_turn, turn)
    generation.kick(forest.pk)
    turn = await reach(turn, "answered")
    assert (hostile.bodies[-1]["model"], turn.answered_by) == ("small", "small")


async def test_a_chosen_model_that_is_gone_is_said(forest, answering, hostile, monkeypatch):
    hostile.models = scripts.Answer([json.dumps({"data": [{"id": "m"}, {"id": "small"}]})])
    await in_thread(update_forest, forest, answer_model="small")
    monkeypatch.setattr(choices, "_known", {})
    hostile.models = scripts.Answer([json.dumps({"data": [{"id": "m"}]})])
    hostile.script(scripts.said("Blue"))
    turn = await reach(await send(forest, "Which colour?"), "answered")
    assert (hostile.bodies[0]["model"], turn.answered_by) == ("m", "m")
    trace = await in_thread(present.trace_json, await Turn.objects.select_related("state", "decision", "context").aget(pk=turn.pk))
    assert [note["code"] for note in trace["tokens"]["notes"]] == ["model_gone"]


async def test_a_model_connected_meanwhile_does_not_end_a_turn_under_way(forest, answering, hostile, settings, tmp_path):
    """One model from the context to the commit, whatever is connected in between."""
    settings.CONNECTION_FILE, settings.OPENAI_BASE_URL = tmp_path / "connection.json", ""
    connection.keep(Connection(hostile.url, "first", "", KEY))
    hostile.script(scripts.stream(scripts.chunk({"content": "Blu"}), 0.5, scripts.chunk({"content": "e"}), scripts.chunk({}, "stop"), scripts.DONE))
    turn = await reach(await send(forest, "Which colour?"), "answering")
    connection.keep(Connection(hostile.url, "second", "", KEY))
    turn = await reach(turn, "answered")
    assert (turn.answered_by, hostile.bodies[0]["model"]) == ("first", "first")
    assert KEY not in await in_thread(everything)
