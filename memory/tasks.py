"""What the worker does. A task carries ids only; whatever is delivered twice changes nothing the second time."""

from __future__ import annotations

from celery import shared_task
from django.db import connection, transaction

from memory.actions import bulk as in_bulk
from memory.actions import grow_sample as growing
from memory.actions import import_chat as importing
from memory.actions import index_pieces as indexing
from memory.actions import reembed as reembedding
from memory.actions import refine
from memory.actions import replay_turns as replaying
from memory.actions.publish_outbox import publish_outbox
from memory.models import InteractionState
from memory.store import jobs
from memory.store.refine import pending

_SWEEP_LOCK = 0x41_72_62_70


@shared_task(name="memory.tasks.refine_forest")
def refine_forest(forest_id: int) -> int:
    """Drain the forest's unrefined states; returns how many were refined."""
    return refine.drain(forest_id)


@shared_task(name="memory.tasks.grow_sample")
def grow_sample(job_id: int) -> None:
    growing.grow(job_id)


@shared_task(name="memory.tasks.reembed")
def reembed(job_id: int) -> None:
    reembedding.run(job_id)


@shared_task(name="memory.tasks.index_pieces")
def index_pieces(job_id: int) -> None:
    indexing.run(job_id)


@shared_task(name="memory.tasks.replay_turns")
def replay_turns(job_id: int) -> None:
    replaying.run(job_id)


@shared_task(name="memory.tasks.import_chat")
def import_chat(job_id: int) -> None:
    importing.run(job_id)
    publish_outbox()  # what it left to refine


@shared_task(name=in_bulk.TASK)
def bulk(bulk_id: int) -> None:
    in_bulk.run(bulk_id)


@shared_task(name="memory.tasks.sweep_outbox")
def sweep_outbox() -> None:
    """What the web process could not hand over, and what was lost on the way (a worker killed midway): refinements, imports, bulk jobs, replays, pieces."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_SWEEP_LOCK])
        if not cursor.fetchone()[0]:
            return
        forests = list(InteractionState.objects.filter(pending()).values_list("forest_id", flat=True).distinct()[:200])
    publish_outbox()
    for job_id in importing.unfinished():
        import_chat.delay(job_id)
    for bulk_id in in_bulk.unfinished():
        bulk.delay(bulk_id)
    for job_id in jobs.left(replaying.KIND):
        replay_turns.delay(job_id)
    for job_id in jobs.left(indexing.KIND):
        index_pieces.delay(job_id)
    for forest_id in forests:
        refine.drain(forest_id)
