"""A turn edited or asked again: a sibling of the original, which stays as it is (EXPLORER “The chat”)."""

from __future__ import annotations

import pytest

from memory import generation, messages
from memory.actions.cancel_turn import cancel_turn
from memory.actions.create_forest import create_forest
from memory.actions.drop_turn import drop_turn
from memory.actions.export_forest import export_forest
from memory.actions.forget import delete_state
from memory.actions.keep_turn import keep_turn
from memory.actions.restore_forest import restore
from memory.actions.retry_turn import retry_turn
from memory.actions.send_turn import send_turn
from memory.errors import Refused
from memory.llm.usage import counted
from memory.models import InteractionState, Turn
from memory.present import turn_json, turn_list
from memory.turn import take_turn
from memory.voice import Voice
from tests.forests import plant, say, wait

pytestmark = pytest.mark.django_db


@pytest.fixture
def forest(ines):
    return plant(ines)


@pytest.fixture
def kitchen(forest):
    return say(forest, "We plan a kitchen.", "Where is the window?", topic="Kitchen", words="kitchen")


@pytest.fixture
def oven(forest, kitchen):
    return say(forest, "Where does the oven go?", "On the left.", kitchen, words="oven")


def test_an_edited_turn_goes_under_the_parent_of_its_original(forest, kitchen, oven):
    turn, created = send_turn(forest, "Where does the fridge go?", edit_of=oven.turn_id)
    assert created
    assert (turn.asked_parent, turn.asked_new_root, turn.edited_from) == (kitchen, False, oven.turn)
    oven.refresh_from_db()
    assert (oven.user_text, oven.assistant_text) == ("Where does the oven go?", "On the left.")


def test_an_edited_root_becomes_a_root_of_its_own(forest, kitchen):
    turn, _ = send_turn(forest, "We plan a bathroom.", edit_of=kitchen.turn_id)
    assert (turn.asked_parent, turn.asked_new_root) == (None, True)


def test_sent_again_it_is_one_turn(forest, oven):
    first, _ = send_turn(forest, "And the fridge?", client_id="c-1", edit_of=oven.turn_id)
    assert send_turn(forest, "And the fridge?", client_id="c-1", edit_of=oven.turn_id) == (first, False)


def test_it_says_what_it_was_edited_from_and_whether_anything_was_changed(forest, oven):
    edited, _ = send_turn(forest, "Where does the fridge go?", edit_of=oven.turn_id)
    again, _ = send_turn(forest, oven.user_text, edit_of=oven.turn_id)
    original = {"turn": oven.turn_id, "state": oven.pk, "label": "Where does the oven go?"}
    assert turn_json(edited)["edited_from"] == {**original, "again": False}
    assert turn_json(again)["edited_from"] == {**original, "again": True}
    assert turn_json(oven.turn)["edited_from"] is None


def test_a_list_of_edits_asks_no_more_than_a_list_of_turns(forest, kitchen, oven, django_assert_max_num_queries):
    for number in range(20):
        send_turn(forest, f"Where does oven {number} go?", edit_of=oven.turn_id)
    with django_assert_max_num_queries(10):
        assert len(turn_list(Turn.objects.in_forest(forest).order_by("pk"))) == 22


@pytest.mark.parametrize("status", ["received", "queued", "interrupted", "failed", "cancelled"])
def test_only_what_is_part_of_memory_can_be_edited(forest, status):
    turn = wait(forest, "Hello", status)
    with pytest.raises(Refused) as refused:
        send_turn(forest, "Hello there", edit_of=turn.pk)
    assert (refused.value.code, refused.value.status) == ("conflict", 409)
    assert Turn.objects.count() == 1


def test_a_turn_of_another_forest_or_person_is_unknown(ines, omar, forest):
    for owner, name in ((ines, "Second"), (omar, "His")):
        other = say(plant(owner, name), "Hello")
        with pytest.raises(Refused) as refused:
            send_turn(forest, "Hello there", edit_of=other.turn_id)
        assert (refused.value.code, refused.value.status) == ("unknown_turn", 404)


@pytest.mark.parametrize("place", [{"parent": 1}, {"new_root": True}])
def test_an_edit_brings_no_place_of_its_own(forest, oven, place):
    with pytest.raises(Refused) as refused:
        send_turn(forest, "Hello", edit_of=oven.turn_id, **place)
    assert refused.value.status == 400


def test_without_its_original_it_stays_and_says_nothing_of_it(ines, forest, kitchen, oven):
    fridge = say(forest, "Where does the fridge go?", "On the right.", kitchen)
    Turn.objects.filter(pk=fridge.turn_id).update(edited_from=oven.turn_id)
    delete_state(oven, "children_to_parent", ines)
    turn = Turn.objects.get(pk=fridge.turn_id)
    assert turn.edited_from is None
    assert turn_json(turn)["edited_from"] is None


def test_an_export_keeps_what_was_edited_from_what(ines, forest, kitchen, oven):
    fridge = say(forest, "Where does the fridge go?", "On the right.", kitchen)
    Turn.objects.filter(pk=fridge.turn_id).update(edited_from=oven.turn_id)
    back = create_forest(ines, "Back")
    with export_forest(forest) as file:
        _, notes = restore(back, file)
    assert notes == []
    texts = InteractionState.objects.in_forest(back).filter(turn__edited_from__isnull=False).values_list("user_text", "turn__edited_from__state__user_text")
    assert list(texts) == [("Where does the fridge go?", "Where does the oven go?")]
    assert not Turn.objects.in_forest(back).filter(edited_from__in=Turn.objects.in_forest(forest)).exists()


class TestAnswered:
    """By the real steps, in a forest of this server's embedder."""

    pytestmark = pytest.mark.django_db(transaction=True)

    async def answer(self, forest, text, **where):
        from memory.threads import in_thread

        await in_thread(lambda: send_turn(forest, text, **where))
        turn, _ = await in_thread(generation.claim, forest.pk, "test")
        voice = Voice(turn)
        with counted(voice.spent):
            await take_turn(turn, voice)
        return await in_thread(lambda: InteractionState.objects.select_related("parent").get(turn=turn))

    async def test_the_new_state_is_a_sibling_and_the_original_keeps_its_children(self, ines):
        from memory.threads import in_thread

        forest = await in_thread(create_forest, ines, "Home")
        root = await self.answer(forest, "We plan a kitchen.", new_root=True)
        oven = await self.answer(forest, "Where does the oven go?", parent=root.pk)
        below = await self.answer(forest, "How wide is it?", parent=oven.pk)
        edited = await self.answer(forest, "Where does the fridge go?", edit_of=oven.turn_id)
        other = await self.answer(forest, "We plan a bathroom.", edit_of=root.turn_id)
        assert edited.parent_id == oven.parent_id == root.pk
        assert edited.branch_id != oven.branch_id, "a branch of its own"
        assert (other.parent_id, other.root_id) == (None, other.pk)
        assert below.parent_id == oven.pk
        assert (await in_thread(lambda: edited.turn.decision.why)).startswith("You edited an earlier turn")
        assert edited.position == 4, "at the end of the timeline"


class TestPagesThatWatch:
    """What is kept, dropped or tried again in one page is told to the others, under numbers that go on."""

    @pytest.fixture
    def told(self, monkeypatch):
        said = []
        monkeypatch.setattr(messages, "publish", lambda forest, turn, kind, payload: said.append((turn, kind, payload)))
        return said

    def broken(self, forest, seq=7, messages_kept=9):
        turn = wait(forest, "Where does the oven go?", "interrupted", partial="On the", seq=seq)
        for number in range(messages_kept):
            messages._append(turn.pk, {"type": "turn.delta", "turn": turn.pk, "text": "x", "offset": number})
        return turn

    def test_a_dropped_turn_is_told_and_nothing_of_it_kept(self, forest, told):
        turn = self.broken(forest)
        drop_turn(turn)
        assert told == [(turn.pk, "turn.dropped", {"client_id": turn.client_id})]
        assert messages.replay(turn.pk, 0) == []
        assert messages._append(turn.pk, {"type": "turn.dropped"}) == 10, "a page that has seen nine doesn't take it for old"

    def test_a_turn_tried_again_goes_on_after_what_was_seen(self, forest):
        turn = retry_turn(self.broken(forest))
        assert turn.seq == 9
        assert messages._append(turn.pk, {"type": "turn.accepted"}) == 10

    def test_numbers_go_on_when_what_was_kept_has_expired(self, forest):
        turn = self.broken(forest, seq=7, messages_kept=0)
        assert retry_turn(turn).seq == 8
        assert messages._append(turn.pk, {"type": "turn.accepted"}) == 9

    def test_without_valkey_it_can_be_tried_again_all_the_same(self, forest, monkeypatch):
        import redis

        turn = self.broken(forest)

        class Down:
            def set(self, *args, **more):
                raise redis.ConnectionError

        monkeypatch.setattr(messages, "client", Down)
        assert retry_turn(turn).seq == 8

    def test_a_kept_part_is_told_as_an_answer(self, ines, told):
        forest = create_forest(ines, "Home")
        turn = self.broken(forest)
        state = keep_turn(turn)
        assert [kind for _, kind, _ in told] == ["turn.answered", "state.added"]
        assert told[0][2]["data"]["state"] == state.pk
        turn.refresh_from_db()
        assert turn.seq == 9

    def test_a_turn_that_waits_is_stopped_and_dropped(self, forest, told):
        turn = wait(forest, "Hello", "queued")
        drop_turn(cancel_turn(turn))
        assert [kind for _, kind, _ in told] == ["turn.cancelled", "turn.dropped"]
        assert not Turn.objects.exists()
