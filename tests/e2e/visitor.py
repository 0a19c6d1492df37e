"""A person in front of the page, with a watch on everything a browser complains about."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, Response, expect

from tests.e2e.stack import Stack

ANSWERED = re.compile("^(answered|refined)$")
PATIENCE = 30_000

# Every violation of the content security policy, also those that Chromium does not print.
VIOLATIONS = (
    "window.violations = []; document.addEventListener('securitypolicyviolation', (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));"
)


class Watch:
    """What went wrong in the browser. `allow` names what a test provokes."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.troubles: list[str] = []
        self.strangers: list[str] = []
        self._allowed = [re.compile("willReadFrequently")]  # the tests read the canvas, the page doesn't

    def allow(self, pattern: str) -> None:
        self._allowed.append(re.compile(pattern))

    def on(self, page: Page, address: str) -> None:
        page.on(
            "console", lambda message: self._said(f"console {message.type}: {message.text} ({message.location['url']})", message.type in {"error", "warning"})
        )
        page.on("pageerror", lambda error: self._said(f"page error: {error}", True))
        page.on("response", self._answered)
        page.on("request", lambda request: self.strangers.append(request.url) if not request.url.startswith((address, "data:", "blob:")) else None)

    def _answered(self, response: Response) -> None:
        if response.status >= 500:
            self._said(f"{response.status} {response.request.method} {response.url}", True)

    def _said(self, words: str, trouble: bool) -> None:
        self.said.append(words)
        if trouble:
            self.troubles.append(words)

    def complaints(self) -> list[str]:
        return [words for words in self.troubles if not any(pattern.search(words) for pattern in self._allowed)]


class Visitor:
    """Signed in; opens forests, writes, reads."""

    def __init__(self, stack: Stack, context: BrowserContext, watch: Watch) -> None:
        self.stack, self.context, self.watch = stack, context, watch
        context.add_init_script(VIOLATIONS)
        self.page = self.new_page()

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        self.watch.on(page, self.stack.address)
        return page

    def sign_in(self, link: str | None = None) -> None:
        self.page.goto(link or self.stack.link())
        self.ready()

    def ready(self) -> None:
        expect(self.page.get_by_test_id("app")).to_have_attribute("data-ready", "true", timeout=PATIENCE)

    # --- Over REST, as the page does it

    def api(self, method: str, path: str, data: Any = None, status: int | None = None) -> Any:
        token = next((cookie["value"] for cookie in self.context.cookies() if cookie["name"] == "csrftoken"), "")
        answer = self.context.request.fetch(
            f"{self.stack.address}/api/{path}",
            method=method,
            headers={"X-CSRFToken": token, "Content-Type": "application/json"},
            data=None if data is None else json.dumps(data),
            timeout=PATIENCE,
        )
        assert answer.ok if status is None else answer.status == status, f"{method} {path}: {answer.status} {answer.text()[:400]}"
        return answer.json() if answer.text() else None

    def plant(self, *interactions: dict[str, Any], name: str = "Home") -> int:
        """A forest with these interactions in it, refined."""
        forest: int = self.api("POST", "forests/", {"name": name, "time_zone": "Europe/Vienna"})["id"]
        if interactions:
            self.api("POST", f"forests/{forest}/observe/", {"interactions": list(interactions)})
            self.wait_until_refined(forest)
        return forest

    def wait_until_refined(self, forest: int) -> None:
        for _ in range(150):
            if not self.api("GET", f"forests/{forest}/")["counts"]["pending"]:
                return
            self.page.wait_for_timeout(100)
        raise AssertionError("memory is still being written")

    def open(self, forest: int, view: str = "") -> None:
        self.page.goto(f"{self.stack.address}/forests/{forest}/{view}")
        self.ready()

    # --- In the chat

    @property
    def message(self) -> Locator:
        return self.page.get_by_test_id("message")

    @property
    def turns(self) -> Locator:
        return self.page.get_by_test_id("turn")

    def turn(self, text: str) -> Locator:
        return self.turns.filter(has=self.page.get_by_test_id("bubble").get_by_text(text, exact=True))

    def answer(self, text: str) -> Locator:
        return self.turn(text).get_by_test_id("answer")

    def send(self, text: str) -> Locator:
        self.message.fill(text)
        self.message.press("Enter")
        turn = self.turn(text)
        expect(turn).to_have_count(1)
        return turn

    def say(self, text: str, refined: bool = False) -> int:
        """Send, wait for the answer; the state it became."""
        turn = self.send(text)
        expect(turn).to_have_attribute("data-status", "refined" if refined else ANSWERED, timeout=PATIENCE)
        expect(turn).to_have_attribute("data-state", re.compile(r"^\d+$"))
        return int(turn.get_attribute("data-state") or 0)

    def partial(self, text: str, words: int) -> str:
        """The answer so far, once it has that many words while it is still being written."""
        answer = self.answer(text)
        expect(answer).to_have_attribute("aria-busy", "true", timeout=PATIENCE)
        expect(answer).to_have_text(re.compile(rf"(\S+\s+){{{words}}}"), timeout=PATIENCE)
        return plain(answer.inner_text())

    # --- In the forest

    def forest(self, script: str, argument: Any = None) -> Any:
        """Run `(view, box, argument) => …` on the drawing."""
        return self.page.get_by_test_id("forest").evaluate(f"(box, argument) => ({script})(box.forestView, box, argument)", argument)

    def where(self, state: int) -> tuple[float, float]:
        """The place of a state on the page."""
        place, box = self.forest("(view, box, id) => view.placeOf(id)", state), self.page.get_by_test_id("forest").bounding_box()
        assert box is not None
        return box["x"] + place["x"], box["y"] + place["y"]

    def choose(self, state: int) -> None:
        """Click a state in the drawing, or tap it on a phone, once it has come to rest."""
        self.page.wait_for_timeout(450)
        # Not where chips, the hint or a card lie over the drawing.
        self.forest("(view, box, id) => { const y = view.placeOf(id).y; if (y < 60 || y > box.clientHeight - 110) view.centerOn(id); }", state)
        self.page.wait_for_timeout(350)
        at = self.where(state)
        size = self.page.viewport_size
        if size and size["width"] < 900:
            self.page.touchscreen.tap(*at)
        else:
            self.page.mouse.click(*at)

    def parents(self, forest: int) -> dict[int, int | None]:
        """Each state's parent, as the server has it."""
        return {row["id"]: row["parent"] for row in self.api("GET", f"forests/{forest}/states/")["results"]}

    def accept_errors(self, pattern: str) -> None:
        self.watch.allow(pattern)

    def violations(self) -> list[str]:
        return list(self.page.evaluate("window.violations"))


def plain(text: str) -> str:
    """Rendered text or Markdown on one line, without the signs that only one of them has."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`>#]|(?m:^\s*(?:\d+\.|-)\s)", " ", text)).strip()


def save(folder: Path, visitor: Visitor) -> None:
    """What is needed to understand a failure: the picture, what the browser said, the servers' logs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(visitor.context.pages):
        page.screenshot(path=folder / f"page-{number}.png")
    (folder / "console.txt").write_text("\n".join(visitor.watch.said) or "nothing")
    (folder / "up.txt").write_text(visitor.stack.printed())
    for name, text in visitor.stack.logs().items():
        (folder / name).write_text(text)
