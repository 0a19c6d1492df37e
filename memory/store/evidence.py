"""Facts and records as values, and the retrieval of those a query may need (paper §3.3)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from django.db.models import Q

from memory.engine.forest import Evidence, EvidenceKind, Found
from memory.models import EVIDENCE_MODELS, EvidenceRow
from memory.store import read
from memory.store.as_of import Then, evidence_then
from memory.store.recall import compared

NEAREST = 40
KINDS: tuple[EvidenceKind, ...] = ("fact", "artifact", "event", "mutable_state")
# All rows of so many slots or events are looked at for update pairs and computed answers.
MATES = 400

FIELDS: dict[str, tuple[str, ...]] = {
    "fact": (),
    "artifact": ("artifact_type", "topic", "item_text", "ordinal"),
    "event": (
        "event_type",
        "object",
        "quantity",
        "unit",
        "canonical_action",
        "canonical_object",
        "date_text",
        "normalized_date",
        "is_negated",
        "countable",
    ),
    "mutable_state": ("key",),
}


# What a value is made of, in every kind.
SHARED: Final = (
    "id",
    "text",
    "slot",
    "subject",
    "value",
    "asserted",
    "attribute_tag",
    "entities",
    "evidence",
    "sources",
    "known_from",
    "event_time",
    "made_by",
    "status",
    "superseded_by_id",
    "valid_to",
    "known_until",
    "pinned",
)
ROWS: Final[dict[str, Any]] = {kind: namedtuple(f"{kind}_row", (*SHARED, *fields)) for kind, fields in FIELDS.items()}


def value(kind: EvidenceKind, row: Any, then: Then | None = None) -> Evidence:
    """A row, of the model or one of ROWS, as the engine sees it: as it stands, or as it stood `then`."""
    stood = then or Then(row.status, row.superseded_by_id, row.valid_to, row.known_until, row.pinned)
    return Evidence(
        kind=kind,
        id=row.id,
        text=row.text,
        slot=row.slot,
        subject=row.subject,
        value=row.value,
        asserted=row.asserted,
        attribute_tag=row.attribute_tag,
        entities=tuple(row.entities),
        evidence=row.evidence,
        sources=tuple(row.sources),
        position=row.known_from,
        known_until=stood.known_until,
        event_time=row.event_time,
        valid_to=stood.valid_to if stood.status == "superseded" else None,
        status=stood.status,  # type: ignore[arg-type]
        superseded_by=stood.superseded_by,
        pinned=stood.pinned,
        made_by=row.made_by,
        fields={name: getattr(row, name) for name in FIELDS[kind]},
    )


def _rows(forest: int, kind: EvidenceKind, where: Q, as_of: int | None, limit: int) -> list[Evidence]:
    rows = EVIDENCE_MODELS[kind].objects.in_forest(forest).filter(where).filter(known_from__lte=read.until(as_of)).order_by("-known_from", "id")[:limit]
    return _values(forest, kind, list(rows), as_of)


def _with_mates(forest: int, kind: EvidenceKind, ids: Sequence[int], as_of: int | None) -> list[Evidence]:
    """These facts or records and all other values of their slots: a replaced value is as good as its replacement is near.

    Both are sought by an index; for “of these ids, or of these slots” the database would read all rows of the forest."""
    model, row = EVIDENCE_MODELS[kind], ROWS[kind]
    table = model._meta.db_table
    sql, parameters = (
        f"""
        SELECT {", ".join(row._fields)} FROM {table} WHERE forest_id = %s AND known_from <= %s AND id = ANY(ARRAY(
            SELECT unnest(%s::bigint[]) UNION
            SELECT mate.id FROM {table} one JOIN {table} mate ON mate.forest_id = one.forest_id AND mate.slot = one.slot
            WHERE one.forest_id = %s AND one.id = ANY(%s) AND one.slot <> '' AND mate.slot <> ''
        )) ORDER BY known_from DESC, id LIMIT %s
        """,
        [forest, read.until(as_of), ids, forest, ids, MATES],
    )
    if as_of is not None:
        return _values(forest, kind, list(model.objects.raw(sql, parameters)), as_of)
    return [value(kind, row._make(found)) for found in read.select(sql, parameters)]  # a model's instance for each would take three times as long


def _values(forest: int, kind: EvidenceKind, rows: Sequence[EvidenceRow], as_of: int | None) -> list[Evidence]:
    stood = evidence_then(forest, kind, rows, as_of) if as_of is not None else {}
    return [value(kind, row, stood.get(row.pk)) for row in rows]


Near = dict[tuple[EvidenceKind, int], float]  # (kind, id) → cosine


def nearest(forest: int, query: str, limit: int = NEAREST, kinds: Collection[EvidenceKind] = KINDS, states: int = 0) -> Near:
    """The nearest facts and records, in a forest of so many `states`; 0: all are compared.

    The vector of a fact is that of its expanded key (fact + source turn); every fact and record has one."""
    which, parameters = compared(forest, kinds, query, states)
    rows = read.select(
        f"SELECT v.kind, v.item, v.vector <#> %s::halfvec AS distance FROM memory_statevector v WHERE {which} ORDER BY distance LIMIT %s",
        [query, *parameters, limit],
    )
    return {(kind, item): -distance for kind, item, distance in rows}


def of_states(forest: int, query: str, states: Sequence[int], kinds: Collection[EvidenceKind] = KINDS) -> Near:
    """The facts and records of these states."""
    rows = read.select(
        "SELECT kind, item, -(vector <#> %s::halfvec) FROM memory_statevector WHERE forest_id = %s AND state_id = ANY(%s) AND kind = ANY(%s)",
        [query, forest, list(states), list(kinds)],
    )
    return {(kind, item): similarity for kind, item, similarity in rows}


def found(
    forest: int,
    near: Near,
    lexical: Sequence[int],
    event_terms: Iterable[str] = (),
    as_of: int | None = None,
    kinds: Collection[EvidenceKind] = KINDS,
) -> list[Found]:
    """Evidence `near` the query or of the states that words found (`lexical`, best first), all values of the slots these touch,
    and every event whose action or object is among `event_terms` (what a count has to count over). Other `kinds` are as if nobody had extracted them."""
    rank = {state: place for place, state in enumerate(lexical, 1)}
    terms = list(event_terms)
    brought: dict[tuple[EvidenceKind, int], Evidence] = {}
    for kind in sorted({kind for kind, _ in near}):
        for evidence in _with_mates(forest, kind, [item for of, item in near if of == kind], as_of):
            brought[evidence.kind, evidence.id] = evidence
    if terms and "event" in kinds:
        for evidence in _rows(forest, "event", Q(canonical_action__in=terms) | Q(canonical_object__in=terms), as_of, MATES):
            brought.setdefault((evidence.kind, evidence.id), evidence)
    return [
        Found(evidence, near.get(key), min((rank[source] for source in evidence.sources if source in rank), default=None))
        for key, evidence in sorted(brought.items())
    ]


def slots_before(forest: int, position: int) -> list[Evidence]:
    """The facts that hold a slot, learned before a position, latest first: what a turn at that position may correct."""
    return _rows(forest, "fact", ~Q(slot="") & Q(status="current", asserted=True, known_from__lt=position), None, MATES)


def update_pairs(evidence: Iterable[Evidence]) -> list[tuple[Evidence, Evidence]]:
    """(old, new) of every replaced value whose replacement is among `evidence` too, oldest first."""
    known = {(item.kind, item.id): item for item in evidence}
    pairs = [
        (old, known[old.kind, old.superseded_by])
        for old in known.values()
        if old.status == "superseded" and old.superseded_by is not None and (old.kind, old.superseded_by) in known
    ]
    return sorted(pairs, key=lambda pair: (pair[1].position, pair[1].id))


def fields_of(kind: str, fields: Any) -> dict[str, Any]:
    """The typed columns of a proposal that its table has; an unknown one is an extractor's mistake and raises."""
    unknown = set(fields) - set(FIELDS[kind])
    if unknown:
        raise ValueError(f"{kind} has no column {', '.join(sorted(unknown))}")
    return dict(fields)
