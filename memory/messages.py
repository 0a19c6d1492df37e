"""What a turn tells the pages that watch it: numbered messages, kept for a while in Valkey, passed on at once by the channel layer.

A socket that missed some asks for what came after the last `seq` it saw; pub/sub itself is at most once.
Valkey being down never stops a turn: the message is lost, the log says so, and the page reads the turn over REST.
What is read from rows to be published is read and published while the forest is `held`, or a deletion in between would be followed by what it deleted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from memory.models import Forest

log = logging.getLogger(__name__)

STREAM_SECONDS = 3600
STREAM_LENGTH = 4000
# How long a Valkey that didn't answer in time isn't asked again: an answer must not wait for it word by word.
HANGS_SECONDS = 5.0
_hangs_until = 0.0
# One step, so that two processes never give the same number: count, append, keep for a while.
_APPEND = """
local seq = redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '0-' .. seq, 'm', ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return seq
"""


@cache
def client() -> redis.Redis:
    """This process's connection pool to Valkey; every call has a hard timeout."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=1)


def _prefix() -> str:
    return str(settings.REDIS_PREFIX)


def _keys(turn_id: int) -> tuple[str, str]:
    return f"{_prefix()}:turn:{turn_id}:seq", f"{_prefix()}:turn:{turn_id}:messages"


def group(forest_id: int) -> str:
    """Name of the channel group of everyone who watches a forest."""
    return f"forest.{forest_id}"


def group_of_person(person_id: int) -> str:
    """Name of the channel group of every socket of a person, whatever it watches."""
    return f"person.{person_id}"


def look_again(group_name: str) -> None:
    """Have the sockets of a group find out at once whether they may still listen: those of a forest that went, of somebody who was shut out.

    Without Valkey they do within a minute (`consumers.RECHECK_SECONDS`)."""
    try:
        async_to_sync(_send)(group_name, {"type": "look.again"})
    except (redis.RedisError, OSError, TimeoutError) as error:
        log.warning("the sockets of %s look again within a minute only, Valkey does not answer (%s)", group_name, type(error).__name__)


def _append(turn_id: int, body: dict[str, Any]) -> int | None:
    global _hangs_until
    if time.monotonic() < _hangs_until:
        return None
    try:
        seq = client().eval(_APPEND, 2, *_keys(turn_id), json.dumps(body, cls=DjangoJSONEncoder), STREAM_SECONDS, STREAM_LENGTH)
    except redis.RedisError as error:
        if isinstance(error, redis.TimeoutError):
            _hangs_until = time.monotonic() + HANGS_SECONDS
        log.warning("turn %s: message %s not kept, Valkey does not answer (%s)", turn_id, body["type"], type(error).__name__)
        return None
    return int(seq)


async def apublish(forest_id: int, turn_id: int, kind: str, payload: dict[str, Any]) -> int | None:
    """Number a message, keep it, and send it to all who watch the forest. Returns its `seq`, None when Valkey is down."""
    body = {"type": kind, "turn": turn_id, **payload}
    seq = await asyncio.get_running_loop().run_in_executor(None, _append, turn_id, body)
    if seq is None:
        return None
    message = json.loads(json.dumps({**body, "seq": seq}, cls=DjangoJSONEncoder))
    try:
        await _pass_on(forest_id, message)
    except (redis.RedisError, OSError, TimeoutError) as error:
        log.warning("turn %s: message %s kept but not passed on (%s)", turn_id, kind, type(error).__name__)
    return seq


@contextmanager
def held(forest_id: int) -> Iterator[bool]:
    """Nothing of the forest is deleted meanwhile, so that what is read inside may be published; False when the forest is gone.

    A deletion waits for it, and drops what was published when it has committed. Keep it short: whatever writes to the forest waits."""
    with transaction.atomic():
        yield Forest.objects.select_for_update(no_key=True).filter(pk=forest_id).values_list("pk", flat=True).first() is not None


def publish(forest_id: int, turn_id: int, kind: str, payload: dict[str, Any]) -> int | None:
    """`apublish` for code without an event loop: the worker, actions, commands."""
    return async_to_sync(apublish)(forest_id, turn_id, kind, payload)


def announce(forest_id: int, kind: str, payload: dict[str, Any]) -> None:
    """Send something about the forest as a whole to all who watch it now. It belongs to no turn (`turn` null), has no number and isn't kept."""
    message = json.loads(json.dumps({"type": kind, "turn": None, **payload}, cls=DjangoJSONEncoder))
    try:
        async_to_sync(_pass_on)(forest_id, message)
    except (redis.RedisError, OSError, TimeoutError) as error:
        log.warning("forest %s: message %s not passed on (%s)", forest_id, kind, type(error).__name__)


async def _pass_on(forest_id: int, message: dict[str, Any]) -> None:
    await _send(group(forest_id), {"type": "forest.message", "message": message})


async def _send(group_name: str, event: dict[str, Any]) -> None:
    await asyncio.wait_for(get_channel_layer().group_send(group_name, event), 2)


def replay(turn_id: int, after: int) -> list[dict[str, Any]]:
    """Every kept message of a turn with `seq` > after, in order. Raises redis.RedisError when Valkey is down."""
    entries: Any = client().xrange(_keys(turn_id)[1], min=f"0-{after + 1}")
    return [{**json.loads(fields[b"m"]), "seq": int(identity.split(b"-")[1])} for identity, fields in entries]


def number(turn_id: int, at_least: int) -> int:
    """The number of the turn's last message. What was kept may have expired: then numbering goes on after `at_least`, so that pages don't take
    what comes next for old. Without Valkey it is `at_least` itself."""
    key = _keys(turn_id)[0]
    try:
        client().set(key, at_least, nx=True, ex=STREAM_SECONDS)
        kept: Any = client().get(key)
    except redis.RedisError as error:
        log.warning("turn %s: its last number isn't known, Valkey does not answer (%s)", turn_id, type(error).__name__)
        return at_least
    return int(kept or at_least)


def forget(turn_ids: list[int]) -> None:
    """Drop what is kept of these turns. Raises redis.RedisError when Valkey is down: a deletion must not pretend."""
    if turn_ids:
        client().delete(*[key for turn_id in turn_ids for key in _keys(turn_id)])


def rewrite_log() -> None:
    """Have Valkey write its append-only file anew, without what was dropped, if it keeps one and we may ask. Raises redis.RedisError."""
    try:
        if int(client().info("persistence").get("aof_enabled", 0)):
            client().bgrewriteaof()
    except redis.ResponseError as error:  # one is under way already, or the user of this connection may not
        log.info("Valkey didn't rewrite its append-only file (%s)", error)


def purge(turn_ids: list[int]) -> None:
    """Drop the kept messages of these turns; their numbering goes on, so that pages don't take what comes next for old. Raises redis.RedisError."""
    if turn_ids:
        client().delete(*[_keys(turn_id)[1] for turn_id in turn_ids])
