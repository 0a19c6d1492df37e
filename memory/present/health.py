"""How memory keeps up: numbers only, of one forest or of all of them. No text of anybody's is read."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Avg, Count, FloatField, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, TruncDate
from django.utils import timezone

from memory.models import Forest, InteractionState, Job, ParentChange, RoutingDecision, Turn
from memory.models.forest import Origin
from memory.present.words import Json, iso

DAYS = 90
LAG_POINTS = 500
STAGES = ("answer", "extract", "embed", "rerank", "route")
# Where localization itself found the place.
FOUND = (
    RoutingDecision.Method.CONTINUATION,
    RoutingDecision.Method.TEMPORAL,
    RoutingDecision.Method.RECALL,
    RoutingDecision.Method.NEW_ROOT,
    RoutingDecision.Method.ASKED,
)


def health_json(forest: Forest | None = None) -> Json:
    """The figures of the last 90 days of a forest, its days in its time zone; of all forests together without one, in UTC.

    `lag` in seconds, at most 500 points; days on which nothing happened are left out."""
    zone: tzinfo = ZoneInfo(forest.time_zone if forest else "UTC")
    today = timezone.now().astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=DAYS - 1)

    def rows(model: Any) -> QuerySet[Any]:
        found: QuerySet[Any] = model.objects.order_by()
        return found.filter(forest=forest) if forest else found

    waiting = rows(InteractionState).filter(refined_at__isnull=True)
    oldest = waiting.aggregate(oldest=Min("turn__answered_at"))["oldest"]
    return {
        "lag": _lag(rows(Turn).filter(answered_at__gte=since)),
        "tokens": _tokens(rows(Turn).filter(answered_at__gte=since), zone),
        "confidence": _confidence(rows(RoutingDecision).filter(created_at__gte=since, method__in=FOUND), zone),
        "corrections": [
            {"day": _day(day), "count": count}
            for day, count in _by_day(rows(ParentChange).filter(created_at__gte=since), "created_at", zone).values_list("day").annotate(n=Count("id"))
        ],
        "pending": waiting.count(),
        "oldest_pending": iso(oldest),
    }


def job_counts() -> dict[str, int]:
    """How many jobs there are of each status; numbers only."""
    found = dict(Job.objects.order_by().values_list("status").annotate(n=Count("id")))
    return {status: found.get(status, 0) for status in Job.Status.values}


def _by_day(rows: QuerySet[Any], moment: str, zone: tzinfo) -> QuerySet[Any]:
    return rows.annotate(day=TruncDate(moment, tzinfo=zone)).order_by("day")


def _lag(turns: QuerySet[Any]) -> list[Json]:
    measured = turns.filter(timings__has_key="lag_ms").exclude(origin=Origin.IMPORTED).order_by("-answered_at")
    found: list[tuple[datetime, float]] = list(measured.values_list("answered_at", "timings__lag_ms")[:LAG_POINTS])
    return [{"at": iso(at), "seconds": round(milliseconds / 1000, 3)} for at, milliseconds in reversed(found)]


def _tokens(turns: QuerySet[Any], zone: tzinfo) -> list[Json]:
    """By the day of the answer, all stages together; where no endpoint was called, what the answer itself took."""
    sums: dict[str, Any] = {
        f"{stage}_{what}": Sum(Cast(KeyTextTransform(what, KeyTransform(stage, "usage")), FloatField()))
        for stage in STAGES
        for what in ("input", "output", "cost")
    }
    sums |= {f"own_{what}": Sum(f"{what}_tokens", filter=Q(usage={})) for what in ("input", "output")}
    answer = []
    for row in _by_day(turns, "answered_at", zone).values("day").annotate(**sums):
        costs = [row[f"{stage}_cost"] for stage in STAGES if row[f"{stage}_cost"] is not None]
        spent = {what: int(sum(row[f"{stage}_{what}"] or 0 for stage in (*STAGES, "own"))) for what in ("input", "output")}
        if any(spent.values()) or costs:
            answer.append({"day": _day(row["day"]), **spent, "cost": round(sum(costs), 8) if costs else None})
    return answer


def _confidence(decisions: QuerySet[Any], zone: tzinfo) -> list[Json]:
    by_day = _by_day(decisions, "created_at", zone).values_list("day")
    found = by_day.annotate(mean=Avg("probability"), doubtful=Count("id", filter=Q(unsure=True)), turns=Count("id"))
    return [{"day": _day(day), "mean": round(mean, 4), "unsure": unsure, "turns": turns} for day, mean, unsure, turns in found]


def _day(day: date) -> str:
    return day.isoformat()
