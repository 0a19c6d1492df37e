"""Keep the part of a broken answer: the turn becomes a state with what was written."""

from __future__ import annotations

from django.db import transaction

from memory import steps
from memory.errors import conflict
from memory.models import InteractionState, Turn


def keep_turn(turn: Turn) -> InteractionState:
    """Commit a broken turn with its partial answer, where it was localized. Raises Refused for any other turn."""
    with transaction.atomic():
        turn = Turn.objects.select_for_update().get(pk=turn.pk)
        if turn.status not in Turn.BROKEN:
            raise conflict("Only a stopped or broken answer can be kept.", "Wait for its answer.")
        answer = turn.partial
    place = steps.localize_turn(turn)
    return steps.commit(turn, place, answer, generator=None)
