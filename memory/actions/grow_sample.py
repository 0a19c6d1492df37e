"""Grow the sample forest: four interleaved matters over two weeks, through the same steps as a person's turns."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from memory import messages, present, steps
from memory.actions import refine
from memory.actions.create_forest import create_forest
from memory.models import Forest, InteractionState, Job, Outbox, Turn
from memory.models.forest import Origin
from memory.sample import interactions
from memory.store import jobs

NAME = "Sample forest"


def grow_sample(owner: Any) -> tuple[Forest, Job]:
    """Make the forest and leave the growing to the worker."""
    taken = set(Forest.objects.filter(owner=owner, name__startswith=NAME).values_list("name", flat=True))
    name = next(name for name in (NAME, *(f"{NAME} {number}" for number in range(2, len(taken) + 3))) if name not in taken)
    with transaction.atomic():
        forest = create_forest(owner, name, sample=True)
        job = Job.objects.create(forest=forest, kind="sample", message="Waiting for the worker")
        Outbox.objects.create(forest=forest, kind="sample", subject=job.pk)
    return forest, job


def grow(job_id: int) -> None:
    """Plant the sample turn by turn, refining each before the next; goes on where a killed worker left off."""
    job = Job.objects.select_related("forest").filter(pk=job_id).exclude(status__in=(Job.Status.DONE, Job.Status.CANCELLED)).first()
    if job is None:
        return
    done = 0
    try:
        given = interactions(timezone.now(), job.forest.time_zone)
        jobs.report(job.pk, status=Job.Status.RUNNING, total=len(given), message="Growing", error=None)
        for number, interaction in enumerate(given, 1):
            _plant(job.forest, interaction)
            done = number
            jobs.report(job.pk, done=number)
        jobs.report(job.pk, status=Job.Status.DONE, message="Grown")
    except jobs.CancelledError:
        jobs.last_words(job.pk, f"Cancelled: {done:,} of {len(given):,} turns have grown", done=done)
    except Job.DoesNotExist:
        return
    except Exception as error:
        told = {"code": "failed", "message": f"The sample stopped growing ({type(error).__name__}).", "action": "Delete it and open another one."}
        Job.objects.filter(pk=job.pk).exclude(status=Job.Status.CANCELLED).update(status=Job.Status.FAILED, error=told)
        raise


def _plant(forest: Forest, interaction: dict[str, Any]) -> None:
    """One turn of the sample. Localization decides where it goes; where it errs, the sample says, and the decision shows that it was told."""
    if InteractionState.objects.in_forest(forest).filter(turn__client_id=interaction["id"]).exists():
        return
    forest.refresh_from_db()
    place = steps.localize_text(forest, interaction["user"], interaction["time"])
    parent = InteractionState.objects.in_forest(forest).get(turn__client_id=interaction["parent"]) if interaction["parent"] else None
    if place.decision.parent != (parent.pk if parent else None):
        place = steps.given(place, parent)
    turn, _ = Turn.objects.get_or_create(
        forest=forest,
        client_id=interaction["id"],
        defaults={"origin": Origin.OBSERVED, "text": interaction["user"], "sent_at": interaction["time"]},
    )
    state = steps.commit(turn, place, interaction["assistant"], generator="")
    _, added = present.committed(state.pk)
    messages.publish(forest.pk, turn.pk, "state.added", added)
    refine.drain(forest.pk)
