"""With a finger: a turn is carried to its place, a swipe pans, two fingers pinch; days are chosen on the strip."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.finger import HOLD, Finger
from tests.e2e.stories import BREAD, KITCHEN, PACKING


@pytest.fixture
def look():
    return {"viewport": PHONE, "has_touch": True, "is_mobile": True}


@pytest.fixture
def finger(visitor):
    return Finger(visitor.page)


@pytest.fixture
def forest(visitor):
    """Bread, then a kitchen, drawn on the phone."""
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    visitor.page.get_by_test_id("phone-forest").tap()
    expect(visitor.page.get_by_test_id("forest")).to_be_visible()
    visitor.page.wait_for_timeout(450)
    return forest


def camera(visitor):
    return visitor.forest("view => view.getCamera()")


def log_book(count):
    """So many turns below each other: more than a phone shows."""
    return [
        {
            "id": f"n{number}",
            **({"parent": f"n{number - 1}"} if number else {"new_root": True}),
            "time": f"2026-02-{1 + number // 4:02d}T08:{number % 60:02d}:00+01:00",
            "user": f"Entry {number} of the log book",
            "assistant": "Noted.",
        }
        for number in range(count)
    ]


def test_a_turn_is_carried_to_its_place(visitor, finger, forest):
    page = visitor.page
    _, starter, _, sink = visitor.parents(forest)
    before = camera(visitor)
    finger.hold(visitor.where(sink))
    finger.to(*visitor.where(starter))
    expect(page.get_by_test_id("drop-root")).to_be_visible()
    assert camera(visitor) == before, "the drawing stands still under the hand"
    finger.up()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("move-to")).to_contain_text("starter doubled")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_test_id("move-do").tap()
    expect(page.get_by_test_id("toast")).to_contain_text("Moved under")
    assert visitor.parents(forest)[sink] == starter
    page.get_by_test_id("toast-undo").tap()
    expect(page.get_by_test_id("toast")).to_have_text("Undone.")
    assert visitor.parents(forest)[sink] != starter


def test_let_go_over_the_foot_it_is_a_topic_of_its_own_and_over_nothing_it_stays(visitor, finger, forest):
    page = visitor.page
    _, _, kitchen, sink = visitor.parents(forest)
    finger.hold(visitor.where(sink))
    box = page.get_by_test_id("forest").bounding_box()
    finger.to(box["x"] + 40, box["y"] + box["height"] * 0.6)
    finger.up()
    expect(page.get_by_test_id("drop-root")).to_have_count(0)
    expect(page.locator("dialog")).to_have_count(0)

    finger.hold(visitor.where(sink))
    x, y = visitor.where(sink)
    finger.to(x + 20, y + 20)
    foot = page.get_by_test_id("drop-root").bounding_box()
    finger.to(foot["x"] + foot["width"] / 2, foot["y"] + foot["height"] / 2)
    finger.up()
    expect(page.get_by_role("dialog")).to_contain_text("A topic of its own")
    page.get_by_test_id("move-do").tap()
    expect(page.get_by_test_id("toast")).to_contain_text("topic of its own")
    assert visitor.parents(forest)[sink] is None and kitchen in visitor.parents(forest)


def test_a_press_shows_the_card_and_does_not_choose(visitor, finger, forest):
    page = visitor.page
    _, starter, *_ = visitor.parents(forest)
    finger.hold(visitor.where(starter))
    expect(page.locator(".forest-card")).to_contain_text("Starter doubled", ignore_case=True)
    finger.up()
    page.wait_for_timeout(300)
    expect(page.get_by_test_id("peek")).to_have_count(0)
    expect(page.get_by_test_id("state-menu")).to_have_count(0)
    page.touchscreen.tap(*visitor.where(starter))
    expect(page.get_by_test_id("peek")).to_be_visible()
    expect(page.locator(".forest-card")).to_be_hidden()


def test_a_swipe_pans_and_two_fingers_zoom_and_carry_nothing(visitor, finger):
    forest = visitor.plant(*log_book(60))
    visitor.open(forest)
    page = visitor.page
    page.get_by_test_id("phone-forest").tap()
    page.wait_for_timeout(450)
    last = list(visitor.parents(forest))[-2]
    x, y = visitor.where(last)
    before = camera(visitor)
    finger.down((x, y))
    finger.to(x, y + 160)
    finger.up()
    assert camera(visitor)["top"] < before["top"] - 2, "a swipe on a turn scrolls"
    expect(page.get_by_test_id("drop-root")).to_have_count(0)

    page.wait_for_timeout(400)
    before = camera(visitor)
    x, y = visitor.where(last - 4)
    finger.down((x, y))
    page.wait_for_timeout(HOLD)
    finger.down((x, y), (x + 60, y - 120))  # a second one comes: what was held is put back
    finger.to(x, y + 90)
    finger.up()
    expect(page.get_by_test_id("drop-root")).to_have_count(0)
    expect(page.locator("dialog")).to_have_count(0)


def test_carried_to_the_edge_the_drawing_goes_along(visitor, finger):
    forest = visitor.plant(*log_book(60), {**KITCHEN[0], "id": "k"})
    visitor.open(forest)
    page = visitor.page
    page.get_by_test_id("phone-forest").tap()
    page.wait_for_timeout(450)
    *_, kitchen = visitor.parents(forest)
    before = camera(visitor)
    finger.hold(visitor.where(kitchen))
    box = page.get_by_test_id("forest").bounding_box()
    finger.to(box["x"] + 60, box["y"] + 6)
    page.wait_for_timeout(700)
    assert camera(visitor)["top"] < before["top"] - 4
    x, y = visitor.forest(
        "view => { const { frame } = view.sight; const i = [...frame.ys].findIndex((y) => y > 120 && y < 400); return [frame.xs[i], frame.ys[i]]; }"
    )
    finger.to(box["x"] + x, box["y"] + y)
    finger.up()
    expect(page.get_by_test_id("move-to")).to_contain_text("log book")
    page.keyboard.press("Escape")


def test_days_are_chosen_on_the_strip(visitor, finger):
    forest = visitor.plant(*BREAD, *PACKING, *KITCHEN)
    visitor.open(forest)
    page = visitor.page
    page.get_by_test_id("phone-forest").tap()
    page.wait_for_timeout(450)
    ends = [page.get_by_test_id(f"brush-{end}").evaluate("e => e.firstElementChild.getBoundingClientRect().y + 4") for end in ("from", "to")]
    box = page.get_by_test_id("brush-from").bounding_box()
    middle = box["x"] + box["width"] / 2
    row = "(view, box, id) => { const { scene } = view.sight; return scene.states[scene.byId.get(id)].y / scene.height; }"
    packing = list(visitor.parents(forest))[2]
    y = ends[0] + visitor.forest(row, packing) * (ends[1] - ends[0])
    finger.down((middle, y - 15))
    finger.to(middle, y + 15)
    finger.up()
    clear = page.get_by_test_id("brush-clear")
    expect(clear).to_have_text(re.compile("^2 Mar"))
    expect(page).to_have_url(re.compile(r"from=2026-03-02&to=2026-03-02"))

    handle = page.get_by_test_id("brush-to").bounding_box()
    assert handle["height"] >= 24, "a finger finds it"
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    finger.down((x, y))
    finger.to(x, y + 300)
    finger.up()
    expect(clear).to_have_text(re.compile("^from 2 Mar"))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # Right after a swipe the browser takes a tap as what stops it, for as long as it glides: one taps again.
    for _ in range(3):
        page.wait_for_timeout(400)
        clear.tap()
        page.wait_for_timeout(400)
        if not clear.is_visible():
            break
    expect(clear).to_be_hidden()
    expect(page).not_to_have_url(re.compile("from="))
