"""Rename a forest, set its time zone, or choose the model that answers in it."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from memory.actions.create_forest import name_taken
from memory.errors import invalid
from memory.llm import choices, endpoints
from memory.models import Forest


def update_forest(forest: Forest, *, name: str | None = None, time_zone: str | None = None, answer_model: str | None = None) -> Forest:
    """Times are stored in UTC, so a new zone changes how later turns read “yesterday”, nothing that was learned. A model holds from the next turn
    (or try) on; empty is the site's. Raises Refused for a taken name, and for a model that the server doesn't offer."""
    forest.name = name if name is not None else forest.name
    forest.time_zone = time_zone if time_zone is not None else forest.time_zone
    forest.answer_model = check_offered(answer_model) if answer_model is not None else forest.answer_model
    try:
        with transaction.atomic():
            forest.save(update_fields=["name", "time_zone", "answer_model"])
    except IntegrityError:
        raise name_taken(forest.name) from None
    return forest


def check_offered(name: str) -> str:
    """What a forest keeps of this choice: nothing for the site's own model, so that it follows when another one is connected."""
    answers = endpoints.answering()
    if not name or (answers and name == answers.model):
        return ""
    if name not in choices.offered():
        raise invalid("This model isn’t offered here.", "Choose one of those that are.", {"answer_model": ["Not among the choices of model/."]})
    return name
