"""What the forest got wrong, seen, understood and put right; a value edited and brought back; the forest as it was."""

import re

import pytest
from playwright.sync_api import expect

from tests.arborweb.site import until
from tests.e2e.conftest import PHONE
from tests.e2e.stories import ASTRAY, BREAD, FOLLOWS, KITCHEN
from tests.e2e.test_safe_and_readable import findings


def drag(visitor, state, to, hold=420):
    """Press on a state, hold it, carry it to a place; the hand is still closed."""
    mouse = visitor.page.mouse
    mouse.move(*visitor.where(state))
    mouse.down()
    visitor.page.wait_for_timeout(hold)
    x, y = to
    mouse.move(x - 30, y - 8, steps=4)
    mouse.move(x, y, steps=4)


@pytest.fixture
def two_matters(visitor):
    """Bread and a kitchen, and a turn about both that went to one of them: forest, the turn, where it went, the tip of the other matter."""
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    _, starter, _, sink = list(visitor.parents(forest))
    turn = visitor.say("The starter in the kitchen smells of rye flour again.", refined=True)
    went = visitor.parents(forest)[turn]
    return forest, turn, went, sink if went == starter else starter


def test_it_says_in_words_why_this_place_and_not_the_next(visitor):
    forest = visitor.plant(*KITCHEN, *BREAD)
    visitor.open(forest)
    visitor.say("About twenty thousand euros.", refined=True)
    turn = visitor.api("GET", f"forests/{forest}/turns/")["results"][-1]["id"]
    decision = visitor.api("GET", f"turns/{turn}/trace/")["decision"]
    [kitchen] = [one for one in decision["candidates"] if one["signs"].get("reply")]
    assert kitchen["signs"]["reply"]["quotes"] == ["What is your budget?"]
    visitor.turns.last.get_by_test_id("why").click()
    rows = visitor.page.get_by_test_id("contrast").get_by_test_id("difference")
    expect(rows).to_have_count(len(decision["contrast"]))
    assert len(decision["contrast"]) > 1
    for row, told in zip(rows.all(), decision["contrast"], strict=True):
        expect(row).to_have_attribute("data-for", "chosen" if told["by"] > 0 else "next")
        expect(row).to_contain_text(told["label"])
        expect(row).to_contain_text(told["words"])
    # In the order of their weight, and inside the panel.
    widths = [row.locator("rect").first.bounding_box()["width"] for row in rows.all()]
    assert widths == sorted(widths, reverse=True)
    assert visitor.page.get_by_test_id("contrast").evaluate("(box) => box.scrollWidth <= box.clientWidth")


def test_a_wrong_place_is_seen_understood_corrected_and_put_back(visitor, two_matters):
    forest, turn, went, other = two_matters
    page = visitor.page
    visitor.turns.last.get_by_test_id("why").click()
    expect(page.get_by_test_id("candidate").first).to_have_attribute("data-state", str(went))
    page.get_by_test_id("candidate").first.get_by_test_id("candidate-more").click()
    expect(page.get_by_test_id("candidate").first.get_by_role("table").first).to_contain_text("meaning")

    # Why not the other matter? Chosen in the drawing.
    page.get_by_test_id("why-not").click()
    expect(page.get_by_test_id("picking")).to_contain_text("Why not which one?")
    visitor.choose(other)
    comparison = page.get_by_test_id("comparison")
    expect(comparison.get_by_test_id("compare-words")).not_to_be_empty()
    expect(comparison.get_by_role("row", name=re.compile("^Score"))).to_be_visible()
    expect(page.get_by_test_id("picking")).to_have_count(0)

    # Moved there: seen first, then done.
    comparison.get_by_test_id("compare-move").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("move-preview")).to_contain_text("Only this turn moves")
    assert visitor.parents(forest)[turn] == went, "a preview changes nothing"
    dialog.get_by_test_id("move-do").click()
    expect(page.get_by_test_id("toast")).to_contain_text("Moved under")
    assert visitor.parents(forest)[turn] == other
    expect(page.get_by_test_id("forest").get_by_text("moved by you", exact=True)).to_be_visible()
    expect(page.get_by_test_id("corrected")).to_contain_text("Moved by")

    # And back, from the toast; the state remembers both.
    page.get_by_test_id("toast-undo").click()
    expect(page.get_by_test_id("toast")).to_have_text("Undone.")
    assert visitor.parents(forest)[turn] == went
    expect(page.get_by_test_id("corrected")).to_have_count(0)
    page.get_by_test_id("tab-state").click()
    expect(page.get_by_test_id("moves")).to_contain_text("undone")


def test_a_state_is_carried_to_its_place_and_escape_puts_it_back(visitor, two_matters):
    forest, turn, _, other = two_matters
    page = visitor.page
    page.get_by_test_id("fit").click()
    page.wait_for_timeout(450)
    camera = visitor.forest("(view) => view.getCamera()")

    # A short press and a pull moves nothing but the view, as ever.
    drag(visitor, turn, visitor.where(other), hold=0)
    page.mouse.up()
    expect(page.get_by_role("dialog")).to_have_count(0)

    visitor.forest("(view, box, camera) => view.setCamera(camera)", camera)
    drag(visitor, turn, visitor.where(other))
    expect(page.get_by_test_id("drop-root")).to_be_visible()
    page.keyboard.press("Escape")
    page.mouse.up()
    expect(page.get_by_test_id("drop-root")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)

    drag(visitor, turn, visitor.where(other))
    page.mouse.up()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("move-to")).to_contain_text(
        visitor.forest("(view, box, id) => view.sight.scene.states[view.sight.scene.byId.get(id)].row.label", other)
    )
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)

    # Onto nothing: a topic of its own.
    drop = page.get_by_test_id("forest").bounding_box()
    drag(visitor, turn, (drop["x"] + drop["width"] / 2, drop["y"] + drop["height"] - 34))
    page.mouse.up()
    expect(dialog).to_contain_text("A topic of its own")
    dialog.get_by_test_id("move-do").click()
    expect(page.get_by_test_id("counts")).to_contain_text("3 topics")
    assert visitor.parents(forest)[turn] is None
    assert visitor.forest("(view) => view.getCamera().unit") > 0


def test_a_turn_is_moved_and_put_back_by_keyboard(visitor, two_matters):
    forest, turn, went, other = two_matters
    page, keys = visitor.page, visitor.page.keyboard
    keys.press("Tab")
    page.get_by_role("tree").focus()
    keys.press("End")
    keys.press("Enter")
    keys.press("m")
    expect(page.get_by_test_id("picking")).to_contain_text("rye flour")
    expect(page.get_by_role("tree")).to_be_focused()
    keys.press("/")
    keys.type("sink stays" if other > went else "doubled in six hours")
    expect(page.get_by_test_id("hits").get_by_role("option").first).to_be_visible()
    keys.press("Enter")
    expect(page.get_by_test_id("move-preview")).to_be_visible()
    page.get_by_test_id("move-do").focus()
    keys.press("Enter")
    expect(page.get_by_test_id("toast")).to_contain_text("Moved under")
    assert visitor.parents(forest)[turn] == other
    expect(page.locator("dialog")).to_have_count(0)
    keys.press("u")
    expect(page.get_by_test_id("toast")).to_have_text("Undone.")
    assert visitor.parents(forest)[turn] == went

    # The menu of a state, and a way out of choosing.
    page.get_by_role("tree").focus()
    keys.press("Home")
    keys.press("Shift+F10")
    expect(page.get_by_test_id("state-menu").get_by_role("menuitem").first).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_test_id("state-menu")).to_have_count(0)


def test_later_turns_are_looked_at_again_and_moved_as_one_change(visitor):
    forest = visitor.plant(*KITCHEN)
    _, sink = list(visitor.parents(forest))
    strayed = visitor.api("POST", f"forests/{forest}/turns/", {"text": ASTRAY, "parent": sink, "wait": True})["state"]
    visitor.wait_until_refined(forest)
    page = visitor.page
    visitor.open(forest)
    later = visitor.say(FOLLOWS, refined=True)
    assert visitor.parents(forest)[later] == strayed, "it went to the end of the branch, where the other one had strayed"

    visitor.choose(strayed)
    page.get_by_test_id("tab-state").click()
    page.get_by_test_id("menu-state-more").click()
    page.get_by_role("menuitem", name="Make it a topic of its own…").click()
    expect(page.get_by_test_id("move-preview")).to_contain_text("2 turns move")
    page.get_by_test_id("move-do").click()
    page.get_by_test_id("toast-later").click()
    proposals = page.get_by_test_id("proposal")
    expect(proposals).to_have_count(1, timeout=30_000)
    assert visitor.parents(forest)[later] == strayed, "nothing moves by looking"
    proposals.check()
    page.get_by_test_id("replay-apply").click()
    expect(page.get_by_test_id("toast")).to_contain_text("1 turn moved.")
    assert visitor.parents(forest)[later] == sink
    page.get_by_test_id("toast-undo").click()
    expect(page.get_by_test_id("toast")).to_have_text("Undone.")
    assert visitor.parents(forest)[later] == strayed


def test_a_replay_that_was_left_is_found_again_and_says_when_nobody_does_it(visitor):
    """Its page was closed, then its worker was killed."""
    visitor.accept_errors("status of 409")  # how the page hears that there is one
    forest = visitor.plant(*KITCHEN)
    page = visitor.page
    visitor.open(forest)
    visitor.say(FOLLOWS, refined=True)
    first = min(visitor.parents(forest))
    [(job,)] = visitor.stack.rows(
        """INSERT INTO memory_job (forest_id, kind, status, done, total, message, result, created_at, updated_at)
        VALUES (%s, 'replay', 'running', 1, 3, 'Localizing', '{"after": 1, "proposals": [], "looked_at": 0}', now(), now()) RETURNING id""",
        forest,
    )
    visitor.choose(first)
    page.get_by_role("tree").focus()
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Look again at later turns…").click()
    working = page.get_by_test_id("replay-working")
    expect(working).to_contain_text("1 of 3 turns")
    expect(page.get_by_test_id("replay-stalled")).to_have_count(0)
    page.clock.set_fixed_time(page.evaluate("Date.now() + 25000"))
    expect(page.get_by_test_id("replay-stalled")).to_contain_text("Another takes it up by itself")
    assert findings(page) == []
    page.get_by_test_id("replay-stop").click()
    expect(page.locator("dialog")).to_have_count(0)
    assert until(lambda: visitor.api("GET", f"jobs/{job}/")["status"] == "cancelled")


def test_a_value_is_edited_compared_restored_and_the_change_undone(visitor):
    forest = visitor.plant()
    page = visitor.page
    visitor.open(forest)
    visitor.say("The kitchen budget is €18,000.", refined=True)
    visitor.say("The kitchen budget is €21,500 now.", refined=True)
    visitor.turns.last.get_by_test_id("chip-learned").first.click()
    values = page.get_by_test_id("timeline").get_by_test_id("revision")
    expect(values).to_have_count(2)

    page.get_by_test_id("edit-value").click()
    page.get_by_test_id("wording").fill("The kitchen budget is €22,000 now.")
    expect(page.get_by_test_id("wording-diff").locator("ins")).to_contain_text("22,000")
    page.get_by_test_id("wording-keep").click()
    expect(values).to_have_count(3)
    expect(values.last).to_have_attribute("data-status", "current")
    expect(values.last).to_contain_text("edited by you")

    page.get_by_test_id("menu-restore").click()
    page.get_by_role("menuitem", name=re.compile("18,000")).click()
    expect(page.get_by_test_id("toast")).to_contain_text("holds again")
    expect(values.filter(has_text="€18,000").first).to_have_attribute("data-status", "current")

    # Both are listed, and the last is undone from there.
    page.get_by_test_id("tab-health").click()
    changes = page.get_by_test_id("change")
    expect(changes).to_have_count(2)
    expect(changes.first).to_have_attribute("data-action", "restore")
    changes.first.get_by_test_id("undo-change").click()
    expect(changes.first).to_contain_text("undone")
    current = [fact["text"] for fact in visitor.api("GET", f"forests/{forest}/facts/")["results"]]
    assert "The kitchen budget is €22,000 now." in current
    assert not any("18,000" in text for text in current)


def test_the_forest_as_it_was(visitor):
    forest = visitor.plant()
    page = visitor.page
    visitor.open(forest)
    visitor.say("The kitchen budget is €18,000.", refined=True)
    visitor.say("The kitchen budget is €21,500 now.", refined=True)
    page.get_by_test_id("tab-evidence").click()
    expect(page.get_by_test_id("fact").filter(has_text="21,500")).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_test_id("travel").click()
    slider = page.get_by_test_id("time-slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("time-words")).to_contain_text("As of turn 1")
    expect(page.get_by_test_id("as-of-note")).to_contain_text("after turn 1")
    expect(page.get_by_test_id("fact").filter(has_text="18,000")).to_have_count(1)
    expect(page.get_by_test_id("fact").filter(has_text="21,500")).to_have_count(0)
    expect(page.get_by_test_id("forest").get_by_text("new value", exact=True)).to_be_hidden()
    expect(page).to_have_url(re.compile(r"as_of=1\b"))
    page.reload()
    visitor.ready()
    expect(page.get_by_test_id("time-words")).to_contain_text("As of turn 1")
    page.get_by_test_id("time-now").click()
    expect(page.get_by_test_id("fact").filter(has_text="21,500")).to_have_count(1)
    expect(page).not_to_have_url(re.compile("as_of"))


def test_links_to_a_trace_and_a_fact_open_chosen_and_in_view(visitor):
    forest = visitor.plant(*BREAD)
    page = visitor.page
    visitor.open(forest)
    state = visitor.say("My baker friend is called Jonas.", refined=True)
    turn = int(visitor.turns.last.get_attribute("data-turn"))
    fact = next(one for one in visitor.api("GET", f"forests/{forest}/facts/")["results"] if "Jonas" in one["text"])
    for link, shown in ((f"#fact={fact['id']}&tab=evidence", "timeline"), (f"#turn={turn}&tab=why", "trace")):
        page.goto("about:blank")
        visitor.open(forest, link)
        expect(page.get_by_test_id(shown)).to_contain_text("Jonas" if shown == "timeline" else "Turn 3")
        expect(page).to_have_url(re.compile(rf"state={state}\b"))
        place, box = visitor.forest("(view, box, id) => view.placeOf(id)", state), page.get_by_test_id("forest").bounding_box()
        assert 0 < place["y"] < box["height"]


def test_filters_dim_the_rest_and_are_in_the_address(visitor):
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    page = visitor.page
    first = min(visitor.parents(forest))
    page.get_by_test_id("filter").click()
    page.get_by_test_id("filter-topic").select_option(str(first))
    expect(page.get_by_test_id("filter-count")).to_have_text("2 of 4 turns")
    expect(page).to_have_url(re.compile(rf"topic={first}\b"))
    page.reload()
    visitor.ready()
    expect(page.get_by_test_id("filter")).to_have_attribute("aria-label", "Filters, 1 on")
    page.get_by_test_id("filter").click()
    page.get_by_test_id("filter-clear").click()
    expect(page.get_by_test_id("filter-count")).to_have_text("All 4 turns")


class TestOnAPhone:
    @pytest.fixture
    def look(self):
        return {"viewport": PHONE, "has_touch": True, "is_mobile": True}

    def test_a_turn_is_moved_by_taps(self, visitor, two_matters):
        forest, turn, _, other = two_matters
        page = visitor.page
        page.get_by_test_id("phone-forest").tap()
        visitor.choose(turn)
        page.get_by_test_id("peek").get_by_role("button", name="Open").tap()
        page.get_by_test_id("move-state").tap()
        expect(page.get_by_test_id("picking")).to_be_visible()
        visitor.choose(other)
        expect(page.get_by_test_id("move-preview")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        page.get_by_test_id("move-do").tap()
        expect(page.get_by_test_id("toast")).to_contain_text("Moved under")
        assert visitor.parents(forest)[turn] == other
