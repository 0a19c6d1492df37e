"""How the service does: commit lag, tokens, confidence, corrections, what is pending, jobs. Numbers only, so the staff may see them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from memory import present
from memory.admin.looking import is_administrator
from memory.admin.plots import Series, plot
from memory.models import Bulk, Forest, Job
from memory.present.health import DAYS, job_counts

OPEN = (Job.Status.WAITING, Job.Status.RUNNING)


def page(request: HttpRequest) -> HttpResponse:
    """Of all forests together, or (for an administrator) of one: `?forest=ID`."""
    forest = _forest(request)
    figures = present.health_json(forest)
    zone = ZoneInfo(forest.time_zone if forest else "UTC")
    today = timezone.now().astimezone(zone).date()
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    seen = is_administrator(request)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": f"Health of forest {forest.pk}" if forest else "Health",
        "forest": forest,
        "zone": zone.key,
        "days": DAYS,
        "pending": figures["pending"],
        "oldest_pending": datetime.fromisoformat(figures["oldest_pending"]) if figures["oldest_pending"] else None,
        "jobs": job_counts(),
        "open_jobs": Job.objects.filter(status__in=OPEN).order_by("pk")[:50] if seen else [],
        "open_bulk": Bulk.objects.filter(status__in=OPEN).order_by("pk")[:50] if seen else [],
        "plots": _plots(figures, days, zone),
    }
    return TemplateResponse(request, "admin/memory/health.html", context)


def _forest(request: HttpRequest) -> Forest | None:
    given = request.GET.get("forest")
    if not given:
        return None
    if not (is_administrator(request) and given.isascii() and given.isdigit() and int(given) < 2**63):
        raise Http404
    found = Forest.objects.filter(pk=int(given)).first()
    if found is None:
        raise Http404
    return found


def _plots(figures: dict[str, Any], days: list[date], zone: ZoneInfo) -> list[dict[str, Any]]:
    """Each with its drawing and its figures as a table."""

    def of(name: str, value: str) -> list[tuple[date, float]]:
        return [(date.fromisoformat(row["day"]), float(row[value])) for row in figures[name] if row[value] is not None]

    lag = [(datetime.fromisoformat(row["at"]).astimezone(zone), row["seconds"]) for row in figures["lag"]]
    drawn = [
        ("lag", "Commit lag", "seconds from the answer until its memory is written", [Series("seconds", lag, "dots")], None),
        ("tokens", "Tokens a day", "tokens", [Series(name, of("tokens", name), "bars") for name in ("input", "output")], None),
        ("confidence", "Confidence", "mean probability of the places found", [Series("probability", of("confidence", "mean"))], 1.0),
        ("corrections", "Corrections a day", "moves", [Series("corrections", of("corrections", "count"), "bars")], None),
    ]
    return [
        {
            "name": name,
            "title": title,
            "unit": unit,
            "legend": list(enumerate((one.name for one in series), 1)),
            "drawing": plot(title, series, days=days, unit=unit, highest=highest),
            "columns": list(figures[name][0]) if figures[name] else [],
            "rows": [list(row.values()) for row in figures[name][-DAYS:]],
        }
        for name, title, unit, series, highest in drawn
    ]
