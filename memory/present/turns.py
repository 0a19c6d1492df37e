"""Turns, and the trace that says why one went where it went and what the model saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Func, JSONField, Q, QuerySet, Value

from memory.engine import signs
from memory.engine.contrast import contrast
from memory.engine.forest import Candidate
from memory.models import EVIDENCE_MODELS, ContextTrace, InteractionState, ParentChange, RoutingDecision, Turn
from memory.present.changes import move_list
from memory.present.states import crumbs
from memory.present.words import Json, iso, shorten

CHIPS = 12
# What a turn's JSON reads of other rows.
SHOWN_WITH = ("state", "decision__chosen", "edited_from__state")
# The score parts in the order of the legend. Another ranker's parts follow, called by their key.
PARTS = {"meaning": "Meaning", "words": "Words", "names": "Names", "reply": "Left open", "path": "Path", "cue": "Cue", "recency": "Recency"}
# Decisions of a person: no score decided.
BY_HAND = (RoutingDecision.Method.GIVEN, RoutingDecision.Method.CORRECTED)
SAME_CHANCE = 0.001  # chances of candidates are kept to four decimals
NOTES = {
    "prompt_cut": "The server read far fewer tokens than it was sent: it cut the beginning. Give it a longer context, or lower EVIDENCE_BUDGET.",
    "model_gone": "The model chosen for this forest isn’t offered any more, so the usual one answered. Choose another under the message field.",
    "asked_in_vain": "The language model was asked where this turn goes, but gave no answer that could be used. Ranking alone decided.",
    "asked_too_long": "The language model was asked where this turn goes, but not fast enough (LOCALIZER_ASK_SECONDS). Ranking alone decided.",
}
EVIDENCE_ITEMS = "$[*].items[*] ? (" + " || ".join(f'@.kind == "{kind}"' for kind in EVIDENCE_MODELS) + ")"


class GivenEvidence(Func):
    """The facts and records among the items of a trace's blocks, picked out in the database: the rest is long and not needed."""

    function = "jsonb_path_query_array"
    template = "%(function)s(%(expressions)s::jsonpath)"
    output_field = JSONField()


def turn_list(turns: QuerySet[Turn] | Iterable[Turn]) -> list[Json]:
    """Turns of one forest in the order given, with crumb, decision and chips; about ten queries however many."""
    if isinstance(turns, QuerySet):
        turns = turns.select_related(*SHOWN_WITH)
    found = list(turns)
    ids = [turn.pk for turn in found]
    given = dict(ContextTrace.objects.filter(turn__in=ids).annotate(given=GivenEvidence("blocks", Value(EVIDENCE_ITEMS))).values_list("turn_id", "given"))
    texts = _evidence_texts(item for items in given.values() for item in items)
    ends = {turn.pk: _parent(turn) for turn in found}
    ways = crumbs(end for end in ends.values() if end is not None)
    return [_turn(turn, ways.get(ends[turn.pk] or 0, []), _chips(given.get(turn.pk, []), texts)) for turn in found]


def _turn(turn: Turn, crumb: list[Json], given: list[Json]) -> Json:
    state, decision = _state(turn), _decision(turn)
    return {
        "id": turn.pk,
        "client_id": turn.client_id,
        "origin": turn.origin,
        "status": turn.status,
        "text": state.user_text if state else turn.text,
        "answer": state.assistant_text if state else "",
        "partial": turn.partial,
        "seq": turn.seq,
        "state": state.pk if state else None,
        "sent_at": iso(turn.sent_at),
        "answered_at": iso(turn.answered_at),
        "refined_at": iso(state.refined_at) if state else None,
        "error": turn.error or (state.refine_error if state else None),
        "crumb": crumb,
        "decision": decision_json(decision, state) if decision else None,
        "chips": given,
        "edited_from": _edited_from(turn, state),
    }


def _edited_from(turn: Turn, state: InteractionState | None) -> Json | None:
    """The turn it was edited from, for as long as that is part of memory."""
    original = _state(turn.edited_from) if turn.edited_from else None
    if original is None:
        return None
    text = state.user_text if state else turn.text
    return {"turn": original.turn_id, "state": original.pk, "label": shorten(original.user_text), "again": text == original.user_text}


def turn_json(turn: Turn) -> Json:
    """One turn."""
    return turn_list([turn])[0]


def _state(turn: Turn) -> InteractionState | None:
    return getattr(turn, "state", None)


def _decision(turn: Turn) -> RoutingDecision | None:
    return getattr(turn, "decision", None)


def _parent(turn: Turn) -> int | None:
    """Where the turn hangs now, or is about to."""
    state, decision = _state(turn), _decision(turn)
    if state:
        return state.parent_id
    return decision.chosen_id if decision else None


def decision_json(decision: RoutingDecision, state: InteractionState | None = None) -> Json:
    """A decision as a turn carries it. `root` is null only for a new root that isn't committed yet."""
    chosen = decision.chosen
    return {
        "method": decision.method,
        "parent": decision.chosen_id,
        "root": state.root_id if state else chosen.root_id if chosen else None,
        "probability": decision.probability,
        "unsure": decision.unsure,
    }


def chips(blocks: Sequence[Json]) -> list[Json]:
    """The evidence an answer was given, as chips: `blocks` as stored in a context trace. What was deleted since is left out."""
    given = [item for block in blocks for item in block["items"] if item["kind"] in EVIDENCE_MODELS]
    return _chips(given, _evidence_texts(given))


def _evidence_texts(items: Iterable[Json]) -> dict[tuple[str, int], tuple[str, int, str]]:
    """(kind, id) → text, source state and quoted words, of what still exists."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for item in items:
        if item.get("id") is not None:
            wanted[item["kind"]].add(item["id"])
    return {
        (kind, pk): (text, state, quote)
        for kind, ids in wanted.items()
        for pk, text, state, quote in EVIDENCE_MODELS[kind].objects.filter(pk__in=ids).values_list("pk", "text", "state_id", "evidence")
    }


def _chips(items: Iterable[Json], texts: dict[tuple[str, int], tuple[str, int, str]]) -> list[Json]:
    known = dict.fromkeys((item["kind"], item["id"]) for item in items if (item["kind"], item.get("id")) in texts)
    shown = [(kind, pk, *texts[kind, pk]) for kind, pk in list(known)[:CHIPS]]
    return [{"kind": kind, "id": pk, "label": shorten(text), "state": state, "quote": quote} for kind, pk, text, state, quote in shown]


def trace_json(turn: Turn) -> Json:
    """Why the turn went there, what the model saw, what it took."""
    state, decision = _state(turn), _decision(turn)
    context: ContextTrace | None = getattr(turn, "context", None)
    return {
        "turn": turn.pk,
        "position": state.position if state else None,
        "text": state.user_text if state else turn.text,
        "time": iso(turn.sent_at),
        "answered_by": turn.answered_by or None,
        "decision": _trace_decision(decision, state) if decision else None,
        "context": _trace_context(context) if context else None,
        "timings": turn.timings,
        "tokens": _tokens(turn),
    }


def _tokens(turn: Turn) -> Json:
    """What the answer took, and each stage with what it cost; notes say what was noticed about the server."""
    costs = [stage["cost"] for stage in turn.usage.values() if stage["cost"] is not None]
    notes = dict.fromkeys(note for stage in turn.usage.values() for note in stage["notes"])
    return {
        "input": turn.input_tokens,
        "output": turn.output_tokens,
        "cost": round(sum(costs), 8) if costs else None,
        "stages": turn.usage,
        "notes": [{"code": note, "words": NOTES.get(note, note)} for note in notes],
    }


def _trace_decision(decision: RoutingDecision, state: InteractionState | None) -> Json:
    short = decision_json(decision, state)
    return {
        "method": decision.method,
        "chosen": decision.chosen_id,
        "root": short["root"],
        "probability": decision.probability,
        "margin": decision.margin,
        "unsure": decision.unsure,
        "threshold": decision.threshold,
        "why": decision.why,
        "corrected_by": decision.corrected_by.get_username() if decision.corrected_by else None,
        "corrected_at": iso(decision.corrected_at),
        "corrected_from": _corrected_from(state) if state and decision.method == RoutingDecision.Method.CORRECTED else None,
        "parts": part_list(decision.candidates),
        "candidates": [{**candidate, "signs": signs.to_json(signs.from_json(candidate.get("signs")))} for candidate in decision.candidates],
        **contrasted(decision),
    }


def contrasted(decision: RoutingDecision) -> Json:
    """What spoke for the place that was chosen against the next one of another branch, part by part, longest first: nothing where a person chose, or either was
    deleted since."""
    none: Json = {"next": None, "contrast": []}
    place, *others = (_scored(candidate) for candidate in decision.candidates) if decision.candidates else (None,)
    other = next((one for one in others if place and one.parts != place.parts), None)  # an earlier turn of a branch has the score of its branch
    # The first was the one chosen, unless it was deleted.
    if decision.method in BY_HAND or not place or not other or place.state != decision.chosen_id or abs(place.probability - decision.probability) > SAME_CHANCE:
        return none
    labels = {part["key"]: part["label"] for part in part_list(decision.candidates)}
    found = [{"key": one.part, "label": labels[one.part], "by": round(one.by, 4), "words": one.words} for one in contrast(place, other)]
    return {"next": {"state": other.state, "label": other.label}, "contrast": found} if found else none


def _scored(candidate: Json) -> Candidate:
    """A kept candidate with its scores and signs."""
    parts, told = candidate["parts"], signs.from_json(candidate.get("signs"))
    return Candidate(candidate["state"], None, candidate["label"], "", candidate["active"], candidate["score"], candidate["probability"], parts, {}, told)


def _corrected_from(state: InteractionState) -> Json | None:
    """Where the turn had been placed before anybody moved it; null: it had begun a topic."""
    moves = ParentChange.objects.filter(Q(change=None) | Q(change__undone_at=None), state=state).order_by("pk")
    return next((move["from"] for move in move_list(moves.select_related("by_user", "change")[:1])), None)


def part_list(candidates: Iterable[Json]) -> list[Json]:
    """The score parts in the order of the legend, with those of other rankers after them."""
    used: dict[str, Any] = {key: None for candidate in candidates for key in candidate.get("parts", {})}
    named = {**PARTS, **{key: key.replace("_", " ").capitalize() for key in used if key not in PARTS}}
    return [{"key": key, "label": label} for key, label in named.items()]


def _trace_context(context: ContextTrace) -> Json:
    names = ("budget", "tokens", "instructions_tokens", "input_tokens", "blocks", "cut", "messages_hash", "messages")
    return {name: getattr(context, name) for name in names}
