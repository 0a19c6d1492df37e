"""Hybrid recall in SQL (paper §3.2): pgvector by exact scan, BM25 and entities by postings, topic anchors.

Exact scans on purpose: from some thousand rows of a forest the planner would take an HNSW index by itself and lose a third of the neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pgvector import HalfVector

from memory.engine.forest import Channel, Hit
from memory.models import Forest, PostingKind
from memory.store import read

# Okapi BM25's usual constants.
K1, B = 1.2, 0.75
STATE_KINDS = ("state", "branch")


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of a forest: its states, their average length, and in how many of them each term occurs."""

    states: int
    average_length: float
    document_frequency: Mapping[str, int]


def statistics(forest: Forest, terms: Sequence[str], kind: PostingKind = PostingKind.TERM) -> Statistics:
    rows = read.select("SELECT term, states FROM memory_termstat WHERE forest_id = %s AND kind = %s AND term = ANY(%s)", [forest.pk, kind, list(terms)])
    states = max(forest.indexed_states, 1)
    return Statistics(forest.indexed_states, forest.indexed_terms / states, dict(rows))


def half(vector: np.ndarray) -> HalfVector:
    """A vector as its row keeps it."""
    return HalfVector(vector.astype(np.float16))


def literal(vector: np.ndarray) -> str:
    """A vector as a parameter of a statement, to be cast with `::halfvec`."""
    return str(half(vector).to_text())


def semantic(forest: int, vector: np.ndarray, limit: int, as_of: int | None = None) -> list[tuple[int, float]]:
    """The `limit` nearest states as (id, cosine), by the better of a state's turn vector and branch-aware vector."""
    query = literal(vector)
    return read.select(
        """
        SELECT state_id, max(similarity) AS best FROM (
            SELECT v.state_id, 1 - (v.vector <=> %s::halfvec) AS similarity
            FROM memory_statevector v
            WHERE v.forest_id = %s AND v.kind = ANY(%s)
              AND (%s::bigint IS NULL OR v.state_id IN (SELECT id FROM memory_interactionstate WHERE forest_id = %s AND position <= %s))
            ORDER BY v.vector <=> %s::halfvec LIMIT %s
        ) near GROUP BY state_id ORDER BY best DESC, state_id DESC LIMIT %s
        """,
        [query, forest, list(STATE_KINDS), as_of, forest, as_of, query, 2 * limit, limit],
    )


def similarities(forest: int, vector: np.ndarray, states: Sequence[int]) -> dict[int, float]:
    """Cosine of the query with each of these states that has a vector."""
    rows = read.select(
        """
        SELECT state_id, max(1 - (vector <=> %s::halfvec)) FROM memory_statevector
        WHERE forest_id = %s AND state_id = ANY(%s) AND kind = ANY(%s) GROUP BY state_id
        """,
        [literal(vector), forest, list(states), list(STATE_KINDS)],
    )
    return dict(rows)


def branch_similarities(forest: int, vector: np.ndarray, branches: Sequence[int], as_of: int | None = None) -> tuple[dict[int, float], dict[int, float]]:
    """Cosine of the query with each branch's tip and with its centre (the mean of its turn vectors)."""
    rows = read.select(
        """
        SELECT s.branch_id, (array_agg(1 - (v.vector <=> %s::halfvec) ORDER BY s.position DESC))[1], 1 - (avg(v.vector) <=> %s::halfvec)
        FROM memory_interactionstate s JOIN memory_statevector v ON v.state_id = s.id AND v.kind = 'state'
        WHERE s.forest_id = %s AND s.branch_id = ANY(%s) AND s.position <= %s GROUP BY s.branch_id
        """,
        [literal(vector), literal(vector), forest, list(branches), read.until(as_of)],
    )
    return {branch: tip for branch, tip, _ in rows}, {branch: centre for branch, _, centre in rows}


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
    """A tree's topic key as recall sees it. `similarity` is that of its vector with the query, None when not looked at."""

    root: int
    key: str
    variants: tuple[str, ...]
    stems: tuple[str, ...]
    similarity: float | None


def topics(forest: int, stems: Sequence[str], vector: np.ndarray | None, limit: int) -> list[TopicRow]:
    """Topic keys that share a stem with the query, and the `limit` nearest by embedding."""
    near: dict[int, float] = {}
    if vector is not None:
        near = dict(
            read.select(
                """
                SELECT state_id, 1 - (vector <=> %s::halfvec) FROM memory_statevector
                WHERE forest_id = %s AND kind = 'topic' ORDER BY vector <=> %s::halfvec LIMIT %s
                """,
                [literal(vector), forest, literal(vector), limit],
            )
        )
    rows = read.select(
        """
        SELECT root_id, key, variants, stems FROM memory_topic
        WHERE forest_id = %s AND key <> '' AND (root_id = ANY(%s) OR root_id IN
            (SELECT state_id FROM memory_posting WHERE forest_id = %s AND kind = %s AND term = ANY(%s)))
        """,
        [forest, list(near), forest, PostingKind.TOPIC, list(stems)],
    )
    return [TopicRow(root, key, tuple(variants), tuple(stems), near.get(root)) for root, key, variants, stems in rows]


def tree_states(forest: int, root: int, limit: int, as_of: int | None = None) -> list[int]:
    """The newest `limit` states of a tree."""
    rows = read.select(
        "SELECT id FROM memory_interactionstate WHERE forest_id = %s AND root_id = %s AND position <= %s ORDER BY position DESC LIMIT %s",
        [forest, root, read.until(as_of), limit],
    )
    return [row[0] for row in rows]


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
