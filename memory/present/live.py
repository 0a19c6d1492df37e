"""What the pages are told when memory changes: a turn became a state, a state was refined."""

from __future__ import annotations

from memory.engine.forest import Context, Decision, Pool
from memory.models import EVIDENCE_MODELS, Forest, InteractionState, Revision, Turn
from memory.present.evidence import evidence_list, revision_list
from memory.present.states import crumbs, state_row, state_rows, tree_row
from memory.present.turns import decision_json, turn_json
from memory.present.words import Json
from memory.store import read
from memory.store.refine import Applied, pending

# As many glow in the drawing.
CANDIDATES = 5


def localized(turn_id: int, decision: Decision) -> Json:
    """`turn.localized`: the decision, the path it resumes (root first) and at most five candidates."""
    turn = Turn.objects.select_related("decision__chosen").get(pk=turn_id)
    shown = [candidate for candidate in decision.candidates if candidate.state is not None][:CANDIDATES]
    return {
        "decision": decision_json(turn.decision),
        "crumb": crumbs([decision.parent]).get(decision.parent, []) if decision.parent else [],
        "path": read.path_ids(turn.forest_id, decision.parent),
        "candidates": [{"state": one.state, "root": one.root, "probability": one.probability, "label": one.label} for one in shown],
        "second": decision.second,
    }


def committed(state_id: int) -> tuple[Json, Json]:
    """The turn as answered, and `state.added`: the drawing's row, its tree, the active pointer and the forest's version."""
    state = InteractionState.objects.select_related("turn", "forest").get(pk=state_id)
    added = {"state": state_row(state), "tree": tree_row(state), "active": state.forest.active_state_id, "version": state.forest.version}
    return turn_json(state.turn), added


def refined(forest_id: int, state_id: int, applied: Applied | None) -> tuple[int, Json, list[Json]]:
    """The turn it belongs to; `memory.refined`: the row again and what it taught; and `state.changed` of the other states whose evidence changed."""
    state = InteractionState.objects.select_related("turn").get(pk=state_id)
    facts: list[Json] = []
    records: list[Json] = []
    for kind, model in EVIDENCE_MODELS.items():
        ids = [item for of, item in applied.rows if of == kind] if applied else []
        (facts if kind == "fact" else records).extend(evidence_list(model.objects.in_forest(forest_id).filter(pk__in=ids)))
    message = {
        "state": state_row(state),
        "tree": tree_row(state),
        "facts": facts,
        "records": records,
        "revisions": revision_list(Revision.objects.in_forest(forest_id).filter(pk__in=applied.revisions if applied else [])),
        "pending": InteractionState.objects.in_forest(forest_id).filter(pending()).count(),
        "error": state.refine_error,
    }
    others = InteractionState.objects.in_forest(forest_id).filter(pk__in=set(applied.touched_states) - {state_id} if applied else [])
    return (
        state.turn_id,
        message,
        [{"state": row, "tree": tree_row(other)} for row, other in zip(state_rows(forest_id, others), others.order_by("position"), strict=True)],
    )


def recalled(forest: Forest, decision: Decision, context: Context, pool: Pool, *, asks: bool) -> Json:
    """The answer of `recall`: states go by the ids a replay or an import brought, else by ours. `asks`: in chat the language model would be asked too."""
    ids = {candidate.state for candidate in decision.candidates} | {candidate.root for candidate in decision.candidates} | {decision.parent, decision.root}
    names = {**read.names(forest.pk, {state for state in ids if state is not None}), **pool.names}

    def name(state: int | None) -> str | int | None:
        return None if state is None else names.get(state, state)

    return {
        "localization": {
            "parent": name(decision.parent),
            "root": name(decision.root),
            "probability": round(decision.probability, 4),
            "method": decision.method,
            "asks": asks,
            "candidates": [
                {"parent": name(candidate.state), "score": round(candidate.score, 4), "probability": round(candidate.probability, 4)}
                for candidate in decision.candidates
            ],
        },
        "tokens": context.tokens,
        "blocks": [
            {
                "name": block.name,
                "tokens": block.tokens,
                "items": [
                    {"kind": item.kind, "text": item.text, "tokens": item.tokens, "sources": [name(source) for source in item.sources]} for item in block.items
                ],
            }
            for block in context.blocks
        ],
    }
