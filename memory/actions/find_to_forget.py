"""“Forget that …” in chat: what is meant, found by recall and search. Writes nothing anywhere: the request is no turn, no state, no message and no log line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from memory import steps
from memory.engine import terms
from memory.engine.forget import forget
from memory.errors import Refused
from memory.llm.interface import ModelError
from memory.models import EVIDENCE_MODELS, Forest, InteractionState, Turn
from memory.present.search import search
from memory.present.words import shorten
from memory.store import evidence
from memory.store import recall as channels

MOST, TEXT = 10, 300
# Of a match: how near its meaning is, and how many of the words asked for it has. Below LEAST nothing is shown.
MEANING, WORDS, LEAST = 0.5, 0.5, 0.3
NEAR = 40


def asked_to_forget(forest: Forest, text: str, *, client_id: str | None = None) -> dict[str, Any] | None:
    """`{"what", "matches"}` when a message asks to forget something; None for a turn, and for one that was sent before."""
    found = forget(text)
    if found is None or (client_id and Turn.objects.in_forest(forest).filter(client_id=client_id).exists()):
        return None
    return find_to_forget(forest, found.what, last=found.last)


def find_to_forget(forest: Forest, what: str, *, last: bool = False) -> dict[str, Any]:
    """What of a forest the words may mean, best first, at most 10: facts, records and states; `last` puts the latest turn first."""
    near = _near(forest, what)  # asks the embedder: not within a transaction
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        matches = _matches(forest, what, near)
        latest = InteractionState.objects.in_forest(forest).order_by("-position").first() if last else None
    if latest is not None:
        first = {"kind": "state", "id": latest.pk, "text": shorten(latest.user_text or latest.assistant_text, TEXT), "state": latest.pk, "score": 1.0}
        matches = [first, *(match for match in matches if (match["kind"], match["id"]) != ("state", latest.pk))]
    return {"what": what, "matches": matches[:MOST]}


def _matches(forest: Forest, what: str, near: Mapping[tuple[str, int], float]) -> list[dict[str, Any]]:
    wanted = set(terms.content_terms(what)) or set(terms.terms(what))
    searched = [hit for asked in (what[:200], *sorted(wanted)[:8]) for hit in search(forest, asked, MOST)]
    states = {pk for kind, pk in near if kind == "state"} | {hit["state"] for hit in searched}
    found: list[tuple[str, int, str, int]] = [  # kind, id, text, state
        ("state", pk, f"{user}\n{answer}", pk)
        for pk, user, answer in InteractionState.objects.in_forest(forest).filter(pk__in=states).values_list("pk", "user_text", "assistant_text")
    ]
    for kind, model in EVIDENCE_MODELS.items():
        meant = Q(state__in=states) | Q(pk__in=[pk for of, pk in near if of == kind])
        found += [(kind, pk, text, state) for pk, text, state in model.objects.in_forest(forest).filter(meant).values_list("pk", "text", "state_id")]
    scored = sorted(((_score(text, near.get((kind, pk), 0.0), wanted, kind), kind, pk, text, state) for kind, pk, text, state in found), key=_best_first)
    return [
        {"kind": kind, "id": pk, "text": shorten(text, TEXT), "state": state, "score": round(score, 3)}
        for score, kind, pk, text, state in scored[:MOST]
        if score >= LEAST
    ]


def _best_first(scored: tuple[float, str, int, str, int]) -> tuple[float, str, int]:
    score, kind, pk, _, _ = scored
    return -score, kind, -pk


def _near(forest: Forest, what: str) -> dict[tuple[str, int], float]:
    """The nearest items and states, as (kind, id) → cosine; none in a forest of another embedder or while the embedder is away: words alone, then."""
    try:
        place = steps.localize_text(forest, what, timezone.now())
    except (Refused, ModelError):
        return {}
    items = evidence.nearest(forest.pk, channels.literal(place.vector), NEAR)
    found: dict[tuple[str, int], float] = {(kind, item): similarity for (kind, item), similarity in items.items()}
    return {**found, **{("state", one.interaction.id): one.similarity or 0.0 for one in place.recall.recalled}}


def _score(text: str, near: float, wanted: set[str], kind: str) -> float:
    said = set(terms.terms(text))
    overlap = len(wanted & said) / len(wanted) if wanted else 0.0
    return MEANING * max(0.0, near) + WORDS * overlap - (0.05 if kind == "state" else 0.0)  # the fact before the turn that said it
