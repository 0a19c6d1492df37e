"""Undo a change: moves, or a person's word on facts and records. What forgetting took can't be brought back, and is no change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from memory.actions import structure
from memory.actions.reroute import Move, carry_out, chart, in_force
from memory.actions.unlearn import unlearn_to_learn_anew
from memory.errors import Refused, conflict, not_found
from memory.models import EVIDENCE_MODELS, Change, ChangedItem, Forest, InteractionState, ParentChange, Revision, RoutingDecision, StateVector
from memory.store.slots import resolve_slots


def undo(change: Change, by: Any) -> Change:
    """Bring the forest back to what it was without the change; what came of other turns since stays. Locks the forest.

    Raises Refused when it is undone already, when a later change rests on it, or when where a turn was is gone.
    """
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=change.forest_id)
        current = Change.objects.in_forest(forest).filter(pk=change.pk).first()
        if current is None:
            raise not_found("This change isn't there any more.", "Reload the list of changes.")
        if (refused := blocked([current])[current.pk]) is not None:
            raise refused
        moves, items = list(current.moves.order_by("-pk")), list(current.items.order_by("-pk"))
        current.undone_at, current.undone_by = timezone.now(), by
        current.save(update_fields=["undone_at", "undone_by"])
        if moves:
            _move_back(forest, moves)
        if items:
            _as_before(forest, current, items)
        structure.audit(forest, by, "undo", f"change {current.pk}", {"moves": len(moves), "items": len(items)})
    return current


def blocked(changes: Sequence[Change]) -> dict[int, Refused | None]:
    """Why each of some changes of one forest can't be undone now; None when it can. Some queries however many."""
    forest = changes[0].forest_id if changes else 0
    moves: dict[int, list[ParentChange]] = defaultdict(list)
    items: dict[int, list[ChangedItem]] = defaultdict(list)
    for move in ParentChange.objects.in_forest(forest).filter(change__in=changes):
        moves[move.change_id].append(move)
    for item in ChangedItem.objects.in_forest(forest).filter(change__in=changes):
        items[item.change_id].append(item)
    # The latest change in force of each state and row.
    standing = Q(change__pk__gte=min((change.pk for change in changes), default=0), change__undone_at=None)
    moved = dict(ParentChange.objects.in_forest(forest).filter(standing).order_by("change_id").values_list("state_id", "change_id"))
    changed = {
        (kind, item): change
        for kind, item, change in ChangedItem.objects.in_forest(forest).filter(standing).order_by("change_id").values_list("kind", "item", "change_id")
    }
    named = [item for some in items.values() for item in some]
    there = {
        (kind, pk)
        for kind in {item.kind for item in named}
        for pk in EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(pk__in=[item.item for item in named if item.kind == kind]).values_list("pk", flat=True)
    }
    found: dict[int, Refused | None] = {}
    for change in changes:
        mine = moves[change.pk], items[change.pk]
        if change.undone_at is not None:
            found[change.pk] = conflict("This is undone already.", "Reload the list of changes.")
        elif not any(mine):
            found[change.pk] = conflict("What it changed was deleted.", "Nothing is left to undo.")
        elif any(move.old_parent_id is None and not move.from_root for move in mine[0]):
            found[change.pk] = conflict("The turn it was moved from was deleted.", "Move it to another place.")
        elif any(moved.get(move.state_id, 0) > change.pk for move in mine[0]):
            found[change.pk] = conflict("The turn was moved again since.", "Undo the later move first.")
        elif any(changed.get((item.kind, item.item), 0) > change.pk for item in mine[1]):
            found[change.pk] = conflict("It was changed again since.", "Undo the later change first.")
        elif any((item.kind, item.item) not in there for item in mine[1]):
            found[change.pk] = conflict("Its turn was moved since, and reads otherwise where it is.", "Move the turn back first.")
        else:
            found[change.pk] = None
    return found


def _move_back(forest: Forest, moves: list[ParentChange]) -> None:
    """The moves the other way round, the last one first; the turns count as placed as they did before."""
    back = chart(forest, [Move(move.state_id, move.old_parent_id) for move in moves])
    carry_out(forest, back, {move.state_id: move.order for move in moves})
    for move in moves:
        decision = RoutingDecision.objects.filter(turn__state=move.state_id).first()
        if decision is None:
            continue
        corrected = RoutingDecision.Method.CORRECTED
        earlier = in_force(forest, move.state_id).last() if move.method == corrected else None
        decision.chosen_id, decision.unsure, decision.method = move.old_parent_id, move.unsure, move.method or decision.method
        decision.corrected_by = earlier.by_user if earlier else None
        decision.corrected_at = earlier.created_at if earlier else None
        decision.save(update_fields=["chosen", "unsure", "method", "corrected_by", "corrected_at"])


def _as_before(forest: Forest, change: Change, items: list[ChangedItem]) -> None:
    """Each row as it was kept, rows an edit made away, revisions as they were; then the slots decide what holds, with all that was learned since.

    A turn that was read again since, because it was moved, is read once more: what was kept of its facts speaks of the path it had.
    """
    for item in items:
        _note_as_before(item)
    Revision.objects.in_forest(forest).filter(pk__in=change.revisions).delete()
    slots: set[tuple[Any, str]] = set()
    touched: set[int] = set()
    for item in items:
        rows = EVIDENCE_MODELS[item.kind].objects.in_forest(forest)
        row = rows.get(pk=item.item)
        slots |= {(item.kind, row.slot)} if row.slot else set()
        touched.add(row.state_id)
        if item.made:
            Revision.objects.in_forest(forest).filter(Q(old_item=row.pk) | Q(new_item=row.pk), kind=item.kind).delete()
            StateVector.objects.in_forest(forest).filter(kind=item.kind, item=row.pk).delete()
            row.delete()
            continue
        there = item.superseded_by is not None and rows.filter(pk=item.superseded_by).exists()
        row.status, row.superseded_by_id = item.status, item.superseded_by if there else None
        row.valid_to, row.known_until, row.pinned = item.valid_to, item.known_until, item.pinned
        row.save(update_fields=["status", "superseded_by", "valid_to", "known_until", "pinned"])
    _, others = resolve_slots(forest.pk, slots, forest.last_position)
    Forest.objects.filter(pk=forest.pk).update(version=F("version") + 1)
    again = list(InteractionState.objects.in_forest(forest).filter(pk__in=touched, refined_at__gt=change.at).values_list("pk", flat=True))
    if again:
        structure.fence(forest)
        touched |= unlearn_to_learn_anew(forest, again)[0]
        structure.read_anew(forest, again)
    transaction.on_commit(partial(structure.refine_and_tell, forest.pk, touched | set(others)))


def _note_as_before(item: ChangedItem) -> None:
    if item.noted is not None:
        Revision.objects.in_forest(item.forest_id).filter(pk=item.noted).update(at=item.noted_at, at_position=item.noted_position)
