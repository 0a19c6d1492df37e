"""What is kept of facts and records beside their rows: what was changed of them by hand, and which row a reading had."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from memory.models import EVIDENCE_MODELS, Change, ChangedItem, Forest, InteractionState


def forget_beside(forest: Forest | int, kind: str, ids: Collection[int]) -> None:
    """What was changed of rows that go can't be undone, and isn't told any more; half an edit is none. Nor is it kept what was read for them."""
    rows = EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=list(ids))
    for state in InteractionState.objects.filter(pk__in=rows.values("state")).exclude(taught={}).only("pk", "taught"):
        state.taught[kind] = {digest: pk for digest, pk in state.taught.get(kind, {}).items() if pk not in ids}
        state.save(update_fields=["taught"])
    items = ChangedItem.objects.in_forest(forest).filter(kind=kind, item__in=list(ids))
    halves = list(items.filter(change__action=Change.Action.EDIT).values_list("change_id", flat=True))
    items.delete()
    ChangedItem.objects.in_forest(forest).filter(kind=kind, superseded_by__in=list(ids)).update(superseded_by=None)
    Change.objects.in_forest(forest).filter(Q(pk__in=halves) | Q(items=None, moves=None)).delete()
