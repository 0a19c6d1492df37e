"""Whether two forests, or one before and after, are equal by content: every table that isn't history, audit or work under way, ids replaced by names.

A state goes by its turn's client id, a fact or record by its state, kind, number and text. Not compared are row ids, times of writing and of
refinement, and what refinement took; vectors are equal when they point the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from django.apps import apps

from memory.models import (
    EVIDENCE_MODELS,
    Change,
    ChangedItem,
    Forest,
    Import,
    InteractionState,
    Job,
    Lease,
    NewVector,
    Outbox,
    ParentChange,
    PieceVector,
    Revision,
    RoutingDecision,
    StateVector,
    Turn,
)
from memory.models.scoping import InForest

HISTORY = {ParentChange, Change, ChangedItem, Job, Import, Lease, Outbox}
WRITTEN = {"id", "forest_id", "created_at", "answered_at", "refined_at", "timings", "usage", "taught"}
KINDS = {model: kind for kind, model in EVIDENCE_MODELS.items()}
Names = dict[Any, Any]


def contents(forest: Forest) -> dict[str, Any]:
    """Table → its rows by content, in an order of their own."""
    names = _names(forest)
    found: dict[str, Any] = {"Forest": _head(forest, names)}
    for model in apps.get_app_config("memory").get_models():
        if issubclass(model, InForest) and model not in HISTORY:
            rows = [_row(model, row, names) for row in model._default_manager.filter(forest=forest)]
            if model is Revision:  # those laid aside, of rows that aren't read where the turn hangs now, aren't told
                rows = [row for row in rows if "gone" not in (row["old_item"], row["new_item"])]
            found[model.__name__] = dict(rows) if model in (StateVector, PieceVector) else sorted(rows, key=repr)
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What isn't equal, table by table; empty when nothing is."""
    found = []
    for table in before:
        ours, theirs = before[table], after[table]
        if table in ("StateVector", "PieceVector"):
            found += [f"vector of {key} is only on one side" for key in ours.keys() ^ theirs.keys()]
            found += [f"vector of {key} points elsewhere" for key in ours.keys() & theirs.keys() if not ours[key] @ theirs[key] > 0.999]
        elif ours != theirs:
            found += [f"{table}: only before: {row}" for row in ours if row not in theirs] + [
                f"{table}: only after: {row}" for row in theirs if row not in ours
            ]
            found += [f"{table}: as many rows, but not alike"] if not found else []
    return found


def _names(forest: Forest) -> Names:
    names: Names = {("state", None): None, ("turn", None): None}
    for state, turn, client in InteractionState.objects.filter(forest=forest).values_list("pk", "turn_id", "turn__client_id"):
        names["state", state] = names["turn", turn] = client
    for turn, client in Turn.objects.filter(forest=forest).values_list("pk", "client_id"):
        names["turn", turn] = client
    for kind, model in EVIDENCE_MODELS.items():
        names[kind, None] = None
        for row in model.objects.filter(forest=forest):
            names[kind, row.pk] = (kind, names["state", row.state_id], row.made_by, row.number, row.text)
    return names


def _head(forest: Forest, names: Names) -> list[Any]:
    row = Forest.objects.get(pk=forest.pk)
    return [row.name, row.time_zone, names["state", row.active_state_id], row.last_position, row.indexed_states, row.indexed_terms]


def _row(model: Any, row: Any, names: Names) -> Any:
    kind = KINDS.get(model, "")
    told: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        column, value = field.attname, getattr(row, field.attname)
        if column in WRITTEN:
            continue
        if column == "superseded_by_id":
            value = names[kind, value]
        elif field.is_relation:
            target = {InteractionState: "state", Turn: "turn"}.get(field.related_model)
            value = names.get((target, value), "?") if target else value
        elif column in ("root_id", "branch_id"):
            value = names["state", value]
        elif column in ("sources", "told_by"):
            value = [names["state", one] for one in value]
        told[column] = value
    if model is InteractionState:
        told["refined"] = row.refined_at is not None
    if model is Revision:
        told |= {end: names.get((row.kind, told[end]), "gone") for end in ("old_item", "new_item")}
        told["state_id"] = told["state_id"] if row.by == "user" else None  # for the rest that of the new item
        del told["at"]
    if model is RoutingDecision:
        told["candidates"] = [_candidate(one, names) for one in row.candidates]
        told.pop("corrected_at")
    if "blocks" in told:
        told["blocks"] = [{**block, "items": [_item(item, names) for item in block["items"]]} for block in row.blocks]
    if model is PieceVector:
        return (told["state_id"], row.number), np.array(row.vector.to_list() if hasattr(row.vector, "to_list") else row.vector, dtype=np.float32)
    if model is StateVector:
        item = names[row.kind, row.item] if row.kind in EVIDENCE_MODELS else row.item
        return (told["state_id"], row.kind, item), np.array(row.vector.to_list() if hasattr(row.vector, "to_list") else row.vector, dtype=np.float32)
    assert model is not NewVector
    return told


def _candidate(one: dict[str, Any], names: Names) -> dict[str, Any]:
    signs = {part: {**sign, "state": names["state", sign["state"]]} for part, sign in one.get("signs", {}).items()}
    return {**one, **{end: names["state", one[end]] for end in ("state", "root")}, "signs": signs}


def _item(item: dict[str, Any], names: Names) -> dict[str, Any]:
    kind = {"summary": "state", "update": "fact"}.get(item["kind"], item["kind"])
    return {**item, "id": names.get((kind, item["id"]), "gone"), "sources": [names["state", source] for source in item["sources"]]}
