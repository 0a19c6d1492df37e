"""Turns whose place ranking is unsure of: the endpoint is asked there and only there, and whatever it does the turn is placed and answered."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.apps import apps
from django.db import connection

from memory import generation, messages, present, steps, why_not
from memory.actions import replay_turns
from memory.actions.create_forest import create_forest
from memory.actions.keep_turn import keep_turn
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.retry_turn import retry_turn
from memory.actions.send_turn import send_turn
from memory.engine import ask
from memory.llm import failures
from memory.models import EVIDENCE_MODELS, Forest, InteractionState, RoutingDecision, StateLink, Turn
from memory.threads import in_thread
from memory.turn import recall
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, hostile_server

pytestmark = pytest.mark.django_db(transaction=True)

TALK = [
    {"id": "k1", "new_root": True, "user": "The oven of our new kitchen goes to the left.", "assistant": "Noted.", "time": "2026-11-02T09:00:00+01:00"},
    {"id": "s1", "new_root": True, "user": "My sourdough bread bakes at 230 °C.", "assistant": "Fine.", "time": "2026-11-03T09:00:00+01:00"},
    {"id": "g1", "new_root": True, "user": "The garden needs a bed for tomatoes.", "assistant": "Good.", "time": "2026-11-04T09:00:00+01:00"},
]
UNSURE = "How hot does the oven get?"


@pytest.fixture
def forest(ines):
    forest = create_forest(ines, "Home", time_zone="Europe/Berlin")
    observe(forest, TALK)
    drain(forest.pk)
    return Forest.objects.get(pk=forest.pk)


@pytest.fixture
def hostile(settings, monkeypatch):
    """A server that streams “Blue” and gives what is scripted to everything else. Whatever ranking isn't wholly sure of is asked about."""
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    settings.EXTRACTION, settings.LOCALIZER_ASK_BELOW, settings.LOCALIZER_ASK_SECONDS = "rules", 1.0, 2.0
    with hostile_server() as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = server.url, "m", KEY
        settings.OPENAI_PRICE_INPUT, settings.OPENAI_PRICE_OUTPUT = 1.0, 4.0
        yield server


@pytest.fixture
async def answering(hostile):
    await generation.startup()
    yield
    await generation.shutdown()


def answers(place: scripts.Scripted, answer: scripts.Answer | None = None) -> scripts.Scripted:
    def reply(body):
        if body.get("stream"):
            return answer or scripts.said("Blue", told=scripts.usage(100, 2))
        return place if isinstance(place, scripts.Answer) else place(body)

    return reply


def choosing(number: int) -> scripts.Answer:
    return scripts.whole(json.dumps({"place": number}), told=scripts.usage(400, 6))


def everything() -> str:
    """Every row of every table of ours."""
    return "\n".join(str(list(model._default_manager.values())) for model in apps.get_app_config("memory").get_models())


def questions(server) -> list[dict]:
    return [body for body in server.bodies if not body.get("stream")]


async def say(forest, text: str, status: str = "answered", **where) -> Turn:
    turn, _ = await in_thread(send_turn, forest, text, **where)
    generation.kick(forest.pk)
    for _ in range(300):
        await in_thread(turn.refresh_from_db)
        if turn.status == status and (status != "answered" or turn.usage):
            return await Turn.objects.select_related("state", "decision__chosen", "context").aget(pk=turn.pk)
        await asyncio.sleep(0.05)
    raise AssertionError(f"turn is {turn.status}: {turn.error}")


def state(forest, name: str) -> InteractionState:
    return InteractionState.objects.get(forest=forest, turn__client_id=name)


# --- The turn ------------------------------------------------------------------------------------------------------------


async def test_where_ranking_is_unsure_the_model_is_asked_once_and_its_word_is_weighed(forest, answering, hostile):
    place = await in_thread(steps.localize_text, forest, UNSURE, forest.created_at)
    asked = steps.to_ask(place)
    number = [option.state for option in asked.options].index(place.decision.candidates[1].state)  # the runner-up
    hostile.always = answers(choosing(number))
    turn = await say(forest, UNSURE)
    expected = ask.fold(place.decision, asked, number)
    decision = turn.decision
    assert (decision.method, decision.chosen_id, decision.why) == ("asked", expected.parent, expected.why)
    assert decision.probability == pytest.approx(expected.probability, abs=0.02)  # age goes on by the clock of the test
    assert [candidate["state"] for candidate in decision.candidates] == [candidate.state for candidate in expected.candidates]
    [body] = questions(hostile)
    assert body["messages"][1]["content"].endswith(f"<message>{UNSURE}</message>") and "The oven of our new kitchen" in body["messages"][1]["content"]
    trace = await in_thread(present.trace_json, turn)
    assert trace["decision"]["method"] == "asked" and "language model was asked" in trace["decision"]["why"]
    assert trace["timings"]["ask_ms"] > 0
    told = trace["tokens"]["stages"]["route"]
    assert (told["input"], told["output"], told["calls"], told["cost"]) == (400, 6, 1, pytest.approx(0.000424))
    assert (trace["tokens"]["input"], trace["tokens"]["output"]) == (100, 2)  # of the answer, as ever
    assert expected.second is not None
    assert await StateLink.objects.filter(state=turn.state, parent_id=expected.second).aexists()
    localized = [message for message in await in_thread(messages.replay, turn.pk, 0) if message["type"] == "turn.localized"]
    assert [message["decision"]["method"] for message in localized] == ["asked"]
    assert (await in_thread(present.turn_json, turn))["decision"]["method"] == "asked"


async def test_nobody_is_asked_about_a_place_that_was_given_or_that_a_cue_decides(forest, answering, hostile):
    hostile.always = answers(choosing(1))
    oven = await in_thread(state, forest, "k1")
    assert (await say(forest, UNSURE, parent=oven.pk)).decision.method == "given"
    assert (await say(forest, UNSURE, new_root=True)).decision.method == "given"
    assert (await say(forest, "Go on.")).decision.method == "continuation"
    assert questions(hostile) == []


async def test_nobody_is_asked_outside_the_band_or_when_it_is_switched_off(forest, answering, hostile, settings):
    hostile.always = answers(choosing(1))
    settings.LOCALIZER_ASK_BELOW = 0
    turn = await say(forest, UNSURE)
    assert turn.decision.method in ("recall", "new_root") and questions(hostile) == [] and "route" not in turn.usage and "ask_ms" not in turn.timings


async def test_without_an_endpoint_ranking_decides(forest, settings):
    settings.LOCALIZER_ASK_BELOW = 1.0
    await generation.startup()
    try:
        turn = await say_offline(forest)
    finally:
        await generation.shutdown()
    assert turn.decision.method in ("recall", "new_root")


async def say_offline(forest) -> Turn:
    turn, _ = await in_thread(send_turn, forest, UNSURE)
    generation.kick(forest.pk)
    for _ in range(300):
        await in_thread(turn.refresh_from_db)
        if turn.status == "answered":
            return await Turn.objects.select_related("decision").aget(pk=turn.pk)
        await asyncio.sleep(0.05)
    raise AssertionError(turn.status)


@pytest.mark.parametrize(
    ("script", "note"),
    [
        (scripts.failure(500), "asked_in_vain"),
        (scripts.failure(429, headers={"Retry-After": "30"}), "asked_in_vain"),
        (scripts.whole("Number two, I think."), "asked_in_vain"),
        (scripts.whole('{"place": 17}', told=scripts.usage(400, 6)), "asked_in_vain"),
        (scripts.whole(None, reasoning_content="zyzzyva"), "asked_in_vain"),
        (scripts.silence(5), "asked_too_long"),
    ],
)
async def test_a_model_that_gives_no_answer_never_fails_the_turn_and_the_trace_says_so(forest, answering, hostile, settings, caplog, script, note):
    settings.LOCALIZER_ASK_SECONDS = 0.5
    place = await in_thread(steps.localize_text, forest, UNSURE, forest.created_at)
    hostile.always = answers(script)
    turn = await say(forest, UNSURE)
    assert (turn.decision.method, turn.decision.chosen_id) == (place.decision.method, place.decision.parent)
    assert len(questions(hostile)) == 1
    trace = await in_thread(present.trace_json, turn)
    assert note in [one["code"] for one in trace["tokens"]["notes"]] and trace["timings"]["ask_ms"] < 1500
    [words] = [one["words"] for one in trace["tokens"]["notes"] if one["code"] == note]
    assert "Ranking alone decided" in words
    assert trace["tokens"]["stages"]["route"]["calls"] == 1
    kept = await in_thread(everything)
    assert KEY not in kept + caplog.text and "zyzzyva" not in kept and "Number two" not in kept


def test_a_turn_that_was_stopped_while_the_model_was_asked_is_placed_by_its_next_attempt_alone(forest, hostile):
    send_turn(forest, UNSURE)
    turn, _ = generation.claim(forest.pk, "a process")

    def meanwhile(body):
        try:
            Turn.objects.filter(pk=turn.pk).update(status=Turn.Status.CANCELLED, generator="")
            retry_turn(turn)
            generation.claim(forest.pk, "a process")
        finally:
            connection.close()
        return choosing(1)

    hostile.script(meanwhile)
    assert steps.localize_turn(turn).decision.method == "asked"
    assert not RoutingDecision.objects.filter(turn=turn).exists()
    assert Turn.objects.get(pk=turn.pk).status == Turn.Status.RECEIVED
    hostile.script(choosing(1))
    steps.localize_turn(Turn.objects.get(pk=turn.pk))
    assert RoutingDecision.objects.get(turn=turn).method == "asked"
    assert Turn.objects.get(pk=turn.pk).status == Turn.Status.LOCALIZED


def test_what_was_forgotten_while_the_model_was_asked_is_not_shown(forest, hostile):
    known = steps.localize_text(forest, UNSURE, forest.created_at, assembling=True).sought().found[0].evidence
    send_turn(forest, UNSURE)
    turn, _ = generation.claim(forest.pk, "a process")

    def meanwhile(body):
        try:
            EVIDENCE_MODELS[known.kind].objects.in_forest(forest.pk).filter(pk=known.id).delete()
        finally:
            connection.close()
        return choosing(1)

    hostile.script(meanwhile)
    place = steps.localize_turn(turn)
    assert place.decision.method == "asked"
    assert (known.kind, known.id) not in {(one.evidence.kind, one.evidence.id) for one in steps.gather_pool(forest, place).found}


# --- What only reads, and what must not wait -----------------------------------------------------------------------------


def test_recall_says_what_it_would_be_without_asking_and_that_it_would_be_asked(forest, hostile, settings):
    told = recall(forest, UNSURE)["localization"]
    assert told["method"] in ("recall", "new_root") and told["asks"] is True
    settings.LOCALIZER_ASK_BELOW = 0
    assert recall(forest, UNSURE)["localization"] == {**told, "asks": False}
    settings.LOCALIZER_ASK_BELOW, settings.OPENAI_BASE_URL = 1.0, ""
    assert recall(forest, UNSURE)["localization"]["asks"] is False
    assert hostile.requests == []


def test_given_interactions_are_placed_without_asking(forest, hostile):
    [result] = observe(forest, [{"user": UNSURE, "time": "2026-11-05T09:00:00+01:00"}])
    assert result["method"] in ("recall", "new_root") and hostile.requests == []


def test_the_probabilities_of_the_other_ranker_are_not_fitted_so_nobody_is_asked(forest, hostile, settings):
    place = steps.localize_text(forest, UNSURE, forest.created_at)
    assert steps.to_ask(place) is not None
    settings.LOCALIZER = "additive-ce"
    assert steps.to_ask(place) is None


async def test_a_kept_part_stays_where_the_model_had_put_it_and_nobody_is_asked_again(forest, answering, hostile, settings):
    place = await in_thread(steps.localize_text, forest, UNSURE, forest.created_at)
    number = [option.state for option in steps.to_ask(place).options].index(place.decision.parent)
    hostile.always = answers(choosing(number), scripts.cut_stream("Half an"))
    turn = await say(forest, UNSURE, "interrupted")
    before = turn.decision
    assert before.method == "asked" and len(questions(hostile)) == 1
    assert turn.usage["route"]["calls"] == 1  # paid for, though the answer broke
    kept = await in_thread(keep_turn, turn)
    after = await Turn.objects.select_related("decision").aget(pk=turn.pk)
    assert len(questions(hostile)) == 1
    names = ("method", "chosen_id", "probability", "margin", "unsure", "why", "candidates")
    assert [getattr(after.decision, name) for name in names] == [getattr(before, name) for name in names]
    assert kept.parent_id == before.chosen_id


def overruled(forest) -> tuple[str, steps.Place, int]:
    """A text of which ranking is so unsure that a model's choice puts it elsewhere, where ranking alone puts it, and that choice."""
    for text in (UNSURE, "What about the left side?", "How much of it?", "Is the bed warm?", "And tomatoes on bread?", "Does it need heat?"):
        place = steps.localize_text(forest, text, forest.created_at)
        asked = steps.to_ask(place)
        for number in range(len(asked.options) if asked else 0):
            if ask.fold(place.decision, asked, number).parent != place.decision.parent:
                return text, place, number
    raise AssertionError("ranking is too sure of all of these")


async def test_later_turns_looked_at_again_are_not_sent_back_to_where_ranking_alone_would_put_them(forest, answering, hostile, settings):
    """A turn that the model had its say in: as long as ranking is as unsure as before, it has nothing better to propose."""
    text, place, number = await in_thread(overruled, forest)
    hostile.always = answers(choosing(number))
    turn = await say(forest, text)
    assert turn.decision.method == "asked" and turn.state.parent_id != place.decision.parent
    job = await in_thread(replay_turns.begin, forest, turn.state.position - 1)
    await in_thread(replay_turns.run, job.pk)
    await in_thread(job.refresh_from_db)
    assert (job.result["looked_at"], job.result["proposals"]) == (1, [])
    settings.LOCALIZER_ASK_BELOW = 0.01  # now ranking counts as sure
    job = await in_thread(replay_turns.begin, forest, turn.state.position - 1)
    await in_thread(replay_turns.run, job.pk)
    await in_thread(job.refresh_from_db)
    assert [one["to"] for one in job.result["proposals"]] == [place.decision.parent]


async def test_why_not_that_one_says_that_the_model_was_asked(forest, answering, hostile):
    hostile.always = answers(choosing(1))
    turn = await say(forest, UNSURE)
    other = await in_thread(lambda: next(one for one in InteractionState.objects.filter(position__lte=3).order_by("pk") if one.pk != turn.decision.chosen_id))
    told = await in_thread(why_not.weigh, turn, other)
    assert told.words.startswith("Ranking alone was unsure, so the language model was asked")
