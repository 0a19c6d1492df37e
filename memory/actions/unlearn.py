"""What is no longer supported goes: the evidence side of a deletion. Call it inside the transaction that holds the forest's lock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, Q

from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, InteractionState, Revision, StateVector
from memory.store.refine import resolve_slots


@dataclass(slots=True)
class Support:
    """What rests on some states: per kind, the rows nothing else supports and those another live source keeps."""

    only: dict[str, list[int]] = field(default_factory=dict)
    shared: dict[str, list[int]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        records = sum(len(ids) for kind, ids in self.only.items() if kind != "fact")
        return {"facts": len(self.only.get("fact", [])), "records": records, "kept": sum(map(len, self.shared.values()))}


def support(forest: Forest, states: Iterable[int]) -> Support:
    """Sort the evidence that names any of these states as a source."""
    gone = set(states)
    found = Support()
    for kind, model in EVIDENCE_MODELS.items():
        for pk, sources in model.objects.in_forest(forest).filter(sources__overlap=list(gone)).values_list("pk", "sources"):
            (found.shared if set(sources) - gone else found.only).setdefault(kind, []).append(pk)
    return found


def unlearn(forest: Forest, states: Iterable[int]) -> set[int]:
    """Delete the evidence only these states support, with vectors and revisions; the slots they spoke for are decided anew (D3).

    Returns the other states whose evidence looks different now.
    """
    gone = set(states)
    found = support(forest, gone)
    slots: set[tuple[Any, str]] = set()
    touched: set[int] = set()
    for kind, model in EVIDENCE_MODELS.items():
        only = found.only.get(kind, [])
        rows = model.objects.in_forest(forest).filter(pk__in=only)
        slots |= {(kind, slot) for slot in rows.exclude(slot="").values_list("slot", flat=True)}
        touched |= _give_back(model, forest, only)
        Revision.objects.in_forest(forest).filter(kind=kind).filter(Q(old_item__in=only) | Q(new_item__in=only)).delete()
        StateVector.objects.in_forest(forest).filter(kind=kind, item__in=only).delete()
        rows.delete()
        for row in model.objects.in_forest(forest).filter(pk__in=found.shared.get(kind, [])).order_by("pk"):
            touched.add(_rehome(row, gone))
            slots |= {(kind, row.slot)} if row.slot else set()
    # A revision is told by the state that brought it; one that others still hold to is told by its rows.
    Revision.objects.in_forest(forest).filter(state__in=gone).update(state=None)
    _, others = resolve_slots(forest.pk, slots, None)
    return (touched | set(others)) - gone


def _give_back(model: type[EvidenceRow], forest: Forest, going: list[int]) -> set[int]:
    """Rows that one of `going` had replaced hold again; those with a slot are decided with it later."""
    replaced = model.objects.in_forest(forest).filter(superseded_by__in=going).exclude(pk__in=going)
    states = set(replaced.values_list("state_id", flat=True))
    replaced.filter(status=EvidenceRow.Status.SUPERSEDED).update(status=EvidenceRow.Status.CURRENT, valid_to=None, known_until=None, superseded_by=None)
    return states


def _rehome(row: EvidenceRow, gone: set[int]) -> int:
    """Let a row rest on the sources that are left; the words quoted from a deleted turn go with it."""
    left = InteractionState.objects.filter(pk__in=set(row.sources) - gone).order_by("position")
    row.sources = list(left.values_list("pk", flat=True))
    if row.state_id in gone:
        first = left[0]
        last = type(row)._default_manager.filter(state=first, made_by=row.made_by).aggregate(last=Max("number"))["last"]
        if row.event_time == row.state.time:
            row.event_time = first.time
        row.state, row.known_from, row.evidence = first, first.position, ""
        row.number = 0 if last is None else last + 1
        StateVector.objects.filter(forest=row.forest_id, kind=row._meta.model_name, item=row.pk).update(state=first)
    row.save()
    return row.state_id
