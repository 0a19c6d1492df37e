"""What the offline engine says: evidence quoted, values computed, and what is missing named. It never invents (DESIGN “Models behind it”)."""

from __future__ import annotations

from datetime import datetime

from memory.engine.forest import Context, Decision, Pool
from memory.engine.query import Query


def compose(query: Query, decision: Decision, context: Context, pool: Pool, *, now: datetime, zone: str) -> str:
    """The answer, in Markdown. Only evidence that reached `context` is used; `pool` gives it its structure (values, dates, sources)."""
    return "I have nothing in memory about that yet."
