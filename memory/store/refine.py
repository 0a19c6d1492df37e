"""The refined commit (DESIGN “Consistency” 3): one plan per state, applied once, under a lease that fences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from memory.engine import revise
from memory.engine.forest import EvidenceKind, Extraction, Proposal, SlotEntry
from memory.llm.usage import Spent, merged
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, InteractionState, Lease, NewVector, PieceVector, PostingKind, Revision, StateVector, Topic, Turn
from memory.models.forest import Origin
from memory.store.changes import take_up
from memory.store.dropping import Slots, drop
from memory.store.evidence import fields_of
from memory.store.recall import half
from memory.store.texts import PIECE
from memory.store.write import add_postings

# In `refined_by` of a state that waits to be read anew because its path has lost a turn: what it taught is compared with the new reading.
ANEW = "anew"
# … and of one where only the path summary can name what went: before the version it was refined by, which it gets back. No extractor is asked.
SUMMED = "summed "
LEASE_SECONDS = 10
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
    again: bool = False  # told anew after a deletion: many at once, and mostly with the same outcome


@dataclass(frozen=True, slots=True)
class Applied:
    """What a refined commit wrote: ids to show, none when it was done before."""

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


def next_unrefined(forest: int, after: int, *, imported: bool) -> tuple[int, int] | None:
    """Id and position of the earliest state beyond position `after` that waits, among those imported or among all others."""
    origins = [Origin.IMPORTED] if imported else [origin for origin in Origin if origin != Origin.IMPORTED]
    rows = InteractionState.objects.in_forest(forest).filter(pending(), origin__in=origins, position__gt=after)
    return rows.order_by("position").values_list("pk", "position").first()


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


def apply(forest: int, token: int, plan: Plan) -> Applied | None:
    """Write a plan in one transaction; None when this version of the extractors has refined the state before, or it is gone.

    Raises LeaseLostError.
    """
    with transaction.atomic():
        there = Forest.objects.select_for_update().filter(pk=forest).values_list("pk", flat=True).first()
        lease = Lease.objects.select_for_update().filter(forest_id=forest).first()
        if there is None or lease is None or lease.token != token:
            raise LeaseLostError
        state = InteractionState.objects.select_for_update().in_forest(forest).filter(pk=plan.state).first()
        if state is None or state.refined_by == plan.version:
            return None
        extraction = plan.extraction
        unsaid, slots = _drop_unsaid(state, plan) if state.refined_by == ANEW else (set(), set())
        rows = _write_evidence(state, plan, by_number=state.refined_by != ANEW)
        revisions, touched = resolve_slots(forest, slots | {(kind, row.slot) for kind, row in rows.values() if row.slot}, None)
        touched |= unsaid
        state.node_summary, state.path_summary = extraction.node_summary, extraction.path_summary
        state.entities, state.keywords = list(extraction.entities), list(extraction.keywords)
        state.refined_at, state.refined_by, state.refine_error = timezone.now(), plan.version, None
        state.extraction_report = dict(extraction.report)
        state.save(
            update_fields=["node_summary", "path_summary", "entities", "keywords", "refined_at", "refined_by", "refine_error", "extraction_report"],
        )
        _name_tree(state, plan)
        _write_vectors(state, plan, rows)
        add_postings(forest, state.pk, state.length, [(int(PostingKind.ENTITY), term, count) for term, count in plan.entity_terms.items()])
        turn = state.turn
        turn.status = Turn.Status.REFINED
        turn.timings = {**turn.timings, "refine_ms": round(plan.milliseconds, 1)}
        if state.origin != Origin.IMPORTED and turn.answered_at is not None:  # the first time only: read again, it wasn't waited for
            turn.timings.setdefault("lag_ms", round((state.refined_at - turn.answered_at).total_seconds() * 1000, 1))
        turn.usage = merged(turn.usage, plan.spent)
        turn.save(update_fields=["status", "timings", "usage"])
        Lease.objects.filter(pk=lease.pk).update(position=state.position, progressed_at=timezone.now(), heartbeat_at=timezone.now())
    return Applied(tuple((kind, row.pk) for kind, row in rows.values()), tuple(revisions), tuple(touched))


def _drop_unsaid(state: InteractionState, plan: Plan) -> tuple[set[int], Slots]:
    """A state whose path has lost a turn is read anew: what the rules no longer read in it goes, but for what a person has said of it (D2)."""
    unsaid: dict[str, list[int]] = {}
    for kind, model in EVIDENCE_MODELS.items():
        said = {_words_of(item) for number, item in enumerate(plan.extraction.proposals) if item.kind == kind and number not in plan.forgotten}
        rows = model.objects.filter(state=state, made_by="rule", sources=[state.pk]).values_list("pk", "text", "slot", "value")
        if gone := [pk for pk, *words in rows if tuple(words) not in said]:
            unsaid[kind] = list(unjudged(state.forest_id, kind).filter(pk__in=gone).values_list("pk", flat=True))
    return drop(state.forest_id, unsaid)


def _words_of(proposal: Proposal) -> tuple[str, str, str]:
    return proposal.text, proposal.slot[:200], proposal.value


def unjudged(forest: Forest | int, kind: str) -> QuerySet[EvidenceRow]:
    """The extracted rows of one kind that no person has had a say on: those a new reading may take back."""
    rows: QuerySet[EvidenceRow] = EVIDENCE_MODELS[kind].objects.in_forest(forest).exclude(made_by="user")
    return rows.exclude(pk__in=judged(kind, forest).values("pk"))


def _write_evidence(state: InteractionState, plan: Plan, *, by_number: bool) -> dict[int, tuple[EvidenceKind, EvidenceRow]]:
    """The row of each proposal by its number.

    Rules say the same of the same turn, so their number names an item (`by_number`), were it worded otherwise by an earlier version.
    A model may say it otherwise the next time: its items go by their words or their slot and value, and what it said before stays (W1, W3).
    """
    rows: dict[int, tuple[EvidenceKind, EvidenceRow]] = {}
    for number, proposal in enumerate(plan.extraction.proposals):
        if number in plan.forgotten:
            continue
        model = EVIDENCE_MODELS[proposal.kind]
        known = model.objects.filter(state=state, made_by=proposal.made_by).order_by("number")
        row = _known(known.exclude(pk__in=[row.pk for of, row in rows.values() if of == proposal.kind]), number, proposal, by_number)
        if row is None:
            taken = set(known.values_list("number", flat=True))
            free = number if proposal.made_by == "rule" and number not in taken else max(number, max(taken, default=-1) + 1)
            row = _new_row(model, state, proposal, free)
        rows[number] = (proposal.kind, row)
    return rows


def _known(known: QuerySet[EvidenceRow], number: int, proposal: Proposal, by_number: bool) -> EvidenceRow | None:
    """The row that says this already, of those no other proposal has. What a person has had a say on keeps what was read where the turn hung before."""
    text, slot, value = _words_of(proposal)
    if proposal.made_by != "rule":
        return known.filter(Q(value=value) & (Q(text=text) | Q(slot=slot) & ~Q(slot=""))).first()
    same = list(known.filter(text=text, slot=slot, value=value))
    found = next((row for row in same if row.number == number), same[0] if same else None)
    if found or not by_number:
        return found
    row = known.filter(number=number).first()
    return None if row is not None and judged(proposal.kind, row.forest_id).filter(pk=row.pk).exists() else row


def judged(kind: str, forest: Forest | int) -> QuerySet[EvidenceRow]:
    """The extracted rows that a person has had a say on: pinned, set aside, taken back, brought back or edited."""
    said = Revision.objects.in_forest(forest).filter(kind=kind, by=Revision.By.USER, old_item__isnull=False)
    aside = [EvidenceRow.Status.RETRACTED, EvidenceRow.Status.QUARANTINED]
    rows: QuerySet[EvidenceRow] = EVIDENCE_MODELS[kind].objects.in_forest(forest)
    return rows.exclude(made_by="user").filter(Q(pinned=True) | Q(status__in=aside) | Q(pk__in=said.values("old_item")))


def _new_row(model: type[EvidenceRow], state: InteractionState, proposal: Proposal, number: int) -> EvidenceRow:
    fields = fields_of(proposal.kind, proposal.fields)
    had = state.taught.get(proposal.kind, {}).get(reading(proposal.made_by, number, proposal.text, proposal.slot[:200], proposal.value))
    if had is not None and model.objects.filter(pk=had).exists():
        had = None
    if had is not None:
        take_up(state.forest_id, proposal.kind, had, proposal.slot[:200])
    return model.objects.create(
        pk=had,  # type: ignore[misc]  # abstract, so mypy knows no key of it
        forest_id=state.forest_id,
        state=state,
        number=number,
        made_by=proposal.made_by,
        sources=[state.pk],
        text=proposal.text,
        slot=proposal.slot[:200],
        subject=proposal.subject[:200],
        value=proposal.value,
        asserted=proposal.asserted,
        attribute_tag=proposal.attribute_tag,
        entities=list(proposal.entities),
        evidence=proposal.evidence,
        event_time=proposal.event_time or state.time,
        known_from=state.position,
        **fields,
    )


def reading(made_by: str, number: int, text: str, slot: str, value: str) -> str:
    """A digest of what was read of a turn, by a key of this installation: it says whether the same is read again, and nothing of what it is."""
    return salted_hmac("memory.reading", json.dumps([made_by, number, text, slot, value])).hexdigest()[:32]


def resolve_slots(forest: int, slots: Iterable[tuple[EvidenceKind, str]], by_hand: int | None) -> tuple[list[int], set[int]]:
    """Decide anew which value of each slot holds, from all its values at once: the order of arrival plays no part (W6, D3).

    `by_hand` is the newest position when a person's word is the reason: what is replaced then is told beside what was before. Else the replacements
    that are told are those that held at some position, whatever was read, moved or deleted in between.
    Returns the ids of new revisions and of the states whose evidence changed. Call it inside a transaction.
    """
    revisions: list[int] = []
    touched: set[int] = set()
    for kind, slot in sorted(slots):
        model = EVIDENCE_MODELS[kind]
        # What a person has edited is out: its new wording stands in the slot instead of it, even when both say the same value.
        edited = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.EDITED).values("old_item")
        found = model.objects.select_for_update().in_forest(forest).filter(slot=slot).exclude(pk__in=edited).order_by("pk")
        rows: dict[int, EvidenceRow] = {row.pk: row for row in found}
        entries = [slot_entry(row) for row in rows.values()]
        replaced: dict[tuple[int, int], int] = {}
        for outcome in revise.resolve(entries):
            row = rows[outcome.id]
            if (row.status, row.superseded_by_id) == (outcome.status, outcome.superseded_by):
                continue
            row.status, row.superseded_by_id = outcome.status, outcome.superseded_by
            row.valid_to, row.known_until = outcome.valid_to, outcome.known_until
            row.save(update_fields=["status", "superseded_by", "valid_to", "known_until"])
            touched.add(row.state_id)
            if outcome.superseded_by is not None:
                touched.add(rows[outcome.superseded_by].state_id)
                replaced[row.pk, outcome.superseded_by] = by_hand or 0
        revisions += _tell_replacements(forest, kind, slot, rows, replaced if by_hand is not None else revise.replacements(entries), prune=by_hand is None)
    return revisions, touched


def slot_entry(row: EvidenceRow) -> SlotEntry:
    """A row as revision sees it."""
    return SlotEntry(row.pk, row.value, row.event_time, row.known_from, row.asserted, row.status, row.pinned)  # type: ignore[arg-type]


def _tell_replacements(
    forest: int, kind: EvidenceKind, slot: str, rows: Mapping[int, EvidenceRow], replaced: Mapping[tuple[int, int], int], *, prune: bool
) -> list[int]:
    """Write the revisions (old, new) → position that aren't there; `prune` takes those away that never held, of values that take part. New ids."""
    told = Revision.objects.in_forest(forest).filter(kind=kind, verdict=Revision.Verdict.SUPERSEDED, old_item__in=rows, new_item__in=rows)
    known = {(revision.old_item, revision.new_item): revision for revision in told}
    made = [
        Revision.objects.create(
            forest_id=forest,
            kind=kind,
            old_item=old,
            new_item=new,
            slot=slot,
            verdict=Revision.Verdict.SUPERSEDED,
            state_id=rows[new].state_id,
            at_position=position,
        ).pk
        for (old, new), position in replaced.items()
        if (old, new) not in known
    ]
    if prune:
        taking = {row.pk: row.known_from for row in rows.values() if revise.takes_part(slot_entry(row))}
        never = [
            revision.pk
            for (old, new), revision in known.items()
            if (old, new) not in replaced
            and old in taking
            and new in taking
            and not rows[old].pinned
            and revision.by == Revision.By.RULE
            and revision.at_position == max(taking[old], taking[new])
        ]
        Revision.objects.filter(pk__in=never).delete()
    return made


def _name_tree(state: InteractionState, plan: Plan) -> None:
    extraction = plan.extraction
    topic = Topic.objects.filter(root_id=state.root_id).first()
    if topic is None or not extraction.topic:
        return
    before = (topic.key, topic.variants, topic.stems)
    tellers = topic.told_by or ([topic.root_id] if topic.key else [])
    topic.key = extraction.topic[:200]
    topic.variants = sorted({*topic.variants, *(variant[:200] for variant in extraction.topic_variants)})
    topic.stems = sorted({*topic.stems, *plan.topic_stems})
    topic.told_by = tellers if (topic.key, topic.variants, topic.stems) == before else [*(one for one in tellers if one != state.pk), state.pk]
    topic.save(update_fields=["key", "variants", "stems", "told_by"])
    add_postings(state.forest_id, state.root_id, len(topic.stems), [(int(PostingKind.TOPIC), stem, 1) for stem in plan.topic_stems])


def _write_vectors(state: InteractionState, plan: Plan, rows: Mapping[int, tuple[EvidenceKind, EvidenceRow]]) -> None:
    ids = {(str(kind), number): row.pk for number, (kind, row) in rows.items()}
    said = {number: half(vector) for (kind, number), vector in plan.vectors.items() if kind == PIECE}
    PieceVector.objects.bulk_create(
        (PieceVector(forest_id=state.forest_id, state=state, number=number, vector=vector) for number, vector in said.items()), ignore_conflicts=True
    )
    for (kind, number), vector in plan.vectors.items():
        if kind == PIECE:
            continue
        owner = state.root_id if kind == StateVector.Kind.TOPIC else state.pk
        kept, created = StateVector.objects.update_or_create(
            state_id=owner,
            kind=kind,
            item=ids.get((kind, number), 0),
            defaults={"forest_id": state.forest_id, "vector": half(vector)},
        )
        if not created:  # what waits to take its place was made of the text before
            NewVector.objects.filter(replaces=kept).delete()
