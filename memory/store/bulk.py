"""Many given interactions in one short transaction: what `write.commit_rough` does for one, with a few statements for all (imports)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from memory.engine import localize
from memory.engine.forest import Interaction
from memory.models import Forest, InteractionState, PostingKind, RoutingDecision, StateVector, Topic, Turn
from memory.models.forest import Origin
from memory.store.recall import half
from memory.store.write import RoughCommit, candidate_json


@dataclass(frozen=True, slots=True)
class Incoming:
    """An interaction to be written: its client id, that of its parent (None: a new root), and everything a rough commit writes."""

    client_id: str
    parent: str | None
    rough: RoughCommit
    answered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A state as far as its children need it."""

    id: int
    root: int
    branch: int
    depth: int


def known_ids(forest: int, client_ids: Iterable[str]) -> set[str]:
    """Those of the ids that are turns of the forest already."""
    return set(Turn.objects.in_forest(forest).filter(client_id__in=list(client_ids)).values_list("client_id", flat=True))


def commit(forest_id: int, batch: Sequence[Incoming], origin: str = Origin.IMPORTED) -> list[int]:
    """Write those of the batch that aren't there yet, in their order; the ids of their states. Locks the forest.

    A parent must be in the forest or earlier in the batch; one that is neither was deleted meanwhile, and its child begins a tree. The active state
    stays where it is unless the forest has none. Nothing is put into the outbox: call it inside a transaction that says what comes next.
    Raises Forest.DoesNotExist.
    """
    with transaction.atomic():
        forest = Forest.objects.select_for_update().get(pk=forest_id)
        known = known_ids(forest.pk, [one.client_id for one in batch])
        fresh = list({one.client_id: one for one in batch if one.client_id not in known}.values())
        if not fresh:
            return []
        turns = _turns(forest, fresh, origin)
        states = _states(forest, fresh, turns, origin)
        RoutingDecision.objects.bulk_create(_decisions(forest, fresh, states))
        _topics(forest, states)
        StateVector.objects.bulk_create(
            StateVector(forest=forest, state=state, kind=StateVector.Kind.STATE, vector=half(one.rough.vector))
            for one, state in zip(fresh, states, strict=True)
        )
        _postings(forest.pk, fresh, states)
        forest.version += 1
        forest.last_position = states[-1].position
        forest.indexed_states += len(states)
        forest.indexed_terms += sum(state.length for state in states)
        if forest.active_state_id is None:
            forest.active_state = states[-1]
        forest.save(update_fields=["active_state", "version", "last_position", "indexed_states", "indexed_terms"])
    return [state.pk for state in states]


def _turns(forest: Forest, fresh: Sequence[Incoming], origin: str) -> list[Turn]:
    now = timezone.now()
    return Turn.objects.bulk_create(
        Turn(
            forest=forest,
            client_id=one.client_id,
            origin=origin,
            status=Turn.Status.ANSWERED,
            sent_at=one.rough.time,
            answered_at=one.answered_at or now,
        )
        for one in fresh
    )


def _states(forest: Forest, fresh: Sequence[Incoming], turns: Sequence[Turn], origin: str) -> list[InteractionState]:
    above = _parents(forest, {one.parent for one in fresh if one.parent})
    continued = set(InteractionState.objects.in_forest(forest).filter(parent__in=[place.id for place in above.values()]).values_list("parent_id", flat=True))
    states: list[InteractionState] = []
    for identity, one, turn in zip(_next_ids(len(fresh)), fresh, turns, strict=True):
        parent = above.get(one.parent) if one.parent else None
        # A branch goes on through the first child; every later child opens one of its own.
        first = parent is not None and parent.id not in continued
        place = Placed(
            id=identity,
            root=parent.root if parent else identity,
            branch=parent.branch if parent and first else identity,
            depth=parent.depth + 1 if parent else 0,
        )
        if parent:
            continued.add(parent.id)
        above[one.client_id] = place
        states.append(
            InteractionState(
                id=identity,
                forest=forest,
                turn=turn,
                position=forest.last_position + len(states) + 1,
                parent_id=parent.id if parent else None,
                root_id=place.root,
                branch_id=place.branch,
                depth=place.depth,
                time=one.rough.time,
                user_text=one.rough.user,
                assistant_text=one.rough.assistant,
                entities=list(one.rough.entities),
                tokens=one.rough.tokens,
                length=sum(one.rough.terms.values()),
                origin=origin,
                trust=one.rough.trust,
                tells=one.rough.tells,
            )
        )
    return InteractionState.objects.bulk_create(states)


def _parents(forest: Forest, client_ids: set[str]) -> dict[str, Placed]:
    rows = InteractionState.objects.in_forest(forest).filter(turn__client_id__in=client_ids)
    return {name: Placed(*place) for name, *place in rows.values_list("turn__client_id", "pk", "root_id", "branch_id", "depth")}


def _next_ids(number: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('memory_interactionstate', 'id')) FROM generate_series(1, %s)", [number])
        return sorted(row[0] for row in cursor.fetchall())


def _decisions(forest: Forest, fresh: Sequence[Incoming], states: Sequence[InteractionState]) -> list[RoutingDecision]:
    """That each was told where it goes, as for any given interaction."""
    parents = {state.pk: state for state in states}
    missing = {state.parent_id for state in states if state.parent_id and state.parent_id not in parents}
    parents |= {state.pk: state for state in InteractionState.objects.in_forest(forest).filter(pk__in=missing)}
    rows = []
    for state in states:
        decision = localize.given(_value(parents[state.parent_id]) if state.parent_id else None)
        why = (
            decision.why.replace("You chose to begin", "The import begins") if state.parent_id is None else decision.why.replace("You chose", "The import says")
        )
        rows.append(
            RoutingDecision(
                forest=forest,
                turn_id=state.turn_id,
                method=decision.method,
                chosen_id=decision.parent,
                probability=decision.probability,
                margin=decision.margin,
                threshold=decision.threshold,
                unsure=decision.unsure,
                candidates=[candidate_json(candidate) for candidate in decision.candidates],
                why=why,
                ranker=decision.ranker,
            )
        )
    return rows


def _value(state: InteractionState) -> Interaction:
    return Interaction(
        id=state.pk,
        position=state.position,
        parent=state.parent_id,
        root=state.root_id,
        branch=state.branch_id,
        depth=state.depth,
        time=state.time,
        user=state.user_text,
        assistant=state.assistant_text,
        node_summary=state.node_summary,
    )


def _topics(forest: Forest, states: Sequence[InteractionState]) -> None:
    """Keys come with refinement; the place in the order of planting, and so the colour, is fixed now."""
    last = Topic.objects.in_forest(forest).aggregate(last=Max("order"))["last"]
    roots = [state for state in states if state.parent_id is None]
    Topic.objects.bulk_create(Topic(forest=forest, root=state, order=order) for order, state in enumerate(roots, 0 if last is None else last + 1))


def _postings(forest: int, fresh: Sequence[Incoming], states: Sequence[InteractionState]) -> None:
    rows: list[tuple[int, str, int, int, int]] = []
    for one, state in zip(fresh, states, strict=True):
        for kind, counts in ((PostingKind.TERM, one.rough.terms), (PostingKind.ENTITY, one.rough.entity_terms)):
            cut: Counter[str] = Counter()
            for term, count in counts.items():
                cut[term[:100]] += count
            rows += [(int(kind), term, state.pk, count, state.length) for term, count in cut.items()]
    add_postings(forest, rows)


def add_postings(forest: int, rows: Sequence[tuple[int, str, int, int, int]]) -> None:
    """Add (kind, term, state, count, length) of many states to the index and to the forest's term statistics."""
    if not rows:
        return
    columns = [list(column) for column in zip(*sorted(rows), strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH fresh AS (
                INSERT INTO memory_posting (forest_id, kind, term, state_id, count, length)
                SELECT %s, kind, term, state, count, length
                FROM unnest(%s::smallint[], %s::text[], %s::bigint[], %s::int[], %s::int[]) AS row(kind, term, state, count, length)
                ON CONFLICT (forest_id, kind, term, state_id) DO NOTHING RETURNING kind, term
            )
            INSERT INTO memory_termstat (forest_id, kind, term, states) SELECT %s, kind, term, count(*) FROM fresh GROUP BY kind, term ORDER BY kind, term
            ON CONFLICT (forest_id, kind, term) DO UPDATE SET states = memory_termstat.states + excluded.states
            """,
            [forest, *columns, forest],
        )
