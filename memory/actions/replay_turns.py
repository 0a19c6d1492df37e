"""Localize later turns again after a correction: a job that proposes where each would go now, and moves nothing. A person applies what they agree with."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from memory import steps
from memory.actions import structure
from memory.actions.refine import drain
from memory.errors import Refused, conflict
from memory.llm.interface import ModelError
from memory.models import Forest, InteractionState, Job, Outbox, RoutingDecision
from memory.store import jobs
from memory.store import refine as store
from memory.threads import pulse

log = logging.getLogger(__name__)

KIND = "replay"
# What was moved is read anew first: so long it is waited for, while that moves on.
PATIENCE_SECONDS = 60.0


class _StoppedError(Exception):
    """The job was cancelled, or deleted with its forest."""


def begin(forest: Forest, after: int) -> Job:
    """A job that looks at every turn later than position `after` that localization had placed. Raises Refused when there is none, or one is under way."""
    total = structure.placed(forest, after).count()
    if not total:
        raise conflict("No later turn was placed by localization.", "There is nothing to place anew.")
    steps.check_embedder(forest)
    with transaction.atomic():
        Forest.objects.select_for_update().only("pk").get(pk=forest.pk)
        if Job.objects.in_forest(forest).filter(kind=KIND, status__in=jobs.OPEN).exists():
            raise conflict("Turns of this forest are being replayed already.", "Wait until it is done, or stop it.")
        job = Job.objects.create(
            forest=forest, kind=KIND, message="Waiting for the worker", total=total, result={"after": after, "proposals": [], "looked_at": 0}
        )
        Outbox.objects.create(forest=forest, kind=KIND, subject=job.pk)
    return job


def run(job_id: int) -> None:
    """Do the job, unless another worker does it. Taken up after a kill it begins anew and comes to the same."""
    if not jobs.claim(job_id, KIND) or (job := Job.objects.select_related("forest").filter(pk=job_id).first()) is None:
        return
    try:
        _say(job, message="Reading what was moved", done=0, error=None)
        with pulse(partial(jobs.alive, job.pk), jobs.BEAT_SECONDS, f"job {job.pk}"):  # what was moved may take long to read
            _wait_for_memory(job)
            proposals, looked_at = _localize_all(job)
        result = {**(job.result or {}), "proposals": proposals, "looked_at": looked_at}
        _say(job, status=Job.Status.DONE, message=f"{len(proposals)} of {looked_at} turns would go elsewhere", done=looked_at, result=result)
    except _StoppedError:
        log.info("job %s: stopped, or gone", job_id)
    except (Refused, ModelError) as error:
        _fail(job, error.code, error.message if isinstance(error, ModelError) else str(error), error.action)
    except Exception as error:
        _fail(job, "failed", f"The replay stopped ({type(error).__name__}).", "Start it again.")
        raise


def _localize_all(job: Job) -> tuple[list[dict[str, Any]], int]:
    """Every turn in order, each as of just before it: the proposals by ids, and how many turns were looked at."""
    forest = job.forest
    proposals: list[dict[str, Any]] = []
    ids = list(structure.placed(forest, (job.result or {}).get("after", 0)).values_list("pk", flat=True))
    for number, pk in enumerate(ids, 1):
        state = InteractionState.objects.select_related("turn__decision").filter(pk=pk).first()
        if state is not None:
            place = steps.localize_text(forest, state.user_text, state.time, as_of=state.position - 1)
            decision = place.decision
            # Where a model was asked, ranking alone has no better word for as long as it would ask again.
            doubted = state.turn.decision.method == RoutingDecision.Method.ASKED and steps.to_ask(place) is not None
            if decision.parent != state.parent_id and not doubted:
                found = {"state": pk, "from": state.parent_id, "to": decision.parent, "probability": round(decision.probability, 4), "unsure": decision.unsure}
                proposals.append(found)
        _say(job, done=number, total=len(ids), message="Localizing")
    return proposals, len(ids)


def _wait_for_memory(job: Job) -> None:
    """Until nothing waits for refinement, here or in another worker: places are found by summaries."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        drain(job.forest_id)
        if not store.next_unrefined(job.forest_id, 0, imported=False) or not store.moving(job.forest_id) or time.monotonic() > deadline:
            return
        _say(job)
        time.sleep(0.2)


def _say(job: Job, **more: Any) -> None:
    """Progress. Raises _StoppedError when the job was ended by somebody else."""
    if not Job.objects.filter(pk=job.pk, status__in=jobs.OPEN).update(updated_at=timezone.now(), **more):
        raise _StoppedError


def _fail(job: Job, code: str, message: str, action: str) -> None:
    error = {"code": code, "message": message, "action": action}
    Job.objects.filter(pk=job.pk, status__in=jobs.OPEN).update(status=Job.Status.FAILED, message="Stopped", error=error, updated_at=timezone.now())
