"""States and trees as the drawing and the inspector read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import Left

from memory.models import (
    EVIDENCE_MODELS,
    KIND_OF,
    AtomicFact,
    ContextTrace,
    EvidenceRow,
    Forest,
    InteractionState,
    ParentChange,
    RoutingDecision,
    StateLink,
    Topic,
)
from memory.present.evidence import evidence_list
from memory.present.words import LABEL_SOURCE_LENGTH, Json, Unnest, iso, label_of

# Up to here the rows of other tables are looked up by id; above, the whole forest is read once, which is faster.
FEW = 500
ROW_ENTITIES = 5
USED_BY_LIMIT = 50

States = QuerySet[InteractionState] | Iterable[InteractionState]


def state_rows(forest: Forest | int, states: States) -> list[Json]:
    """The drawing's rows (labels only) of states of one forest, in order of position; the same few queries for one state or 10,000."""
    if not isinstance(states, QuerySet):
        states = InteractionState.objects.filter(pk__in=[state.pk for state in states])
    rows = list(
        states.filter(forest=forest)
        .order_by("position")
        .annotate(said=Left("user_text", LABEL_SOURCE_LENGTH), answered=Left("assistant_text", LABEL_SOURCE_LENGTH))
        .annotate(summary=Left("node_summary", LABEL_SOURCE_LENGTH))
        .values("id", "turn_id", "position", "parent_id", "root_id", "depth", "time", "summary", "said", "answered", "entities", "refined_at")
    )
    if not rows:
        return []
    ids = [row["id"] for row in rows] if len(rows) <= FEW else None
    marks = evidence_marks(forest, ids)
    unsure = set(_only(RoutingDecision.objects.filter(forest=forest, unsure=True), "turn__state__id", ids).values_list("turn__state__id", flat=True))
    second = dict(_only(StateLink.objects.filter(forest=forest), "state_id", ids).order_by("weight", "id").values_list("state_id", "parent_id"))
    moved = _moved_from(forest, ids)
    return [
        {
            "id": row["id"],
            "turn": row["turn_id"],
            "position": row["position"],
            "parent": row["parent_id"],
            "root": row["root_id"],
            "depth": row["depth"],
            "time": iso(row["time"]),
            "label": label_of(row["summary"], row["said"], row["answered"]),
            **marks.get(row["id"], NO_MARKS),
            "pending": row["refined_at"] is None,
            "unsure": row["id"] in unsure,
            "moved_from": moved.get(row["id"]),
            "second": second.get(row["id"]) if row["id"] in unsure and second.get(row["id"]) != row["parent_id"] else None,
            "entities": row["entities"][:ROW_ENTITIES],
        }
        for row in rows
    ]


def _moved_from(forest: Forest | int, ids: list[int] | None) -> dict[int, int | None]:
    """Where states were moved from last, those left out whose moves were undone or led them back to where they had been placed."""
    moves = _only(ParentChange.objects.filter(Q(change=None) | Q(change__undone_at=None), forest=forest), "state_id", ids).order_by("id")
    home: dict[int, tuple[int | None, bool]] = {}
    last: dict[int, int | None] = {}
    for state, old, from_root, new, to_root in moves.values_list("state_id", "old_parent_id", "from_root", "new_parent_id", "to_root"):
        if (new, to_root) == home.setdefault(state, (old, from_root)):
            last.pop(state, None)
        else:
            last[state] = old
    return last


def state_row(state: InteractionState) -> Json:
    """One row of the drawing."""
    return state_rows(state.forest_id, [state])[0]


NO_MARKS: Mapping[str, int | bool] = {"facts": 0, "list": 0, "replaced": False, "new_value": False}


def _only(rows: QuerySet[Any], column: str, ids: list[int] | None) -> QuerySet[Any]:
    return rows if ids is None else rows.filter(**{f"{column}__in": ids})


def evidence_marks(forest: Forest | int, ids: list[int] | None) -> dict[int, Json]:
    """For each state, what its evidence says in the drawing: facts it gave, items of a list, a value since replaced, a value that replaced one.

    `facts` counts what `states/{id}/` lists: every fact the state supports, whatever its status.
    """
    marks: dict[int, Json] = {}

    def mark(state: int) -> Json:
        return marks.setdefault(state, dict(NO_MARKS))

    superseded = EvidenceRow.Status.SUPERSEDED
    for kind, model in EVIDENCE_MODELS.items():
        rows: QuerySet[Any] = model.objects.filter(forest=forest)
        if ids is not None:
            rows = rows.filter(sources__overlap=ids)
        listed = Count("id", filter=Q(ordinal__isnull=False)) if kind == "artifact" else Value(0)
        counted = rows.annotate(source=Unnest("sources")).values("source").annotate(n=Count("id"), old=Count("id", filter=Q(status=superseded)), listed=listed)
        for source, number, old, items in counted.order_by().values_list("source", "n", "old", "listed"):
            entry = mark(source)
            entry["facts"] += number if kind == "fact" else 0
            entry["list"] += items
            entry["replaced"] = entry["replaced"] or old > 0
        newer = rows.filter(pk__in=model.objects.filter(forest=forest, superseded_by__isnull=False).values("superseded_by"))
        for source in newer.annotate(source=Unnest("sources")).order_by().values_list("source", flat=True):
            mark(source)["new_value"] = True
    return marks


def tree_rows(forest: Forest | int, roots: Iterable[int] | None = None) -> list[Json]:
    """The trees of a forest (or those of `roots`), in order of planting. A tree whose topic isn't known yet is called by its root's label."""
    states = InteractionState.objects.filter(forest=forest, parent__isnull=True)
    if roots is not None:
        states = states.filter(pk__in=list(roots))
    columns = ("id", "position", "topic__key", "topic__variants", "topic__order", "node_summary")
    rows = list(states.order_by("position").annotate(said=Left("user_text", LABEL_SOURCE_LENGTH)).values(*columns, "said"))
    return [
        {
            "root": row["id"],
            "order": row["topic__order"] if row["topic__order"] is not None else _planted_before(forest, row["position"]),
            "topic": row["topic__key"] or label_of(row["node_summary"], row["said"]),
            "variants": row["topic__variants"] or [],
        }
        for row in rows
    ]


def _planted_before(forest: Forest | int, position: int) -> int:
    return InteractionState.objects.filter(forest=forest, parent__isnull=True, position__lt=position).count()


def tree_row(state: InteractionState) -> Json:
    """The tree a state belongs to."""
    return tree_rows(state.forest_id, [state.root_id])[0]


def state_json(state: InteractionState) -> Json:
    """Everything the inspector shows of one state."""
    facts = AtomicFact.objects.filter(forest=state.forest_id, sources__contains=[state.pk])
    records = []
    for kind, model in EVIDENCE_MODELS.items():
        if kind != "fact":
            records += evidence_list(model.objects.filter(forest=state.forest_id, sources__contains=[state.pk]))
    topic = Topic.objects.filter(root_id=state.root_id).values_list("key", flat=True).first()
    return {
        "id": state.pk,
        "turn": state.turn_id,
        "position": state.position,
        "parent": state.parent_id,
        "root": state.root_id,
        "depth": state.depth,
        "time": iso(state.time),
        "label": label_of(state.node_summary, state.user_text, state.assistant_text),
        "user": state.user_text,
        "assistant": state.assistant_text,
        "node_summary": state.node_summary,
        "path_summary": state.path_summary,
        "topic": topic or "",
        "entities": state.entities,
        "keywords": state.keywords,
        "tokens": state.tokens,
        "refined_at": iso(state.refined_at),
        "extraction": state.extraction_report,
        "origin": state.origin,
        "facts": evidence_list(facts),
        "records": records,
        "used_by": used_by(state),
    }


def used_by(*states: InteractionState) -> list[Json]:
    """Turns whose context held one of these states or something it supports, newest first; the states' own turns left out."""
    traces = ContextTrace.objects.filter(forest=states[0].forest_id, sources__overlap=[state.pk for state in states])
    using = InteractionState.objects.filter(forest=states[0].forest_id, turn__in=traces.values("turn")).exclude(pk__in=[state.pk for state in states])
    return uses(using.order_by("-position")[:USED_BY_LIMIT])


def item_used_by(row: EvidenceRow) -> list[Json]:
    """Turns whose context held this fact or record, newest first."""
    traces = ContextTrace.objects.filter(forest=row.forest_id, sources__overlap=row.sources)  # by the index; few are left to look into
    holding = traces.filter(blocks__contains=[{"items": [{"kind": KIND_OF[type(row)], "id": row.pk}]}])
    return uses(InteractionState.objects.filter(forest=row.forest_id, turn__in=holding.values("turn")).order_by("-position")[:USED_BY_LIMIT])


def uses(states: QuerySet[InteractionState]) -> list[Json]:
    """Later turns in short, in the order of the query: `{"turn", "state", "label", "time"}`."""
    rows = states.annotate(summary=Left("node_summary", LABEL_SOURCE_LENGTH), said=Left("user_text", LABEL_SOURCE_LENGTH))
    found = rows.values_list("turn_id", "pk", "time", "summary", "said")
    return [{"turn": turn, "state": pk, "label": label_of(summary, said), "time": iso(time)} for turn, pk, time, summary, said in found]


def labels(ids: Iterable[int]) -> dict[int, str]:
    """What states are called."""
    rows = InteractionState.objects.filter(pk__in=set(ids)).annotate(
        summary=Left("node_summary", LABEL_SOURCE_LENGTH), said=Left("user_text", LABEL_SOURCE_LENGTH), answered=Left("assistant_text", LABEL_SOURCE_LENGTH)
    )
    return {pk: label_of(summary, said, answered) for pk, summary, said, answered in rows.values_list("pk", "summary", "said", "answered")}


def crumbs(parents: Iterable[int]) -> dict[int, list[Json]]:
    """For each state, the way to it in at most four steps: its tree, the last two branches it is on, itself. Three queries, any depth.

    `branch_id` names the state that opened a branch, so that the way leads from opener to opener and never walks the path.
    """
    ends = {pk: (branch, root) for pk, branch, root in InteractionState.objects.filter(pk__in=set(parents)).values_list("pk", "branch_id", "root_id")}
    openers = {branch for branch, _ in ends.values()}
    earlier = dict(InteractionState.objects.filter(pk__in=openers).values_list("pk", "parent__branch_id"))
    ways = {}
    for end, (branch, root) in ends.items():
        steps = [root, earlier.get(branch), branch, end]
        ways[end] = list(dict.fromkeys(step for step in steps if step is not None))
    roots = {root for _, root in ends.values()}
    names = labels({step for way in ways.values() for step in way})
    names |= dict(Topic.objects.filter(root_id__in=roots).exclude(key="").annotate(pk_=F("root_id")).values_list("pk_", "key"))
    return {end: [{"state": step, "label": names.get(step, "…")} for step in way] for end, way in ways.items()}
