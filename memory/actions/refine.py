"""Refine a forest: everything its raw turns teach, in their order, once (paper §3.4; DESIGN “Consistency” 3)."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field
from functools import partial

from django.db import transaction

from memory import messages, present, refining, steps
from memory.actions import structure
from memory.llm.interface import ModelError
from memory.models import Forest, InteractionState
from memory.store import refine as store
from memory.threads import pulse

log = logging.getLogger(__name__)

# What is wrong with a model's reading of this very turn; everything else is the endpoint's trouble, and no reason to give up on a turn.
OF_THE_TURN = ("structured_invalid", "only_reasoning", "empty_answer", "prompt_too_long")

BEAT_SECONDS = 2.0

# So many states that are told anew after a deletion are planned together, embedded in one go and written in one transaction.
TOGETHER = 64

# While imported states are refined, watching pages are told so often; while states are told anew, so often.
QUIET_SECONDS, ANEW_SECONDS = 60.0, 3.0


def drain(forest_id: int, *, tell: bool = True, amid_import: bool = False) -> int:
    """Refine every waiting state of the forest, earliest first; returns how many. Does nothing while another worker holds the lease:
    that one goes on until nothing waits. `tell` False spares the messages to watching pages (histories replayed by a command);
    `amid_import` only those about imported states: the import tells of them when it ends."""
    forest = Forest.objects.filter(pk=forest_id).first()
    if forest is None or not steps.fits(forest):
        return 0  # it waits until it is re-embedded: its turns are read raw, or refused with what to do
    holder = f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}:{uuid.uuid4().hex[:6]}"
    token = store.take_lease(forest_id, holder)
    if token is None:
        return 0
    try:
        with pulse(partial(store.beat, forest_id, token), BEAT_SECONDS, f"refinement of forest {forest_id}"):
            done, positions = _refine_all(forest_id, token, tell, amid_import)
    except store.LeaseLostError:
        log.info("forest %s: another worker took over", forest_id)
        return 0
    finally:
        store.release(forest_id, token)
    # A state that arrived between the last look and the release found the lease taken and went away: look once more.
    return done + (drain(forest_id, tell=tell, amid_import=amid_import) if _next(forest_id, positions, 1) is not None else 0)


def _refine_all(forest_id: int, token: int, tell: bool, amid_import: bool) -> tuple[int, dict[bool, int]]:
    """How many were refined, and the positions looked at last, of imported states and of others."""
    done, positions, singly = 0, {False: 0, True: 0}, 0
    pages = _Pages(forest_id, tell, amid_import)
    while (found := _next(forest_id, positions, 1 if singly else TOGETHER)) is not None:
        imported, waiting = found
        singly = max(0, singly - 1)
        try:
            plans = refining.plan(forest_id, [state for state, *_ in waiting])
        except Exception as error:
            if len(waiting) > 1 and isinstance(error, ModelError):
                singly = len(waiting)  # which of them it was about shows when each is read by itself
                continue
            positions[imported] = waiting[0][1]
            if _failed(waiting[0][0], error) and not imported:
                pages.refined(waiting[0][0], None)
            continue
        positions[imported] = waiting[len(plans) - 1][1]
        with transaction.atomic():
            applied = store.apply(forest_id, token, plans)
            if store.told_anew(waiting[0][2]):
                pages.later(applied)
            elif imported:
                pages.imported += 1
            else:
                transaction.on_commit(partial(pages.refined, waiting[0][0], applied))
        done += len(applied.states) if applied else 0
        pages.tell_what_is_due()
    pages.tell_the_rest()
    return done, positions


def _failed(state_id: int, error: Exception) -> bool:
    """Write on a state that it couldn't be read; False when it was deleted meanwhile."""
    if isinstance(error, ModelError):  # the raw turn stays, the failure is shown, the worker or a person tries again (W7)
        log.warning("state %s could not be read: %s", state_id, error.code)
        store.fail(state_id, error.code, error.message, error.action, wait=True, passing=error.code not in OF_THE_TURN)
        return True
    # Whatever an extractor does: the raw turn stays, the failure is shown, the next one goes on (W7).
    if not InteractionState.objects.filter(pk=state_id).exists():
        return False
    log.error("state %s could not be refined", state_id, exc_info=error)
    store.fail(state_id, "extraction_failed", f"{type(error).__name__}: the extractors could not read this turn.")
    return True


def _next(forest_id: int, positions: dict[bool, int], together: int) -> tuple[bool, list[tuple[int, int, str]]] | None:
    """Whether they were imported; id, position and `refined_by` of the next waiting states that are planned together: what is said now comes before what
    was brought along."""
    for imported in (False, True):
        found = store.next_unrefined(forest_id, positions[imported], imported=imported, limit=together)
        if found:
            return imported, found[: refining.at_once([refined_by for *_, refined_by in found])]
    return None


@dataclass
class _Pages:
    """What the pages that watch are told of, and what they are still to be told of: states that are told anew and imported ones come by the thousand."""

    forest: int
    tell: bool
    amid_import: bool
    imported: int = 0
    anew: set[int] = field(default_factory=set)
    since: float = field(default_factory=time.monotonic)

    def refined(self, state: int, applied: store.Applied | None) -> None:
        """At once: a turn that was said a moment ago."""
        if self.tell:
            _tell(self.forest, state, applied)

    def later(self, applied: store.Applied | None) -> None:
        """States that were told anew, and those whose evidence changed by it."""
        self.anew |= {*applied.states, *applied.touched_states} if applied else set()

    def tell_what_is_due(self) -> None:
        if time.monotonic() - self.since > (ANEW_SECONDS if self.anew else QUIET_SECONDS):
            self.tell_the_rest()

    def tell_the_rest(self) -> None:
        """Of very much they read the forest anew."""
        if self.tell and ((self.imported and not self.amid_import) or len(self.anew) > structure.TOLD_SINGLY):
            messages.announce(self.forest, "forest.changed", {"why": "refined", "job": None})
        elif self.tell and self.anew:
            structure.tell_changed(self.forest, self.anew)
        self.anew, self.imported, self.since = set(), 0, time.monotonic()


def _tell(forest_id: int, state_id: int, applied: store.Applied | None) -> None:
    with messages.held(forest_id):
        if not InteractionState.objects.in_forest(forest_id).filter(pk=state_id).exists():
            return  # deleted meanwhile
        turn_id, refined, changed = present.refined(forest_id, state_id, applied)
        messages.publish(forest_id, turn_id, "memory.refined", refined)
        for other in changed:
            messages.publish(forest_id, other["state"]["turn"], "state.changed", other)
