"""Drop a turn that never became part of memory."""

from __future__ import annotations

from django.db import transaction

from memory import messages
from memory.errors import conflict
from memory.models import Turn


def drop_turn(turn: Turn) -> None:
    """Delete a broken or waiting turn with its decision, trace and kept messages; every page that shows it is told.

    Raises Refused while it is answered, or once it is a state.
    """
    with transaction.atomic():
        row = Turn.objects.select_for_update().get(pk=turn.pk)
        if row.status in Turn.COMMITTED:
            raise conflict("This turn is already part of memory.", "Delete it from the forest instead.")
        if row.generator:
            raise conflict("This turn is being answered.", "Stop it first.")
        messages.purge([turn.pk])
        messages.number(turn.pk, row.seq + 1)
        row.delete()
    messages.publish(turn.forest_id, turn.pk, "turn.dropped", {"client_id": row.client_id})
