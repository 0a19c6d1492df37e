"""How far a job is, written so that one that was cancelled stays cancelled."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from memory.models import Job

OVER = (Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED)
OPEN = (Job.Status.WAITING, Job.Status.RUNNING)
# Whoever does a job says something of it at least every BEAT_SECONDS; one nobody has said anything of for STALE_SECONDS is nobody's.
BEAT_SECONDS, STALE_SECONDS = 5.0, 30.0


class CancelledError(Exception):
    """Somebody cancelled the job: stop, and say with `last_words` what was done."""


def report(job: int, **changes: Any) -> None:
    """Write what is new of a job. Raises CancelledError for one that was cancelled meanwhile, Job.DoesNotExist when its forest is gone.

    In the transaction of a step it makes the step wait for a cancellation under way, and not happen after it."""
    if Job.objects.filter(pk=job).exclude(status=Job.Status.CANCELLED).update(**changes, updated_at=timezone.now()):
        return
    if Job.objects.filter(pk=job).exists():
        raise CancelledError
    raise Job.DoesNotExist


def alive(job: int) -> bool:
    """A sign of life of whoever does it; False when it was ended."""
    return bool(Job.objects.filter(pk=job, status__in=OPEN).update(updated_at=timezone.now()))


def claim(job: int, kind: str) -> bool:
    """Take an open job of this kind, unless somebody who is alive does it."""
    free = Q(status=Job.Status.WAITING) | Q(updated_at__lt=_stale())
    return bool(Job.objects.filter(free, pk=job, kind=kind, status__in=OPEN).update(status=Job.Status.RUNNING, updated_at=timezone.now()))


def left(kind: str) -> list[int]:
    """The open jobs of a kind that nobody does: the word to the worker was lost, or the worker was killed. So that the next sweep doesn't tell of them
    again, they count as heard of."""
    found = list(Job.objects.filter(kind=kind, status__in=OPEN, updated_at__lt=_stale()).order_by("pk").values_list("pk", flat=True)[:20])
    Job.objects.filter(pk__in=found).update(status=Job.Status.WAITING, updated_at=timezone.now())
    return found


def _stale() -> datetime:
    return timezone.now() - timedelta(seconds=STALE_SECONDS)


def last_words(job: int, message: str, **more: Any) -> None:
    """What whoever did a cancelled job says at its end: how much was done, and stays."""
    Job.objects.filter(pk=job, status=Job.Status.CANCELLED).update(message=message[:300], updated_at=timezone.now(), **more)
