"""Which value of a slot holds, and what is told of the replacements: written for all values of some slots at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory.engine import revise
from memory.engine.forest import EvidenceKind, SlotEntry
from memory.models import EVIDENCE_MODELS, EvidenceRow, Revision

Slots = set[tuple[EvidenceKind, str]]
_DECIDED = ("status", "superseded_by", "valid_to", "known_until")
_LOOKED_AT = ("pk", "state_id", "slot", "value", "event_time", "known_from", "asserted", "pinned", *_DECIDED)
_BATCH = 200


def resolve_slots(forest: int, slots: Iterable[tuple[EvidenceKind, str]], by_hand: int | None) -> tuple[list[int], set[int]]:
    """Decide anew which value of each slot holds, from all its values at once: the order of arrival plays no part (W6, D3).

    `by_hand` is the newest position when a person's word is the reason: what is replaced then is told beside what was before. Else the replacements
    that are told are those that held at some position, whatever was read, moved or deleted in between.
    Returns the ids of new revisions and of the states whose evidence changed. Call it inside a transaction.
    """
    revisions: list[int] = []
    touched: set[int] = set()
    names: dict[EvidenceKind, set[str]] = {}
    for kind, slot in slots:
        names.setdefault(kind, set()).add(slot)
    for kind in sorted(names):
        rows = _values(forest, kind, names[kind])
        told: dict[str, dict[tuple[int, int], int]] = {}
        decided: list[EvidenceRow] = []
        for slot, found in rows.items():
            replaced, changed = _decide(found, by_hand or 0)
            decided += changed
            touched |= {row.state_id for row in changed} | {found[row.superseded_by_id].state_id for row in changed if row.superseded_by_id is not None}
            told[slot] = replaced if by_hand is not None else revise.replacements([slot_entry(row) for row in found.values()])
        EVIDENCE_MODELS[kind]._default_manager.bulk_update(decided, _DECIDED, batch_size=_BATCH)
        revisions += _tell_replacements(forest, kind, rows, told, prune=by_hand is None)
    return revisions, touched


def _values(forest: int, kind: EvidenceKind, names: Iterable[str]) -> dict[str, dict[int, EvidenceRow]]:
    """The rows of each slot by id, earliest made first, slots by name."""
    # What a person has edited is out: its new wording stands in the slot instead of it, even when both say the same value.
    edited = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.EDITED).values("old_item")
    named = EVIDENCE_MODELS[kind].objects.select_for_update().in_forest(forest).filter(slot__in=sorted(names)).exclude(slot="")
    rows: dict[str, dict[int, EvidenceRow]] = {slot: {} for slot in sorted(names)}
    for row in named.exclude(pk__in=edited).order_by("pk").only(*_LOOKED_AT):
        rows[row.slot][row.pk] = row
    return rows


def _decide(rows: Mapping[int, EvidenceRow], position: int) -> tuple[dict[tuple[int, int], int], list[EvidenceRow]]:
    """What came to be replaced by what, as (old, new) → `position`, and the rows that are decided otherwise than before: changed, not written."""
    replaced: dict[tuple[int, int], int] = {}
    changed: list[EvidenceRow] = []
    for outcome in revise.resolve([slot_entry(row) for row in rows.values()]):
        row = rows[outcome.id]
        if (row.status, row.superseded_by_id) == (outcome.status, outcome.superseded_by):
            continue
        row.status, row.superseded_by_id = outcome.status, outcome.superseded_by
        row.valid_to, row.known_until = outcome.valid_to, outcome.known_until
        changed.append(row)
        if outcome.superseded_by is not None:
            replaced[row.pk, outcome.superseded_by] = position
    return replaced, changed


def slot_entry(row: EvidenceRow) -> SlotEntry:
    """A row as revision sees it."""
    return SlotEntry(row.pk, row.value, row.event_time, row.known_from, row.asserted, row.status, row.pinned)  # type: ignore[arg-type]


def _tell_replacements(
    forest: int, kind: EvidenceKind, slots: Mapping[str, Mapping[int, EvidenceRow]], told: Mapping[str, Mapping[tuple[int, int], int]], *, prune: bool
) -> list[int]:
    """Write the revisions (old, new) → position of each slot that aren't there; `prune` takes those away that never held, of values that take part. New ids."""
    rows = {pk: row for found in slots.values() for pk, row in found.items()}
    there = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.SUPERSEDED, old_item__in=list(rows), new_item__in=list(rows))
    known = {(revision.old_item, revision.new_item): revision for revision in there}
    new_ones = [
        Revision(
            forest_id=forest,
            kind=kind,
            old_item=old,
            new_item=new,
            slot=slot,
            verdict=Revision.Verdict.SUPERSEDED,
            state_id=rows[new].state_id,
            at_position=position,
        )
        for slot, replaced in told.items()
        for (old, new), position in replaced.items()
        if (old, new) not in known
    ]
    made = [revision.pk for revision in Revision.objects.bulk_create(new_ones)]
    if prune:
        held = {pair for replaced in told.values() for pair in replaced}
        taking = {row.pk: row.known_from for row in rows.values() if revise.takes_part(slot_entry(row))}
        never = [
            revision.pk
            for (old, new), revision in known.items()
            if (old, new) not in held
            and rows[old].slot == rows[new].slot
            and old in taking
            and new in taking
            and not rows[old].pinned
            and revision.by == Revision.By.RULE
            and revision.at_position == max(taking[old], taking[new])
        ]
        Revision.objects.filter(pk__in=never).delete()
    return made
