"""Delete a state or a whole forest, with everything only it supported (RELIABILITY D1–D5).

What a deletion can't do yet it refuses: nothing is deleted while a turn of the forest is being answered, or while Valkey, which keeps
messages for an hour, doesn't answer. Later answers keep their words; those that used what goes are listed in the preview.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

import redis
from django.apps import apps
from django.db import transaction
from django.db.models import F

from memory import messages, present
from memory.actions import structure
from memory.actions.redact import redact_decisions, redact_traces
from memory.actions.unlearn import support, unlearn, unlearn_to_learn_anew
from memory.errors import conflict, unavailable, unknown_forest, unknown_state
from memory.models import AtomicFact, Forest, Import, InteractionState, Outbox, StateVector, Turn
from memory.models.scoping import InForest
from memory.present.states import used_by
from memory.store import uploads

log = logging.getLogger(__name__)
Mode = Literal["with_children", "children_to_parent"]


def delete_forest(forest: Forest, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Delete a forest: every row of every table that names it, and its messages. Locks the forest and its turns."""
    counts = {**present.forest_json(forest)["counts"], "facts": AtomicFact.objects.in_forest(forest).count()}
    if preview:
        return {"preview": True, "counts": counts}
    _reach_valkey()
    with transaction.atomic():
        locked = Forest.objects.select_for_update().filter(pk=forest.pk).first()
        if locked is None:
            raise unknown_forest()
        turns = _quiet_turns(locked)
        jobs = list(Import.objects.in_forest(locked).values_list("job_id", flat=True))
        for model in apps.get_app_config("memory").get_models():
            if issubclass(model, InForest):
                rows = model._default_manager.filter(forest=locked.pk)
                rows._raw_delete(rows.db)
        Forest.objects.filter(pk=locked.pk)._raw_delete("default")
        structure.audit(locked, by, "delete_forest", f"forest {locked.pk}", counts)
        transaction.on_commit(partial(_forget_messages, turns, []))
        transaction.on_commit(partial(uploads.drop, jobs))
    return {"preview": False, "counts": counts}


def delete_state(state: InteractionState, mode: Mode, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Delete a state, its turn and what only it supported; its children move to its parent, or go with it. Locks the forest and its turns.

    What is left of its trees is told anew: later summaries and the topic are cleared and wait for refinement, which reads the raw turns.
    """
    if not preview:
        _reach_valkey()
    with transaction.atomic():
        forest = Forest.objects.select_for_update().filter(pk=state.forest_id).first()
        found = InteractionState.objects.in_forest(state.forest_id).filter(pk=state.pk).first()
        if forest is None or found is None:
            raise unknown_state()
        before = structure.edges(forest, {found.root_id})
        parents: dict[int, int | None] = {edge.state: edge.parent for edge in before}
        going = structure.subtree(parents, found.pk) if mode == "with_children" else [found.pk]
        rows = list(InteractionState.objects.in_forest(forest).filter(pk__in=going))
        used = used_by(*rows)
        moving = [pk for pk, parent in parents.items() if parent in going and pk not in going]
        counts = {"states": len(going), **support(forest, going).counts, "children_moved": len(moving), "used_by": len(used)}
        if preview:
            return {"preview": True, "counts": counts, "used_by": used}
        turns = _quiet_turns(forest)
        changed = _delete(forest, found, rows, before, parents, moving)
        structure.audit(forest, by, "delete_state", f"state {found.pk}", counts)
        transaction.on_commit(partial(_tell_removed, forest.pk, [(row.pk, row.turn_id) for row in rows], changed))
        transaction.on_commit(partial(_forget_messages, [row.turn_id for row in rows], turns))
    return {"preview": False, "counts": counts, "used_by": used}


def _delete(
    forest: Forest,
    top: InteractionState,
    rows: list[InteractionState],
    before: list[structure.Edge],
    parents: dict[int, int | None],
    moving: list[int],
) -> set[int]:
    """The deletion itself; returns the states that look different afterwards."""
    gone = {row.pk for row in rows}
    turns = [row.turn_id for row in rows]
    structure.fence(forest)
    below = set(structure.subtree(parents, top.pk)) - gone
    # In this order: what a deleted turn shares with one below it is no extraction of the latter alone, and stays.
    changed = unlearn_to_learn_anew(forest, below) - gone
    changed |= unlearn(forest, gone)
    InteractionState.objects.filter(pk__in=moving).update(parent=top.parent_id)
    left = {pk: (top.parent_id if pk in moving else parent) for pk, parent in parents.items() if pk not in gone}
    changed |= set(structure.restand(forest, before, left)) | set(moving)
    for root in gone & {edge.state for edge in before if edge.parent is None}:
        structure.fell_tree(forest, root)
    for root in (pk for pk, parent in left.items() if parent is None and parents[pk] is not None):
        structure.plant_tree(forest, root)
    redact_decisions(forest, gone, turns, dict(InteractionState.objects.filter(pk__in=moving).values_list("turn_id", "parent_id")))
    redact_traces(forest, gone, set(left))
    structure.unindex(forest, gone)
    length = sum(row.length for row in rows)
    Outbox.objects.in_forest(forest).filter(kind="refine", subject__in=gone).delete()
    if forest.active_state_id in gone:
        newest = InteractionState.objects.in_forest(forest).exclude(pk__in=gone).order_by("-position").first()
        forest.active_state = newest
        Forest.objects.filter(pk=forest.pk).update(active_state=newest)
    # Children were given another parent or go as well: what protects a parent holds no more.
    InteractionState.objects.filter(pk__in=gone).update(parent=None)
    Turn.objects.in_forest(forest).filter(pk__in=turns).delete()
    Forest.objects.filter(pk=forest.pk).update(
        version=F("version") + 1, indexed_states=F("indexed_states") - len(rows), indexed_terms=F("indexed_terms") - length
    )
    _tell_anew(forest, set(left), below)
    return changed | set(left)


def _tell_anew(forest: Forest, trees: set[int], below: set[int]) -> None:
    """Clear what may speak of the deleted turns, topic keys and summaries, and let refinement write it from the turns that are left."""
    if not trees:
        return
    states = InteractionState.objects.in_forest(forest).filter(pk__in=trees)
    roots = list(states.filter(parent__isnull=True).values_list("pk", flat=True))
    structure.unname_trees(forest, roots)
    StateVector.objects.in_forest(forest).filter(state__in=below, kind=StateVector.Kind.BRANCH).delete()
    states.update(refined_at=None, refined_by="", refine_error=None, path_summary="")
    InteractionState.objects.filter(pk__in=below).update(node_summary="")
    Turn.objects.in_forest(forest).filter(state__in=trees, status=Turn.Status.REFINED).update(status=Turn.Status.ANSWERED)
    Outbox.objects.create(forest=forest, kind="refine", subject=min(trees))


def _quiet_turns(forest: Forest) -> list[int]:
    """The ids of all turns of the forest, locked. Raises Refused while one is being answered: it was given what is about to go."""
    turns = list(Turn.objects.select_for_update().in_forest(forest).values_list("pk", "generator"))
    if any(generator for _, generator in turns):
        raise conflict("A turn of this forest is being answered.", "Stop it, or wait for its answer.")
    return [pk for pk, _ in turns]


def _reach_valkey() -> None:
    try:
        messages.client().ping()
    except redis.RedisError:
        raise unavailable("Valkey isn't reachable, so its copies couldn't be deleted. Nothing was deleted.") from None


def _tell_removed(forest: int, gone: list[tuple[int, int]], changed: Iterable[int]) -> None:
    messages.publish(forest, gone[0][1], "state.removed", {"states": [state for state, _ in gone]})
    structure.refine_and_tell(forest, changed)


def _forget_messages(gone: list[int], others: list[int]) -> None:
    """Kept messages go: of deleted turns wholly; of the forest's others too, since they may quote what was deleted."""
    try:
        messages.forget(gone)
        messages.purge(others)
    except redis.RedisError as error:
        log.error("messages of deleted turns stay until they expire, within an hour (%s)", type(error).__name__)
