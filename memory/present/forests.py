"""Forests, jobs and the signed-in person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet

from memory.llm.interface import get_model
from memory.models import AtomicFact, EvidenceRow, Forest, Import, InteractionState, Job, Profile, Turn
from memory.present.words import Json, iso


def _counts(rows: QuerySet[Any], ids: list[int]) -> dict[int, int]:
    return dict(rows.filter(forest__in=ids).order_by().values_list("forest").annotate(n=Count("id")))


def forest_list(forests: QuerySet[Forest] | Iterable[Forest]) -> list[Json]:
    """Forests with their counts; six queries however many."""
    found = list(forests)
    ids = [forest.pk for forest in found]
    states = _counts(InteractionState.objects.all(), ids)
    trees = _counts(InteractionState.objects.filter(parent__isnull=True), ids)
    pending = _counts(InteractionState.objects.filter(refined_at__isnull=True), ids)
    turns = _counts(Turn.objects.all(), ids)
    facts = _counts(AtomicFact.objects.filter(status=EvidenceRow.Status.CURRENT), ids)
    return [
        {
            "id": forest.pk,
            "name": forest.name,
            "time_zone": forest.time_zone,
            "created_at": iso(forest.created_at),
            "active_state": forest.active_state_id,
            "version": forest.version,
            "counts": {
                "states": states.get(forest.pk, 0),
                "trees": trees.get(forest.pk, 0),
                "turns": turns.get(forest.pk, 0),
                "facts": facts.get(forest.pk, 0),
                "pending": pending.get(forest.pk, 0),
            },
            "sample": forest.sample,
            "answer_model": forest.answer_model,
        }
        for forest in found
    ]


def forest_json(forest: Forest) -> Json:
    """One forest."""
    return forest_list([forest])[0]


def job_list(jobs: Iterable[Job]) -> list[Json]:
    """Progress of long work; one query more however many."""
    found = list(jobs)
    given = {one.job_id: one for one in Import.objects.filter(job__in=[job.pk for job in found if job.kind == "import"])}
    return [
        {
            "id": job.pk,
            "kind": job.kind,
            "status": job.status,
            "done": job.done,
            "total": job.total,
            "message": job.message,
            "forest": job.forest_id,
            "error": job.error,
            "result": job.result,
            "import": import_json(given[job.pk]) if job.pk in given else None,
        }
        for job in found
    ]


def job_json(job: Job) -> Json:
    """Progress of one."""
    return job_list([job])[0]


def import_json(given: Import) -> Json:
    """What came of an import: how many turns are new or were known, how many things were left out by reason, and the first lines that say which."""
    counts = {"new": 0, "known": 0, "left_out": {}, **given.counts}
    return {"formats": given.formats, "relocalize": given.relocalize, **counts, "lines": given.left_out}


def me_json(person: Any) -> Json:
    """The signed-in person, their settings and the limits the page needs to know."""
    profile = Profile.objects.filter(owner_id=person.pk).first() or Profile(owner_id=person.pk)
    return {
        "id": person.pk,
        "username": person.get_username(),
        "is_staff": person.is_staff,
        "time_zone": profile.time_zone,
        "evidence_budget": profile.evidence_budget or settings.EVIDENCE_BUDGET,
        "model": get_model().name,
        "max_turn_bytes": settings.MAX_TURN_BYTES,
        "max_import_bytes": settings.MAX_IMPORT_MB << 20,
    }
