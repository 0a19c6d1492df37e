"""A turn on its way: claimed once, answered in order, told step by step, and never lost when something breaks."""

import asyncio
import threading
from datetime import timedelta

import pytest
import redis
from django.db import connections
from django.utils import timezone

from memory import generation, messages
from memory.actions.cancel_turn import cancel_turn
from memory.actions.create_forest import create_forest
from memory.actions.drop_turn import drop_turn
from memory.actions.keep_turn import keep_turn
from memory.actions.observe import observe
from memory.actions.retry_turn import retry_turn
from memory.actions.send_turn import send_turn
from memory.errors import Refused
from memory.llm.offline import OfflineModel
from memory.models import AtomicFact, InteractionState, RoutingDecision, Turn
from memory.threads import in_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Home", time_zone="Europe/Berlin")


@pytest.fixture
async def answering():
    """This process answers turns, as a web process does."""
    await generation.startup()
    yield
    await generation.shutdown()


async def reach(turn: Turn, *statuses: str, seconds: float = 15) -> Turn:
    """The turn once it has one of these statuses."""
    for _ in range(int(seconds / 0.05)):
        await in_thread(turn.refresh_from_db)
        if turn.status in statuses:
            return turn
        await asyncio.sleep(0.05)
    raise AssertionError(f"turn is {turn.status}: {turn.error}")


async def send(forest, text: str, **where) -> Turn:
    turn, _ = await in_thread(send_turn, forest, text, **where)
    generation.kick(forest.pk)
    return turn


async def told(turn: Turn) -> list[dict]:
    return await in_thread(messages.replay, turn.pk, 0)


async def test_a_turn_is_told_step_by_step_and_becomes_a_state(forest, answering):
    turn = await reach(await send(forest, "My kitchen budget is €18,000."), "answered")
    for _ in range(100):
        said = await told(turn)
        if said[-1]["type"] == "state.added":
            break
        await asyncio.sleep(0.02)
    kinds = [message["type"] for message in said]
    assert kinds[:3] == ["turn.accepted", "turn.localized", "turn.assembled"]
    assert kinds[-2:] == ["turn.answered", "state.added"]
    assert [message["seq"] for message in said] == list(range(1, len(said) + 1))
    deltas = [message for message in said if message["type"] == "turn.delta"]
    state = await InteractionState.objects.aget(turn=turn)
    assert "".join(delta["text"] for delta in deltas) == state.assistant_text != ""
    assert [delta["offset"] for delta in deltas] == [sum(len(d["text"]) for d in deltas[:i]) for i in range(len(deltas))]
    assert (turn.text, turn.partial, turn.generator) == ("", "", "")
    assert state.user_text == "My kitchen budget is €18,000."
    assert not await AtomicFact.objects.aexists()


async def test_turns_sent_at_once_are_answered_one_by_one_in_their_order(forest, answering, settings):
    settings.OFFLINE_WORDS_PER_SECOND = 40
    turns = [
        (await in_thread(send_turn, forest, text))[0]
        for text in ("The sink stays under the window.", "My sister Nora lives in Lyon.", "Where does the sink stay?")
    ]
    for _ in range(3):
        generation.kick(forest.pk)
    first, second, third = [await reach(turn, "answered") for turn in turns]
    assert (await told(second))[0]["type"] == "turn.queued"
    positions = [(await InteractionState.objects.aget(turn=turn)).position for turn in (first, second, third)]
    assert positions == [1, 2, 3]
    # The third was localized when the second had been committed: it could return to the first.
    decision = await RoutingDecision.objects.aget(turn=third)
    sink = await InteractionState.objects.aget(turn=first)
    assert decision.chosen_id == sink.pk


def test_a_turn_is_claimed_by_one_process_only(forest):
    send_turn(forest, "one")
    send_turn(forest, "two")
    claimed: list[Turn | None] = []
    ready = threading.Barrier(4)

    def claim(number: int) -> None:
        ready.wait()
        try:
            claimed.append(generation.claim(forest.pk, f"process {number}")[0])
        finally:
            connections.close_all()

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [turn for turn in claimed if turn] == [Turn.objects.get(text="one")]
    assert Turn.objects.get(text="two").status == "queued"


def test_a_given_interaction_on_its_way_into_memory_is_no_turn_to_answer(forest):
    Turn.objects.create(forest=forest, client_id="g-1", origin="observed", text="Said elsewhere.", sent_at=timezone.now())
    assert generation.claim(forest.pk, "one") == (None, [])
    assert generation.sweep() == ([], [])


async def test_a_second_stop_does_not_cut_off_the_word_of_the_first(forest, answering, settings):
    """The pulse of a stopped turn finds out a moment after its sender stopped it, while the part is being written."""
    settings.OFFLINE_WORDS_PER_SECOND = 4
    turn = await reach(await send(forest, "My kitchen budget is €18,000."), "answering")
    while not any(message["type"] == "turn.delta" for message in await told(turn)):
        await asyncio.sleep(0.05)
    task = generation._running[turn.pk]
    await in_thread(cancel_turn, turn)
    for _ in range(20):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([task], timeout=10)
    assert (await told(turn))[-1]["type"] == "turn.cancelled"
    await turn.arefresh_from_db()
    assert turn.partial != ""


async def test_a_stopped_answer_keeps_its_part_and_can_be_tried_again(forest, answering, settings):
    settings.OFFLINE_WORDS_PER_SECOND = 4
    turn = await reach(await send(forest, "My kitchen budget is €18,000."), "answering")
    while not any(message["type"] == "turn.delta" for message in await told(turn)):
        await asyncio.sleep(0.05)
    await in_thread(cancel_turn, turn)
    generation.cancel(turn.pk)
    for _ in range(100):
        said = await told(turn)
        if said[-1]["type"] == "turn.cancelled":
            break
        await asyncio.sleep(0.05)
    turn = await reach(turn, "cancelled")
    for _ in range(100):  # it is told within the transaction that writes the part: a moment before others see it
        if turn.partial:
            break
        await asyncio.sleep(0.05)
        await in_thread(turn.refresh_from_db)
    assert turn.partial == said[-1]["partial"] != ""
    assert not await InteractionState.objects.aexists()

    settings.OFFLINE_WORDS_PER_SECOND = 0
    await in_thread(retry_turn, turn)
    generation.kick(forest.pk)
    await reach(turn, "answered")
    assert await InteractionState.objects.acount() == 1


async def test_a_part_can_be_kept_and_becomes_a_state(forest):
    turn = await in_thread(lambda: send_turn(forest, "Which tiles go with oak?")[0])
    turn.status, turn.partial = "interrupted", "Pale ones, such as"
    await turn.asave()
    state = await in_thread(keep_turn, turn)
    assert (state.user_text, state.assistant_text) == ("Which tiles go with oak?", "Pale ones, such as")
    await turn.arefresh_from_db()
    assert turn.status == "answered"
    with pytest.raises(Refused, match="already part of memory"):
        await in_thread(drop_turn, turn)


def test_an_empty_part_is_not_kept(forest):
    turn, _ = send_turn(forest, "Which tiles go with oak?")
    cancel_turn(turn)
    with pytest.raises(Refused, match="no part to keep"):
        keep_turn(turn)
    assert [message["type"] for message in messages.replay(turn.pk, 0)] == ["turn.cancelled"]


async def test_a_model_that_breaks_fails_the_turn_and_nothing_is_committed(forest, answering, monkeypatch):
    async def breaks(self, *args, **kwargs):
        yield "Half an ans"
        raise ConnectionError("gone")

    monkeypatch.setattr(OfflineModel, "stream_answer", breaks)
    turn = await reach(await send(forest, "What holds the shelf?"), "failed")
    assert turn.partial == "Half an ans"
    assert turn.error["code"] == "failed"
    assert turn.error["action"]
    assert not await InteractionState.objects.aexists()
    monkeypatch.undo()
    await in_thread(retry_turn, turn)
    generation.kick(forest.pk)
    await reach(turn, "answered")


def test_a_turn_without_a_sign_of_life_is_interrupted_and_the_next_one_may_start(forest):
    turn, _ = send_turn(forest, "one")
    waiting, _ = send_turn(forest, "two")
    generation.claim(forest.pk, "a process that dies")
    assert generation.sweep() == ([], [forest.pk])
    Turn.objects.filter(pk=turn.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=11), partial="The first wor", status="answering")
    dead, forests = generation.sweep()
    assert dead == [(forest.pk, turn.pk)]
    assert forests == [forest.pk]
    turn.refresh_from_db()
    assert (turn.status, turn.partial, turn.generator) == ("interrupted", "The first wor", "")
    assert generation.claim(forest.pk, "another")[0] == waiting


async def test_the_answer_goes_on_while_valkey_is_away(forest, answering, monkeypatch, tmp_path):
    away = redis.Redis.from_url(f"unix://{tmp_path}/nothing.sock")
    monkeypatch.setattr(messages, "client", lambda: away)
    turn = await reach(await send(forest, "My kitchen budget is €18,000."), "answered")
    assert await InteractionState.objects.filter(turn=turn).aexists()


def test_a_valkey_that_hangs_is_not_waited_for_again_and_again(monkeypatch):
    asked = []

    def hangs(*args):
        asked.append(args)
        raise redis.TimeoutError

    monkeypatch.setattr(messages, "_hangs_until", 0.0)
    monkeypatch.setattr(messages.client(), "eval", hangs)
    assert [messages.publish(1, 2**40, "turn.delta", {"text": word}) for word in ("one", "two", "three")] == [None, None, None]
    assert len(asked) == 1
    monkeypatch.setattr(messages, "_hangs_until", 0.0)
    monkeypatch.undo()
    assert messages.publish(1, 2**40, "turn.delta", {"text": "four"}) == 1


async def test_the_sender_says_where_a_turn_goes(forest, answering):
    [root, other] = await in_thread(
        observe,
        forest,
        [
            {"id": "a", "user": "We plan a kitchen.", "time": "2026-11-01T09:00:00Z", "new_root": True},
            {"id": "b", "user": "Bread needs salt.", "time": "2026-11-01T10:00:00Z", "new_root": True},
        ],
    )
    pinned = await reach(await send(forest, "And salt?", parent=root["state"]), "answered")
    fresh = await reach(await send(forest, "More about bread and salt", new_root=True), "answered")
    assert (await InteractionState.objects.aget(turn=pinned)).parent_id == root["state"]
    assert (await InteractionState.objects.aget(turn=fresh)).parent_id is None
    assert (await RoutingDecision.objects.aget(turn=pinned)).method == "given"
    assert other["state"] != root["state"]


def test_the_same_client_id_is_the_same_turn(forest):
    turn, created = send_turn(forest, "Hello", client_id="c-1")
    again, created_again = send_turn(forest, "Hello", client_id="c-1")
    assert (created, created_again) == (True, False)
    assert turn == again


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "invalid"), ("  \n", "invalid"), ("ü" * 16_385, "too_large"), ("nul \x00 here", "invalid"), ("half \ud83d pair", "invalid")],
)
def test_a_text_that_can_not_be_kept_is_refused_with_what_to_do(forest, text, code):
    with pytest.raises(Refused) as refused:
        send_turn(forest, text)
    assert refused.value.code == code
    assert refused.value.action
    assert not Turn.objects.exists()


def test_32_kib_are_taken_whole(forest):
    text = "ü" * 16_384
    send_turn(forest, text)
    assert Turn.objects.get().text == text
