"""Move states, each with all that follows it: under another state, or to a root of its own. Several moves are one change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from memory import present
from memory.actions import structure
from memory.actions.unlearn import extracted, unlearn_to_learn_anew
from memory.errors import conflict, invalid, unknown_state
from memory.models import Change, Forest, InteractionState, ParentChange, RoutingDecision, Topic
from memory.present.states import used_by

# So many moves are one change.
MOST = 200


@dataclass(frozen=True, slots=True)
class Move:
    """A state and where it goes; `parent` None: to a root of its own."""

    state: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class Course:
    """What moves come to, worked out before anything is written: `parents` as they are afterwards, `going` all states that move, `retold` the roots
    of the trees that have to be named anew, `anew` the states whose memory is read anew, earliest first."""

    moves: Sequence[Move]
    rows: Mapping[int, InteractionState]
    before: Sequence[structure.Edge]
    parents: Mapping[int, int | None]
    going: frozenset[int]
    retold: frozenset[int]
    anew: Sequence[int]


def reroute(state: InteractionState, parent: InteractionState | None, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Correct where a turn went. History is kept; what later answers were given stays on their traces. Locks the forest.

    What the moved states taught is read again, since their path reads differently; what a person said of their facts stays. A tree that was named by
    a turn that left it is named and told anew as a whole. Raises Refused for a cycle, a parent that came later, or a move that changes nothing.
    """
    move = Move(state.pk, parent.pk if parent else None)
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=state.forest_id)
        course = chart(forest, [move])
        moved = course.rows[move.state]
        used = used_by(moved)
        counts = {"states": len(course.going), "used_by": len(used)}
        if preview:
            return {"preview": True, "counts": counts, "used_by": used, **_consequences(forest, course, moved)}
        change = _record(forest, course, Change.Action.MOVE, by)
        carry_out(forest, course)
        structure.audit(forest, by, "move", f"state {moved.pk}", counts)
    moved.refresh_from_db()
    return {"preview": False, "counts": counts, "state": present.state_row(moved), "tree": present.tree_row(moved), "change": change.pk}


def reroute_many(forest: Forest, moves: Sequence[Move], by: Any) -> dict[str, Any]:
    """Several moves in the order given, as one change: all of them or, when one is refused, none. Locks the forest."""
    if not moves or len(moves) > MOST:
        raise invalid(f"From 1 to {MOST} moves are one change; these are {len(moves)}.", "Send them in parts.")
    if len({move.state for move in moves}) < len(moves):
        raise invalid("A state is named twice.", "Name each state once.")
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=forest.pk)
        course = chart(forest, moves)
        change = _record(forest, course, Change.Action.MOVES, by)
        carry_out(forest, course)
        structure.audit(forest, by, "moves", f"change {change.pk}", {"moves": len(moves), "states": len(course.going)})
    return {"moved": len(moves), "change": change.pk}


def chart(forest: Forest, moves: Sequence[Move]) -> Course:
    """What these moves, one after the other, come to. Reads only; raises Refused for one that can't be made."""
    named = {move.state for move in moves} | {move.parent for move in moves if move.parent is not None}
    rows: dict[int, InteractionState] = InteractionState.objects.in_forest(forest).in_bulk(named)
    if named - rows.keys():
        raise unknown_state()
    before = structure.edges(forest, {row.root_id for row in rows.values()})
    parents: dict[int, int | None] = {edge.state: edge.parent for edge in before}
    going: set[int] = set()
    for move in moves:
        below = structure.subtree(parents, move.state)
        _check(rows[move.state], parents[move.state], rows.get(move.parent or 0), below)
        going.update(below)
        parents[move.state] = move.parent
    now = structure.standings(parents)
    retold = _retold(forest, before, now, going)
    anew = [state for state in parents if state in going or now[state].root in retold]
    return Course(moves, rows, before, parents, frozenset(going), frozenset(retold), anew)


def _check(moved: InteractionState, parent: int | None, target: InteractionState | None, below: Iterable[int]) -> None:
    if parent == (target.pk if target else None):
        raise conflict("The turn is already there.", "Choose another place.")
    if target and target.pk in below:
        raise conflict("A turn can't continue itself or something that follows it.", "Choose a state outside of what moves.")
    if target and target.position > moved.position:
        raise conflict("A turn can only continue an earlier one.", "Move the later one under the earlier one instead.")


def _retold(forest: Forest, before: Sequence[structure.Edge], now: Mapping[int, structure.Standing], going: set[int]) -> set[int]:
    """The trees that would be called otherwise if they had grown as they stand now: one of those that named it moves, or an earlier one joins it."""
    was = {edge.state: edge.standing.root for edge in before}
    order = {edge.state: number for number, edge in enumerate(before)}
    standing = {root for root in was.values() if now[root].root == root}
    named = Topic.objects.in_forest(forest).filter(root__in=standing).exclude(key="")
    tellers = {topic.root_id: topic.told_by or [topic.root_id] for topic in named}
    joined: dict[int, int] = {}
    for state in going:
        root = now[state].root
        if root in standing and was[state] != root:
            joined[root] = min(order[state], joined.get(root, len(order)))
    return {
        root
        for root in standing
        if any(teller in going or teller not in order for teller in tellers.get(root, []))
        or (root in joined and joined[root] < min((order[teller] for teller in tellers.get(root, [])), default=len(order)))
    }


def _consequences(forest: Forest, course: Course, moved: InteractionState) -> dict[str, Any]:
    """What a person should know before: the trees told anew (a new one isn't there yet), what is read anew, the later turns that may be placed anew."""
    roots = course.retold | ({structure.standings(course.parents)[moved.pk].root} - {moved.pk})
    return {
        "trees": present.tree_rows(forest, roots),
        "evidence": sum(map(len, extracted(forest, course.anew).values())),
        "later": structure.placed(forest, moved.position).count(),
    }


def _record(forest: Forest, course: Course, action: Change.Action, by: Any) -> Change:
    """Keep the moves, with what putting them back needs, and that the turns were placed by a person, or are again where they had been placed."""
    change = Change.objects.create(forest=forest, action=action, by_user=by, at_position=forest.last_position)
    moved = [course.rows[move.state] for move in course.moves]
    decisions = {decision.turn_id: decision for decision in RoutingDecision.objects.filter(turn__in=[row.turn_id for row in moved])}
    orders = dict(Topic.objects.filter(root__in=moved).values_list("root_id", "order"))
    for move, row in zip(course.moves, moved, strict=True):
        decision = decisions.get(row.turn_id)
        home = in_force(forest, row.pk).first()
        ParentChange.objects.create(
            forest=forest,
            state=row,
            old_parent_id=row.parent_id,
            new_parent_id=move.parent,
            at_position=forest.last_position,
            by_user=by,
            change=change,
            from_root=row.parent_id is None,
            to_root=move.parent is None,
            order=orders.get(row.pk),
            method=decision.method if decision else "",
            unsure=decision.unsure if decision else False,
        )
        if decision is None:
            continue
        decision.chosen_id = move.parent
        if home is not None and home.method and (home.old_parent_id, home.from_root) == (move.parent, move.parent is None):
            decision.method, decision.unsure, decision.corrected_by, decision.corrected_at = home.method, home.unsure, None, None
        else:
            decision.method, decision.unsure = RoutingDecision.Method.CORRECTED, False
            decision.corrected_by, decision.corrected_at = by, timezone.now()
        decision.save(update_fields=["chosen", "method", "unsure", "corrected_by", "corrected_at"])
    return change


def in_force(forest: Forest | int, state: int) -> Any:
    """The moves of a state that weren't undone, earliest first: the first tells where it had been placed."""
    return ParentChange.objects.in_forest(forest).filter(Q(change=None) | Q(change__undone_at=None), state=state).order_by("pk")


def carry_out(forest: Forest, course: Course, orders: Mapping[int, int | None] | None = None) -> None:
    """Write what was charted: edges, standing, topics; what is read anew waits for refinement. Call it in the transaction that holds the lock.

    `orders`: the places in the order of planting that states had which are roots again."""
    structure.fence(forest)
    changed, _ = unlearn_to_learn_anew(forest, course.anew)
    for move in course.moves:
        InteractionState.objects.filter(pk=move.state).update(parent=move.parent)
    structure.restand(forest, course.before, course.parents)
    for edge in course.before:
        if edge.parent is None and course.parents[edge.state] is not None:
            structure.fell_tree(forest, edge.state)
    for edge in course.before:
        if edge.parent is not None and course.parents[edge.state] is None:
            structure.plant_tree(forest, edge.state, (orders or {}).get(edge.state))
    structure.unname_trees(forest, course.retold)
    structure.read_anew(forest, course.anew)
    Forest.objects.filter(pk=forest.pk).update(version=F("version") + 1)
    transaction.on_commit(partial(structure.refine_and_tell, forest.pk, {*course.anew, *changed}))
