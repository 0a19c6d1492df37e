"""Have a state's memory extracted again: after a failure, or with newer extractors."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from memory.actions import structure
from memory.errors import unknown_state
from memory.models import Forest, InteractionState, Outbox, Turn
from memory.store.refine import ANEW


def refine_again(state: InteractionState, by: Any) -> None:
    """Mark the state unrefined and tell the worker. What it taught before stays; what a person retracted stays retracted. Locks the forest."""
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=state.forest_id)
        found = InteractionState.objects.in_forest(forest).filter(pk=state.pk)
        if not found.update(refined_at=None, refine_error=None):
            raise unknown_state()
        found.exclude(refined_by=ANEW).update(refined_by="")  # what waits since a deletion is still compared with what it taught
        Turn.objects.filter(state=state.pk, status=Turn.Status.REFINED).update(status=Turn.Status.ANSWERED)
        Outbox.objects.create(forest=forest, kind="refine", subject=state.pk)
        structure.audit(forest, by, "refine_again", f"state {state.pk}", {"states": 1})
        transaction.on_commit(lambda: structure.refine_and_tell(forest.pk, [state.pk]))
