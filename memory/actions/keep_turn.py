"""Keep the part of a broken answer: the turn becomes a state with what was written."""

from __future__ import annotations

from django.db import transaction

from memory import messages, present, steps
from memory.errors import conflict
from memory.models import InteractionState, Turn
from memory.store.write import lock


def keep_turn(turn: Turn) -> InteractionState:
    """Commit a broken turn with its partial answer, where it was localized. Raises Refused for any other turn."""
    with transaction.atomic():
        lock(turn.forest_id)  # what it is localized to can't be deleted meanwhile
        turn = Turn.objects.select_for_update().get(pk=turn.pk)
        if turn.status not in Turn.BROKEN:
            raise conflict("Only a stopped or broken answer can be kept.", "Wait for its answer.")
        if not turn.partial:
            raise conflict("Nothing was written yet, so there is no part to keep.", "Try again, or drop the turn.")
        state = steps.commit(turn, steps.localize_turn(turn, asking=False), turn.partial, generator="", seq=messages.number(turn.pk, turn.seq + 1))
    with messages.held(turn.forest_id):
        if InteractionState.objects.filter(pk=state.pk).exists():  # else deleted meanwhile
            answered, added = present.committed(state.pk)
            messages.publish(turn.forest_id, turn.pk, "turn.answered", {"data": answered})
            messages.publish(turn.forest_id, turn.pk, "state.added", added)
    return state
