"""What was known at a position of the timeline, with the status it had then.

A row keeps from which position it is known, a change how the rows it touched were before; which value of a slot held follows from both, by the
same rule as ever (engine/revise.py). A change that was undone counts as never made; a turn that was moved is read as it stands now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from memory.engine import revise
from memory.engine.forest import EvidenceKind, SlotEntry
from memory.models import EVIDENCE_MODELS, ChangedItem, EvidenceRow, Revision

Status = EvidenceRow.Status


@dataclass(frozen=True, slots=True)
class Then:
    """How a row stood at a position: the columns of the row that time changes."""

    status: str
    superseded_by: int | None = None
    valid_to: datetime | None = None
    known_until: int | None = None
    pinned: bool = False


def evidence_then(forest: int, kind: EvidenceKind, rows: Iterable[EvidenceRow], position: int) -> dict[int, Then]:
    """How these rows, the other values of their slots and what they were edited from stood at `position`. Rows learned later are left out."""
    asked = {row.pk: row for row in rows if row.known_from <= position}
    known = {**_mates(forest, kind, asked, position), **asked}
    before = _before(forest, kind, known, position)
    edited = _edited(forest, kind, known, position)
    found: dict[int, Then] = {}
    slots: dict[str, list[SlotEntry]] = defaultdict(list)
    for row in known.values():
        was = before.get(row.pk) or row
        if was.status in (Status.RETRACTED, Status.QUARANTINED):
            found[row.pk] = Then(was.status, pinned=was.pinned)
        elif row.pk in edited:
            found[row.pk] = _columns(was)  # its slot goes by the new wording: nothing but a person's word changes it
            continue
        else:
            replaced = not row.slot and was.known_until is not None and was.known_until <= position
            found[row.pk] = _columns(was) if replaced else Then(Status.CURRENT, pinned=was.pinned)
        if row.slot:
            status = found[row.pk].status
            slots[row.slot].append(SlotEntry(row.pk, row.value, row.event_time, row.known_from, row.asserted, status, was.pinned))  # type: ignore[arg-type]
    for entries in slots.values():
        for held in revise.resolve(entries):
            found[held.id] = Then(held.status, held.superseded_by, held.valid_to, held.known_until, found[held.id].pinned)
    return found


def _columns(row: EvidenceRow | ChangedItem) -> Then:
    by = row.superseded_by_id if isinstance(row, EvidenceRow) else row.superseded_by
    return Then(row.status, by, row.valid_to, row.known_until, row.pinned)


def _mates(forest: int, kind: EvidenceKind, asked: dict[int, EvidenceRow], position: int) -> dict[int, EvidenceRow]:
    """The other values of their slots, and the rows they were edited from."""
    slots = {row.slot for row in asked.values() if row.slot}
    sources = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.EDITED, new_item__in=asked).values("old_item")
    rows = EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(Q(slot__in=slots) | Q(pk__in=sources), known_from__lte=position)
    return {row.pk: row for row in rows.select_related("state")}


def _before(forest: int, kind: EvidenceKind, known: Iterable[int], position: int) -> dict[int, ChangedItem]:
    """How rows were before the first change after `position`."""
    later = ChangedItem.objects.in_forest(forest).filter(kind=kind, item__in=list(known), made=False, change__undone_at=None, change__at_position__gt=position)
    return {item.item: item for item in later.order_by("-change_id")}


def _edited(forest: int, kind: EvidenceKind, known: Iterable[int], position: int) -> set[int]:
    """Those that had been edited by then."""
    there = EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(known_from__lte=position)
    edits = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.EDITED, old_item__in=list(known), new_item__in=there.values("pk"))
    return set(edits.values_list("old_item", flat=True))


def known_revisions(rows: QuerySet[Revision], forest: int, position: int) -> QuerySet[Revision]:
    """Those of these revisions that were known at `position`."""
    return rows.filter(Q(at_position__lte=position) | Q(pk__in=_noted_again(forest, position).values("noted")))


def revisions_then(rows: QuerySet[Revision], forest: int, position: int) -> list[Revision]:
    """Those of these revisions that were known at `position`, with the times they had then."""
    found = list(known_revisions(rows, forest, position))
    late = [revision.pk for revision in found if revision.at_position > position]
    times = dict(_noted_again(forest, position).filter(noted__in=late).values_list("noted", "noted_at")) if late else {}
    for revision in found:
        if (noted_at := times.get(revision.pk)) is not None:
            revision.at = noted_at
    return found


def _noted_again(forest: int, position: int) -> QuerySet[ChangedItem]:
    """What a person had said by then and said once more later: the revision tells when last, the change when before. The first one after it last."""
    later = ChangedItem.objects.in_forest(forest).filter(noted_position__lte=position, change__at_position__gt=position, change__undone_at=None)
    return later.order_by("-change_id")
