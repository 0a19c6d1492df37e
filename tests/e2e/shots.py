"""`make shots`: pictures of the sample forest for docs/screenshots/, light and dark, on a desk and on a phone.

python -m tests.e2e.shots [NAME …]      only pictures whose name begins so
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from arborweb.home import PROJECT
from tests.arborweb.site import fresh_home
from tests.e2e.chats import EDITED, kept
from tests.e2e.conftest import CHROMIUM, PHONE, WIDE, chromium
from tests.e2e.stack import Stack
from tests.e2e.stories import ASTRAY, BREAD, CODE, FOLLOWS, KITCHEN
from tests.e2e.visitor import Visitor, Watch
from tests.llm.hostile import Answer, hostile_server, said, usage, whole

FOLDER = PROJECT / "docs" / "screenshots"
ASKED = ("What is the departure date of the Lyon exchange?", "What is our kitchen budget?")
SETTLED = 700  # milliseconds until slides, fades and fonts have come to rest


class Camera:
    def __init__(self, page: Page, folder: Path, wanted: list[str]) -> None:
        self.page, self.folder, self.wanted = page, folder, wanted

    def wants(self, name: str) -> bool:
        return not self.wanted or any(name.startswith(part) for part in self.wanted)

    def take(self, name: str) -> None:
        """In both themes. A picture is of the page at rest."""
        if not self.wants(name):
            return
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self.page.mouse.move(2, 2)
            self.page.wait_for_timeout(SETTLED)
            self.page.screenshot(path=self.folder / f"{name}-{scheme}.png")
            print(f"{name}-{scheme}.png", flush=True)


def desk(visitor: Visitor, camera: Camera) -> int:
    """The pictures at 1440 × 900; the sample forest they are of."""
    page = visitor.page
    camera.take("first-visit")
    bring(page, camera)
    page.get_by_test_id("sample").click()
    expect(page.get_by_test_id("counts")).to_contain_text("4 topics", timeout=120_000)
    visitor.ready()
    forest = int(page.url.split("/forests/")[1].split("/")[0])
    for text in ASKED:
        visitor.say(text, refined=True)
    camera.take("chat")
    page.get_by_test_id("turn").last.get_by_test_id("why").click()
    camera.take("trace")
    page.get_by_test_id("turn").last.get_by_test_id("chip").first.click()
    expect(page.get_by_test_id("timeline")).to_be_visible()
    camera.take("revision")
    states = visitor.api("GET", f"forests/{forest}/states/")["results"]
    chosen = next(row["id"] for row in states if row["list"] == 12)
    visitor.open(forest, f"#state={chosen}&tab=state")
    page.get_by_test_id("fit").click()
    camera.take("forest")
    page.get_by_test_id("drawing-tree").click()
    page.get_by_test_id("fit").click()
    camera.take("tree")
    correcting(visitor, camera, forest)
    forgetting(visitor, camera, forest)
    writing(visitor, camera)
    return forest


CORRECTED = ("why-not", "move", "picking", "replay", "state", "reword", "health", "travel", "filters", "days", "menu")


def correcting(visitor: Visitor, camera: Camera, forest: int) -> None:
    """A place compared and corrected, a value in other words, the forest as it was."""
    if not any(camera.wants(name) for name in CORRECTED):
        return
    page = visitor.page
    rows = {row["label"]: row for row in visitor.api("GET", f"forests/{forest}/states/")["results"]}
    *_, before, last = sorted(rows.values(), key=lambda row: row["position"])
    other = next(row for row in sorted(rows.values(), key=lambda row: -row["position"]) if row["root"] not in (last["root"], before["root"]))
    visitor.open(forest, f"#turn={last['turn']}&tab=why")
    page.get_by_test_id("drawing-lanes").click()
    page.get_by_test_id("fit").click()
    page.get_by_test_id("why-not").click()
    camera.take("picking")
    visitor.choose(other["id"])
    expect(page.get_by_test_id("comparison")).to_be_visible()
    camera.take("why-not")
    page.get_by_test_id("compare-move").click()
    expect(page.get_by_test_id("move-preview")).to_be_visible()
    camera.take("move")
    page.get_by_test_id("move-do").click()
    expect(page.get_by_test_id("toast")).to_be_visible()
    page.get_by_test_id("tab-state").click()
    camera.take("state")
    page.get_by_test_id("toast-undo").click()
    expect(page.get_by_test_id("toast")).to_have_text("Undone.")
    page.get_by_role("tree").focus()
    page.keyboard.press("Shift+F10")
    camera.take("menu")
    page.keyboard.press("Escape")
    value = next(fact for fact in visitor.api("GET", f"forests/{forest}/facts/")["results"] if fact["supersedes"])
    visitor.open(forest, f"#fact={value['id']}&tab=evidence")
    page.get_by_test_id("edit-value").click()
    page.get_by_test_id("wording").fill(value["text"].rstrip(".") + ", delivery included.")
    camera.take("reword")
    page.keyboard.press("Escape")
    page.get_by_test_id("tab-health").click()
    expect(page.get_by_test_id("changes")).to_be_visible()
    camera.take("health")
    middle = sorted(row["position"] for row in rows.values())[len(rows) // 2]
    visitor.open(forest, f"#as_of={middle}&tab=evidence")
    page.get_by_test_id("fit").click()
    camera.take("travel")
    page.get_by_test_id("time-now").click()
    page.get_by_test_id("filter").click()
    page.get_by_test_id("filter-facts").check()
    camera.take("filters")
    visitor.open(forest, days_of(rows.values()))
    page.get_by_test_id("fit").click()
    camera.take("days")
    replaying(visitor, camera)


def days_of(rows: Iterable[dict[str, Any]]) -> str:
    """A view of the days between a third and two thirds of a forest's turns."""
    days = sorted(row["time"][:10] for row in rows)
    return f"#from={days[len(days) // 3]}&to={days[len(days) * 2 // 3]}"


def replaying(visitor: Visitor, camera: Camera) -> None:
    """A turn that went astray is put right, and what followed it is looked at again."""
    if not camera.wants("replay"):
        return
    page = visitor.page
    forest = visitor.plant(*BREAD, *KITCHEN, name="Study")
    strayed = visitor.api("POST", f"forests/{forest}/turns/", {"text": ASTRAY, "parent": max(visitor.parents(forest)), "wait": True})["state"]
    visitor.wait_until_refined(forest)
    visitor.open(forest)
    for text in (FOLLOWS, "Does the galley kitchen get a second window?"):
        visitor.say(text, refined=True)
    visitor.api("POST", f"states/{strayed}/move/", {"new_root": True})
    visitor.open(forest, f"#state={strayed}&tab=state")
    page.get_by_test_id("menu-state-more").click()
    page.get_by_role("menuitem", name="Look again").click()
    expect(page.get_by_test_id("replay-done")).to_be_visible(timeout=60_000)
    camera.take("replay")
    page.keyboard.press("Escape")


def forgetting(visitor: Visitor, camera: Camera, forest: int) -> None:
    """What goes with a turn, and “Forget that …” in the chat."""
    if not camera.wants("forget"):
        return
    page = visitor.page
    value = next(fact for fact in visitor.api("GET", f"forests/{forest}/facts/")["results"] if fact["supersedes"])
    visitor.open(forest, f"#state={value['state']}&tab=state")
    page.get_by_test_id("menu-state-more").click()
    page.get_by_role("menuitem", name="Delete…").click()
    expect(page.get_by_test_id("forget-preview")).to_be_visible()
    camera.take("forget")
    page.keyboard.press("Escape")
    visitor.message.fill("Forget that the kitchen budget is €21,500.")
    visitor.message.press("Enter")
    expect(page.get_by_test_id("forget-matches")).to_be_visible()
    camera.take("forget-chat")
    page.keyboard.press("Escape")


def bring(page: Page, camera: Camera) -> None:
    """The import dialog with a file in it."""
    page.get_by_test_id("import").click()
    with tempfile.TemporaryDirectory() as folder:
        page.get_by_test_id("import-file").set_input_files(kept(Path(folder), "conversations.json", EDITED))
        expect(page.get_by_test_id("import-file-name")).to_be_visible()
        camera.take("import")
    page.keyboard.press("Escape")


def writing(visitor: Visitor, camera: Camera) -> None:
    """A turn being edited, its branch beside it, and code."""
    if not camera.wants("editing") and not camera.wants("code"):
        return
    page = visitor.page
    visitor.open(visitor.plant(*KITCHEN, *CODE, *BREAD, name="Workshop"))
    sink = visitor.turn(KITCHEN[1]["user"])
    sink.hover()
    sink.get_by_test_id("edit").click()
    page.get_by_test_id("edit-text").fill("The sink moves to the long wall. The window stays free.")
    camera.take("editing")
    page.get_by_test_id("edit-send").click()
    expect(page.get_by_test_id("turn").last).to_have_attribute("data-status", "refined", timeout=30_000)
    code = page.get_by_test_id("turn").filter(has=page.locator(".code"))
    page.get_by_test_id("tab-state").click()
    code.get_by_test_id("crumb").get_by_role("button").first.click()
    code.evaluate("(turn) => turn.scrollIntoView()")
    camera.take("code")


def pocket(visitor: Visitor, camera: Camera, forest: int) -> None:
    """The pictures at 390 × 844."""
    page = visitor.page
    visitor.open(forest)
    camera.take("phone-chat")
    page.get_by_test_id("phone-forest").tap()
    last = visitor.api("GET", f"forests/{forest}/")["active_state"]
    page.wait_for_timeout(SETTLED)
    place, box = visitor.forest("(view, box, id) => view.placeOf(id)", last), page.get_by_test_id("forest").bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + place["x"], box["y"] + place["y"])
    expect(page.get_by_test_id("peek")).to_be_visible()
    camera.take("phone-forest")
    page.get_by_test_id("peek").get_by_role("button", name="Open").tap()
    page.get_by_test_id("tab-why").tap()
    camera.take("phone-details")
    page.get_by_test_id("why-not").tap()
    camera.take("phone-picking")
    parents = visitor.parents(forest)
    visitor.choose(next(state for state in sorted(parents, reverse=True)[5:] if state != parents[last]))
    page.get_by_test_id("comparison").scroll_into_view_if_needed()
    camera.take("phone-why-not")
    page.get_by_test_id("compare-move").tap()
    expect(page.get_by_test_id("move-preview")).to_be_visible()
    camera.take("phone-move")
    page.keyboard.press("Escape")
    visitor.open(forest, f"#as_of={len(visitor.parents(forest)) // 2}")
    page.get_by_test_id("phone-forest").tap()
    camera.take("phone-travel")
    visitor.open(forest, days_of(visitor.api("GET", f"forests/{forest}/states/")["results"]))
    page.get_by_test_id("phone-forest").tap()
    camera.take("phone-days")


def models(visitor: Visitor, camera: Camera, forest: int) -> None:
    """The models behind the site, one of them just tried. Last, since no other picture has a model connected."""
    page = visitor.page
    visitor.stack.rows("UPDATE auth_user SET is_staff = true RETURNING id")
    with hostile_server() as server:
        names = ("qwen3:8b", "llama3.2:3b", "gemma3:12b", "mistral-small:24b")
        server.models = Answer([json.dumps({"data": [{"id": name, "max_model_len": 131_072} for name in names]})])
        server.always = lambda body: said("ready", told=usage(9, 1)) if body.get("stream") else whole('{"shade": "teal", "count": 7}')
        visitor.api("PUT", "model/connection/", {"base_url": server.url, "api_key": "none", "model": names[0], "extract_model": names[1]})
        visitor.api("POST", "model/test/", {})
        visitor.open(forest)
        page.get_by_test_id("menu-model").click()
        camera.take("picker")
        page.get_by_role("menuitem", name="About the models…").click()
        camera.take("models")


def administration(visitor: Visitor, camera: Camera, forest: int) -> None:
    """The admin: a list with its filters, a preview, a bulk job that goes on, why a turn went where it went, health."""
    if not camera.wants("admin"):
        return
    page, address = visitor.page, f"{visitor.stack.address}/admin/memory"
    visitor.stack.rows("UPDATE auth_user SET is_staff = true, is_superuser = true RETURNING id")
    page.goto(f"{address}/interactionstate/?forest__id__exact={forest}&facts=1")
    camera.take("admin-states")
    page.get_by_label("Select all objects on this page for an action").check()
    page.get_by_label("Action:").select_option(label="Extract again…")
    page.get_by_role("button", name="Go").click()
    camera.take("admin-preview")
    number = page.locator(".consequences tbody tr").count()
    with visitor.stack.holding(forest):
        page.get_by_role("button", name=f"Extract again: {number}").click()
        expect(page.locator("#progress-heading")).to_have_text("Running", timeout=30_000)
        camera.take("admin-progress")
        page.locator("#progress").get_by_role("button", name="Cancel").click()
    [(decision,)] = visitor.stack.rows("SELECT id FROM memory_routingdecision WHERE forest_id = %s AND method = 'recall' ORDER BY id DESC LIMIT 1", forest)
    page.goto(f"{address}/routingdecision/{decision}/change/")
    camera.take("admin-trace")
    page.goto(f"{address}/forest/health/?forest={forest}")
    camera.take("admin-health")


def person(browser: Browser, stack: Stack, **look: object) -> Visitor:
    return Visitor(stack, browser.new_context(locale="en-GB", timezone_id="Europe/Vienna", **look), Watch())  # type: ignore[arg-type]


def run(wanted: list[str], report: Callable[[str], None] = print) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with fresh_home() as home, sync_playwright() as playwright:
        stack = Stack(home, OFFLINE_WORDS_PER_SECOND="0")
        try:
            stack.wait_until_ready()
            browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM)
            visitor = person(browser, stack, viewport=WIDE)
            visitor.sign_in()
            forest = desk(visitor, Camera(visitor.page, FOLDER, wanted))
            phone = person(browser, stack, viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2, storage_state=visitor.context.storage_state())
            pocket(phone, Camera(phone.page, FOLDER, wanted), forest)
            administration(visitor, Camera(visitor.page, FOLDER, wanted), forest)
            models(visitor, Camera(visitor.page, FOLDER, wanted), forest)
            for said in (*visitor.watch.complaints(), *phone.watch.complaints()):
                report(f"The browser complained: {said}")
            browser.close()
        finally:
            stack.stop()


if __name__ == "__main__":
    run(sys.argv[1:])
