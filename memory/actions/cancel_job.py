"""Cancel long work: who does it stops at its next step, and what was done until then stays."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from memory.actions import structure
from memory.errors import conflict, not_found
from memory.models import Job, Outbox
from memory.store.jobs import OVER


def cancel_job(job: Job, by: Any) -> Job:
    """Mark the job cancelled; again, it changes nothing. Raises Refused for one that is over. Locks the job alone: a step under way ends first."""
    with transaction.atomic():
        row = Job.objects.select_for_update(of=("self",)).select_related("forest").filter(pk=job.pk).first()
        if row is None:
            raise not_found()
        if row.status == Job.Status.CANCELLED:
            return row
        if row.status in OVER:
            raise conflict("This work is over.", "Reload to see what came of it.")
        begun = row.status == Job.Status.RUNNING
        row.status = Job.Status.CANCELLED
        row.message = f"Cancelled at {row.done:,} of {row.total:,}" if begun else "Cancelled before it began"
        row.save(update_fields=["status", "message", "updated_at"])
        Outbox.objects.in_forest(row.forest_id).filter(kind=row.kind, subject=row.pk).delete()
        structure.audit(row.forest, by, "cancel_job", f"job {row.pk}", {"done": row.done, "total": row.total})
    return row
