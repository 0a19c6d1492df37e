"""Where each state stands in its tree: a pure function of the edges and the order of time.

A branch goes on through the earliest child; every later child opens a branch of its own (as the rough commit does it).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import connection
from django.db.models import F, Q, QuerySet

from memory import messages, present
from memory.actions.publish_outbox import publish_outbox
from memory.models import (
    AuditEntry,
    Forest,
    InteractionState,
    Lease,
    Outbox,
    ParentChange,
    RoutingDecision,
    StateVector,
    Topic,
    Turn,
)
from memory.models.forest import PostingKind

# So many states that look different are told one by one.
TOLD_SINGLY = 40


@dataclass(frozen=True, slots=True)
class Standing:
    """The root of a state's tree, the state that opened its branch, and its depth."""

    root: int
    branch: int
    depth: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A state, its parent, and where it stands now."""

    state: int
    parent: int | None
    standing: Standing


def edges(forest: Forest, roots: Iterable[int]) -> list[Edge]:
    """The states of some trees, earliest first: parents come before their children."""
    rows = InteractionState.objects.in_forest(forest).filter(root_id__in=set(roots)).order_by("position")
    return [Edge(pk, parent, Standing(*at)) for pk, parent, *at in rows.values_list("pk", "parent_id", "root_id", "branch_id", "depth")]


def standings(parents: Mapping[int, int | None]) -> dict[int, Standing]:
    """Where every state stands, given state → parent in order of time."""
    found: dict[int, Standing] = {}
    continued: set[int] = set()
    for state, parent in parents.items():
        if parent is None:
            found[state] = Standing(state, state, 0)
            continue
        above = found[parent]
        found[state] = Standing(above.root, state if parent in continued else above.branch, above.depth + 1)
        continued.add(parent)
    return found


def subtree(parents: Mapping[int, int | None], top: int) -> list[int]:
    """`top` and everything below it, given state → parent in order of time."""
    below = {top}
    for state, parent in parents.items():
        if parent in below:
            below.add(state)
    return [state for state in parents if state in below]


def restand(forest: Forest, before: Iterable[Edge], parents: Mapping[int, int | None]) -> list[int]:
    """Write root, branch and depth of the states whose standing changed; returns their ids."""
    now = standings(parents)
    old = {edge.state: edge.standing for edge in before}
    changed = [state for state, standing in now.items() if old.get(state) != standing]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE memory_interactionstate s SET root_id = n.root, branch_id = n.branch, depth = n.depth
            FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[]) AS n(id, root, branch, depth) WHERE s.id = n.id AND s.forest_id = %s
            """,
            [changed, *([getattr(now[pk], name) for pk in changed] for name in ("root", "branch", "depth")), forest.pk],
        )
    return changed


def plant_tree(forest: Forest, root: int, had: int | None = None) -> None:
    """Give a state that became a root the topic row of a new tree, in the place its tree had if it was a root before (`had`, else by its moves that
    weren't undone); its key comes with refinement."""
    topics = Topic.objects.in_forest(forest)
    if had is None:
        moves = ParentChange.objects.in_forest(forest).filter(Q(change=None) | Q(change__undone_at=None), state=root, order__isnull=False)
        had = moves.order_by("-pk").values_list("order", flat=True).first()
    if had is None or topics.filter(order=had).exists():
        last = topics.order_by("-order").values_list("order", flat=True).first()
        had = 0 if last is None else last + 1
    Topic.objects.get_or_create(root_id=root, defaults={"forest": forest, "order": had})


def fell_tree(forest: Forest, root: int) -> None:
    """Take away what only a root has: topic row, topic vector, topic stems."""
    unname_trees(forest, [root])
    Topic.objects.in_forest(forest).filter(root=root).delete()


def unname_trees(forest: Forest, roots: Iterable[int]) -> None:
    """Take away what trees are called, by key, vector and stems; the turns that are left name them when they are refined again."""
    planted = list(roots)
    Topic.objects.in_forest(forest).filter(root__in=planted).update(key="", variants=[], stems=[], told_by=[])
    StateVector.objects.in_forest(forest).filter(state__in=planted, kind=StateVector.Kind.TOPIC).delete()
    unindex(forest, planted, kinds=[PostingKind.TOPIC])


def read_anew(forest: Forest, states: Iterable[int]) -> None:
    """Clear the summaries of these states and have them refined again: they may speak of a path, or of turns, that are elsewhere now."""
    again = list(states)
    rows = InteractionState.objects.in_forest(forest).filter(pk__in=again)
    rows.update(refined_at=None, refined_by="", refine_error=None, path_summary="", node_summary="")
    Turn.objects.in_forest(forest).filter(state__in=again, status=Turn.Status.REFINED).update(status=Turn.Status.ANSWERED)
    StateVector.objects.in_forest(forest).filter(state__in=again, kind=StateVector.Kind.BRANCH).delete()
    if again:
        Outbox.objects.create(forest=forest, kind="refine", subject=again[0])


def unindex(forest: Forest, states: Iterable[int], kinds: Iterable[int] = PostingKind.values) -> None:
    """Take states out of the index and out of the forest's term statistics."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH gone AS (
                DELETE FROM memory_posting WHERE forest_id = %s AND state_id = ANY(%s) AND kind = ANY(%s) RETURNING kind, term
            ), counted AS (
                SELECT kind, term, count(*) AS number FROM gone GROUP BY kind, term ORDER BY kind, term
            ), fewer AS (
                UPDATE memory_termstat t SET states = t.states - c.number FROM counted c
                WHERE t.forest_id = %s AND t.kind = c.kind AND t.term = c.term RETURNING t.id, t.states
            )
            SELECT id FROM fewer WHERE states <= 0
            """,
            [forest.pk, list(states), list(kinds), forest.pk],
        )
        cursor.execute("DELETE FROM memory_termstat WHERE id = ANY(%s)", [[row[0] for row in cursor.fetchall()]])


def placed(forest: Forest, after: int) -> QuerySet[InteractionState]:
    """The states later than a position whose place localization chose, not their sender and nobody since: they may be placed anew. In order of time."""
    method = RoutingDecision.Method
    chosen = [method.CONTINUATION, method.TEMPORAL, method.RECALL, method.NEW_ROOT, method.ASKED]
    later: QuerySet[InteractionState] = InteractionState.objects.in_forest(forest).filter(position__gt=after, turn__decision__method__in=chosen)
    return later.order_by("position")


def fence(forest: Forest) -> None:
    """What a worker has read but not written yet rests on what is about to change: its lease ends, and its write with it."""
    Lease.objects.in_forest(forest).update(token=F("token") + 1, holder="", heartbeat_at=None)


def audit(forest: Forest, by: object, action: str, subject: str, counts: Mapping[str, int]) -> None:
    """Note that it was done, by whom, and how much; never what it said (D5)."""
    AuditEntry.objects.create(owner_id=forest.owner_id, forest_number=forest.pk, actor=by, action=action, subject=subject, counts=dict(counts))  # type: ignore[misc]


def refine_and_tell(forest: int, states: Iterable[int], why: str = "moved") -> None:
    """After the commit: the worker takes up what waits to be refined, and the pages that watch see the change; of very much, they read the forest anew."""
    publish_outbox(forest)
    different = set(states)
    if len(different) > TOLD_SINGLY:
        messages.announce(forest, "forest.changed", {"why": why, "job": None})
    else:
        tell_changed(forest, different)


def tell_changed(forest: int, states: Iterable[int]) -> None:
    """Tell the pages that watch: these rows of the drawing look different now."""
    found = InteractionState.objects.in_forest(forest).filter(pk__in=list(states))
    with messages.held(forest):
        trees = {tree["root"]: tree for tree in present.tree_rows(forest, found.order_by().values_list("root_id", flat=True).distinct())}
        for row in present.state_rows(forest, found):
            messages.publish(forest, row["turn"], "state.changed", {"state": row, "tree": trees[row["root"]]})
