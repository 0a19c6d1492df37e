"""The same done to many rows, one after the other, each through the action that the page takes: retract, delete, extract again, embed anew.

A row and the count of rows done are written in one transaction, so that a delivery twice, or a worker killed and replaced, does each row once.
What manages its own transactions (embedding anew) can be begun again instead. What was done before a cancellation stays.
"""

from __future__ import annotations

import logging
import os
import socket
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import redis
from django.contrib.auth import get_user_model
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Model, Q
from django.utils import timezone

from memory import steps
from memory.actions import reembed
from memory.actions.cancel_job import cancel_job
from memory.actions.delete_person import delete_person
from memory.actions.forget import delete_forest, delete_state
from memory.actions.forget_item import delete_item
from memory.actions.publish_outbox import send
from memory.actions.refine_again import refine_again
from memory.actions.revise import revise
from memory.errors import Refused, conflict, forbidden, invalid
from memory.llm.interface import ModelError
from memory.models import EVIDENCE_MODELS, AuditEntry, Bulk, Forest, InteractionState, Job, StateVector
from memory.present.states import item_used_by, used_by
from memory.store.jobs import CancelledError
from memory.threads import pulse

log = logging.getLogger(__name__)

TASK = "memory.tasks.bulk"
MOST = 10_000
PREVIEWED = 50
# Consequences in a large forest take their time; whoever asks waits no longer than this and one row more.
PREVIEW_SECONDS = 3.0
REFUSED_KEPT = 200
STALE_SECONDS = 30
BEAT_SECONDS = 5.0
Preview = dict[str, Any]


class _LostError(Exception):
    """Another process does this bulk job now, or it is gone."""


class _AwayError(Exception):
    """A service is away: nothing was done to this row, and whoever sweeps begins again there."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to each row. `do` takes (row, by, beat) and may call `beat`, which raises CancelledError; `preview` takes (row, by) and changes nothing.

    `alone`: it commits as it goes, and begun again it does what is left."""

    do: Callable[[Any, Any, Callable[[], None]], None]
    preview: Callable[[Any, Any], Preview]
    alone: bool = False


def _revise(what: str) -> Step:
    def look(row: Any, by: Any) -> Preview:
        found = item_used_by(row)
        return {"counts": {"used_by": len(found)}, "used_by": found}

    return Step(lambda row, by, beat: _nothing(revise(row, what, by)), look)


def _nothing(_: object) -> None:
    """Whatever an action answers, a bulk job counts."""


def _reembed(row: Forest, by: Any, beat: Callable[[], None]) -> None:
    """All at once at the end, as `reembed.run` does it; cancelled with the bulk job."""
    if steps.fits(row):
        raise conflict("It is built with this embedder already.", "There is nothing to do.")
    job = reembed.begin(row, queue=False)

    def told(done: int, total: int) -> None:
        try:
            beat()
        except CancelledError:
            cancel_job(job, by)
            raise

    after = reembed.run(job.pk, told)
    beat()
    if after is None:
        raise conflict("Another process works on this forest.", "Try it again when that is done.")
    if after.status != Job.Status.DONE:
        raise conflict((after.error or {}).get("message") or after.message, "Its job says more.")


def _taught(row: InteractionState, by: Any) -> Preview:
    counts = {f"{kind}s": model.objects.in_forest(row.forest_id).filter(sources__contains=[row.pk]).count() for kind, model in EVIDENCE_MODELS.items()}
    return {"counts": counts, "used_by": used_by(row)}


def _delete_person(row: Any, by: Any, *, preview: bool = False) -> Preview:
    if row.pk == by.pk:  # this job is theirs, and would go with them
        raise conflict("You can't delete yourself here.", "Delete your account on the page.")
    return delete_person(row, by, preview=preview)


def _delete_state(mode: Any) -> Step:
    return Step(lambda row, by, beat: _nothing(delete_state(row, mode, by)), lambda row, by: delete_state(row, mode, by, preview=True))


STEPS: dict[tuple[str, str], Step] = {
    **{(what, kind): _revise(what) for what in ("retract", "restore", "quarantine", "pin", "unpin") for kind in EVIDENCE_MODELS},
    **{
        ("delete", kind): Step(lambda row, by, beat: _nothing(delete_item(row, by)), lambda row, by: delete_item(row, by, preview=True))
        for kind in EVIDENCE_MODELS
    },
    ("delete", "state"): _delete_state("children_to_parent"),
    ("delete-below", "state"): _delete_state("with_children"),
    ("delete", "forest"): Step(lambda row, by, beat: _nothing(delete_forest(row, by)), lambda row, by: delete_forest(row, by, preview=True)),
    ("delete", "person"): Step(lambda row, by, beat: _nothing(_delete_person(row, by)), lambda row, by: _delete_person(row, by, preview=True)),
    ("re-extract", "state"): Step(lambda row, by, beat: refine_again(row, by), _taught),
    ("reembed", "forest"): Step(_reembed, lambda row, by: {"counts": {"vectors": StateVector.objects.in_forest(row).count()}}, alone=True),
}


def model_of(target: str) -> type[Model]:
    """The table of a kind of row."""
    others: dict[str, type[Model]] = {"state": InteractionState, "forest": Forest, "person": get_user_model()}
    return others.get(target) or EVIDENCE_MODELS[target]


def preview(action: str, target: str, ids: Sequence[int], by: Any) -> list[tuple[Any, Preview]]:
    """The first rows and what would become of each: `counts`, `used_by`, or `refused` with the words. Changes nothing.

    At most PREVIEWED of them, and those that are worked out within PREVIEW_SECONDS."""
    step = STEPS[action, target]
    rows = model_of(target)._default_manager.in_bulk(list(ids[:PREVIEWED]))
    found: list[tuple[Any, Preview]] = []
    ends = time.monotonic() + PREVIEW_SECONDS
    for pk in ids[:PREVIEWED]:
        if time.monotonic() > ends:
            break
        if pk in rows:
            try:
                found.append((rows[pk], step.preview(rows[pk], by)))
            except Refused as refused:
                found.append((rows[pk], {"refused": refused.message}))
    return found


def begin(action: str, target: str, ids: Sequence[int], by: Any, key: str | None = None) -> Bulk:
    """Write the job down and hand it to the worker; with the `key` of one that was begun it is that one. Raises Refused for too many rows, or none."""
    if (action, target) not in STEPS:
        raise invalid("This can't be done to such rows.")
    if not 0 < len(ids) <= MOST:
        raise invalid(f"A bulk job takes 1 to {MOST:,} rows.", "Narrow the choice down.")
    _check(by)
    with transaction.atomic():
        defaults = {"owner": by, "action": action, "target": target, "ids": list(ids), "message": "Waiting for the worker"}
        bulk, created = Bulk.objects.get_or_create(key=key or uuid.uuid4().hex, defaults=defaults)
        if created:
            AuditEntry.objects.create(actor=by, action=f"bulk_{action}", subject=f"bulk {bulk.pk}", counts={target: len(ids)})
            transaction.on_commit(partial(send, TASK, bulk.pk))
    return bulk


def _check(by: Any) -> None:
    if not (by.is_active and by.is_superuser):
        raise forbidden("Only an administrator may do this.", "Ask one.")


def unfinished() -> list[int]:
    """Bulk jobs that nobody works on: not handed over, or left by a killed worker."""
    now = timezone.now()
    open_now = Bulk.objects.filter(status__in=(Job.Status.WAITING, Job.Status.RUNNING))
    left = open_now.filter(Q(heartbeat_at__lt=now - timedelta(seconds=STALE_SECONDS)) | Q(heartbeat_at=None, created_at__lt=now - timedelta(seconds=5)))
    found = list(left.order_by("pk").values_list("pk", flat=True)[:20])
    Bulk.objects.filter(pk__in=found).update(holder="", heartbeat_at=now)  # so that the next sweep doesn't tell of them again
    return found


def run(bulk_id: int) -> None:
    """Do the job, or go on with it; nothing happens when it is over, gone, or another process does it."""
    bulk = _claim(bulk_id)
    if bulk is None:
        return
    step = STEPS[bulk.action, bulk.target]
    try:
        with pulse(partial(_beat, bulk), BEAT_SECONDS, f"bulk job {bulk.pk}"):  # also while one row takes long
            while bulk.done < bulk.total:
                _next(bulk, step)
        _end(bulk, Job.Status.DONE, "Done")
    except Refused as refused:
        _end(bulk, Job.Status.FAILED, refused.message)
    except CancelledError:
        _end(bulk, Job.Status.CANCELLED, "Cancelled")
    except _LostError:
        log.info("bulk job %s: another process does it, or it is gone", bulk_id)
    except _AwayError as error:
        log.warning("bulk job %s waits at %s: %s", bulk_id, bulk.done, error)


def _claim(bulk_id: int) -> Bulk | None:
    """Take the job's row, unless someone who is alive holds it."""
    holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    now = timezone.now()
    free = Q(holder="") | Q(heartbeat_at__isnull=True) | Q(heartbeat_at__lt=now - timedelta(seconds=STALE_SECONDS))
    mine = Bulk.objects.filter(free, pk=bulk_id, status__in=(Job.Status.WAITING, Job.Status.RUNNING))
    if not mine.update(holder=holder, heartbeat_at=now, status=Job.Status.RUNNING, message="", updated_at=now):
        return None
    return Bulk.objects.select_related("owner").get(pk=bulk_id)


def _beat(bulk: Bulk) -> None:
    Bulk.objects.filter(pk=bulk.pk, holder=bulk.holder).update(heartbeat_at=timezone.now())


def _next(bulk: Bulk, step: Step) -> None:
    """The next row, and that it was done: together, but for a step that commits by itself. Raises Refused when its owner is no administrator any more."""
    _check(get_user_model().objects.get(pk=bulk.owner_id))
    if step.alone:
        _still(bulk)
        outcome = _do(bulk, step)
        with transaction.atomic():
            _advance(bulk, *outcome)
    else:
        with transaction.atomic():
            _advance(bulk, *_do(bulk, step))


def _do(bulk: Bulk, step: Step) -> tuple[str, dict[str, Any] | None]:
    """What became of the row: done, gone, refused or failed; and why not."""
    pk = bulk.ids[bulk.done]
    row = model_of(bulk.target)._default_manager.filter(pk=pk).first()
    if row is None:
        return "gone", None
    try:
        if step.alone:
            step.do(row, bulk.owner, partial(_still, bulk))
        else:
            with transaction.atomic():  # what is refused midway leaves nothing of this row, and the count can still be written
                step.do(row, bulk.owner, partial(_still, bulk))
    except Refused as refused:
        if refused.status == 503:
            raise _AwayError(refused.message) from None
        return "refused", {"id": pk, "code": refused.code, "message": refused.message}
    except ModelError as error:
        return "refused", {"id": pk, "code": error.code, "message": error.message}
    except (OperationalError, InterfaceError, redis.RedisError) as error:
        raise _AwayError(type(error).__name__) from None
    except (CancelledError, _LostError):
        raise
    except Exception as error:
        # Never the error's own words: a database quotes the row.
        log.error("bulk job %s, row %s: %s\n%s", bulk.pk, pk, type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        return "failed", {"id": pk, "code": "failed", "message": f"Something failed ({type(error).__name__}); nothing was done to it."}
    return "done", None


def _advance(bulk: Bulk, outcome: str, why: dict[str, Any] | None) -> None:
    counts = {**bulk.counts, outcome: bulk.counts.get(outcome, 0) + 1}
    refused = [*bulk.refused, why] if why and len(bulk.refused) < REFUSED_KEPT else bulk.refused
    now = timezone.now()
    mine = Bulk.objects.filter(pk=bulk.pk, holder=bulk.holder, status=Job.Status.RUNNING, done=bulk.done)
    if not mine.update(done=bulk.done + 1, counts=counts, refused=refused, heartbeat_at=now, updated_at=now):
        _still(bulk)
        raise _LostError
    bulk.done, bulk.counts, bulk.refused = bulk.done + 1, counts, refused


def _still(bulk: Bulk) -> None:
    """Raises CancelledError when it was cancelled, _LostError when another process does it or it is gone."""
    found = Bulk.objects.filter(pk=bulk.pk).values_list("status", "holder").first()
    if found is None:
        raise _LostError
    status, holder = found
    if status == Job.Status.CANCELLED:
        raise CancelledError
    if (status, holder) != (Job.Status.RUNNING, bulk.holder):
        raise _LostError


def _end(bulk: Bulk, status: str, word: str) -> None:
    """The last word: how many of how many, and what became of the others."""
    parts = [f"{word}: {bulk.counts.get('done', 0):,} of {bulk.total:,}"]
    said = {"refused": "refused", "gone": "gone before", "failed": "failed"}
    parts += [f"{bulk.counts[outcome]:,} {words}" for outcome, words in said.items() if bulk.counts.get(outcome)]
    mine = Bulk.objects.filter(pk=bulk.pk, holder=bulk.holder, status__in=(Job.Status.RUNNING, status))
    mine.update(status=status, message=", ".join(parts)[:300], holder="", updated_at=timezone.now())
