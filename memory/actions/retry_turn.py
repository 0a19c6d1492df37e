"""Try a broken turn again, from the start."""

from __future__ import annotations

from django.db import transaction

from memory import messages
from memory.errors import conflict
from memory.models import Turn


def retry_turn(turn: Turn) -> Turn:
    """Put an interrupted, failed or cancelled turn back in line. Raises Refused for any other.

    Its numbering goes on, so that every page that saw it break follows it from here.
    """
    with transaction.atomic():
        turn = Turn.objects.select_for_update().get(pk=turn.pk)
        if turn.status not in Turn.BROKEN:
            raise conflict("This turn isn't broken, so there is nothing to try again.", "Wait for its answer, or send a new turn.")
        turn.status, turn.error, turn.partial, turn.generator, turn.heartbeat_at = Turn.Status.RECEIVED, None, "", "", None
        turn.attempt += 1
        turn.seq = messages.number(turn.pk, turn.seq + 1)  # the message that told of the break has a number of its own
        turn.save()
    return turn
