"""The socket of a forest (docs/interfaces.md): what a page sends is checked and handed on; what happens in the forest is passed on in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import redis
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.db import DatabaseError
from rest_framework.exceptions import ValidationError

from memory import errors, generation, messages
from memory.actions.cancel_turn import cancel_turn
from memory.actions.find_to_forget import asked_to_forget
from memory.actions.send_turn import send_turn
from memory.api.authentication import READ, SCOPES, WRITE, bearer, find_key
from memory.api.base import PersonRate
from memory.api.errors import refusal
from memory.api.requests import TurnCancel, TurnResume, TurnSend
from memory.errors import Refused
from memory.models import Forest, Turn
from memory.threads import in_thread

log = logging.getLogger(__name__)

FRAME_BYTES = 64 * 1024
RECHECK_SECONDS = 60.0
NOT_SIGNED_IN, NO_SCOPE, NOT_YOURS, TOO_LARGE, TRY_LATER = 4401, 4403, 4404, 1009, 1013
# These may come after a turn's numbering has expired and begun anew.
LATE = frozenset({"memory.refined", "state.changed", "state.removed"})


class ForestConsumer(AsyncWebsocketConsumer):
    """One page that watches one forest."""

    async def connect(self) -> None:
        await self.accept()  # first, or the browser never learns the close code
        self.last: dict[int, int] = {}
        self.forest_id: int = self.scope["url_route"]["kwargs"]["forest"]
        self.recheck: asyncio.Task[None] | None = None
        self.joined: list[str] = []
        if (refused := await in_thread(self._refused)) is not None:
            await self.close(refused)
            return
        try:
            for group in (messages.group(self.forest_id), messages.group_of_person(self.user.pk)):
                await self.channel_layer.group_add(group, self.channel_name)
                self.joined.append(group)
        except (redis.RedisError, OSError):
            await self._say_refused(errors.unavailable("Valkey isn't reachable: nothing arrives here by itself.", "Send turns and read them over REST."))
            await self.close(TRY_LATER)
            return
        if (refused := await in_thread(self._refused)) is not None:  # since the first look, before anybody could have told us
            await self.close(refused)
            return
        self.recheck = asyncio.create_task(self._recheck_forever())

    async def disconnect(self, code: int) -> None:
        if self.recheck is not None:
            self.recheck.cancel()
        with contextlib.suppress(redis.RedisError, OSError):
            for group in getattr(self, "joined", ()):
                await self.channel_layer.group_discard(group, self.channel_name)

    # --- Who it is

    def _refused(self) -> int | None:
        """Look anew who this is; the code to close with when they may not watch this forest."""
        self.user, self.scopes = self._identify()
        if self.user is None:
            return NOT_SIGNED_IN
        if READ not in self.scopes:
            return NO_SCOPE
        return NOT_YOURS if self._forest() is None else None

    def _identify(self) -> tuple[Any, set[str]]:
        """The person of the key or of the session, read anew, and what they may do; None for nobody."""
        key = bearer(dict(self.scope["headers"]).get(b"authorization", b""))
        if key is not None:
            row = find_key(key)
            return (row.owner, set(row.scopes)) if row else (None, set())
        session = self.scope.get("session")
        if session is None or session.session_key is None:
            return None, set()
        store = import_module(settings.SESSION_ENGINE).SessionStore(session.session_key)
        person = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
        return (person, set(SCOPES)) if person.is_authenticated and person.is_active else (None, set())

    def _forest(self) -> Forest | None:
        return Forest.objects.visible_to(self.user).filter(pk=self.forest_id).first() if self.forest_id < 2**63 else None

    async def _recheck_forever(self) -> None:
        """Who signed out, was shut out, or lost the forest, is gone within a minute, whatever became of the word that they should look."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            await self._recheck()

    async def _recheck(self) -> None:
        try:
            if (refused := await in_thread(self._refused)) is not None:
                await self.close(refused)
        except DatabaseError as error:
            log.warning("socket of forest %s: not rechecked (%s)", self.forest_id, type(error).__name__)

    # --- From the page

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.recheck is None:
            return  # refused; what was sent before the close arrived isn't looked at
        if text_data is None or len(text_data.encode("utf-8", "surrogatepass")) > FRAME_BYTES:
            await self.close(TOO_LARGE)
            return
        try:
            asked = json.loads(text_data)
        except (ValueError, RecursionError):
            await self._say_refused(errors.invalid("That isn't JSON.", "Send JSON objects as text frames."))
            return
        try:
            await self._do(asked)
        except Exception as error:
            problem = refusal(error)
            if problem is None:
                log.exception("socket of forest %s", self.forest_id)
            await self._say_refused(problem or errors.unavailable("Something went wrong on the server."))

    async def _do(self, asked: Any) -> None:
        kind = asked.get("type") if isinstance(asked, dict) else None
        match kind:
            case "turn.send":
                await self._send(asked)
            case "turn.cancel":
                if WRITE not in self.scopes:
                    raise errors.forbidden("This key may only read.", "Use a key with the scope write.")
                turn = await in_thread(self._turn, _checked(TurnCancel, asked)["turn"])
                await in_thread(cancel_turn, turn)
                generation.cancel(turn.pk)
            case "turn.resume":
                wanted = _checked(TurnResume, asked)
                turn = await in_thread(self._turn, wanted["turn"])
                await self._replay(turn.pk, wanted["after"])
            case _:
                raise errors.invalid("This kind of message isn't known.", "Send turn.send, turn.cancel or turn.resume.")

    async def _send(self, asked: dict[str, Any]) -> None:
        if WRITE not in self.scopes:
            raise errors.forbidden("This key may only read.", "Use a key with the scope write.")
        wanted = _checked(TurnSend, asked)
        received = await in_thread(self._received, wanted)
        if isinstance(received, dict):
            await self.send(text_data=json.dumps({"type": "forget.asked", "client_id": wanted["client_id"], "text": wanted["text"], **received}))
            return
        turn, created = received
        generation.kick(self.forest_id)
        if not created:  # sent again after a reconnect: the page hasn't seen what came of it
            await self._replay(turn.pk, 0)

    def _received(self, wanted: dict[str, Any]) -> tuple[Turn, bool] | dict[str, Any]:
        """The turn and whether it is new; or, for a text that asks to forget something, what is meant: it is written nowhere."""
        if not PersonRate().allow_request(SimpleNamespace(user=self.user), None):
            raise errors.too_many_requests()
        forest = self._forest()
        if forest is None:
            raise errors.unknown_forest()
        given = {name: value for name, value in wanted.items() if name != "as_turn"}
        found = None if wanted["as_turn"] else asked_to_forget(forest, wanted["text"], client_id=wanted["client_id"])
        return found or send_turn(forest, **given)

    def _turn(self, pk: int) -> Turn:
        turn = Turn.objects.visible_to(self.user).in_forest(self.forest_id).filter(pk=pk).first()
        if turn is None:
            raise errors.unknown_turn()
        return turn

    # --- To the page

    async def look_again(self, event: dict[str, Any]) -> None:
        """The forest went, or its person signed out or was shut out: somebody of those who hear this (`messages.look_again`)."""
        await self._recheck()

    async def forest_message(self, event: dict[str, Any]) -> None:
        """A message of the forest. One that pub/sub lost before it is fetched first; one already passed on isn't repeated."""
        message = event["message"]
        if message["turn"] is None:  # about the forest as a whole, without a number
            await self.send(text_data=json.dumps(message))
            return
        turn, seq = message["turn"], message["seq"]
        last = self.last.get(turn, 0)
        if seq == 1 and last > 1 and message["type"] in LATE:
            last = 0
        if seq <= last:
            return
        if last and seq > last + 1:
            try:
                await self._replay(turn, last, before=seq)
            except redis.RedisError as error:
                log.warning("turn %s: messages before %s are missing (%s)", turn, seq, type(error).__name__)
        await self._pass_on(message)

    async def _replay(self, turn: int, after: int, before: int | None = None) -> None:
        """Everything kept of the turn with `seq` > after (and < before)."""
        for message in await in_thread(messages.replay, turn, after):
            if before is None or message["seq"] < before:
                await self._pass_on(message)

    async def _pass_on(self, message: dict[str, Any]) -> None:
        self.last[message["turn"]] = message["seq"]
        await self.send(text_data=json.dumps(message))

    async def _say_refused(self, refused: Refused) -> None:
        await self.send(text_data=json.dumps({"type": "error", "code": refused.code, "message": refused.message, "action": refused.action}))


def _checked(serializer: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """A message's fields, validated. Raises Refused with the first problem in its words."""
    checked = serializer(data=asked)
    try:
        checked.is_valid(raise_exception=True)
    except ValidationError as error:
        refused = refusal(error)
        assert refused is not None
        problems = "; ".join(f"{name}: {' '.join(said)}" for name, said in (refused.fields or {}).items())
        raise errors.invalid(problems or refused.message, refused.action) from None
    return dict(checked.validated_data)
