"""Give the states of a forest the vectors of their pieces, where these are missing: after an upgrade, a restore, a move to another embedder.

A state without them is ranked by the vector of its turn; so the latest come first. What is derived of a text that is read anew comes with that reading.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from memory import steps
from memory.engine import pieces
from memory.llm.embed import embedder
from memory.models import Forest, InteractionState, Outbox, PieceVector
from memory.store.recall import half

KIND = "pieces"
BATCH = 16


def order(forest: Forest) -> None:
    """Leave it to the worker."""
    Outbox.objects.create(forest=forest, kind=KIND, subject=forest.pk)


def index_pieces(forest_id: int, told: Callable[[int], None] = lambda done: None) -> int:
    """Index every refined state of the forest whose user text has no vector; how many there were. Goes on after a kill; twice changes nothing."""
    forest = Forest.objects.filter(pk=forest_id).first()
    if forest is None or not steps.fits(forest):
        return 0  # deleted, or it waits for its own embedder: a move to another one orders it again
    there = PieceVector.objects.filter(state=OuterRef("pk"))
    waiting = InteractionState.objects.in_forest(forest).filter(~Exists(there), refined_at__isnull=False).exclude(Q(user_text="") & Q(assistant_text=""))
    done, before = 0, forest.last_position + 1
    while states := list(waiting.filter(position__lt=before).order_by("-position").only("pk", "position", "user_text", "assistant_text")[:BATCH]):
        said = {(state.pk, number): piece for state in states for number, piece in pieces.pieces(state.user_text, state.assistant_text).items()}
        if not said:
            return done
        vectors = embedder().embed(list(said.values()))
        with transaction.atomic():
            # Locked against a deletion or a redaction meanwhile: only what still stands as it was embedded is kept.
            locked = Forest.objects.select_for_update(no_key=True).filter(pk=forest_id).first()
            if locked is None or not steps.fits(locked):
                return done
            texts = {state.pk: (state.user_text, state.assistant_text) for state in states}
            now = InteractionState.objects.in_forest(forest).filter(pk__in=texts, refined_at__isnull=False).values_list("pk", "user_text", "assistant_text")
            same = {pk for pk, *both in now if texts[pk] == tuple(both)}
            PieceVector.objects.bulk_create(
                (
                    PieceVector(forest=forest, state_id=state, number=number, vector=half(vector))
                    for (state, number), vector in zip(said, vectors, strict=True)
                    if state in same
                ),
                ignore_conflicts=True,
            )
        done, before = done + len(states), states[-1].position
        told(done)
    return done
