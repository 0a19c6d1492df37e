"""Take in given interactions: no answer is generated; each is localized unless its parent is given."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from memory import messages, present, steps
from memory.actions.send_turn import check_text
from memory.errors import conflict, invalid, unknown_state
from memory.models import Forest, InteractionState, Turn
from memory.models.forest import Origin
from memory.store.write import lock

Told = Callable[[dict[str, Any]], None]


def parse_time(value: Any) -> datetime:
    """An aware time from ISO 8601 text or a datetime. Raises Refused for anything else: a time without a zone says nothing."""
    try:
        parsed = parse_datetime(value) if isinstance(value, str) else value
    except ValueError:
        parsed = None
    if not isinstance(parsed, datetime) or timezone.is_naive(parsed):
        raise invalid("A time must be ISO 8601 with its offset, such as 2026-03-09T14:00:00+01:00.", fields={"time": ["Not a time with an offset."]})
    if not MINYEAR < parsed.year < MAXYEAR:
        raise invalid("This time is out of range: the days around it must exist.", fields={"time": ["Out of range."]})
    return parsed


def observe(forest: Forest, interactions: Iterable[Mapping[str, Any]], progress: Told | None = None) -> list[dict[str, Any]]:
    """Commit interactions `{"id"?, "user", "assistant"?, "time", "parent"? | "new_root"?}` in the order given; one result each.

    `parent` is an id given before in this forest, or a state id. An id seen before is not written again: its state is returned.
    Raises Refused at the first one that is wrong; those before it stay.
    """
    results = []
    for given in interactions:
        result = observe_one(forest, given)
        results.append(result)
        if progress is not None:
            progress(result)
    return results


def observe_one(
    forest: Forest, given: Mapping[str, Any], origin: str = Origin.OBSERVED, *, tell: bool = True, place: steps.Place | None = None
) -> dict[str, Any]:
    """Commit one interaction; see `observe`. `tell` False spares the message to watching pages: thousands at once say nothing to anyone.

    `place` is where it goes, when somebody who alone writes to the forest has localized it already (`steps.localize_text`)."""
    started = time.perf_counter()
    client_id = str(given.get("id") or uuid.uuid4().hex)
    if len(client_id) > 200:
        raise invalid("An id has at most 200 characters.", fields={"id": ["Too long."]})
    with transaction.atomic():
        forest = lock(forest.pk)  # what it finds can't be deleted before it is written, and one given at the same time comes before or after it
        known = InteractionState.objects.in_forest(forest).filter(turn__client_id=client_id).select_related("turn__decision").first()
        state = known or _take_in(forest, client_id, given, origin, place)
        result = _result(forest, client_id, state, started)
    if tell and known is None:
        with messages.held(forest.pk):
            if InteractionState.objects.filter(pk=state.pk).exists():  # else deleted meanwhile
                _, added = present.committed(state.pk)
                messages.publish(forest.pk, state.turn_id, "state.added", added)
    return result


def _take_in(forest: Forest, client_id: str, given: Mapping[str, Any], origin: str, place: steps.Place | None) -> InteractionState:
    user = check_text(str(given.get("user") or ""), "user")
    assistant = check_text(str(given.get("assistant") or ""), "assistant", required=False)
    sent_at = parse_time(given.get("time"))
    parent = _parent(forest, given.get("parent"))
    if parent is not None and given.get("new_root"):
        raise invalid("An interaction has either a parent or a new root.", fields={"new_root": ["Not together with parent."]})
    place = place or steps.localize_text(forest, user, sent_at)
    if parent is not None or given.get("new_root"):
        place = steps.given(place, parent)
    turn, _ = Turn.objects.get_or_create(forest=forest, client_id=client_id, defaults={"origin": origin, "text": user, "sent_at": sent_at})
    if turn.origin == Origin.CHAT:
        raise conflict("This id is that of a turn that isn't answered yet.", "Give the interaction an id of its own.")
    return steps.commit(turn, place, assistant, generator="")


def _parent(forest: Forest, given: Any) -> InteractionState | None:
    if given is None:
        return None
    states = InteractionState.objects.in_forest(forest)
    found = states.filter(turn__client_id=str(given)).first()
    if found is None and str(given).isdecimal():
        found = states.filter(pk=int(given)).first()
    if found is None:
        raise unknown_state()
    return found


def _result(forest: Forest, client_id: str, state: InteractionState, started: float) -> dict[str, Any]:
    decision = state.turn.decision
    ids = [state_id for state_id in (state.parent_id, state.root_id) if state_id]
    names = dict(InteractionState.objects.in_forest(forest).filter(pk__in=ids).values_list("pk", "turn__client_id"))
    return {
        "id": client_id,
        "state": state.pk,
        "parent": names.get(state.parent_id) if state.parent_id else None,
        "root": names.get(state.root_id),
        "method": decision.method,
        "probability": round(decision.probability, 4),
        "ms": round(1000 * (time.perf_counter() - started), 2),
    }
