"""A small SVG of curves over token budgets, readable on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 52, 190, 34, 44
INK: Final = "#808890"
COLOURS: Final = ("#2f7fd0", "#d0702f", "#3a9a5b", "#a45bc0", "#c0455b", "#8a7a2f", "#3a9aa8", "#7080a0", "#b06a90", "#6a8a30", "#9a6a4a", "#5a6ad0", "#909090")
Points = Sequence[tuple[float, float]]


def curves(title: str, series: Mapping[str, Points], *, y: str) -> str:
    """Curves of shares (0…1) by budget, the budgets on a log scale. NaN is left out; the first series is drawn bold. Raises ValueError for no point."""
    drawn = {name: [(x, share) for x, share in points if not math.isnan(share)] for name, points in series.items()}
    drawn = {name: points for name, points in drawn.items() if points}
    budgets = sorted({x for points in drawn.values() for x, _ in points})
    if not budgets:
        raise ValueError("There is nothing to draw.")
    low, high = math.log2(budgets[0]), math.log2(budgets[-1])

    def at(budget: float, share: float) -> tuple[float, float]:
        across = (math.log2(budget) - low) / (high - low) if high > low else 0.5
        return LEFT + across * (WIDTH - LEFT - RIGHT), TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>',
    ]
    for tick in range(0, 11, 2):
        _, down = at(budgets[0], tick / 10)
        parts.append(f'<path d="M{LEFT} {down:.1f}H{WIDTH - RIGHT}" stroke="{INK}" stroke-opacity=".3"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{down + 4:.1f}" text-anchor="end">{tick / 10:.1f}</text>')
    for budget in budgets:
        across, _ = at(budget, 0)
        parts.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{named(budget)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">tokens of evidence (o200k_base)</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text x="14" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 14 {middle:.0f})">{escape(y)}</text>')
    labels = _apart([(name, at(*points[-1])[1]) for name, points in drawn.items()])
    for index, (name, points) in enumerate(drawn.items()):
        colour, stroke = COLOURS[index % len(COLOURS)], 3 if index == 0 else 1.6
        line = " ".join(f"{across:.1f},{down:.1f}" for across, down in (at(*point) for point in points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{stroke}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{labels[name] + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def named(budget: float) -> str:
    """A budget as people write it: 512, 2K."""
    return f"{budget / 1024:.0f}K" if budget >= 1024 and budget % 1024 == 0 else f"{budget:.0f}"


def _apart(wanted: Sequence[tuple[str, float]], gap: float = 14.0) -> dict[str, float]:
    """Heights for labels near where they belong, none upon another."""
    placed: dict[str, float] = {}
    last = -math.inf
    for name, down in sorted(wanted, key=lambda pair: pair[1]):
        last = placed[name] = max(down, last + gap)
    over = max(0.0, last - (HEIGHT - 8))
    return {name: down - over for name, down in placed.items()}
