"""Move a state with all that follows it: under another state, or to a root of its own."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F

from memory import present
from memory.actions import structure
from memory.actions.unlearn import unlearn_to_learn_anew
from memory.errors import conflict, unknown_state
from memory.models import Forest, InteractionState, Outbox, ParentChange, RoutingDecision, StateLink, StateVector, Turn
from memory.present.states import used_by


def reroute(state: InteractionState, parent: InteractionState | None, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Correct where a turn went. History is kept; what later answers were given stays on their traces. Locks the forest.

    What the moved states taught is read again, since their path reads differently; what a person said of their facts stays.
    Raises Refused for a cycle, a parent that came later, or a move that changes nothing.
    """
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=state.forest_id)
        moved = InteractionState.objects.in_forest(forest).filter(pk=state.pk).first()
        target = InteractionState.objects.in_forest(forest).filter(pk=parent.pk).first() if parent else None
        if moved is None or (parent is not None and target is None):
            raise unknown_state()
        before = structure.edges(forest, {moved.root_id} | ({target.root_id} if target else set()))
        parents: dict[int, int | None] = {edge.state: edge.parent for edge in before}
        going = structure.subtree(parents, moved.pk)
        _check(moved, target, going)
        used = used_by(moved)
        counts = {"states": len(going), "used_by": len(used)}
        if preview:
            return {"preview": True, "counts": counts, "used_by": used}
        structure.fence(forest)
        changed = unlearn_to_learn_anew(forest, going)
        was_root, old_parent = moved.parent_id is None, moved.parent_id
        InteractionState.objects.filter(pk=moved.pk).update(parent=target)
        parents[moved.pk] = target.pk if target else None
        structure.restand(forest, before, parents)
        if was_root:
            structure.fell_tree(forest, moved.pk)
        if target is None:
            structure.plant_tree(forest, moved.pk)
        ParentChange.objects.create(forest=forest, state=moved, old_parent_id=old_parent, new_parent=target, at_position=forest.last_position, by_user=by)
        RoutingDecision.objects.filter(turn=moved.turn_id).update(method=RoutingDecision.Method.CORRECTED, chosen=target, corrected_by=by, unsure=False)
        StateLink.objects.filter(state__in=going, parent=target).delete()
        _refine_again(forest, going)
        Forest.objects.filter(pk=forest.pk).update(version=F("version") + 1)
        structure.audit(forest, by, "move", f"state {moved.pk}", counts)
        transaction.on_commit(partial(structure.refine_and_tell, forest.pk, {*going, *changed}))
    moved.refresh_from_db()
    return {"preview": False, "counts": counts, "state": present.state_row(moved), "tree": present.tree_row(moved)}


def _check(moved: InteractionState, target: InteractionState | None, going: list[int]) -> None:
    if moved.parent_id == (target.pk if target else None):
        raise conflict("The turn is already there.", "Choose another place.")
    if target and target.pk in going:
        raise conflict("A turn can't continue itself or something that follows it.", "Choose a state outside of what moves.")
    if target and target.position > moved.position:
        raise conflict("A turn can only continue an earlier one.", "Move the later one under the earlier one instead.")


def _refine_again(forest: Forest, states: list[int]) -> None:
    rows = InteractionState.objects.in_forest(forest).filter(pk__in=states)
    rows.update(refined_at=None, refined_by="", refine_error=None, path_summary="")
    Turn.objects.in_forest(forest).filter(state__in=states, status=Turn.Status.REFINED).update(status=Turn.Status.ANSWERED)
    StateVector.objects.in_forest(forest).filter(state__in=states, kind=StateVector.Kind.BRANCH).delete()
    Outbox.objects.create(forest=forest, kind="refine", subject=states[0])
