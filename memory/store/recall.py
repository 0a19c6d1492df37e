"""Hybrid recall in SQL (paper §3.2): pgvector by exact scan, BM25 and entities by postings, topic anchors.

Vectors have length 1, so that the inner product is their cosine, at a third of its cost. Exact scans on purpose: from some thousand rows of a forest the
planner would take an HNSW index by itself and lose a third of the neighbours. In a large forest those are compared whose signs are most alike
(docs/decisions/0022-large-forests.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector

from memory.engine.forest import Channel, Hit, Interaction
from memory.models import Forest, PostingKind
from memory.store import read

# Okapi BM25's usual constants.
K1, B = 1.2, 0.75
STATE_KINDS = ("state", "branch")
EXACT_STATES = 20_000  # of a forest: up to here every vector is compared with a query
ALIKE = 3_200  # … and of a larger one so many, those whose signs are most alike


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of a forest: its states, their average length, and in how many of them each term and each entity occurs."""

    states: int
    average_length: float
    terms: Mapping[str, int]
    entities: Mapping[str, int]


def statistics(forest: Forest, terms: Sequence[str], entities: Sequence[str], as_of: int | None = None) -> Statistics:
    """Of the forest as it is, kept as sums; at `as_of` they are counted over the states of that time."""
    wanted = [forest.pk, PostingKind.TERM, list(terms), PostingKind.ENTITY, list(entities)]
    which = "forest_id = %s AND ((kind = %s AND term = ANY(%s)) OR (kind = %s AND term = ANY(%s)))"
    states, length = forest.indexed_states, forest.indexed_terms
    if as_of is None:
        rows = read.select(f"SELECT kind, term, states FROM memory_termstat WHERE {which}", wanted)
    else:
        early = "state_id IN (SELECT id FROM memory_interactionstate WHERE forest_id = %s AND position <= %s)"
        rows = read.select(f"SELECT kind, term, count(*) FROM memory_posting WHERE {which} AND {early} GROUP BY kind, term", [*wanted, forest.pk, as_of])
        [(states, length)] = read.select(
            "SELECT count(*), coalesce(sum(length), 0) FROM memory_interactionstate WHERE forest_id = %s AND position <= %s", [forest.pk, as_of]
        )
    by_kind: dict[int, dict[str, int]] = {PostingKind.TERM: {}, PostingKind.ENTITY: {}}
    for kind, term, number in rows:
        by_kind[kind][term] = number
    return Statistics(states, int(length) / max(states, 1), by_kind[PostingKind.TERM], by_kind[PostingKind.ENTITY])


def half(vector: np.ndarray) -> HalfVector:
    """A vector as its row keeps it."""
    return HalfVector(vector.astype(np.float16))


def literal(vector: np.ndarray) -> str:
    """A vector as a parameter of a statement, to be cast with `::halfvec`; written once for all statements of a query.

    Five digits tell half floats apart; as many as a double has would make every statement twice as long to send and read."""
    return f"[{','.join(['%.5g'] * len(vector)) % tuple(vector.astype(np.float16).tolist())}]"


def compared(forest: int, kinds: Collection[str], query: str, states: int, as_of: int | None = None) -> tuple[str, list[Any]]:
    """Which rows `v` of memory_statevector are compared with a query in a forest of so many states, as a condition with its parameters.

    The signs of a vector are read off an index alone, a ninth of what the vectors take; that half of all numbers differ in sign means nothing in common."""
    early = "(%s::bigint IS NULL OR v.state_id IN (SELECT id FROM memory_interactionstate WHERE forest_id = %s AND position <= %s))"
    every = f"v.forest_id = %s AND v.kind = ANY(%s) AND {early}"
    parameters = [forest, list(kinds), as_of, forest, as_of]
    if states <= EXACT_STATES:
        return every, parameters
    alike = f"SELECT v.id FROM memory_statevector v WHERE {every} ORDER BY v.bits <~> binary_quantize(%s::halfvec)::varbit LIMIT %s"
    return f"v.id = ANY(ARRAY({alike}))", [*parameters, query, ALIKE]


def semantic(forest: int, query: str, limit: int, states: int, as_of: int | None = None) -> list[tuple[int, float]]:
    """The `limit` nearest states as (id, cosine), by the better of a state's turn vector and branch-aware vector; of a forest of so many `states`."""
    which, parameters = compared(forest, STATE_KINDS, query, states, as_of)
    return read.select(
        f"""
        SELECT state_id, -min(distance) AS best FROM (
            SELECT v.state_id, v.vector <#> %s::halfvec AS distance FROM memory_statevector v WHERE {which} ORDER BY distance LIMIT %s
        ) near GROUP BY state_id ORDER BY best DESC, state_id DESC LIMIT %s
        """,
        [query, *parameters, 2 * limit, limit],
    )


def states(forest: int, query: str, ids: Iterable[int]) -> dict[int, tuple[Interaction, float | None]]:
    """These states, each with its cosine to the query (the better of its vectors; None without one)."""
    rows = read.select(
        f"""
        SELECT {read.COLUMNS}, (
            SELECT max(-(v.vector <#> %s::halfvec)) FROM memory_statevector v WHERE v.state_id = s.id AND v.kind = ANY(%s)
        ) FROM {read.FROM} WHERE s.forest_id = %s AND s.id = ANY(%s)
        """,
        [query, list(STATE_KINDS), forest, list(ids)],
    )
    return {row[0]: (read.interaction(row), row[-1]) for row in rows}


def bm25(forest: int, kind: PostingKind, weights: Mapping[str, float], average_length: float, limit: int, as_of: int | None = None) -> list[tuple[int, float]]:
    """The `limit` best states as (id, BM25), over terms with their inverse document frequencies."""
    if not weights:
        return []
    return read.select(
        """
        SELECT p.state_id, sum(q.idf * p.count * %s / (p.count + %s * (1 - %s + %s * p.length / %s))) AS score
        FROM unnest(%s::text[], %s::float8[]) AS q(term, idf)
        JOIN memory_posting p ON p.forest_id = %s AND p.kind = %s AND p.term = q.term
        WHERE %s::bigint IS NULL OR p.state_id IN (SELECT id FROM memory_interactionstate WHERE forest_id = %s AND position <= %s)
        GROUP BY p.state_id ORDER BY score DESC, p.state_id DESC LIMIT %s
        """,
        [K1 + 1, K1, B, B, max(average_length, 1.0), list(weights), list(weights.values()), forest, kind, as_of, forest, as_of, limit],
    )


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A tree's topic key as recall sees it. `similarity` is that of its vector with the query, None when it isn't among the nearest."""

    root: int
    key: str
    variants: tuple[str, ...]
    similarity: float | None


def topics(forest: int, stems: Sequence[str], query: str, limit: int, as_of: int | None = None) -> list[TopicRow]:
    """Topic keys that share a stem with the query, and the `limit` nearest by embedding."""
    rows = read.select(
        """
        WITH planted AS (SELECT id FROM memory_interactionstate WHERE forest_id = %s AND parent_id IS NULL AND position <= %s), near AS (
            SELECT state_id, -(vector <#> %s::halfvec) AS similarity FROM memory_statevector
            WHERE forest_id = %s AND kind = 'topic' AND (%s::bigint IS NULL OR state_id IN (SELECT id FROM planted)) ORDER BY similarity DESC LIMIT %s
        )
        SELECT t.root_id, t.key, t.variants, near.similarity FROM memory_topic t LEFT JOIN near ON near.state_id = t.root_id
        WHERE t.forest_id = %s AND t.key <> '' AND (%s::bigint IS NULL OR t.root_id IN (SELECT id FROM planted)) AND (near.state_id IS NOT NULL OR t.root_id IN
            (SELECT state_id FROM memory_posting WHERE forest_id = %s AND kind = %s AND term = ANY(%s)))
        """,
        [forest, read.until(as_of), query, forest, as_of, limit, forest, as_of, forest, PostingKind.TOPIC, list(stems)],
    )
    return [TopicRow(root, key, tuple(variants), similarity) for root, key, variants, similarity in rows]


def tree_states(forest: int, roots: Sequence[int], limit: int, as_of: int | None = None) -> list[tuple[int, int]]:
    """The newest `limit` states of each of these trees, as (state, root), newest first within a tree."""
    if not roots:
        return []
    return read.select(
        """
        SELECT s.id, r.root FROM unnest(%s::bigint[]) WITH ORDINALITY AS r(root, place) CROSS JOIN LATERAL (
            SELECT id, position FROM memory_interactionstate
            WHERE forest_id = %s AND root_id = r.root AND position <= %s ORDER BY position DESC LIMIT %s
        ) s ORDER BY r.place, s.position DESC
        """,
        [list(roots), forest, read.until(as_of), limit],
    )


def ranked(pairs: Sequence[tuple[int, float]]) -> dict[int, Hit]:
    """A channel's answer as hits with ranks from 1."""
    return {state: Hit(rank, score) for rank, (state, score) in enumerate(pairs, 1)}


Channels = dict[int, dict[Channel, Hit]]


def by_state(channels: Mapping[Channel, Mapping[int, Hit]]) -> Channels:
    """Channel → state → hit, turned round."""
    found: Channels = {}
    for channel, hits in channels.items():
        for state, hit in hits.items():
            found.setdefault(state, {})[channel] = hit
    return found
