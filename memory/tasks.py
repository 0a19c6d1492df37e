"""What the worker does. A task carries ids only; whatever is delivered twice changes nothing the second time."""

from __future__ import annotations

import logging

import kombu.exceptions
import redis
from celery import shared_task
from django.db import connection, transaction

from memory.actions import grow_sample as growing
from memory.actions import refine
from memory.models import InteractionState, Outbox
from memory.store.refine import pending

log = logging.getLogger(__name__)
_SWEEP_LOCK = 0x41_72_62_70


@shared_task(name="memory.tasks.refine_forest")
def refine_forest(forest_id: int) -> int:
    """Drain the forest's unrefined states; returns how many were refined."""
    return refine.drain(forest_id)


@shared_task(name="memory.tasks.grow_sample")
def grow_sample(job_id: int) -> None:
    growing.grow(job_id)


def publish_outbox(forest_id: int | None = None) -> int:
    """Hand what waits in the outbox to the broker and delete it; returns how many rows. What can't be handed over stays for the next sweep."""
    rows = Outbox.objects.all() if forest_id is None else Outbox.objects.in_forest(forest_id)
    sent = 0
    with transaction.atomic():
        waiting: dict[tuple[str, int], list[int]] = {}
        for row in rows.select_for_update(skip_locked=True).order_by("id")[:1000]:
            waiting.setdefault((row.kind, row.forest_id if row.kind == "refine" else row.subject), []).append(row.pk)
        for (kind, subject), ids in waiting.items():
            task = refine_forest if kind == "refine" else grow_sample
            try:
                task.apply_async([subject], retry=False)
            except (kombu.exceptions.OperationalError, redis.RedisError, OSError) as error:
                log.warning("the broker does not answer (%s): %d rows stay in the outbox", type(error).__name__, len(rows) - sent)
                break
            sent += Outbox.objects.filter(pk__in=ids).delete()[0]
    return sent


@shared_task(name="memory.tasks.sweep_outbox")
def sweep_outbox() -> None:
    """What the web process could not hand over, and forests whose refinement was lost on the way (a worker killed midway)."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_SWEEP_LOCK])
        if not cursor.fetchone()[0]:
            return
        publish_outbox()
        forests = list(InteractionState.objects.filter(pending()).values_list("forest_id", flat=True).distinct()[:200])
    for forest_id in forests:
        refine.drain(forest_id)
