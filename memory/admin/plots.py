"""Small plots as SVG, drawn here: lines and bars over time. No style and no script in them; colours come from a class (static/admin.css)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 10, 26
TICKS = 4


@dataclass(frozen=True, slots=True)
class Series:
    """Points (moment, value) under one name; `kind` is line, dots or bars."""

    name: str
    points: Sequence[tuple[datetime | date, float]]
    kind: str = "line"


def plot(title: str, series: Sequence[Series], *, days: Sequence[date], unit: str = "", highest: float | None = None) -> SafeString:
    """One plot over these days; the scale goes from 0 to `highest`, or to a round number above the highest value."""
    top = highest or _round_up(max((value for one in series for _, value in one.points), default=0.0))
    first, last = days[0], days[-1] + timedelta(days=1)
    span = (last - first).days

    def across(moment: datetime | date) -> float:
        if isinstance(moment, datetime):
            past = (moment.replace(tzinfo=None) - datetime(first.year, first.month, first.day)).total_seconds() / 86_400  # noqa: DTZ001 (both are of the zone)
        else:
            past = (moment - first).days + 0.5
        return LEFT + max(0.0, min(1.0, past / span)) * (WIDTH - LEFT - RIGHT)

    def down(value: float) -> float:
        return TOP + (1 - min(1.0, value / top)) * (HEIGHT - TOP - BOTTOM)

    grid = format_html_join(
        "\n",
        '<path class="grid" d="M{} {}H{}"/><text class="tick" x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (LEFT, _places(down(value)), WIDTH - RIGHT, LEFT - 6, _places(down(value) + 4), _number(value))
            for value in (top * step / TICKS for step in range(TICKS + 1))
        ),
    )
    ends = format_html_join(
        "",
        '<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>',
        ((LEFT, HEIGHT - 6, "start", first.isoformat()), (WIDTH - RIGHT, HEIGHT - 6, "end", days[-1].isoformat())),
    )
    wide = max(1.5, (WIDTH - LEFT - RIGHT) / span * 0.8 / max(1, sum(one.kind == "bars" for one in series)))
    drawn, bars = [], 0
    for number, one in enumerate(series, 1):
        places = [(across(moment), down(value)) for moment, value in one.points]
        if one.kind == "bars":
            drawn.append(_bars(number, one, places, wide, bars))
            bars += 1
        elif one.kind == "dots":
            drawn.append(_dots(number, one, places))
        else:
            drawn.append(_line(number, places) + _dots(number, one, places))
    label = f"{title}{f', in {unit}' if unit else ''}: {', '.join(one.name for one in series)}, {first} to {days[-1]}"
    return format_html(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>',
        WIDTH,
        HEIGHT,
        label,
        grid,
        ends,
        format_html_join("", "{}", ((one,) for one in drawn)),
    )


def _bars(number: int, series: Series, places: Sequence[tuple[float, float]], wide: float, shift: int) -> SafeString:
    bottom = HEIGHT - BOTTOM
    return format_html_join(
        "",
        '<rect class="series-{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>',
        (
            (number, _places(x - wide / 2 + shift * wide), _places(y), _places(wide), _places(max(0.0, bottom - y)), _told(series, moment, value))
            for (x, y), (moment, value) in zip(places, series.points, strict=True)
        ),
    )


def _dots(number: int, series: Series, places: Sequence[tuple[float, float]]) -> SafeString:
    return format_html_join(
        "",
        '<circle class="series-{}" cx="{}" cy="{}" r="2.5"><title>{}</title></circle>',
        ((number, _places(x), _places(y), _told(series, moment, value)) for (x, y), (moment, value) in zip(places, series.points, strict=True)),
    )


def _line(number: int, places: Sequence[tuple[float, float]]) -> SafeString:
    if len(places) < 2:
        return SafeString("")
    return format_html('<polyline class="series-{}" fill="none" points="{}"/>', number, " ".join(f"{x:.1f},{y:.1f}" for x, y in places))


def _told(series: Series, moment: datetime | date, value: float) -> str:
    when = moment.strftime("%Y-%m-%d %H:%M") if isinstance(moment, datetime) else moment.isoformat()
    return f"{when}: {_number(value)} {series.name}"


def _places(value: float) -> str:
    return f"{value:.1f}"


def _number(value: float) -> str:
    if value >= 10_000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2f}"


def _round_up(value: float) -> float:
    """1, 2, 5, 10, 20, … at least as large."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)
