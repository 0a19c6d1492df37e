"""Stop a turn that waits or is being answered; what was written stays readable."""

from __future__ import annotations

from django.db import transaction

from memory import messages
from memory.errors import conflict
from memory.models import Turn


def cancel_turn(turn: Turn) -> Turn:
    """Mark the turn cancelled; whoever generates it notices within its next heartbeat (1 s) and writes the last part.

    Raises Refused for a turn that is already part of memory.
    """
    with transaction.atomic():
        turn = Turn.objects.select_for_update().get(pk=turn.pk)
        if turn.status in Turn.COMMITTED:
            raise conflict("This turn is already part of memory.", "Delete it from the forest if it shouldn't be there.")
        waits = turn.status in Turn.WAITING and not turn.generator
        if turn.status not in Turn.BROKEN:
            turn.status, turn.generator, turn.heartbeat_at = Turn.Status.CANCELLED, "", None
            turn.error = {"code": "cancelled", "message": "You stopped this answer.", "action": "Try again, keep the part, or drop it."}
            turn.save(update_fields=["status", "generator", "heartbeat_at", "error"])
    if waits:  # nobody generates it, so nobody else would tell
        messages.publish(turn.forest_id, turn.pk, "turn.cancelled", {"error": turn.error, "partial": ""})
    return turn
