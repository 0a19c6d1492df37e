"""Rename a forest or set its time zone."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from memory.actions.create_forest import name_taken
from memory.models import Forest


def update_forest(forest: Forest, *, name: str | None = None, time_zone: str | None = None) -> Forest:
    """Times are stored in UTC, so a new zone changes how later turns read “yesterday”, nothing that was learned. Raises Refused for a taken name."""
    forest.name = name if name is not None else forest.name
    forest.time_zone = time_zone if time_zone is not None else forest.time_zone
    try:
        with transaction.atomic():
            forest.save(update_fields=["name", "time_zone"])
    except IntegrityError:
        raise name_taken(forest.name) from None
    return forest
