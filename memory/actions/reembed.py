"""Move a forest to the embedder of this server (R4): new vectors are written beside the old ones, and take their place all at once, at the end.

Until then the forest keeps its pin and is refused as before, never mixed. A run that was killed or failed goes on where it was: what is there
already for the same embedder isn't embedded again.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from memory import steps
from memory.actions import index_pieces, structure
from memory.errors import conflict
from memory.llm.embed import embedder
from memory.llm.interface import ModelError
from memory.models import Forest, InteractionState, Job, NewVector, Outbox, PieceVector, StateVector
from memory.store import jobs, texts
from memory.store import refine as leases
from memory.store.recall import half

log = logging.getLogger(__name__)

KIND = "reembed"
BATCH = 32
# What ends a job for good; one that failed is begun again.
GONE = (Job.Status.DONE, Job.Status.CANCELLED)


class _LostError(Exception):
    """Another process works on this forest now."""


def begin(forest: Forest, *, queue: bool = True) -> Job:
    """The forest's job: the one under way or broken off, else a new one; `queue` leaves it to the worker. Raises Refused when there is nothing to do."""
    if steps.fits(forest):
        raise conflict(f"This forest is built with {forest.embedder} already.", "Set EMBEDDINGS_MODEL to another embedder first.")
    with transaction.atomic():
        Forest.objects.select_for_update().only("pk").get(pk=forest.pk)
        job = Job.objects.in_forest(forest).filter(kind=KIND).exclude(status__in=GONE).first()
        if job is None:
            job = Job.objects.create(forest=forest, kind=KIND, message="Waiting for the worker", total=StateVector.objects.in_forest(forest).count())
        if queue:
            Outbox.objects.create(forest=forest, kind=KIND, subject=job.pk)
    return job


def run(job_id: int, told: Callable[[int, int], None] = lambda done, total: None) -> Job | None:
    """Do the job, or go on with it; None when it is done, cancelled, gone, or another process does it. `told` hears (done, total) after each batch."""
    job = Job.objects.select_related("forest").filter(pk=job_id, kind=KIND).exclude(status__in=GONE).first()
    if job is None or steps.fits(job.forest):  # a process that still has the old embedder must not work against it
        return None
    token = leases.take_lease(job.forest_id, f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}:{uuid.uuid4().hex[:6]}")
    if token is None:
        return None
    try:
        jobs.report(job.pk, status=Job.Status.RUNNING, message=f"Embedding with {embedder().identity}"[:300], error=None)
        _embed_all(job, token, told)
    except jobs.CancelledError:
        done = NewVector.objects.in_forest(job.forest_id).count()
        jobs.last_words(job.pk, f"Cancelled: {done:,} of {job.total:,} embedded and kept aside; the forest is as it was", done=done)
    except (_LostError, Job.DoesNotExist):
        log.info("forest %s: another process re-embeds it", job.forest_id)
        return None
    except Exception as error:
        known = isinstance(error, ModelError)
        told_as = {"code": error.code, "message": error.message, "action": error.action} if isinstance(error, ModelError) else _unknown(error)
        Job.objects.filter(pk=job.pk).exclude(status=Job.Status.CANCELLED).update(
            status=Job.Status.FAILED, error=told_as, message="Stopped", updated_at=timezone.now()
        )
        if not known:
            raise
        log.warning("forest %s: re-embedding stopped: %s", job.forest_id, told_as["code"])
    finally:
        leases.release(job.forest_id, token)
    job.refresh_from_db()
    return job


def _unknown(error: Exception) -> dict[str, str]:
    return {"code": "failed", "message": f"Re-embedding stopped ({type(error).__name__}).", "action": "Start it again: it goes on where it was."}


def _embed_all(job: Job, token: int, told: Callable[[int, int], None]) -> None:
    here = embedder()
    pin = here.weights_hash
    NewVector.objects.in_forest(job.forest_id).exclude(pin=pin).delete()
    while True:
        waiting = list(StateVector.objects.in_forest(job.forest_id).filter(new__isnull=True).order_by("pk")[:BATCH])
        if not waiting:
            if _switch(job, token, here.identity, here.dimensions, pin):
                return
            continue
        jobs.report(job.pk)  # cancelled, nothing more is sent to an endpoint
        states = InteractionState.objects.filter(pk__in={row.state_id for row in waiting})
        said = dict(texts.embedded(states))
        kept = [row for row in waiting if (row.state_id, row.kind, row.item) in said]
        # What it embedded is gone (or never kept): such a vector can't be made anew, and nothing can be found by it.
        StateVector.objects.filter(pk__in=[row.pk for row in waiting if row not in kept]).delete()
        vectors = here.embed([said[row.state_id, row.kind, row.item] for row in kept])
        if not leases.beat(job.forest_id, token):
            raise _LostError
        rows = [NewVector(forest_id=job.forest_id, replaces=row, pin=pin, vector=half(vector)) for row, vector in zip(kept, vectors, strict=True)]
        with transaction.atomic():
            # Locked against a deletion, a redaction or a refinement meanwhile: only what still stands is kept, and of the text that was embedded.
            Forest.objects.select_for_update(no_key=True).filter(pk=job.forest_id).first()
            there = set(StateVector.objects.select_for_update().filter(pk__in=[row.pk for row in kept]).values_list("pk", flat=True))
            now = dict(texts.embedded(InteractionState.objects.filter(pk__in={row.state_id for row in kept})))
            same = {row.pk for row in kept if now.get(key := (row.state_id, row.kind, row.item)) == said[key]}
            NewVector.objects.bulk_create([row for row in rows if row.replaces_id in there & same])
        done, total = NewVector.objects.in_forest(job.forest_id).count(), StateVector.objects.in_forest(job.forest_id).count()
        job.total = total
        jobs.report(job.pk, done=done, total=total)
        told(done, total)


def _switch(job: Job, token: int, identity: str, dimensions: int, pin: str) -> bool:
    """All new vectors in the old ones' place and the forest on its new pin, in one transaction; False when a vector came in between."""
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=job.forest_id)
        if not leases.beat(forest.pk, token):
            raise _LostError
        if StateVector.objects.in_forest(forest).filter(new__isnull=True).exists():
            return False
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE memory_statevector v SET vector = n.vector FROM memory_newvector n WHERE n.replaces_id = v.id AND v.forest_id = %s", [forest.pk]
            )
            moved = cursor.rowcount
        NewVector.objects.in_forest(forest).delete()
        PieceVector.objects.in_forest(forest).delete()  # the worker makes them anew: until then branches are ranked by whole turns
        index_pieces.order(forest)
        before = forest.embedder
        Forest.objects.filter(pk=forest.pk).update(embedder=identity, dimensions=dimensions, weights_hash=pin, version=F("version") + 1)
        jobs.report(job.pk, status=Job.Status.DONE, done=moved, total=moved, message=f"{before} → {identity}"[:300], error=None)
        # Turns that waited for it are refined from here on.
        if InteractionState.objects.in_forest(forest).filter(leases.pending()).exists():
            Outbox.objects.create(forest=forest, kind="refine")
        structure.audit(forest, None, KIND, f"forest {forest.pk}", {"vectors": moved})
    return True
