"""Everything a person does beside talking: without a mouse, on a phone, in the dark, searching, on a first visit."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.stories import ASK_PACKING, BREAD, KITCHEN, PACKING
from tests.e2e.visitor import PATIENCE, plain


def test_the_printed_link_signs_in_once_and_an_administrator_sees_the_admin(stack, stranger):
    stranger.page.goto(f"{stack.address}/")
    expect(stranger.page).to_have_url(re.compile("/sign-in/"))
    stranger.sign_in(stack.printed_link)
    assert "sesame" not in stranger.page.url
    expect(stranger.page.get_by_test_id("welcome")).to_be_visible()
    assert stranger.api("GET", "me/")["is_staff"]
    for path in ("", "memory/turn/", "memory/interactionstate/", "memory/atomicfact/", "auth/user/"):
        answer = stranger.page.goto(f"{stack.address}/admin/{path}")
        assert answer.status == 200, path
        assert stranger.violations() == [], path
    stranger.accept_errors("403 .*sesame")
    stranger.context.clear_cookies()
    answer = stranger.page.goto(stack.printed_link)
    assert answer.status == 403
    expect(stranger.page.locator("main")).to_contain_text("no longer works")


def test_a_first_visit_explains_itself_and_grows_the_sample(visitor):
    page = visitor.page
    expect(page.get_by_test_id("welcome")).to_contain_text("Talk about anything, in any order.")
    expect(page.get_by_test_id("offline")).to_be_visible()
    expect(page.get_by_test_id("search")).to_have_count(0)
    page.get_by_test_id("sample").click()
    expect(page.get_by_test_id("counts")).to_contain_text("4 topics", timeout=90_000)
    visitor.ready()
    forest = int(re.search(r"/forests/(\d+)/", page.url)[1])
    known = visitor.api("GET", f"forests/{forest}/")["counts"]
    assert known["trees"] == 4
    assert known["states"] > 40
    assert known["pending"] == 0
    expect(page.get_by_test_id("counts")).to_contain_text(f"{known['states']} states, 4 topics")
    folded = visitor.forest("(view) => view.foldedCount()")
    label = page.get_by_test_id("counts").inner_text()
    assert (f"{folded} folded" in label) if folded else "folded" not in label, "the foot says how many states are hidden"
    rows = visitor.api("GET", f"forests/{forest}/states/")["results"]
    assert any(row["replaced"] for row in rows)
    assert any(row["list"] for row in rows)


def test_everything_by_keyboard(visitor):
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    page, keys = visitor.page, visitor.page.keyboard
    expect(visitor.message).to_be_focused()
    text = "The window of the kitchen faces north."
    keys.type(text)
    keys.press("Shift+Enter")
    keys.type("It has no blind.")
    assert visitor.turns.count() == 4, "Shift and Enter begin a line, they don't send"
    keys.press("Enter")
    expect(visitor.turns.last).to_have_attribute("data-status", re.compile("answered|refined"), timeout=PATIENCE)
    expect(visitor.turns.last.get_by_test_id("bubble")).to_contain_text("It has no blind.")
    expect(visitor.message).to_have_value("")

    # Out of the field by Tab, then the keys of the page.
    keys.press("Tab")
    expect(visitor.message).not_to_be_focused()
    keys.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    keys.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)  # gone from the page too: while it closes, keys are still its own
    expect(page.get_by_test_id("counts")).to_contain_text("5 states")  # an answer is told a moment before its state
    keys.press("[")
    newest = page.get_by_test_id("state-title").or_(page.get_by_test_id("trace"))
    expect(newest.first).to_be_visible()
    keys.press("2")
    expect(page.get_by_test_id("tab-state")).to_have_attribute("aria-selected", "true")
    shown = page.get_by_test_id("inspector").get_by_role("heading", level=2)
    expect(shown).to_contain_text("faces north")
    keys.press("[")
    expect(shown).to_contain_text("The sink stays")  # the turn before it; it tells of the answer that used it

    # The forest as a tree, by arrows; Enter chooses.
    tree = page.get_by_role("tree")
    tree.focus()
    keys.press("Home")
    starter, doubled, *_ = visitor.parents(forest)
    expect(tree).to_have_attribute("aria-activedescendant", re.compile(rf"-{starter}$"))
    keys.press("ArrowDown")
    expect(tree).to_have_attribute("aria-activedescendant", re.compile(rf"-{doubled}$"))
    keys.press("Enter")
    expect(page.get_by_test_id("inspector")).to_contain_text("doubled in six hours")
    expect(page).to_have_url(re.compile(rf"#state={doubled}\b"))
    expect(page.locator(f"#{tree.get_attribute('aria-activedescendant')}")).to_have_attribute("aria-selected", "true")


def test_escape_in_the_empty_field_stops_an_answer(visitor):
    visitor.open(visitor.plant(*PACKING))
    visitor.send(ASK_PACKING)
    visitor.partial(ASK_PACKING, words=4)
    expect(visitor.message).to_be_focused()
    visitor.page.keyboard.press("Escape")
    expect(visitor.turn(ASK_PACKING)).to_have_attribute("data-status", "cancelled")
    assert plain(visitor.answer(ASK_PACKING).inner_text()).startswith("A packing list")


def test_search_finds_a_turn_and_a_fact(visitor):
    visitor.open(visitor.plant(*BREAD, *KITCHEN, *PACKING))
    page = visitor.page
    page.get_by_test_id("forest").click(position={"x": 30, "y": 30})
    page.keyboard.press("/")
    expect(page.get_by_test_id("search")).to_be_focused()
    page.keyboard.type("nail varnish")
    hits = page.get_by_test_id("hits")
    expect(hits.get_by_role("option").first).to_contain_text("nail varnish")
    page.keyboard.press("ArrowDown")
    expect(hits.locator("[aria-selected=true]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(hits).to_have_count(0)
    expect(page.get_by_test_id("inspector")).to_contain_text("nail varnish")
    page.get_by_test_id("search").fill("zeppelin")
    expect(hits).to_contain_text("Nothing about ‘zeppelin’")


def test_a_draft_and_the_view_survive_a_reload(visitor):
    visitor.open(visitor.plant(*BREAD, *KITCHEN))
    page = visitor.page
    visitor.message.fill("Half a thought about")
    page.get_by_test_id("drawing-tree").click()
    page.wait_for_timeout(500)
    page.reload()
    visitor.ready()
    expect(visitor.message).to_have_value("Half a thought about")
    expect(page.get_by_test_id("drawing-tree")).to_have_attribute("aria-pressed", "true")


class TestOnAPhone:
    @pytest.fixture
    def look(self):
        return {"viewport": PHONE, "has_touch": True, "is_mobile": True}

    def test_three_tabs_and_a_way_between_them(self, visitor):
        visitor.open(visitor.plant(*BREAD, *KITCHEN))
        page = visitor.page
        chat, forest, details = visitor.message, page.get_by_test_id("forest"), page.get_by_test_id("inspector")
        expect(chat).to_be_visible()
        expect(forest).to_be_hidden()
        state = visitor.say("The window of the kitchen faces north.")
        page.get_by_test_id("phone-forest").tap()
        expect(forest).to_be_visible()
        expect(chat).to_be_hidden()
        page.wait_for_timeout(500)
        place = visitor.forest("(view, box, id) => view.placeOf(id)", state)
        box = forest.bounding_box()
        page.touchscreen.tap(box["x"] + place["x"], box["y"] + place["y"])
        peek = page.get_by_test_id("peek")
        expect(peek).to_contain_text("window of the kitchen")
        peek.get_by_role("button", name="Open").tap()
        expect(details).to_be_visible()
        expect(details).to_contain_text("faces north")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], "nothing sticks out sideways"
        for button in page.get_by_role("button").all():
            if button.is_visible() and (size := button.bounding_box()):
                assert size["height"] >= 24, f"a button too small to touch: {button.inner_text()!r} {size}"


PAPER = """(view, box) => {
  const canvas = box.querySelector('canvas');
  return {canvas: getComputedStyle(document.body).colorScheme, chat: getComputedStyle(document.querySelector('.panel.chat')).backgroundColor,
    forest: getComputedStyle(box).backgroundColor, ink: getComputedStyle(document.querySelector('.bubble')).color};
}"""
DARKEST = """(view, box, id) => {
  const canvas = box.querySelector('canvas'), ratio = canvas.width / canvas.clientWidth, {x, y} = view.placeOf(id);
  return [...canvas.getContext('2d').getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data];
}"""


def _light(colour: str) -> float:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 765


def test_dark_and_light_reach_the_page_and_the_canvas(visitor):
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.page.emulate_media(color_scheme="light")
    visitor.open(forest)
    state = max(visitor.parents(forest))
    visitor.page.wait_for_timeout(500)
    day, dot = visitor.forest(PAPER), visitor.forest(DARKEST, state)
    visitor.page.emulate_media(color_scheme="dark")
    visitor.page.wait_for_timeout(500)
    night, star = visitor.forest(PAPER), visitor.forest(DARKEST, state)
    assert _light(day["chat"]) > 0.9 > 0.3 > _light(night["chat"])
    assert _light(day["ink"]) < 0.3 < 0.7 < _light(night["ink"])
    assert dot[3] == star[3] == 255
    assert dot != star, "the drawing takes the other palette"
