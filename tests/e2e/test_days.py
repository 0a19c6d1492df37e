"""The days that are looked at: chosen on the strip by hand or by key, in the date fields, in the address; one value, in the forest's zone."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.stories import BREAD, KITCHEN, PACKING
from tests.e2e.test_safe_and_readable import findings

LINE = "e => { const { y, height } = e.firstElementChild.getBoundingClientRect(); return y + height / 2; }"
ROW = "(view, box, id) => { const { scene } = view.sight; return scene.states[scene.byId.get(id)].y / scene.height; }"


@pytest.fixture
def forest(visitor):
    """Two turns of 1 March, one of the 2nd, two of the 3rd."""
    forest = visitor.plant(*BREAD, *PACKING, *KITCHEN)
    visitor.open(forest)
    visitor.page.wait_for_timeout(450)
    return forest


class Strip:
    """Where a hand finds things on the strip."""

    def __init__(self, visitor):
        self.visitor, self.page = visitor, visitor.page

    def line(self, end):
        """Where the line of an end stands."""
        return self.page.get_by_test_id(f"brush-{end}").evaluate(LINE)

    @property
    def x(self):
        box = self.page.get_by_test_id("brush-from").bounding_box()
        return box["x"] + box["width"] / 2

    def turn(self, state):
        """Where a turn's row is while no days are chosen."""
        top, bottom = self.line("from"), self.line("to")
        return top + self.visitor.forest(ROW, state) * (bottom - top)

    def drag(self, begin, *ways, let_go=True):
        mouse = self.page.mouse
        mouse.move(self.x, begin)
        mouse.down()
        for y in ways:
            mouse.move(self.x, y, steps=6)
        if let_go:
            mouse.up()


@pytest.fixture
def strip(visitor, forest):
    return Strip(visitor)


def shown(visitor):
    """The states that aren't dimmed."""
    return set(visitor.forest("view => { const { hits } = view.marks; return hits ? [...hits].map((i) => view.sight.scene.states[i].row.id) : null; }") or [])


def test_a_hand_draws_them_pulls_an_end_and_shows_all_again(visitor, forest, strip):
    page = visitor.page
    first, second, packing, *_ = visitor.parents(forest)
    y = strip.turn(packing)
    strip.drag(y - 4, y + 4)
    clear = page.get_by_test_id("brush-clear")
    expect(clear).to_have_text(re.compile("^2 Mar"))
    expect(page).to_have_url(re.compile("from=2026-03-02&to=2026-03-02"))
    assert shown(visitor) == {packing}
    expect(page.get_by_test_id("announcer")).to_have_text(re.compile("2 Mar.*: 1 turn shown"))

    # The same value in the fields.
    page.get_by_test_id("filter").click()
    expect(page.get_by_label("From", exact=True)).to_have_value("2026-03-02")
    expect(page.get_by_label("To", exact=True)).to_have_value("2026-03-02")
    expect(page.get_by_test_id("filter-count")).to_have_text("1 of 5 turns")
    page.get_by_label("From", exact=True).fill("2026-03-01")
    expect(clear).to_have_text(re.compile(r"1\s*–\s*2 Mar"))
    assert shown(visitor) == {first, second, packing}
    page.get_by_label("From", exact=True).fill("2026-03-02")
    page.keyboard.press("Escape")

    # An end is pulled to the newest turn: open, so that what grows is in it.
    box = page.get_by_test_id("brush-to").bounding_box()
    strip.drag(box["y"] + box["height"] / 2, strip.line("to") + 300)
    expect(clear).to_have_text(re.compile("^from 2 Mar"))
    expect(page).not_to_have_url(re.compile("[&#]to="))

    page.reload()
    visitor.ready()
    expect(clear).to_have_text(re.compile("^from 2 Mar"))
    assert findings(page) == []
    clear.click()
    expect(clear).to_be_hidden()
    expect(page).not_to_have_url(re.compile("from="))
    expect(page.get_by_test_id("brush-from")).to_be_focused()


def test_escape_lets_go_of_a_hand_and_clears_what_was_chosen(visitor, forest, strip):
    page = visitor.page
    _, _, packing, *_ = visitor.parents(forest)
    y = strip.turn(packing)
    strip.drag(y - 4, y + 4, let_go=False)
    assert shown(visitor) == {packing}, "dimmed under the hand already"
    page.keyboard.press("Escape")
    assert shown(visitor) == set()
    page.mouse.move(strip.x, y + 40, steps=3)
    page.mouse.up()
    expect(page.get_by_test_id("brush-clear")).to_be_hidden()
    expect(page.get_by_test_id("filter")).to_have_attribute("aria-label", "Filters")

    strip.drag(y - 4, y + 4)
    expect(page.get_by_test_id("brush-clear")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("brush-clear")).to_be_hidden()
    assert shown(visitor) == set()

    # The range as a whole goes elsewhere, as many days as it has.
    strip.drag(y - 4, y + 4)
    page.wait_for_timeout(350)
    held = (strip.line("from") + strip.line("to")) / 2
    strip.drag(held, strip.line("to") + 60)
    expect(page.get_by_test_id("brush-clear")).to_have_text(re.compile("^from 3 Mar"))


def test_by_key_alone(visitor, forest):
    page, keys = visitor.page, visitor.page.keyboard
    _, _, packing, *_ = visitor.parents(forest)
    begin, end = page.get_by_test_id("brush-from"), page.get_by_test_id("brush-to")
    page.get_by_role("tree").focus()
    keys.press("Tab")
    expect(begin).to_be_focused()
    expect(begin).to_have_attribute("aria-valuetext", re.compile("the beginning, Sunday 1 March 2026"))
    keys.press("ArrowDown")
    expect(begin).to_have_attribute("aria-valuetext", "Monday 2 March 2026")
    expect(page).to_have_url(re.compile("from=2026-03-02"))
    keys.press("Tab")
    expect(page.get_by_test_id("brush-clear")).to_be_focused()
    keys.press("Tab")
    expect(end).to_be_focused()
    keys.press("ArrowUp")
    expect(end).to_have_attribute("aria-valuetext", "Monday 2 March 2026")
    assert shown(visitor) == {packing}
    keys.press("ArrowUp")
    assert shown(visitor) == {packing}, "an end stops at the other"
    keys.press("End")
    expect(end).to_have_attribute("aria-valuetext", re.compile("now, Tuesday 3 March 2026"))
    keys.press("Escape")
    expect(page.get_by_test_id("brush-clear")).to_be_hidden()
    assert shown(visitor) == set()
    expect(end).to_be_focused()


def test_days_are_those_of_the_forest(visitor, forest):
    """In Auckland the second turn of the bread was said on the morning after; in Vienna, where the browser is, the evening before."""
    page = visitor.page
    _, second, packing, kitchen, sink = visitor.parents(forest)
    visitor.api("PATCH", f"forests/{forest}/", {"time_zone": "Pacific/Auckland"})
    page.goto("about:blank")
    visitor.open(forest, "#from=2026-03-02&to=2026-03-02")
    expect(page.get_by_test_id("brush-clear")).to_have_text(re.compile("^2 Mar"))
    assert shown(visitor) == {second}
    days = [text.strip() for text in page.locator(".forest-day").all_inner_texts() if text.strip()]
    assert days == ["Sun1", "Mon2", "Tue3", "Wed4"] or [re.sub(r"\s", "", day) for day in days] == ["Sun1", "Mon2", "Tue3", "Wed4"]
    page.goto("about:blank")
    visitor.open(forest, "#from=2026-03-03")
    assert shown(visitor) == {packing, kitchen, sink}
    expect(page.get_by_test_id("brush-from")).to_have_attribute("aria-valuetext", "Tuesday 3 March 2026")


def test_a_click_beside_the_window_still_leads_there(visitor):
    days = [f"2026-02-{1 + number // 5:02d}T08:{number:02d}:00+01:00" for number in range(60)]
    entries = [{"id": f"n{n}", "new_root": True, "time": time, "user": f"Entry {n} of the log book", "assistant": "Noted."} for n, time in enumerate(days)]
    forest = visitor.plant(*entries)
    visitor.open(forest, "#at=30,40,0")
    page, strip = visitor.page, Strip(visitor)
    page.wait_for_timeout(450)
    before = visitor.forest("view => view.getCamera().top")
    page.mouse.click(strip.x, strip.line("from") + 20)
    page.wait_for_timeout(400)
    assert visitor.forest("view => view.getCamera().top") < before - 10
    expect(page.get_by_test_id("brush-clear")).to_be_hidden()
