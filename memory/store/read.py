"""Interaction states as values: by id, by path, by time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection

from memory.engine.forest import Interaction

# `topic` is the key of the state's tree; a tree planted a moment ago has none yet. The time comes as a number, which is read in a fifth of the time.
COLUMNS = """
    s.id, s.position, s.parent_id, s.root_id, s.branch_id, s.depth, (extract(epoch FROM s.time) * 1000000)::bigint, s.user_text, s.assistant_text,
    s.node_summary, s.path_summary, coalesce(t.key, ''), s.entities, s.keywords, s.tokens, s.refined_at IS NOT NULL
"""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FROM = "memory_interactionstate s LEFT JOIN memory_topic t ON t.root_id = s.root_id"


def interaction(row: Sequence[Any]) -> Interaction:
    """A row that begins with COLUMNS, as a value."""
    identity, position, parent, root, branch, depth, time, user, assistant, node_summary, path_summary, topic, entities, keywords, tokens, refined = row[:16]
    at = EPOCH + timedelta(microseconds=time)
    said = (user, assistant, node_summary, path_summary, topic)
    return Interaction(identity, position, parent, root, branch, depth, at, *said, tuple(entities), tuple(keywords), tokens, refined)


def select(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows of one statement."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def ids(values: Iterable[int]) -> str:
    """Many ids as a parameter of a statement, to be cast with `::bigint[]`: of a list every one would be looked at for its type."""
    return f"{{{','.join(map(str, values))}}}"


def interactions(forest: int, ids: Iterable[int]) -> dict[int, Interaction]:
    """The states of the forest with these ids; ids of other forests are simply not there."""
    rows = select(f"SELECT {COLUMNS} FROM {FROM} WHERE s.forest_id = %s AND s.id = ANY(%s)", [forest, list(ids)])
    return {row[0]: interaction(row) for row in rows}


def path(forest: int, state: int | None) -> list[Interaction]:
    """Root → `state`, both included; empty for None."""
    if state is None:
        return []
    rows = select(
        f"""
        WITH RECURSIVE up(id, parent_id) AS (
            SELECT id, parent_id FROM memory_interactionstate WHERE forest_id = %s AND id = %s
            UNION ALL
            SELECT p.id, p.parent_id FROM memory_interactionstate p JOIN up ON p.id = up.parent_id
        )
        SELECT {COLUMNS} FROM {FROM} WHERE s.id IN (SELECT id FROM up) ORDER BY s.depth
        """,
        [forest, state],
    )
    return [interaction(row) for row in rows]


def paths(forest: int, states: Iterable[int]) -> tuple[dict[int, list[Interaction]], dict[int, str]]:
    """Root → each of these states, both included, by the state; and of all these the names that `names` brings."""
    rows = select(
        f"""
        WITH RECURSIVE up(of, id, parent_id) AS (
            SELECT id, id, parent_id FROM memory_interactionstate WHERE forest_id = %s AND id = ANY(%s)
            UNION ALL
            SELECT up.of, p.id, p.parent_id FROM memory_interactionstate p JOIN up ON p.id = up.parent_id
        ), every AS (SELECT id, array_agg(of) AS ends FROM up GROUP BY id)
        SELECT {COLUMNS}, every.ends, turn.client_id
        FROM {FROM} JOIN every ON every.id = s.id LEFT JOIN memory_turn turn ON turn.id = s.turn_id AND turn.origin <> 'chat' ORDER BY s.depth
        """,
        [forest, list(states)],
    )
    found: dict[int, list[Interaction]] = {}
    for row in rows:
        state = interaction(row)
        for of in row[-2]:
            found.setdefault(of, []).append(state)
    return found, {row[0]: row[-1] for row in rows if row[-1] is not None}


def with_ancestors(forest: int, states: Iterable[int]) -> dict[int, Interaction]:
    """These states of the forest and everything above them, by id."""
    rows = select(
        f"""
        WITH RECURSIVE up(id, parent_id) AS (
            SELECT id, parent_id FROM memory_interactionstate WHERE forest_id = %s AND id = ANY(%s)
            UNION
            SELECT p.id, p.parent_id FROM memory_interactionstate p JOIN up ON p.id = up.parent_id
        )
        SELECT {COLUMNS} FROM {FROM} WHERE s.id IN (SELECT id FROM up)
        """,
        [forest, list(states)],
    )
    return {row[0]: interaction(row) for row in rows}


def path_ids(forest: int, state: int | None) -> list[int]:
    """Ids of the path root → `state`; empty for None."""
    if state is None:
        return []
    rows = select(
        """
        WITH RECURSIVE up(id, parent_id, depth) AS (
            SELECT id, parent_id, depth FROM memory_interactionstate WHERE forest_id = %s AND id = %s
            UNION ALL
            SELECT p.id, p.parent_id, p.depth FROM memory_interactionstate p JOIN up ON p.id = up.parent_id
        )
        SELECT id FROM up ORDER BY depth
        """,
        [forest, state],
    )
    return [row[0] for row in rows]


def latest(forest: int, as_of: int | None = None) -> Interaction | None:
    """The newest state at `as_of` (a position)."""
    rows = select(
        f"SELECT {COLUMNS} FROM {FROM} WHERE s.forest_id = %s AND s.position <= %s ORDER BY s.position DESC LIMIT 1",
        [forest, until(as_of)],
    )
    return interaction(rows[0]) if rows else None


def between(forest: int, start: datetime, end: datetime, limit: int, as_of: int | None = None) -> list[int]:
    """Ids of the states whose turn was sent in [start, end), newest first, at most `limit`."""
    rows = select(
        "SELECT id FROM memory_interactionstate WHERE forest_id = %s AND time >= %s AND time < %s AND position <= %s ORDER BY position DESC LIMIT %s",
        [forest, start, end, until(as_of), limit],
    )
    return [row[0] for row in rows]


def names(forest: int, ids: Iterable[int]) -> dict[int, str]:
    """The ids under which a replay, an import or a sender knows these states (client ids we made up ourselves are left out)."""
    rows = select(
        """
        SELECT s.id, t.client_id FROM memory_interactionstate s JOIN memory_turn t ON t.id = s.turn_id
        WHERE s.forest_id = %s AND s.id = ANY(%s) AND t.origin <> 'chat'
        """,
        [forest, list(ids)],
    )
    return dict(rows)


def until(as_of: int | None) -> int:
    """`as_of` as a bound every position is below when it isn't given."""
    return 2**62 if as_of is None else as_of
