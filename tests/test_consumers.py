"""The socket of a forest on the real channel layer: who may listen, what is refused, and that nothing is lost or said twice."""

from __future__ import annotations

import asyncio
import json

import pytest
import redis
from asgiref.testing import ApplicationCommunicator
from channels_redis.pubsub import RedisPubSubLoopLayer
from django.test import Client

from arborweb.asgi import application
from memory import consumers, messages
from memory.actions.delete_person import delete_oneself
from memory.actions.drop_turn import drop_turn
from memory.actions.forget import delete_forest
from memory.actions.revoke_key import revoke_key
from memory.api.authentication import make_key
from memory.models import Forest, Turn
from memory.threads import in_thread
from tests.forests import plant, say, wait

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "zyzzyva7391"


class Page(ApplicationCommunicator):
    """A page with its session cookie that watches a forest. (channels.testing would need daphne.)"""

    def __init__(self, forest, client=None, origin="http://localhost", key=None, host="localhost"):
        headers = [(b"host", host.encode())]
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        if client is not None:
            headers.append((b"cookie", "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()).encode()))
        if key is not None:
            headers.append((b"authorization", f"Bearer {key}".encode()))
        path = f"/ws/forests/{forest}/"
        super().__init__(application, {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []})

    async def connect(self):
        """Whether it was accepted, and the close code if not."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(timeout=5)
        return answer["type"] == "websocket.accept", answer.get("code")

    async def disconnect(self):
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)

    async def send_to(self, text_data=None, bytes_data=None):
        frame = {"text": text_data} if bytes_data is None else {"bytes": bytes_data}
        await self.send_input({"type": "websocket.receive", **frame})

    async def send_json_to(self, message):
        await self.send_to(json.dumps(message))

    async def receive_json_from(self):
        answer = await self.receive_output(timeout=5)
        assert answer["type"] == "websocket.send", answer
        return json.loads(answer["text"])

    async def open(self):
        accepted, _ = await self.connect()
        assert accepted
        # The first answer comes after the page was let in: what is published from here on reaches it.
        await self.send_json_to({"type": "hello"})
        assert (await self.receive_json_from())["code"] == "invalid"
        return self

    async def ask(self, **message):
        await self.send_json_to(message)
        return await self.receive_json_from()

    async def closes(self):
        accepted, code = await self.connect()
        if not accepted:
            return code
        return (await self.receive_output(timeout=5)).get("code")


@pytest.fixture
def signed_in(ines):
    client = Client()
    client.force_login(ines)
    return client


@pytest.fixture
def forest(ines):
    return plant(ines)


async def test_nobody_else_gets_in(forest, signed_in, omar):
    his = Client()
    await in_thread(his.force_login, omar)
    assert await Page(forest.pk).closes() == 4401
    assert await Page(forest.pk, his).closes() == 4404
    assert await Page(forest.pk + 999, signed_in).closes() == 4404
    assert await Page(2**70, signed_in).closes() == 4404
    assert await Page(forest.pk, key="wrong").closes() == 4401


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", "localhost"),
        ("http://localhost:9000", "localhost"),
        ("http://evil.example", "evil.example"),
        ("null", "localhost"),
        ("http://[", "localhost"),
        (None, "localhost"),
    ],
)
async def test_a_foreign_origin_is_refused_before_anything(forest, signed_in, origin, host):
    accepted, _ = await Page(forest.pk, signed_in, origin=origin, host=host).connect()
    assert not accepted


@pytest.mark.parametrize("scopes", [["write"], []])
async def test_a_key_that_may_not_read_hears_nothing(forest, ines, scopes):
    _, key = await in_thread(make_key, ines, "script", scopes)
    assert await Page(forest.pk, key=key).closes() == 4403


@pytest.mark.parametrize("path", [f"/ws/forests/{'9' * 5000}/", "/ws/", "/"])
async def test_another_address_is_refused(signed_in, path):
    page = Page(0, signed_in)
    page.scope["path"] = path
    assert not (await page.connect())[0]


async def test_a_trusted_origin_is_let_in(forest, signed_in, monkeypatch):
    trusted = application.application_mapping["websocket"].trusted
    monkeypatch.setitem(vars(trusted), "allowed_origins_exact", {"https://forest.example.org"})
    accepted, _ = await Page(forest.pk, signed_in, origin="https://forest.example.org").connect()
    assert accepted


async def test_a_program_needs_a_key_and_no_origin(forest, ines):
    _, key = await in_thread(make_key, ines, "script")
    page = await Page(forest.pk, key=key, origin=None).open()
    await page.disconnect()
    assert await Page(forest.pk, key="wrong", origin=None).closes() == 4401


async def test_omar_hears_nothing_of_her_forest_on_his(forest, omar, signed_in):
    his = Client()
    await in_thread(his.force_login, omar)
    own = await in_thread(plant, omar)
    turn = await in_thread(wait, forest, CANARY)
    page = await Page(own.pk, his).open()
    await messages.apublish(forest.pk, turn.pk, "turn.delta", {"text": CANARY, "offset": 0})
    assert await page.receive_nothing(timeout=0.2)
    for message in ({"type": "turn.resume", "turn": turn.pk, "after": 0}, {"type": "turn.cancel", "turn": turn.pk}):
        assert (await page.ask(**message))["code"] == "unknown_turn"
    assert (await page.ask(type="turn.send", client_id="c", text="x", parent=turn.pk))["code"] == "unknown_state"
    await page.disconnect()


async def test_a_turn_of_another_of_ones_forests_is_unknown_here(ines, forest, signed_in):
    other = await in_thread(plant, ines, "Other")
    turn = await in_thread(wait, other, "Hello")
    page = await Page(forest.pk, signed_in).open()
    assert (await page.ask(type="turn.resume", turn=turn.pk, after=0))["code"] == "unknown_turn"
    await page.disconnect()


async def test_send_writes_the_turn_down_once(forest, signed_in, monkeypatch):
    kicked = []
    monkeypatch.setattr(consumers.generation, "kick", kicked.append)
    page = await Page(forest.pk, signed_in).open()
    for _ in range(2):
        await page.send_json_to({"type": "turn.send", "client_id": "c-1", "text": "Hello", "new_root": True})
    assert await page.receive_nothing(timeout=0.5)
    turn = await in_thread(Turn.objects.get)
    assert (turn.text, turn.client_id, turn.asked_new_root, kicked) == ("Hello", "c-1", True, [forest.pk, forest.pk])
    await messages.apublish(forest.pk, turn.pk, "turn.accepted", {"client_id": "c-1", "text": "Hello"})
    assert (await page.receive_json_from())["seq"] == 1
    # Sent again after a reconnect: what came of it meanwhile is told.
    again = await Page(forest.pk, signed_in).open()
    assert (await again.ask(type="turn.send", client_id="c-1", text="Hello"))["type"] == "turn.accepted"
    await page.disconnect()
    await again.disconnect()


async def test_an_edit_goes_beside_its_original(forest, signed_in, omar):
    root = await in_thread(say, forest, "We plan a kitchen.")
    oven = await in_thread(say, forest, "Where does the oven go?", "", root)
    his = await in_thread(say, await in_thread(plant, omar), "His")
    page = await Page(forest.pk, signed_in).open()
    assert (await page.ask(type="turn.send", client_id="c-1", text="Hi", edit_of=his.turn_id))["code"] == "unknown_turn"
    assert (await page.ask(type="turn.send", client_id="c-2", text="Hi", edit_of=oven.turn_id, parent=root.pk))["code"] == "invalid"
    await page.send_json_to({"type": "turn.send", "client_id": "c-3", "text": "Where does the fridge go?", "edit_of": oven.turn_id})
    assert await page.receive_nothing(timeout=0.5)
    turn = await in_thread(Turn.objects.get, client_id="c-3")
    assert (turn.asked_parent_id, turn.asked_new_root, turn.edited_from_id) == (root.pk, False, oven.turn_id)
    assert (await page.ask(type="turn.send", client_id="c-4", text="And?", edit_of=turn.pk))["code"] == "conflict"
    await page.disconnect()


async def test_a_dropped_turn_is_told_to_every_page(forest, signed_in):
    turn = await in_thread(wait, forest, "Hello", "interrupted")
    page = await Page(forest.pk, signed_in).open()
    await messages.apublish(forest.pk, turn.pk, "turn.interrupted", {"partial": ""})
    assert (await page.receive_json_from())["seq"] == 1
    await in_thread(drop_turn, turn)
    told = await page.receive_json_from()
    assert (told["type"], told["turn"], told["client_id"], told["seq"]) == ("turn.dropped", turn.pk, turn.client_id, 2)
    await page.disconnect()


async def test_wrong_messages_are_answered_and_the_socket_stays(forest, signed_in):
    page = await Page(forest.pk, signed_in).open()
    await page.send_to(text_data="{oops")
    assert (await page.receive_json_from())["code"] == "invalid"
    await page.send_to(text_data="[" * 50_000)
    assert (await page.receive_json_from())["code"] == "invalid"
    for wrong in (
        {"type": "turn.send", "text": "no client id"},
        {"type": "turn.send", "client_id": "c", "text": ""},
        {"type": "turn.send", "client_id": "c", "text": "nul \x00"},
        {"type": "turn.resume", "turn": "x", "after": 0},
        {"type": "turn.cancel"},
        {"type": "drop.table"},
        ["a list"],
    ):
        await page.send_json_to(wrong)
        answer = await page.receive_json_from()
        assert (answer["type"], answer["code"]) == ("error", "invalid") and answer["action"] and "seq" not in answer
    answer = await page.ask(type="turn.send", client_id="c", text="x" * (32 * 1024 + 1))
    assert answer["code"] == "too_large"
    assert not await in_thread(Turn.objects.exists)
    await page.disconnect()


@pytest.mark.parametrize("frame", [{"text_data": json.dumps({"type": "x" * (64 * 1024)})}, {"bytes_data": b"{}"}])
async def test_large_and_binary_frames_close_it(forest, signed_in, frame):
    page = await Page(forest.pk, signed_in).open()
    await page.send_to(**frame)
    assert (await page.receive_output(timeout=5))["code"] == 1009


async def test_resume_replays_what_was_missed_and_goes_on_live(forest, signed_in):
    turn = await in_thread(wait, forest, "Hello")
    for number in range(5):
        await messages.apublish(forest.pk, turn.pk, "turn.delta", {"text": str(number), "offset": number})
    page = await Page(forest.pk, signed_in).open()
    await page.send_json_to({"type": "turn.resume", "turn": turn.pk, "after": 2})
    await messages.apublish(forest.pk, turn.pk, "turn.delta", {"text": "5", "offset": 5})
    seen = [(await page.receive_json_from())["seq"] for _ in range(4)]
    assert seen == [3, 4, 5, 6]
    assert await page.receive_nothing(timeout=0.2)
    await page.disconnect()


async def test_a_message_that_pubsub_lost_is_fetched_before_the_next(forest, signed_in, monkeypatch):
    turn = await in_thread(wait, forest, "Hello")
    page = await Page(forest.pk, signed_in).open()
    await messages.apublish(forest.pk, turn.pk, "turn.delta", {"text": "a", "offset": 0})
    assert (await page.receive_json_from())["seq"] == 1
    await in_thread(messages._append, turn.pk, {"type": "turn.delta", "turn": turn.pk, "text": "b", "offset": 1})  # kept, never passed on
    await messages.apublish(forest.pk, turn.pk, "turn.delta", {"text": "c", "offset": 2})
    assert [(await page.receive_json_from())["text"] for _ in range(2)] == ["b", "c"]
    await page.disconnect()


async def test_numbering_that_began_anew_is_not_taken_for_old(forest, signed_in):
    state = await in_thread(say, forest, "Hello")
    page = await Page(forest.pk, signed_in).open()
    for _ in range(3):
        await messages.apublish(forest.pk, state.turn_id, "turn.delta", {"text": "x", "offset": 0})
    assert [(await page.receive_json_from())["seq"] for _ in range(3)] == [1, 2, 3]
    await in_thread(messages.forget, [state.turn_id])
    await messages.apublish(forest.pk, state.turn_id, "memory.refined", {"pending": 0})
    assert (await page.receive_json_from())["type"] == "memory.refined"
    await page.disconnect()


async def test_cancel_marks_the_turn_and_tells_every_page(forest, signed_in):
    turn = await in_thread(wait, forest, "Hello")
    page = await Page(forest.pk, signed_in).open()
    await page.send_json_to({"type": "turn.cancel", "turn": turn.pk})
    told = await page.receive_json_from()
    assert (told["type"], told["turn"], told["error"]["code"]) == ("turn.cancelled", turn.pk, "cancelled")
    await in_thread(turn.refresh_from_db)
    assert turn.status == "cancelled"
    await page.disconnect()


async def test_without_valkey_it_says_so_and_closes_to_be_tried_again(forest, signed_in, monkeypatch):
    async def down(*_):
        raise redis.ConnectionError

    monkeypatch.setattr(RedisPubSubLoopLayer, "group_add", down)
    page = Page(forest.pk, signed_in)
    assert (await page.connect())[0]
    assert (await page.receive_json_from())["code"] == "unavailable"
    assert (await page.receive_output(timeout=5))["code"] == 1013


async def test_signing_out_closes_the_sockets_of_that_session_at_once(forest, signed_in, ines):
    phone = Client()
    await in_thread(phone.force_login, ines)
    page, other = await Page(forest.pk, signed_in).open(), await Page(forest.pk, phone).open()
    await in_thread(signed_in.post, "/sign-out/")
    assert (await page.receive_output(timeout=5)) == {"type": "websocket.close", "code": 4401}
    assert await other.receive_nothing(timeout=0.3)
    await other.disconnect()


async def test_another_password_closes_sockets_at_once(forest, signed_in, ines):
    page = await Page(forest.pk, signed_in).open()
    ines.set_password("as long as it takes")
    await in_thread(ines.save)
    assert (await page.receive_output(timeout=5))["code"] == 4401


async def test_signing_in_elsewhere_disturbs_no_socket(forest, signed_in, ines):
    page = await Page(forest.pk, signed_in).open()
    await in_thread(Client().force_login, ines)
    assert await page.receive_nothing(timeout=0.3)
    await page.disconnect()


async def test_who_is_shut_out_is_closed_at_once(forest, signed_in, ines, omar):
    his = Client()
    await in_thread(his.force_login, omar)
    page, other = await Page(forest.pk, signed_in).open(), await Page((await in_thread(plant, omar)).pk, his).open()
    ines.is_active = False
    await in_thread(ines.save)
    assert (await page.receive_output(timeout=5))["code"] == 4401
    assert await other.receive_nothing(timeout=0.3)
    await other.disconnect()


async def test_a_deleted_forest_closes_its_sockets_at_once_and_no_other(ines, forest, signed_in):
    other = await in_thread(plant, ines, "Other")
    page, elsewhere = await Page(forest.pk, signed_in).open(), await Page(other.pk, signed_in).open()
    await in_thread(delete_forest, forest, ines)
    assert (await page.receive_output(timeout=5))["code"] == 4404
    assert await elsewhere.receive_nothing(timeout=0.3)
    await elsewhere.disconnect()


async def test_a_deleted_account_closes_its_sockets_at_once(ines, forest, signed_in):
    _, key = await in_thread(make_key, ines, "script")
    pages = [await Page(forest.pk, signed_in).open(), await Page(forest.pk, key=key).open()]
    await in_thread(delete_oneself, ines, "ines")
    assert {(await page.receive_output(timeout=5))["code"] for page in pages} <= {4401, 4404}


async def test_a_revoked_key_closes_its_socket_at_once(ines, forest, signed_in):
    row, key = await in_thread(make_key, ines, "script")
    page, program = await Page(forest.pk, signed_in).open(), await Page(forest.pk, key=key).open()
    await in_thread(revoke_key, row, ines)
    assert (await program.receive_output(timeout=5))["code"] == 4401
    assert await page.receive_nothing(timeout=0.3)
    await page.disconnect()


async def test_a_forest_deleted_while_a_socket_opens_closes_it(ines, forest, signed_in, monkeypatch):
    """Between the first look and joining the group nobody could tell it."""
    join = RedisPubSubLoopLayer.group_add

    async def late(self, group, channel):
        if await in_thread(Forest.objects.filter(pk=forest.pk).exists):
            await in_thread(delete_forest, forest, ines)
        await join(self, group, channel)

    monkeypatch.setattr(RedisPubSubLoopLayer, "group_add", late)
    assert await Page(forest.pk, signed_in).closes() == 4404


async def test_a_socket_nobody_told_finds_out_by_itself(forest, signed_in, monkeypatch):
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.1)
    monkeypatch.setattr(messages, "look_again", lambda group: None)
    page = await Page(forest.pk, signed_in).open()
    await asyncio.sleep(0.3)
    assert await page.receive_nothing(timeout=0.1)
    await in_thread(signed_in.logout)
    assert (await page.receive_output(timeout=5)) == {"type": "websocket.close", "code": 4401}


async def test_losing_the_forest_closes_it(forest, omar, signed_in, monkeypatch):
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.1)
    page = await Page(forest.pk, signed_in).open()
    forest.owner = omar
    await in_thread(forest.save)
    assert (await page.receive_output(timeout=5))["code"] == 4404


async def test_a_key_that_only_reads_watches_but_sends_nothing(ines, forest):
    _, key = await in_thread(make_key, ines, "reader", ["read"])
    page = await Page(forest.pk, key=key).open()
    assert (await page.ask(type="turn.send", client_id="c", text="Hello"))["code"] == "forbidden"
    await page.disconnect()


async def test_sockets_do_not_wait_for_each_other(forest, signed_in, monkeypatch):
    """Ten sockets whose look-ups take 0.2 s: one thread for all would need 2 s and more."""
    import time

    slow = consumers.ForestConsumer._forest

    def slower(self):
        time.sleep(0.5)
        return slow(self)

    monkeypatch.setattr(consumers.ForestConsumer, "_forest", slower)
    pages = [Page(forest.pk, signed_in) for _ in range(10)]
    started = time.perf_counter()
    await asyncio.gather(*(page.open() for page in pages))
    assert time.perf_counter() - started < 4  # one after another: 5 s
    await asyncio.gather(*(page.disconnect() for page in pages))
