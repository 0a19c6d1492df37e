"""What is no longer supported goes: the evidence side of a deletion. Call it inside the transaction that holds the forest's lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Max

from memory.models import EVIDENCE_MODELS, KIND_OF, EvidenceRow, Forest, InteractionState, Revision, StateVector
from memory.store.changes import forget_laid_aside
from memory.store.dropping import drop
from memory.store.readings import digest, unjudged
from memory.store.slots import resolve_slots

# Numbers of rows that moved to another of their sources, out of the way of what that one's extraction numbers itself.
REHOMED = 20_000


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
    forget_laid_aside(forest, gone)
    touched, slots = drop(forest, found.only)
    for kind, ids in found.shared.items():
        for row in EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=ids).order_by("pk"):
            touched.add(_rehome(row, gone))
            slots |= {(KIND_OF[type(row)], row.slot)} if row.slot else set()
    # A revision is told by the state that brought it; one that others still hold to is told by its rows.
    Revision.objects.in_forest(forest).filter(state__in=gone).update(state=None)
    _, others = resolve_slots(forest.pk, slots, None)
    return (touched | set(others)) - gone


def unlearn_to_learn_anew(forest: Forest, states: Iterable[int], *, for_good: bool = False) -> tuple[set[int], dict[str, list[int]]]:
    """Delete what was extracted from these states, which read a path that has changed, before they are refined again (D2).

    What a person has edited, pinned, retracted or set aside stays as they left it. What comes back when the same is read again is laid aside, unless what
    they read was deleted (`for_good`). Returns the other states whose evidence looks different now, and the ids of what went, by kind.
    """
    going = extracted(forest, states)
    if not for_good:
        _remember(forest, going)
    touched, slots = drop(forest, going, for_good=for_good)
    _, others = resolve_slots(forest.pk, slots, None)
    return touched | set(others), going


def extracted(forest: Forest, states: Iterable[int]) -> dict[str, list[int]]:
    """Per kind, the rows that were read from these states alone and that no person has had a say on."""
    them = list(states)
    if not them:
        return {}
    return {kind: list(unjudged(forest, kind).filter(state__in=them, sources__contained_by=them).values_list("pk", flat=True)) for kind in EVIDENCE_MODELS}


def _remember(forest: Forest, going: Mapping[str, list[int]]) -> None:
    """Keep, without a word of it, which row each reading had: taught the same again, it is the same row to the traces and changes that name it."""
    found: dict[int, dict[str, dict[str, int]]] = {}
    for kind, ids in going.items():
        for row in EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=ids):
            found.setdefault(row.state_id, {}).setdefault(kind, {})[digest(row.made_by, row.number, row.text, row.slot, row.value)] = row.pk
    states = list(InteractionState.objects.in_forest(forest).filter(pk__in=found).only("pk", "taught"))
    for state in states:
        for kind, readings in found[state.pk].items():
            state.taught[kind] = {**state.taught.get(kind, {}), **readings}
    InteractionState.objects.bulk_update(states, ["taught"], batch_size=500)


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
        row.number = max(REHOMED, (last or 0) + 1)
        StateVector.objects.filter(forest=row.forest_id, kind=row._meta.model_name, item=row.pk).update(state=first)
    row.save()
    return row.state_id
