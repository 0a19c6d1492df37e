"""Refine a forest: everything its raw turns teach, in their order, once (paper §3.4; DESIGN “Consistency” 3)."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from functools import partial

from django.db import DatabaseError, connections, transaction

from memory import messages, present, steps
from memory.actions import structure
from memory.llm.interface import ModelError
from memory.models import Forest, InteractionState
from memory.store import refine as store

log = logging.getLogger(__name__)

# What is wrong with a model's reading of this very turn; everything else is the endpoint's trouble, and no reason to give up on a turn.
OF_THE_TURN = ("structured_invalid", "only_reasoning", "empty_answer", "prompt_too_long")

# What is told anew after a deletion is passed on so many states at a time.
TOLD_AT_ONCE = 40

# While imported states are refined, watching pages are told so often.
QUIET_SECONDS = 60.0


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
    stop = threading.Event()
    pulse = threading.Thread(target=_keep_alive, args=(forest_id, token, stop), daemon=True)
    pulse.start()
    try:
        done, positions = _refine_all(forest_id, token, tell, amid_import)
    except store.LeaseLostError:
        log.info("forest %s: another worker took over", forest_id)
        return 0
    finally:
        stop.set()
        pulse.join()
        store.release(forest_id, token)
    # A state that arrived between the last look and the release found the lease taken and went away: look once more.
    return done + (drain(forest_id, tell=tell, amid_import=amid_import) if _next(forest_id, positions) is not None else 0)


def _keep_alive(forest_id: int, token: int, stop: threading.Event) -> None:
    try:
        while not stop.wait(2):
            try:
                if not store.beat(forest_id, token):
                    return
            except DatabaseError as error:
                log.warning("forest %s: no lease heartbeat (%s)", forest_id, type(error).__name__)
    finally:
        connections.close_all()


def _refine_all(forest_id: int, token: int, tell: bool, amid_import: bool) -> tuple[int, dict[bool, int]]:
    """How many were refined, and the positions looked at last, of imported states and of others."""
    done, positions, told, quiet = 0, {False: 0, True: 0}, time.monotonic(), 0
    again: list[int] = []  # told anew after a deletion
    while (found := _next(forest_id, positions)) is not None:
        imported, state_id, position = found
        positions[imported] = position
        applied = None
        try:
            plan = steps.plan_refinement(forest_id, state_id)
        except ModelError as error:  # the raw turn stays, the failure is shown, the worker or a person tries again (W7)
            log.warning("state %s could not be read: %s", state_id, error.code)
            store.fail(state_id, error.code, error.message, error.action, wait=True, passing=error.code not in OF_THE_TURN)
            if tell and not imported:
                _tell(forest_id, state_id, None)
        except Exception as error:  # whatever an extractor does: the raw turn stays, the failure is shown, the next one goes on (W7)
            if not InteractionState.objects.filter(pk=state_id).exists():
                continue  # deleted meanwhile
            log.exception("state %s could not be refined", state_id)
            store.fail(state_id, "extraction_failed", f"{type(error).__name__}: the extractors could not read this turn.")
            if tell and not imported:
                _tell(forest_id, state_id, None)
        else:
            with transaction.atomic():
                applied = store.apply(forest_id, token, plan)
                if plan.again:
                    again += [state_id] if applied else []
                elif tell and not imported:
                    transaction.on_commit(partial(_tell, forest_id, state_id, applied))
        done += applied is not None
        if tell and len(again) >= TOLD_AT_ONCE:
            structure.tell_changed(forest_id, again)
            again = []
        quiet += tell and imported and not amid_import
        if quiet and time.monotonic() - told > QUIET_SECONDS:
            _tell_of_all(forest_id)
            told, quiet = time.monotonic(), 0
    if quiet:
        _tell_of_all(forest_id)
    if tell and again:
        structure.tell_changed(forest_id, again)
    return done, positions


def _next(forest_id: int, positions: dict[bool, int]) -> tuple[bool, int, int] | None:
    """Whether it was imported, id and position of the next waiting state: what is said now comes before what was brought along."""
    for imported in (False, True):
        found = store.next_unrefined(forest_id, positions[imported], imported=imported)
        if found is not None:
            return imported, *found
    return None


def _tell_of_all(forest_id: int) -> None:
    """Imported states come by the thousand: the pages read the forest anew instead of hearing of each."""
    messages.announce(forest_id, "forest.changed", {"why": "refined", "job": None})


def _tell(forest_id: int, state_id: int, applied: store.Applied | None) -> None:
    with messages.held(forest_id):
        if not InteractionState.objects.in_forest(forest_id).filter(pk=state_id).exists():
            return  # deleted meanwhile
        turn_id, refined, changed = present.refined(forest_id, state_id, applied)
        messages.publish(forest_id, turn_id, "memory.refined", refined)
        for other in changed:
            messages.publish(forest_id, other["state"]["turn"], "state.changed", other)
