"""A finger on the glass: real touch events, as the browser's own protocol makes them."""

from __future__ import annotations

from playwright.sync_api import Page

# Longer than a press takes to hold a turn.
HOLD = 640


class Finger:
    """One finger, or several; places are CSS px of the page."""

    def __init__(self, page: Page) -> None:
        self.page, self.session = page, page.context.new_cdp_session(page)
        self.at: list[tuple[float, float]] = []

    def down(self, *places: tuple[float, float]) -> None:
        self._send("touchStart", places)

    def to(self, x: float, y: float, steps: int = 8) -> None:
        """Slide there; a hand takes its time."""
        (x0, y0), *rest = self.at
        for step in range(1, steps + 1):
            self._send("touchMove", [(x0 + (x - x0) * step / steps, y0 + (y - y0) * step / steps), *rest])
            self.page.wait_for_timeout(16)

    def up(self) -> None:
        self._send("touchEnd", [])

    def hold(self, place: tuple[float, float]) -> None:
        """Press there until it holds."""
        self.down(place)
        self.page.wait_for_timeout(HOLD)

    def _send(self, kind: str, places: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> None:
        self.at = list(places)
        points = [{"x": x, "y": y, "id": number, "radiusX": 8, "radiusY": 8, "force": 0.5} for number, (x, y) in enumerate(self.at)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
