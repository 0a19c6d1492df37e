"""What is kept of facts and records beside their rows: revisions, what was changed of them by hand, and which row a reading had.

When a turn is read anew because it was moved, its rows go, and come back under their ids if the same is read again. Until then what is kept of them is
laid aside: nobody is told of it, and no word of it is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet

from memory.models import EVIDENCE_MODELS, Change, ChangedItem, Forest, InteractionState, Revision


def revisions_of(forest: Forest | int, kind: str, ids: Collection[int]) -> QuerySet[Revision]:
    """The revisions that rows of one kind are an end of."""
    mine: QuerySet[Revision] = Revision.objects.in_forest(forest).filter(kind=kind)
    return mine.filter(Q(old_item__in=list(ids)) | Q(new_item__in=list(ids)))


def lay_aside(forest: Forest | int, kind: str, ids: Collection[int]) -> None:
    """Keep the revisions of rows that are read anew, without the name of their slot."""
    revisions_of(forest, kind, ids).update(slot="")


def take_up(forest: Forest | int, kind: str, item: int, slot: str) -> None:
    """A row was read again: what was laid aside of it is told of again."""
    revisions_of(forest, kind, [item]).filter(slot="").update(slot=slot)


def told(*columns: str) -> Q:
    """Of revisions or changed items: those whose facts and records, named by `columns`, are there."""
    there = Q(pk__in=[])
    for kind, model in EVIDENCE_MODELS.items():
        mine = Q(kind=kind)
        for column in columns:
            mine &= Q(**{column: None}) | Q(**{f"{column}__in": model.objects.values("pk")})
        there |= mine
    return there


def forget_laid_aside(forest: Forest | int, states: Iterable[int]) -> None:
    """What was laid aside of these states goes for good, with the digests of what was read."""
    for state in InteractionState.objects.in_forest(forest).filter(pk__in=list(states)).exclude(taught={}).only("pk", "taught"):
        for kind, readings in state.taught.items():
            ids = set(readings.values())
            there = set(EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=ids).values_list("pk", flat=True))
            revisions_of(forest, kind, ids - there).delete()
        state.taught = {}
        state.save(update_fields=["taught"])


def forget_beside(forest: Forest | int, kind: str, ids: Collection[int]) -> None:
    """Rows go for good: so do their revisions, what was read for them, and what was changed of them, which can't be undone any more; half an edit is none."""
    revisions_of(forest, kind, ids).delete()
    rows = EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=list(ids))
    forget_laid_aside(forest, rows.values_list("state_id", flat=True))
    items = ChangedItem.objects.in_forest(forest).filter(kind=kind, item__in=list(ids))
    halves = list(items.filter(change__action=Change.Action.EDIT).values_list("change_id", flat=True))
    items.delete()
    ChangedItem.objects.in_forest(forest).filter(kind=kind, superseded_by__in=list(ids)).update(superseded_by=None)
    Change.objects.in_forest(forest).filter(Q(pk__in=halves) | Q(items=None, moves=None)).delete()
