"""A person's word on a fact or record: take it back, bring it back, pin it, set it aside, or change it. Nothing is overwritten (W1)."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from memory import present
from memory.actions import structure
from memory.engine.revise import value_after_edit
from memory.errors import conflict, unknown_item
from memory.llm.embed import embedder
from memory.models import KIND_OF, Change, ChangedItem, EvidenceRow, Forest, Revision, StateVector
from memory.store.evidence import FIELDS
from memory.store.recall import half
from memory.store.slots import resolve_slots
from memory.store.write import check_length

Status, Verdict = EvidenceRow.Status, Revision.Verdict
COPIED = ("slot", "subject", "value", "asserted", "attribute_tag", "entities", "evidence", "sources")


def revise(row: EvidenceRow, do: str, by: Any, *, text: str | None = None, value: str | None = None) -> dict[str, Any]:
    """Do one of retract, restore, pin, unpin, quarantine, edit; the slot's other values are decided anew. Answers the row that holds now, and the change.

    Locks the forest. An edit needs `text`; `value` is what its slot then says, read off the text when it isn't given. A replaced value that is brought
    back is written anew in the place of the one that holds. Raises Refused for what the row's status doesn't allow.
    """
    again = do == "restore" and row.status == Status.SUPERSEDED
    words = row.text if again else text if do == "edit" else None
    vector = embedder().embed([words])[0] if words else None
    kind = KIND_OF[type(row)]
    model = type(row)
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=row.forest_id)
        current = model._default_manager.select_for_update().filter(pk=row.pk, forest=forest).first()
        if current is None:
            raise unknown_item()
        if vector is not None:
            check_length(forest, vector)
        brought = current
        if again:
            current = _holder(current)
        change = Change.objects.create(forest=forest, action=do, by_user=by, at_position=forest.last_position)
        keep(change, kind, current)
        answer = current
        match do:
            case "retract":
                _set_status(current, Status.RETRACTED, {Status.CURRENT, Status.SUPERSEDED, Status.QUARANTINED})
                _note(change, kind, current, None, Verdict.RETRACTED)
            case "quarantine":
                _set_status(current, Status.QUARANTINED, {Status.CURRENT, Status.SUPERSEDED})
            case "restore" if again:
                answer = _replace(change, kind, forest, current, brought.text, brought.value)
                answer.evidence, answer.entities = brought.evidence, brought.entities
                answer.save(update_fields=["evidence", "entities"])
            case "restore":
                _set_status(current, Status.CURRENT, {Status.RETRACTED, Status.QUARANTINED})
                _note(change, kind, current, None, Verdict.RESTORED)
            case "pin" | "unpin":
                current.pinned = do == "pin"
                current.save(update_fields=["pinned"])
            case "edit":
                said = value_after_edit(current.text, current.value, text or "") if value is None else value
                answer = _replace(change, kind, forest, current, text or "", said)
            case _:
                raise ValueError(do)
        if vector is not None:
            StateVector.objects.create(forest=forest, state_id=answer.state_id, kind=kind, item=answer.pk, vector=half(vector))
        touched = {current.state_id}
        if current.slot:
            revisions, others = resolve_slots(forest.pk, {(kind, current.slot)}, forest.last_position)
            change.revisions += revisions
            touched |= set(others)
        change.save(update_fields=["revisions"])
        Forest.objects.filter(pk=forest.pk).update(version=F("version") + 1)
        structure.audit(forest, by, do, f"{kind} {current.pk}", {"items": 1})
        transaction.on_commit(partial(structure.tell_changed, forest.pk, touched))
    return {**present.evidence_json(model._default_manager.get(pk=answer.pk)), "change": change.pk}


def keep(change: Change, kind: str, row: EvidenceRow, *, made: bool = False) -> None:
    """Keep how a row is before the change touches it, so that it can be undone; `made`: the change made it."""
    ChangedItem.objects.create(
        forest_id=change.forest_id,
        change=change,
        kind=kind,
        item=row.pk,
        state_id=row.state_id,
        made=made,
        status=row.status,
        superseded_by=row.superseded_by_id,
        valid_to=row.valid_to,
        known_until=row.known_until,
        pinned=row.pinned,
    )


def _set_status(row: EvidenceRow, status: EvidenceRow.Status, allowed: set[EvidenceRow.Status]) -> None:
    if row.status not in allowed:
        raise conflict(f"This is {Status(row.status).value} already.", "Reload the evidence.")
    row.status, row.superseded_by, row.valid_to, row.known_until = status, None, None, None
    row.save(update_fields=["status", "superseded_by", "valid_to", "known_until"])


def _note(change: Change, kind: str, old: EvidenceRow, new: EvidenceRow | None, verdict: str) -> None:
    """A revision by the user; the same again (taken back, brought back, taken back) moves its time, and the change keeps the one it had."""
    same = {"kind": kind, "old_item": old.pk, "new_item": new.pk if new else None, "verdict": verdict}
    known = Revision.objects.select_for_update().filter(**same).first()
    if known is None:
        more = {"forest_id": old.forest_id, "slot": old.slot, "state_id": old.state_id, "by": Revision.By.USER, "at_position": change.at_position}
        change.revisions.append(Revision.objects.create(**same, **more).pk)
        return
    ChangedItem.objects.filter(change=change, kind=kind, item=old.pk).update(noted=known.pk, noted_at=known.at, noted_position=known.at_position)
    known.at, known.at_position = timezone.now(), change.at_position
    known.save(update_fields=["at", "at_position"])


def _holder(row: EvidenceRow) -> EvidenceRow:
    """What holds in the place of a replaced row: what replaced it, what replaced that."""
    passed: set[int] = set()
    while row.status == Status.SUPERSEDED and row.superseded_by is not None and row.pk not in passed:
        passed.add(row.pk)
        row = row.superseded_by
    if row.status != Status.CURRENT:
        raise conflict("Nothing holds in its place.", "Bring back what replaced it first.")
    return row


def _replace(change: Change, kind: str, forest: Forest, old: EvidenceRow, text: str, value: str) -> EvidenceRow:
    """A new row by the person in the place of an old one, and the revision that says so."""
    new = _edit(kind, forest, old, text, value)
    keep(change, kind, new, made=True)
    _note(change, kind, old, new, Verdict.EDITED)
    return new


def _edit(kind: str, forest: Forest, old: EvidenceRow, text: str, value: str) -> EvidenceRow:
    """A new row in the old one's place; the old one is retracted from its slot by being superseded for good."""
    if old.status not in (Status.CURRENT, Status.SUPERSEDED):
        raise conflict(f"This is {Status(old.status).value}.", "Restore it first.")
    if Revision.objects.filter(kind=kind, old_item=old.pk, verdict=Verdict.EDITED).exists():
        raise conflict("This was edited already.", "Edit the wording that took its place.")
    model = type(old)
    number = model._default_manager.filter(state=old.state_id, made_by="user").aggregate(last=Max("number"))["last"]
    new = model(
        forest=forest,
        state_id=old.state_id,
        number=0 if number is None else number + 1,
        made_by="user",
        text=text,
        event_time=old.event_time,
        known_from=forest.last_position,
        status=Status.CURRENT,  # unless its slot says otherwise, which is decided next
        pinned=old.pinned,
        **{name: getattr(old, name) for name in (*COPIED, *FIELDS[kind])},
    )
    new.value = value
    if kind == "artifact":
        new.item_text = text[:120]  # type: ignore[attr-defined]
    new.save()
    old.superseded_by, old.status, old.valid_to, old.known_until = new, Status.SUPERSEDED, old.event_time, forest.last_position
    old.pinned = False
    old.save(update_fields=["superseded_by", "status", "valid_to", "known_until", "pinned"])
    return new
