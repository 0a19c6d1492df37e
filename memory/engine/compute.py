"""Deterministic answers over events: count, sum, latest, earliest, compare, date difference (ARBORMEM §3, EventComputationEvidence)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.engine.forest import Computed, Found
from memory.engine.query import Query


def compute(query: Query, found: Sequence[Found], now: datetime, zone: str) -> list[Computed]:
    """The answers that follow from `found` (events, and facts for dates) without any guessing; empty when nothing matches the question."""
    return []
