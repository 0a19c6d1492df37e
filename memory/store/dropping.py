"""Rows of evidence go, with what hangs from them: vectors, revisions, and the rows they had replaced hold again. Call it under the forest's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, Revision, StateVector
from memory.store.changes import forget_beside, lay_aside
from memory.store.slots import Slots


def drop(forest: Forest | int, going: Mapping[str, Sequence[int]], *, for_good: bool = True) -> tuple[set[int], Slots]:
    """Delete rows with their vectors; the states whose values hold again, and the slots to decide anew.

    `for_good`: with their revisions and what is kept of them beside; else that is laid aside, since they may be read again."""
    touched: set[int] = set()
    slots: Slots = set()
    for kind, ids in going.items():
        if not ids:
            continue
        model = EVIDENCE_MODELS[kind]
        rows = model.objects.in_forest(forest).filter(pk__in=ids)
        slots |= {(kind, slot) for slot in rows.exclude(slot="").values_list("slot", flat=True)}  # type: ignore[misc]
        touched |= _give_back(kind, forest, set(ids), for_good)
        (forget_beside if for_good else lay_aside)(forest, kind, ids)
        StateVector.objects.in_forest(forest).filter(kind=kind, item__in=ids).delete()
        rows.delete()
    return touched, slots


def _give_back(kind: str, forest: Forest | int, going: set[int], for_good: bool) -> set[int]:
    """Rows that one of `going` had replaced hold again, unless that one was replaced in turn: then they are replaced by the one that holds now.

    Those with a slot are decided with it later."""
    model = EVIDENCE_MODELS[kind]
    next_one = dict(model.objects.in_forest(forest).filter(pk__in=going, superseded_by__isnull=False).values_list("pk", "superseded_by_id"))
    touched = set()
    for row in model.objects.in_forest(forest).filter(superseded_by__in=going).exclude(pk__in=going):
        was = row.superseded_by_id
        heir, seen = was, set()
        while heir in going and heir not in seen:
            seen.add(heir)
            heir = next_one.get(heir)
        touched.add(row.state_id)
        if heir is None or heir in going:
            if row.status == EvidenceRow.Status.SUPERSEDED:
                model.objects.filter(pk=row.pk).update(status=EvidenceRow.Status.CURRENT, valid_to=None, known_until=None, superseded_by=None)
            continue
        model.objects.filter(pk=row.pk).update(superseded_by=heir)
        if not for_good:
            continue
        # Which value of a slot replaced which is decided with the slot; only a person's edit goes over to the heir.
        moved = Revision.objects.in_forest(forest).filter(kind=kind, old_item=row.pk, new_item=was, verdict=Revision.Verdict.EDITED)
        known = Revision.objects.in_forest(forest).filter(kind=kind, old_item=row.pk, new_item=heir).values("verdict")
        moved.exclude(verdict__in=known).update(new_item=heir)
    return touched
