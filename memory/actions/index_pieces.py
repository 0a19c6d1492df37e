"""Give the states of a forest the vectors of their pieces, where these are missing: after an upgrade, a restore, a move to another embedder.

A state without them is ranked by the vector of its turn; so the latest come first. What is derived of a text that is read anew comes with that reading.
It is a job: one worker does it, and while the embedder is away, or this server has another one, it stays open and a sweep takes it up again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memory import steps
from memory.engine import pieces
from memory.llm.embed import embedder
from memory.llm.interface import ModelError
from memory.models import Forest, InteractionState, Job, Outbox, PieceVector
from memory.store import jobs
from memory.store.recall import half
from memory.threads import pulse

log = logging.getLogger(__name__)

KIND = "pieces"
BATCH = 16


def order(forest: Forest) -> Job:
    """Leave it to the worker, from the latest state on, in place of an order that isn't done yet."""
    with transaction.atomic():
        before = Job.objects.in_forest(forest).filter(kind=KIND, status__in=jobs.OPEN)
        before.update(status=Job.Status.CANCELLED, message="Begun anew", updated_at=timezone.now())
        job = Job.objects.create(forest=forest, kind=KIND, message="Waiting for the worker", total=_waiting(forest).count())
        Outbox.objects.create(forest=forest, kind=KIND, subject=job.pk)
    return job


def run(job_id: int) -> None:
    """Do the job, unless another worker does it. What stops it on the way leaves it open: `jobs.left` finds it again."""
    if not jobs.claim(job_id, KIND) or (job := Job.objects.select_related("forest").filter(pk=job_id).first()) is None:
        return
    if not steps.fits(job.forest):
        _put_off(job, "Waiting for the embedder this forest was built with", None)
        return
    try:
        with pulse(partial(jobs.alive, job.pk), jobs.BEAT_SECONDS, f"job {job.pk}"):
            done = index_pieces(job.forest_id, lambda number: jobs.report(job.pk, done=number, message="Embedding what was said", error=None))
            jobs.report(job.pk, status=Job.Status.DONE, done=done, total=done, message=f"{done:,} turns indexed", error=None)
    except jobs.CancelledError:
        log.info("job %s: cancelled, or begun anew", job_id)
    except Job.DoesNotExist:
        log.info("job %s: its forest is gone", job_id)
    except ModelError as error:
        log.warning("job %s: put off: %s", job_id, error.code)
        _put_off(job, "Waiting for the embedder", {"code": error.code, "message": error.message, "action": error.action})


def _put_off(job: Job, message: str, error: dict[str, str] | None) -> None:
    Job.objects.filter(pk=job.pk, status__in=jobs.OPEN).update(status=Job.Status.WAITING, message=message, error=error, updated_at=timezone.now())


def index_pieces(forest_id: int, told: Callable[[int], None] = lambda done: None) -> int:
    """Index every refined state of the forest that has no piece, latest first; how many were looked at. Goes on after a kill; twice changes nothing.

    `told` is called in the transaction of each batch, with how many there were so far. Raises ModelError."""
    forest = Forest.objects.filter(pk=forest_id).first()
    if forest is None or not steps.fits(forest):
        return 0
    waiting = _waiting(forest)
    done, before = 0, forest.last_position + 1
    while states := list(waiting.filter(position__lt=before).order_by("-position").only("pk", "position", "user_text", "assistant_text")[:BATCH]):
        said = {(state.pk, number): piece for state in states for number, piece in pieces.pieces(state.user_text, state.assistant_text).items()}
        vectors: Iterable[np.ndarray] = embedder().embed(list(said.values())) if said else []  # blanks have no pieces
        with transaction.atomic():
            # Locked against a deletion or a redaction meanwhile: only what still stands as it was embedded is kept.
            locked = Forest.objects.select_for_update(no_key=True).filter(pk=forest_id).first()
            if locked is None or not steps.fits(locked):
                return done
            texts = {state.pk: (state.user_text, state.assistant_text) for state in states}
            now = InteractionState.objects.in_forest(forest).filter(pk__in=texts, refined_at__isnull=False).values_list("pk", "user_text", "assistant_text")
            same = {pk for pk, *both in now if texts[pk] == tuple(both)}
            PieceVector.objects.bulk_create(
                (
                    PieceVector(forest=forest, state_id=state, number=number, vector=half(vector))
                    for (state, number), vector in zip(said, vectors, strict=True)
                    if state in same
                ),
                ignore_conflicts=True,
            )
            done, before = done + len(states), states[-1].position
            told(done)
    return done


def _waiting(forest: Forest) -> QuerySet[InteractionState]:
    there = PieceVector.objects.filter(state=OuterRef("pk"))
    return InteractionState.objects.in_forest(forest).filter(~Exists(there), refined_at__isnull=False).exclude(Q(user_text="") & Q(assistant_text=""))
