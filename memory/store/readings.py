"""What readings of turns become: the rows of their proposals, known again where they are there already. Call it under the forest's lock."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from memory.engine.forest import EvidenceKind, Proposal
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, InteractionState, Revision
from memory.store.changes import take_up
from memory.store.dropping import drop
from memory.store.evidence import fields_of
from memory.store.slots import Slots

# The rows of a state's proposals by their number.
Rows = dict[int, tuple[EvidenceKind, EvidenceRow]]
_LOOKED_AT = ("pk", "state_id", "made_by", "number", "text", "slot", "value", "sources")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a state: its proposals, the numbers of those a person deleted, and whether it is read anew because its path has lost a turn."""

    state: InteractionState
    proposals: Sequence[Proposal]
    forgotten: frozenset[int]
    anew: bool


def write(forest: int, readings: Sequence[Reading]) -> tuple[dict[int, Rows], Slots, set[int]]:
    """Write the rows that aren't there. Returns all rows of the readings by state, the slots to decide anew, and the other states whose evidence changed.

    Of a state read anew goes what the rules no longer read in it, but for what a person has said of it (D2)."""
    known = _known(readings)
    unsaid = {kind: ids for kind in EVIDENCE_MODELS if (ids := _unsaid(forest, kind, readings, known))}
    touched, slots = drop(forest, unsaid)
    gone = {(kind, pk) for kind, ids in unsaid.items() for pk in ids}
    fresh: dict[EvidenceKind, list[EvidenceRow]] = {}
    rows: dict[int, Rows] = {}
    for reading in readings:
        found: Rows = {}
        rows[reading.state.pk] = found
        here: dict[EvidenceKind, list[EvidenceRow]] = {}
        for number, proposal in enumerate(reading.proposals):
            if number in reading.forgotten:
                continue
            kind = proposal.kind
            if kind not in here:
                here[kind] = [row for row in known.get((kind, reading.state.pk), []) if (kind, row.pk) not in gone]
            taken = {id(row) for of, row in found.values() if of == kind}
            row = _same(forest, [one for one in here[kind] if id(one) not in taken], number, proposal, by_number=not reading.anew)
            if row is None:
                row = _new_row(reading.state, proposal, _free(number, proposal, here[kind]))
                here[kind].append(row)
                fresh.setdefault(kind, []).append(row)
            found[number] = (kind, row)
    for kind, made in fresh.items():
        EVIDENCE_MODELS[kind]._default_manager.bulk_create(made)
    slots |= {(kind, row.slot) for found in rows.values() for kind, row in found.values() if row.slot}
    return rows, slots, touched


def _known(readings: Sequence[Reading]) -> dict[tuple[str, int], list[EvidenceRow]]:
    """The extracted rows there are of each kind and state, by number."""
    known: dict[tuple[str, int], list[EvidenceRow]] = {}
    for kind, model in EVIDENCE_MODELS.items():
        there = model.objects.filter(state__in=[reading.state.pk for reading in readings]).exclude(made_by="user")
        for row in there.order_by("number", "pk").only(*_LOOKED_AT):
            known.setdefault((kind, row.state_id), []).append(row)
    return known


def _unsaid(forest: int, kind: str, readings: Sequence[Reading], known: Mapping[tuple[str, int], Sequence[EvidenceRow]]) -> list[int]:
    """The rows of states read anew that nothing proposes any more and nobody has had a say on."""
    gone: list[int] = []
    for reading in readings:
        if reading.anew:
            said = {_words_of(item) for number, item in enumerate(reading.proposals) if item.kind == kind and number not in reading.forgotten}
            mine = [row for row in known.get((kind, reading.state.pk), []) if row.made_by == "rule" and row.sources == [row.state_id]]
            gone += [row.pk for row in mine if (row.text, row.slot, row.value) not in said]
    return list(unjudged(forest, kind).filter(pk__in=gone).values_list("pk", flat=True)) if gone else []


def _words_of(proposal: Proposal) -> tuple[str, str, str]:
    return proposal.text, proposal.slot[:200], proposal.value


def unjudged(forest: Forest | int, kind: str) -> QuerySet[EvidenceRow]:
    """The extracted rows of one kind that no person has had a say on: those a new reading may take back."""
    rows: QuerySet[EvidenceRow] = EVIDENCE_MODELS[kind].objects.in_forest(forest).exclude(made_by="user")
    return rows.exclude(pk__in=judged(kind, forest).values("pk"))


def judged(kind: str, forest: Forest | int) -> QuerySet[EvidenceRow]:
    """The extracted rows that a person has had a say on: pinned, set aside, taken back, brought back or edited."""
    said = Revision.objects.in_forest(forest).filter(kind=kind, by=Revision.By.USER, old_item__isnull=False)
    aside = [EvidenceRow.Status.RETRACTED, EvidenceRow.Status.QUARANTINED]
    rows: QuerySet[EvidenceRow] = EVIDENCE_MODELS[kind].objects.in_forest(forest)
    return rows.exclude(made_by="user").filter(Q(pinned=True) | Q(status__in=aside) | Q(pk__in=said.values("old_item")))


def _same(forest: int, rows: Iterable[EvidenceRow], number: int, proposal: Proposal, *, by_number: bool) -> EvidenceRow | None:
    """The row that says this already, of those no other proposal has. What a person has had a say on keeps what was read where the turn hung before.

    Rules say the same of the same turn, so their number names an item (`by_number`), were it worded otherwise by an earlier version.
    A model may say it otherwise the next time: its items go by their words or their slot and value, and what it said before stays (W1, W3).
    """
    text, slot, value = _words_of(proposal)
    known = [row for row in rows if row.made_by == proposal.made_by]
    if proposal.made_by != "rule":
        return next((row for row in known if row.value == value and (row.text == text or (slot and row.slot == slot))), None)
    same = [row for row in known if (row.text, row.slot, row.value) == (text, slot, value)]
    found = next((row for row in same if row.number == number), same[0] if same else None)
    if found or not by_number:
        return found
    numbered = next((row for row in known if row.number == number), None)
    return None if numbered is not None and judged(proposal.kind, forest).filter(pk=numbered.pk).exists() else numbered


def _free(number: int, proposal: Proposal, there: Iterable[EvidenceRow]) -> int:
    """The number of a new row beside those `there` are."""
    taken = {row.number for row in there if row.made_by == proposal.made_by}
    return number if proposal.made_by == "rule" and number not in taken else max(number, max(taken, default=-1) + 1)


def _new_row(state: InteractionState, proposal: Proposal, number: int) -> EvidenceRow:
    """A row to be written, under the id that what was read had before its turn was moved."""
    model = EVIDENCE_MODELS[proposal.kind]
    slot = proposal.slot[:200]
    had = state.taught.get(proposal.kind, {}).get(digest(proposal.made_by, number, proposal.text, slot, proposal.value))
    if had is not None and model.objects.filter(pk=had).exists():
        had = None
    if had is not None:
        take_up(state.forest_id, proposal.kind, had, slot)
    return model(
        pk=had,  # type: ignore[misc]  # abstract, so mypy knows no key of it
        forest_id=state.forest_id,
        state=state,
        number=number,
        made_by=proposal.made_by,
        sources=[state.pk],
        text=proposal.text,
        slot=slot,
        subject=proposal.subject[:200],
        value=proposal.value,
        asserted=proposal.asserted,
        attribute_tag=proposal.attribute_tag,
        entities=list(proposal.entities),
        evidence=proposal.evidence,
        event_time=proposal.event_time or state.time,
        known_from=state.position,
        **fields_of(proposal.kind, proposal.fields),
    )


def digest(made_by: str, number: int, text: str, slot: str, value: str) -> str:
    """A digest of what was read of a turn, by a key of this installation: it says whether the same is read again, and nothing of what it is."""
    return salted_hmac("memory.reading", json.dumps([made_by, number, text, slot, value])).hexdigest()[:32]
