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


def laid_aside(forest: Forest | int, states: Iterable[int]) -> dict[str, set[int]]:
    """The ids that rows of these states had, by kind, and that are nobody's now: what was read of them before they were moved."""
    had: dict[str, set[int]] = {}
    for taught in InteractionState.objects.in_forest(forest).filter(pk__in=list(states)).exclude(taught={}).values_list("taught", flat=True):
        for kind, readings in taught.items():
            had.setdefault(kind, set()).update(readings.values())
    return {kind: ids - set(EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=ids).values_list("pk", flat=True)) for kind, ids in had.items()}


def forget_laid_aside(forest: Forest | int, states: Iterable[int]) -> None:
    """What was laid aside of these states goes for good, with the digests of what was read."""
    them = list(states)
    for kind, ids in laid_aside(forest, them).items():
        _forget(forest, kind, ids)
    InteractionState.objects.in_forest(forest).filter(pk__in=them).exclude(taught={}).update(taught={})


def forget_beside(forest: Forest | int, kind: str, ids: Collection[int]) -> None:
    """Rows go for good: so do their revisions, what is known of their reading, and what was changed of them, which can't be undone any more."""
    _forget(forest, kind, ids)
    gone = set(ids)
    rows = EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=gone)
    for state in InteractionState.objects.in_forest(forest).filter(pk__in=rows.values("state_id")).exclude(taught={}).only("pk", "taught"):
        left = {digest: pk for digest, pk in state.taught.get(kind, {}).items() if pk not in gone}
        state.taught = {**{of: readings for of, readings in state.taught.items() if of != kind}, **({kind: left} if left else {})}
        state.save(update_fields=["taught"])


def _forget(forest: Forest | int, kind: str, ids: Collection[int]) -> None:
    """Revisions and changes of these rows; half a change that made a row is none."""
    revisions_of(forest, kind, ids).delete()
    items = ChangedItem.objects.in_forest(forest).filter(kind=kind, item__in=list(ids))
    halves = list(items.filter(change__items__made=True).values_list("change_id", flat=True))
    items.delete()
    ChangedItem.objects.in_forest(forest).filter(kind=kind, superseded_by__in=list(ids)).update(superseded_by=None)
    Change.objects.in_forest(forest).filter(Q(pk__in=halves) | Q(items=None, moves=None)).delete()
