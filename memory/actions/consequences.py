"""What a deletion would do, before it is confirmed (D5): what goes, is told anew, stays, holds again; which later turns used or quote it. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from memory.actions import redact
from memory.actions.redact import Away
from memory.actions.retell import Anew
from memory.engine import revise
from memory.models import EVIDENCE_MODELS, ContextTrace, EvidenceRow, Forest, InteractionState, Revision, Turn
from memory.present.states import USED_BY_LIMIT, labels, uses
from memory.present.words import iso, shorten
from memory.store.quotes import Quotes
from memory.store.slots import slot_entry

Json = dict[str, Any]
Going = Mapping[str, Sequence[int]]
LISTED = 50
TEXT, QUOTE = 300, 300


def answer(
    *,
    preview: bool,
    counts: Mapping[str, int],
    told: Anew | None = None,
    stays: Sequence[Json] = (),
    restored: Sequence[Json] = (),
    used: tuple[list[Json], int] = ([], 0),
    quoted: tuple[list[Json], int] = ([], 0),
) -> Json:
    """The one shape of every deletion's consequences (docs/interfaces.md)."""
    return {
        "preview": preview,
        "counts": {**counts, "used_by": used[1], "quoted_by": quoted[1]},
        "rebuilt": {"summaries": len(told.states) if told else 0, "topics": len(told.topics) if told else 0},
        "stays": list(stays)[:LISTED],
        "restored": list(restored)[:LISTED],
        "used_by": used[0],
        "quoted_by": quoted[0],
    }


def used_by(forest: Forest, away: Away, own: Collection[int]) -> tuple[list[Json], int]:
    """The turns that were given any of it, newest first, and how many there are. `own`: turns that go, or that said it."""
    if away.gone and not away.items:  # whatever rests on a state that goes names it as a source: the index alone knows
        turns = list(ContextTrace.objects.in_forest(forest).filter(sources__overlap=list(away.gone)).values_list("turn_id", flat=True))
    else:
        turns = redact.using(forest, away)
    states = InteractionState.objects.in_forest(forest).filter(turn__in=set(turns) - set(own)).order_by("-position").values_list("pk", flat=True)
    found = list(states)
    return uses(InteractionState.objects.filter(pk__in=found[:USED_BY_LIMIT]).order_by("-position")), len(found)


def quoted_by(forest: Forest, quotes: Quotes) -> tuple[list[Json], int]:
    """The answers that quote it, newest first, then the broken turns whose part does, each with its first passage; and how many there are."""
    number = len(quotes.states) + len(quotes.parts)
    rows = InteractionState.objects.in_forest(forest).filter(pk__in=list(quotes.states)[:LISTED]).order_by("-position")
    found = [{**use, "quote": shorten(quotes.states[use["state"]], QUOTE)} for use in uses(rows)]
    for turn in Turn.objects.in_forest(forest).filter(pk__in=list(quotes.parts)[: LISTED - len(found)]):
        found.append({"turn": turn.pk, "state": None, "label": shorten(turn.text), "time": iso(turn.sent_at), "quote": shorten(quotes.parts[turn.pk], QUOTE)})
    return found, number


def shared(forest: Forest, kept: Going, gone: Collection[int]) -> list[Json]:
    """The facts and records that another turn supports as well."""
    found = []
    for kind, ids in kept.items():
        for pk, text, sources in EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=list(ids)[:LISTED]).values_list("pk", "text", "sources"):
            others = [source for source in sources if source not in gone]
            found.append(_stays(kind, pk, text, f"{_named(others)} says it too."))
    return found


def said_elsewhere(forest: Forest, going: Going, gone: Collection[int]) -> list[Json]:
    """The same values of the same slots, and the same sentences, as other turns taught them: those stay."""
    found: list[Json] = []
    for kind, ids in going.items():
        model = EVIDENCE_MODELS[kind]
        rows = list(model.objects.in_forest(forest).filter(pk__in=list(ids)).values_list("pk", "slot", "value", "text"))
        said = {(slot, revise.normalize(value)) for _, slot, value, _ in rows if slot and value}
        others = model.objects.in_forest(forest).exclude(pk__in=list(ids)).exclude(sources__contained_by=list(gone))
        for pk, slot, value, text, state in others.filter(slot__in={slot for slot, _ in said}).values_list("pk", "slot", "value", "text", "state_id")[:400]:
            if (slot, revise.normalize(value)) in said and state not in gone:
                found.append(_stays(kind, pk, text, f"{_named([state])} says the same."))
        sentences = {text for _, slot, _, text in rows if not slot}
        for pk, text, state in others.filter(slot="", text__in=sentences).values_list("pk", "text", "state_id")[:LISTED]:
            if state not in gone:
                found.append(_stays(kind, pk, text, f"{_named([state])} says the same."))
    return found[:LISTED]


def told_beside(row: EvidenceRow, kind: str) -> list[Json]:
    """For one item: the turns that said it, and what else they taught of the same value; both stay."""
    states = InteractionState.objects.filter(pk__in=row.sources).order_by("position")
    found = [
        _stays(
            "state", state.pk, state.user_text or state.assistant_text, "This turn said it, and stays with its words. Delete the turn to have those gone too."
        )
        for state in states
    ]
    value = revise.normalize(row.value)
    for other, model in EVIDENCE_MODELS.items():
        for same in model.objects.in_forest(row.forest_id).filter(state__in=row.sources).exclude(**({"pk": row.pk} if other == kind else {})):
            if (value and revise.normalize(same.value) == value) or same.text == row.text:
                found.append(_stays(other, same.pk, same.text, "Read off the same turn. Delete it by itself, or the turn."))
    return found


def _stays(kind: str, pk: int, text: str, because: str) -> Json:
    return {"kind": kind, "id": pk, "text": shorten(text, TEXT), "because": because}


def _named(states: Sequence[int]) -> str:
    names = labels(states[:1])
    label = next(iter(names.values()), "another turn")
    return f"“{label}”" + (f" and {len(states) - 1} more" if len(states) > 1 else "")


def restored(forest: Forest, going: Going) -> list[Json]:
    """What holds again when these rows are gone (D3)."""
    found: list[Json] = []
    for kind, ids in going.items():
        gone = set(ids)
        model = EVIDENCE_MODELS[kind]
        rows = model.objects.in_forest(forest)
        slots = set(rows.filter(pk__in=gone).exclude(slot="").values_list("slot", flat=True))
        back = rows.filter(slot="", superseded_by__in=gone, status=EvidenceRow.Status.SUPERSEDED).exclude(pk__in=gone)
        heirs = dict(rows.filter(pk__in=gone, superseded_by__isnull=False).exclude(superseded_by__in=gone).values_list("pk", "superseded_by_id"))
        found += [_again(kind, row) for row in back if row.superseded_by_id not in heirs]
        # As `resolve_slots` decides it, without writing: what a person has edited is out unless the edit goes.
        edits = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.EDITED).exclude(new_item__in=gone - set(heirs))
        left = list(rows.filter(slot__in=slots).exclude(pk__in=gone).exclude(pk__in=edits.values("old_item")))
        for slot in slots:
            values = {row.pk: row for row in left if row.slot == slot}
            entries = [slot_entry(row) for row in values.values()]
            found += [
                _again(kind, values[outcome.id])
                for outcome in revise.resolve(entries)
                if outcome.status == "current" and values[outcome.id].status == EvidenceRow.Status.SUPERSEDED
            ]
    return found


def _again(kind: str, row: EvidenceRow) -> Json:
    return {"kind": kind, "id": row.pk, "text": shorten(row.text, TEXT)}


def texts_of(forest: Forest, states: Iterable[InteractionState], items: Going) -> list[str]:
    """The wording that goes: of turns, and of facts and records."""
    said = [text for state in states for text in (state.user_text, state.assistant_text) if text]
    for kind, ids in items.items():
        for row in EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=list(ids)).values_list("text", "value"):
            said += [text for text in row if text]
    return said
