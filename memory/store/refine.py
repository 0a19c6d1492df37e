"""The refined commit (DESIGN “Consistency” 3): one plan per state, applied once, under a lease that fences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from memory.engine.forest import EvidenceKind, Extraction
from memory.llm.usage import Spent, merged
from memory.models import Forest, InteractionState, Lease, NewVector, PieceVector, PostingKind, StateVector, Topic, Turn
from memory.models.forest import Origin
from memory.store import readings
from memory.store.bulk import add_postings
from memory.store.readings import Rows
from memory.store.recall import half
from memory.store.slots import resolve_slots
from memory.store.texts import PIECE

# In `refined_by` of a state that waits to be read anew because its path has lost a turn: what it taught is compared with the new reading.
ANEW = "anew"
# … and of one where only the path summary can name what went: before the version it was refined by, which it gets back. No extractor is asked.
SUMMED = "summed "
LEASE_SECONDS = 10
# Rows a statement writes.
_BATCH = 200
ATTEMPTS = 3
RETRY_SECONDS, LONGEST_RETRY_SECONDS = 15, 900


class LeaseLostError(Exception):
    """Another worker has taken over; what this one still holds must not be written."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one state's refinement writes, worked out outside any transaction.

    `vectors` maps (kind, number) to an embedding: ("branch", 0), ("topic", 0), each piece's ("piece", its number) and each proposal's (kind, its number).
    """

    state: int
    version: str
    extraction: Extraction
    vectors: Mapping[tuple[str, int], np.ndarray]
    topic_stems: tuple[str, ...]
    entity_terms: Mapping[str, int]
    milliseconds: float
    spent: Spent = field(default_factory=dict)
    forgotten: frozenset[int] = frozenset()  # numbers of proposals that a person deleted: nothing of them is written


@dataclass(frozen=True, slots=True)
class Applied:
    """What a refined commit wrote: the states, and ids to show."""

    states: tuple[int, ...]
    rows: tuple[tuple[EvidenceKind, int], ...]
    revisions: tuple[int, ...]
    touched_states: tuple[int, ...]


def take_lease(forest: int, holder: str) -> int | None:
    """The fencing token of a lease on this forest, or None while another holder shows signs of life, or when the forest is gone."""
    with transaction.atomic():
        if not Forest.objects.select_for_update(no_key=True).filter(pk=forest).values_list("pk", flat=True):
            return None
        Lease.objects.get_or_create(forest_id=forest)
        lease = Lease.objects.select_for_update().get(forest_id=forest)
        now = timezone.now()
        if lease.holder and lease.heartbeat_at is not None and now - lease.heartbeat_at < timedelta(seconds=LEASE_SECONDS):
            return None
        lease.holder = lease.last_holder = holder
        lease.token, lease.heartbeat_at, lease.progressed_at = lease.token + 1, now, now
        lease.save()
        return lease.token


def beat(forest: int, token: int) -> bool:
    """A sign of life; False when the lease went to someone else."""
    return bool(Lease.objects.filter(forest_id=forest, token=token).update(heartbeat_at=timezone.now()))


def release(forest: int, token: int) -> None:
    Lease.objects.filter(forest_id=forest, token=token).update(holder="", heartbeat_at=None)


def pending() -> Q:
    """States that wait for refinement; one that failed three times waits for a person's retry, one whose model is away for its time."""
    again = Q(refine_error__attempts__lt=ATTEMPTS) & (Q(refine_error__retry_at__isnull=True) | Q(refine_error__retry_at__lte=_stamp(timezone.now())))
    return Q(refined_at__isnull=True) & (Q(refine_error__isnull=True) | again)


def _stamp(moment: datetime) -> str:
    """A time as text whose order is that of time."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def next_unrefined(forest: int, after: int, *, imported: bool, limit: int = 1) -> list[tuple[int, int, str]]:
    """Id, position and `refined_by` of the earliest states beyond position `after` that wait, among those imported or among all others."""
    origins = [Origin.IMPORTED] if imported else [origin for origin in Origin if origin != Origin.IMPORTED]
    rows = InteractionState.objects.in_forest(forest).filter(pending(), origin__in=origins, position__gt=after)
    return list(rows.order_by("position").values_list("pk", "position", "refined_by")[:limit])


def told_anew(refined_by: str) -> bool:
    """Whether a state that waits was refined before and is told anew after a deletion: many at once, and mostly with the same outcome."""
    return refined_by == ANEW or refined_by.startswith(SUMMED)


def moving(forest: int) -> bool:
    """Whether a live lease shows progress on this forest, so that waiting for it makes sense (S3)."""
    fresh = timezone.now() - timedelta(seconds=3)
    return Lease.objects.filter(forest_id=forest, heartbeat_at__gte=fresh, progressed_at__gte=fresh).exclude(holder="").exists()


def fail(state: int, code: str, message: str, action: str = "", *, wait: bool = False, passing: bool = False) -> None:
    """Write a failed extraction on the state: visible, to be tried again, never “nothing to remember” (W7).

    `wait`: not again at once, but after 15 s, then 30 s, … up to 15 minutes. `passing`: the fault isn't the turn's, so it is tried for as long as it takes.
    """
    row = InteractionState.objects.only("refine_error").filter(pk=state).first()
    if row is None:
        return  # deleted meanwhile
    before = row.refine_error or {}
    tries, now = before.get("tries", 0) + 1, timezone.now()
    error = {"code": code, "message": message, "action": action, "attempts": before.get("attempts", 0) + (not passing), "tries": tries, "at": now.isoformat()}
    if wait:
        error["retry_at"] = _stamp(now + timedelta(seconds=min(RETRY_SECONDS * 2 ** min(tries - 1, 10), LONGEST_RETRY_SECONDS)))
    InteractionState.objects.filter(pk=state).update(refine_error=error)


def apply(forest: int, token: int, plans: Sequence[Plan]) -> Applied | None:
    """Write plans in one transaction, those of a tree in the order of time. A state that this version of the extractors has refined before, or that is
    gone, is left out; None when none is left.

    Raises LeaseLostError.
    """
    with transaction.atomic():
        there = Forest.objects.select_for_update().filter(pk=forest).values_list("pk", flat=True).first()
        lease = Lease.objects.select_for_update().filter(forest_id=forest).first()
        if there is None or lease is None or lease.token != token:
            raise LeaseLostError
        locked = InteractionState.objects.select_for_update(of=("self",)).in_forest(forest).select_related("turn").filter(pk__in=[plan.state for plan in plans])
        states = {state.pk: state for state in locked.order_by("pk")}
        todo = [(states[plan.state], plan) for plan in plans if plan.state in states and states[plan.state].refined_by != plan.version]
        if not todo:
            return None
        read = [readings.Reading(state, plan.extraction.proposals, plan.forgotten, state.refined_by == ANEW) for state, plan in todo]
        rows, slots, unsaid = readings.write(forest, read)
        revisions, touched = resolve_slots(forest, slots, None)
        _write_states(todo)
        _name_trees(forest, todo)
        _write_vectors(todo, rows)
        named = [(int(PostingKind.ENTITY), term[:100], state.pk, count, state.length) for state, plan in todo for term, count in plan.entity_terms.items()]
        add_postings(forest, named)
        now = timezone.now()
        Lease.objects.filter(pk=lease.pk).update(position=max(state.position for state, _ in todo), progressed_at=now, heartbeat_at=now)
    written = tuple((kind, row.pk) for found in rows.values() for kind, row in found.values())
    return Applied(tuple(state.pk for state, _ in todo), written, tuple(revisions), tuple(touched | unsaid))


def _write_states(todo: Sequence[tuple[InteractionState, Plan]]) -> None:
    """What describes each turn, that it is refined, and what that took."""
    now = timezone.now()
    states, turns = [], []
    for state, plan in todo:
        found, turn = plan.extraction, state.turn
        lists = [json.dumps(list(words)) for words in (found.entities, found.keywords)]
        states.append((state.pk, found.node_summary, found.path_summary, *lists, plan.version, json.dumps(dict(found.report))))
        timings = {**turn.timings, "refine_ms": round(plan.milliseconds, 1)}
        if state.origin != Origin.IMPORTED and turn.answered_at is not None:  # the first time only: read again, it wasn't waited for
            timings.setdefault("lag_ms", round((now - turn.answered_at).total_seconds() * 1000, 1))
        turns.append((turn.pk, json.dumps(timings), json.dumps(merged(turn.usage, plan.spent))))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE memory_interactionstate s
            SET node_summary = n.node, path_summary = n.path, refined_at = %s, refined_by = n.version, refine_error = NULL, extraction_report = n.report,
                entities = ARRAY(SELECT jsonb_array_elements_text(n.entities)), keywords = ARRAY(SELECT jsonb_array_elements_text(n.keywords))
            FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::jsonb[], %s::jsonb[], %s::text[], %s::jsonb[])
                AS n(id, node, path, entities, keywords, version, report) WHERE s.id = n.id
            """,
            [now, *map(list, zip(*states, strict=True))],
        )
        cursor.execute(
            """
            UPDATE memory_turn t SET status = %s, timings = n.timings, usage = n.usage
            FROM unnest(%s::bigint[], %s::jsonb[], %s::jsonb[]) AS n(id, timings, usage) WHERE t.id = n.id
            """,
            [Turn.Status.REFINED, *map(list, zip(*turns, strict=True))],
        )


def _name_trees(forest: int, todo: Iterable[tuple[InteractionState, Plan]]) -> None:
    """The key that a tree is called by, other names for it, and who gave them: told one turn after the other."""
    topics = {topic.root_id: topic for topic in Topic.objects.filter(root__in={state.root_id for state, _ in todo})}
    renamed: dict[int, Topic] = {}
    stems: dict[tuple[int, str], int] = {}
    for state, plan in todo:
        topic, extraction = topics.get(state.root_id), plan.extraction
        if topic is None or not extraction.topic:
            continue
        before = (topic.key, topic.variants, topic.stems)
        tellers = topic.told_by or ([topic.root_id] if topic.key else [])
        topic.key = extraction.topic[:200]
        topic.variants = sorted({*topic.variants, *(variant[:200] for variant in extraction.topic_variants)})
        topic.stems = sorted({*topic.stems, *plan.topic_stems})
        topic.told_by = tellers if (topic.key, topic.variants, topic.stems) == before else [*(one for one in tellers if one != state.pk), state.pk]
        renamed[state.root_id] = topic
        for stem in plan.topic_stems:
            stems.setdefault((state.root_id, stem), len(topic.stems))
    Topic.objects.bulk_update(renamed.values(), ["key", "variants", "stems", "told_by"], batch_size=_BATCH)
    add_postings(forest, [(int(PostingKind.TOPIC), stem, root, 1, length) for (root, stem), length in stems.items()])


def _write_vectors(todo: Iterable[tuple[InteractionState, Plan]], rows: Mapping[int, Rows]) -> None:
    made: dict[tuple[int, str, int], StateVector] = {}
    parts: list[PieceVector] = []
    for state, plan in todo:
        items = {(str(kind), number): row.pk for number, (kind, row) in rows.get(state.pk, {}).items()}
        for (kind, number), vector in plan.vectors.items():
            if kind == PIECE:
                parts.append(PieceVector(forest_id=state.forest_id, state=state, number=number, vector=half(vector)))
                continue
            owner = state.root_id if kind == StateVector.Kind.TOPIC else state.pk
            item = items.get((kind, number), 0)
            made[owner, kind, item] = StateVector(forest_id=state.forest_id, state_id=owner, kind=kind, item=item, vector=half(vector))
    StateVector.objects.bulk_create(
        made.values(), batch_size=_BATCH, update_conflicts=True, unique_fields=["state", "kind", "item"], update_fields=["forest", "vector"]
    )
    PieceVector.objects.bulk_create(parts, batch_size=_BATCH, ignore_conflicts=True)
    # What waits to take its place was made of the text before.
    NewVector.objects.filter(replaces__in=[vector.pk for vector in made.values()]).delete()
