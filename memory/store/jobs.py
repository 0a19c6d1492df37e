"""How far a job is, written so that one that was cancelled stays cancelled."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memory.models import Job

OVER = (Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED)


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


def last_words(job: int, message: str, **more: Any) -> None:
    """What whoever did a cancelled job says at its end: how much was done, and stays."""
    Job.objects.filter(pk=job, status=Job.Status.CANCELLED).update(message=message[:300], updated_at=timezone.now(), **more)
