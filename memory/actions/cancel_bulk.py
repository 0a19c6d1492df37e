"""Cancel a bulk job: it stops before its next row, and what was done until then stays."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from memory.errors import conflict, not_found
from memory.models import AuditEntry, Bulk, Job
from memory.store.jobs import OVER


def cancel_bulk(bulk: Bulk, by: Any) -> Bulk:
    """Mark it cancelled; again, it changes nothing. Raises Refused for one that is over. Locks its row alone: a row under way ends first."""
    with transaction.atomic():
        row = Bulk.objects.select_for_update(of=("self",)).filter(pk=bulk.pk).first()
        if row is None:
            raise not_found()
        if row.status == Job.Status.CANCELLED:
            return row
        if row.status in OVER:
            raise conflict("This work is over.", "Reload to see what came of it.")
        row.status, row.message = Job.Status.CANCELLED, f"Cancelled at {row.done:,} of {row.total:,}"
        row.save(update_fields=["status", "message", "updated_at"])
        AuditEntry.objects.create(actor=by, action="cancel_bulk", subject=f"bulk {row.pk}", counts={"done": row.done, "total": row.total})
    return row
