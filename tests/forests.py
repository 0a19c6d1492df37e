"""Small forests for tests, planted row by row: no model, no localization."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.models import (
    EVIDENCE_MODELS,
    ContextTrace,
    Forest,
    InteractionState,
    Posting,
    Revision,
    RoutingDecision,
    StateVector,
    TermStat,
    Topic,
    Turn,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def plant(owner: Any, name: str = "Home", **more: Any) -> Forest:
    """An empty forest."""
    return Forest.objects.create(owner=owner, name=name, embedder="test", weights_hash="0" * 64, **more)


def wait(forest: Forest, text: str, status: str = Turn.Status.RECEIVED, **more: Any) -> Turn:
    """A turn that is no state (yet)."""
    return Turn.objects.create(forest=forest, client_id=f"t-{next(_numbers)}", text=text, sent_at=START, status=status, **more)


def say(
    forest: Forest, user: str, assistant: str = "", parent: InteractionState | None = None, *, topic: str = "", words: str = "", **more: Any
) -> InteractionState:
    """A committed and refined state below `parent`, or a new root; indexed by the words given."""
    forest.refresh_from_db()
    position = forest.last_position + 1
    time = START + timedelta(hours=position)
    turn = Turn.objects.create(
        forest=forest, client_id=f"t-{next(_numbers)}", status=Turn.Status.REFINED, sent_at=time, answered_at=time, origin=more.get("origin", "chat")
    )
    state = InteractionState(
        forest=forest,
        turn=turn,
        position=position,
        parent=parent,
        root_id=0,
        branch_id=0,
        time=time,
        user_text=user,
        assistant_text=assistant,
        **{"refined_at": time, **more},
    )
    first = parent is not None and not InteractionState.objects.filter(parent=parent).exists()
    state.root_id = parent.root_id if parent else 0
    state.depth = parent.depth + 1 if parent else 0
    state.save()
    state.root_id = state.root_id or state.pk
    state.branch_id = parent.branch_id if parent and first else state.pk
    terms = words.lower().split()
    state.length = len(terms)
    state.save()
    if parent is None:
        Topic.objects.create(forest=forest, root=state, key=topic, order=Topic.objects.filter(forest=forest).count())
    for term in set(terms):
        Posting.objects.create(forest=forest, kind=0, term=term, state=state, count=terms.count(term), length=len(terms))
        stat, _ = TermStat.objects.get_or_create(forest=forest, kind=0, term=term)
        stat.states += 1
        stat.save()
    StateVector.objects.create(forest=forest, state=state, kind="state", vector=[0.05] * 384)
    RoutingDecision.objects.create(
        forest=forest, turn=turn, method="recall" if parent else "new_root", chosen=parent, probability=0.9, margin=0.5, threshold=0.0, why="Because.",
        candidates=[{"state": parent.pk if parent else None, "root": None, "label": "x", "tree": None, "active": False, "score": 1.0, "probability": 0.9,
                     "parts": {"meaning": 1.0}, "channels": {}}],
    )  # fmt: skip
    Forest.objects.filter(pk=forest.pk).update(
        last_position=position,
        active_state=state,
        version=forest.version + 1,
        indexed_states=forest.indexed_states + 1,
        indexed_terms=forest.indexed_terms + len(terms),
    )
    forest.refresh_from_db()
    return state


def learn(state: InteractionState, text: str, kind: str = "fact", *, replaces: Any = None, **more: Any) -> Any:
    """A fact or record that `state` gave, replacing an older one if told so."""
    model = EVIDENCE_MODELS[kind]
    number = model.objects.filter(state=state).count()
    typed = {"artifact": {"artifact_type": "list_item", "item_text": text}, "event": {"event_type": "visit"}, "mutable_state": {"key": "city"}}.get(kind, {})
    row = model.objects.create(
        forest=state.forest,
        state=state,
        sources=[state.pk],
        number=number,
        text=text,
        event_time=state.time,
        known_from=state.position,
        **{**typed, **more},
    )
    StateVector.objects.create(forest=state.forest, state=state, kind=kind, item=row.pk, vector=[0.05] * 384)
    if replaces is not None:
        model.objects.filter(pk=replaces.pk).update(status="superseded", superseded_by=row, valid_to=row.event_time, known_until=row.known_from)
        replaces.refresh_from_db()
        Revision.objects.create(
            forest=state.forest,
            kind=kind,
            old_item=replaces.pk,
            new_item=row.pk,
            slot=row.slot,
            verdict="superseded",
            by="rule",
            state=state,
            at_position=row.known_from,
        )
    return row


def trace(state: InteractionState, *given: Any) -> ContextTrace:
    """What the answer of `state` was given: states and evidence rows."""
    items = [
        {"kind": "state", "id": row.pk, "text": row.user_text, "tokens": 9, "sources": [row.pk], "status": None}
        if isinstance(row, InteractionState)
        else {
            "kind": next(k for k, m in EVIDENCE_MODELS.items() if isinstance(row, m)),
            "id": row.pk,
            "text": row.text,
            "tokens": 5,
            "sources": row.sources,
            "status": row.status,
        }
        for row in given
    ]
    block = {"name": "DataContext", "label": "Facts", "tokens": 14, "note": "", "items": items}
    return ContextTrace.objects.create(
        forest=state.forest, turn=state.turn, budget=100, tokens=14, blocks=[block], messages=[{"role": "user", "content": state.user_text}], messages_hash="h"
    )
