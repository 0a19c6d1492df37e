"""Who answers: turns run on the event loop of this web process, apart from the socket that asked (DESIGN “Consistency” 5).

One generating turn a forest, held by the database: `claim` takes the oldest waiting one. Each running turn shows a sign of life every
second; any process that finds one without for ten marks it interrupted, so that a killed process leaves no turn that hangs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import uuid
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from memory import messages
from memory.llm.interface import IncompleteAnswerError, ModelError
from memory.llm.usage import counted
from memory.models import Forest, Turn
from memory.models.forest import Origin
from memory.store.write import TurnTakenError
from memory.threads import in_thread
from memory.turn import take_turn
from memory.voice import Voice

log = logging.getLogger(__name__)

PROCESS = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
HEARTBEAT_SECONDS = 1.0
SWEEP_SECONDS = 5.0
# Seconds that a stopping process gives its answers to end by themselves.
DRAIN_SECONDS = 20.0
_SWEEP_LOCK = 0x41_72_62_6F  # any number, the same in every process

_loop: asyncio.AbstractEventLoop | None = None
_running: dict[int, asyncio.Task[None]] = {}
_background: set[asyncio.Task[None]] = set()
_stopping = False


async def startup() -> None:
    """Begin to answer on this event loop; called once when the web process starts."""
    global _loop, _stopping
    _loop, _stopping = asyncio.get_running_loop(), False
    _spawn(_sweep_forever())


async def shutdown() -> None:
    """Take no more turns, let the running ones end within DRAIN_SECONDS, mark the rest interrupted."""
    global _stopping
    _stopping = True
    for task in _background - set(_running.values()):
        task.cancel()
    if _running:
        await asyncio.wait(list(_running.values()), timeout=DRAIN_SECONDS)
    for task in list(_running.values()):
        task.cancel()
    await asyncio.gather(*_running.values(), return_exceptions=True)


def kick(forest_id: int) -> None:
    """Start the next waiting turn of a forest, if none is being answered; from any thread. Without an event loop here (a command, a test) the
    sweep of a web process takes it up."""
    if _loop is not None and not _stopping:
        _loop.call_soon_threadsafe(lambda: _spawn(_advance(forest_id)))


def cancel(turn_id: int) -> None:
    """Stop a turn at once when it runs here; elsewhere its process notices at the next heartbeat."""
    task = _running.get(turn_id)
    if task is not None and _loop is not None:
        _loop.call_soon_threadsafe(task.cancel)


def _spawn(coroutine: object) -> asyncio.Task[None]:
    task: asyncio.Task[None] = asyncio.ensure_future(coroutine)  # type: ignore[call-overload]
    _background.add(task)
    task.add_done_callback(_background.discard)
    return task


# --- Claiming ---------------------------------------------------------------------------------------------------------


def _unanswered() -> QuerySet[Turn]:
    """Turns that wait for an answer. A given interaction brings its own, and is only on its way into memory."""
    return Turn.objects.filter(status__in=Turn.WAITING, generator="", origin=Origin.CHAT)


def claim(forest_id: int, generator: str) -> tuple[Turn | None, list[tuple[int, str, int]]]:
    """The oldest waiting turn, now ours, or None; and (turn, client id, turns ahead) of those that have just been put in line."""
    with transaction.atomic():
        if Forest.objects.select_for_update().filter(pk=forest_id).first() is None:
            return None, []
        waiting = list(_unanswered().filter(forest_id=forest_id).order_by("pk"))
        busy = Turn.objects.in_forest(forest_id).exclude(generator="").exists()
        mine = None if busy or not waiting else waiting.pop(0)
        if mine is not None:
            mine.generator, mine.heartbeat_at = generator, timezone.now()
            mine.save(update_fields=["generator", "heartbeat_at"])
        newly = [(turn.pk, turn.client_id, ahead) for ahead, turn in enumerate(waiting, 1) if turn.status == Turn.Status.RECEIVED]
        Turn.objects.filter(pk__in=[pk for pk, _, _ in newly]).update(status=Turn.Status.QUEUED)
    return mine, newly


async def _advance(forest_id: int) -> None:
    turn, queued = await in_thread(claim, forest_id, PROCESS)
    for turn_id, client_id, ahead in queued:
        await messages.apublish(forest_id, turn_id, "turn.queued", {"client_id": client_id, "ahead": ahead})
    if turn is not None:
        task = _spawn(_generate(turn))
        _running[turn.pk] = task
        await asyncio.gather(task, return_exceptions=True)
        if not _stopping:
            _spawn(_advance(forest_id))


async def _generate(turn: Turn) -> None:
    voice = Voice(turn)
    pulse = asyncio.create_task(_pulse(turn, voice, asyncio.current_task()))
    try:
        with counted(voice.spent):
            await take_turn(turn, voice)
    except asyncio.CancelledError:
        told = ("interrupted", "The server was stopped while it answered.") if _stopping else ("cancelled", "You stopped this answer.")
        await _to_its_end(voice.broken(*told))
    except TurnTakenError:  # stopped or swept while the answer was on its way into memory
        await _to_its_end(voice.broken("cancelled", "You stopped this answer."))
    except ModelError as error:  # told in our own words: nothing of it is for the log
        log.warning("turn %s: %s", turn.pk, error.code)
        cut_short = isinstance(error, IncompleteAnswerError)
        await _to_its_end(voice.broken("interrupted" if cut_short else "failed", error.message, code=error.code, action=error.action))
    except Exception as error:  # whatever broke: the turn says so, and can be tried again
        log.exception("turn %s failed", turn.pk)
        await _to_its_end(voice.broken("failed", f"The answer could not be finished ({type(error).__name__})."))
    finally:
        pulse.cancel()
        _running.pop(turn.pk, None)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await what tells of the end of a turn, however often its task is cancelled meanwhile: the pulse of a stopped turn may find out beside its sender."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


async def _pulse(turn: Turn, voice: Voice, task: asyncio.Task[None] | None) -> None:
    """Every second: a sign of life, and the part written so far. When the turn is no longer ours (stopped, swept), end it."""
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        try:
            ours = await in_thread(_beat, turn.pk, PROCESS, voice.text, voice.seq)
        except DatabaseError as error:
            log.warning("turn %s: no heartbeat, the database does not answer (%s)", turn.pk, type(error).__name__)
            continue
        if not ours and task is not None and not voice.committing:
            task.cancel()
            return


def _beat(turn_id: int, generator: str, partial: str, seq: int) -> bool:
    return bool(Turn.objects.filter(pk=turn_id, generator=generator).update(heartbeat_at=timezone.now(), partial=partial, seq=seq))


# --- Sweeping ---------------------------------------------------------------------------------------------------------


def sweep() -> tuple[list[tuple[int, int]], list[int]]:
    """Mark turns without a sign of life interrupted. Returns (forest, turn) of those, and the forests where a turn waits."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_SWEEP_LOCK])
        if not cursor.fetchone()[0]:
            return [], []
        stale = timezone.now() - timedelta(seconds=settings.TURN_STALE_SECONDS)
        dead = list(Turn.objects.select_for_update(skip_locked=True).exclude(generator="").filter(heartbeat_at__lt=stale))
        for turn in dead:
            turn.status, turn.generator, turn.heartbeat_at = Turn.Status.INTERRUPTED, "", None
            turn.error = {
                "code": "interrupted",
                "message": "The process that wrote this answer ended before it was done.",
                "action": "Try again, keep the part, or drop it.",
            }
            turn.save(update_fields=["status", "generator", "heartbeat_at", "error"])
        waiting = _unanswered().values_list("forest_id", flat=True).distinct()
        return [(turn.forest_id, turn.pk) for turn in dead], list(waiting)


def _tell_interrupted(forest_id: int, turn_id: int) -> None:
    error = {"code": "interrupted", "message": "The process that wrote this answer ended before it was done.", "action": "Try again."}
    with messages.held(forest_id):
        for part in Turn.objects.filter(pk=turn_id).values_list("partial", flat=True):
            messages.publish(forest_id, turn_id, "turn.interrupted", {"error": error, "partial": part})


async def _sweep_forever() -> None:
    while True:
        try:
            dead, waiting = await in_thread(sweep)
            for forest_id, turn_id in dead:
                await in_thread(_tell_interrupted, forest_id, turn_id)
            for forest_id in waiting:
                _spawn(_advance(forest_id))
        except DatabaseError as error:
            log.warning("no sweep, the database does not answer (%s)", type(error).__name__)
        await asyncio.sleep(SWEEP_SECONDS)
