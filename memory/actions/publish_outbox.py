"""Hand what waits in the outbox to the broker: on commit by the web process, and by the worker's sweep for what was not handed over."""

from __future__ import annotations

import logging

import kombu.exceptions
import redis
from celery import current_app

from memory.models import Outbox

log = logging.getLogger(__name__)

# By name: the tasks call actions, not the other way round.
TASKS = {
    "refine": "memory.tasks.refine_forest",
    "sample": "memory.tasks.grow_sample",
    "import": "memory.tasks.import_chat",
    "reembed": "memory.tasks.reembed",
    "replay": "memory.tasks.replay_turns",
    "pieces": "memory.tasks.index_pieces",
}


def publish_outbox(forest_id: int | None = None) -> int:
    """Publish the waiting rows (of one forest, or of all), at most a thousand, then delete them; returns how many.

    One task serves all refine rows of a forest. What the broker doesn't take stays for the next sweep; what two processes publish at once is
    delivered twice, which changes nothing (W3), so no lock is held while the broker is waited for."""
    rows = Outbox.objects.all() if forest_id is None else Outbox.objects.in_forest(forest_id)
    waiting: dict[tuple[str, int], list[int]] = {}
    for row in rows.order_by("id")[:1000]:
        waiting.setdefault((row.kind, row.forest_id if row.kind == "refine" else row.subject), []).append(row.pk)
    sent = 0
    for (kind, subject), ids in waiting.items():
        if not send(TASKS[kind], subject):
            break
        sent += Outbox.objects.filter(pk__in=ids).delete()[0]
    return sent


def send(task: str, subject: int) -> bool:
    """Hand one task to the broker; False when it doesn't answer: a sweep finds what waits."""
    try:
        current_app.send_task(task, [subject], retry=False)
    except (kombu.exceptions.OperationalError, redis.RedisError, OSError) as error:
        log.warning("the broker does not answer (%s): what waits is swept up later", type(error).__name__)
        return False
    return True
