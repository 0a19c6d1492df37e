"""Deleting for good: seen first, then done, and nothing of it left; “Forget that …” in the chat."""

import re

from playwright.sync_api import expect

from tests.e2e.stories import BREAD, KITCHEN

SECRET = "The safe in the kitchen opens with Mondkalb 4711."


def test_a_turn_is_deleted_after_its_consequences_were_seen(visitor):
    forest = visitor.plant(*BREAD, *KITCHEN)
    page = visitor.page
    visitor.open(forest)
    state = visitor.say(SECRET, refined=True)
    after = visitor.say("The kitchen safe also holds the passports.", refined=True)
    visitor.turn(SECRET).get_by_test_id("edit").click()
    page.get_by_test_id("edit-text").fill(f"{SECRET} No, 4712.")
    page.get_by_test_id("forest").evaluate("(box, id) => box.forestView.centerOn(id)", state)
    visitor.open(forest, f"#state={state}&tab=state")
    kept = "JSON.stringify({ ...localStorage })"
    assert "Mondkalb" in page.evaluate(kept), "an edit that was begun waits in this browser"
    page.get_by_test_id("menu-state-more").click()
    page.get_by_role("menuitem", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("forget-preview")).to_contain_text("1 turn")
    if visitor.parents(forest)[after] == state:
        expect(dialog.get_by_test_id("children_to_parent")).to_be_checked()
    assert state in visitor.parents(forest), "a preview deletes nothing"
    dialog.get_by_test_id("forget-do").click()
    expect(page.get_by_test_id("toast")).to_have_text("The turn is deleted.")
    expect(page.locator("dialog")).to_have_count(0)
    assert state not in visitor.parents(forest)
    assert after in visitor.parents(forest)
    expect(page.get_by_test_id("counts")).to_contain_text("5 states")
    assert not [hit for hit in visitor.api("GET", f"forests/{forest}/search/?q=Mondkalb")["results"] if "Mondkalb" in hit["text"]]
    expect(visitor.turns.filter(has_text="Mondkalb")).to_have_count(0)
    assert "Mondkalb" not in page.evaluate(kept)
    expect(page.get_by_test_id("edit-text")).to_have_count(0)


def test_forget_that_in_the_chat_asks_which_and_deletes_it(visitor):
    forest = visitor.plant(*BREAD)
    page = visitor.page
    visitor.open(forest)
    visitor.say("My neighbour is called Mondkalb.", refined=True)
    visitor.message.fill("Forget that my neighbour is called Mondkalb.")
    visitor.message.press("Enter")
    matches = page.get_by_test_id("forget-matches").get_by_test_id("match")
    expect(matches.first).to_contain_text("Mondkalb")
    assert len(visitor.api("GET", f"forests/{forest}/turns/")["results"]) == 3, "it is no turn"
    expect(visitor.turns).to_have_count(3)
    matches.and_(page.locator("[data-kind=state]")).first.click()
    expect(page.get_by_test_id("forget-preview")).to_be_visible()
    page.get_by_test_id("forget-do").click()
    expect(page.get_by_test_id("toast")).to_have_text("The turn is deleted.")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(visitor.turns).to_have_count(2)
    expect(page.get_by_text("Mondkalb")).to_have_count(0)

    # It can be meant as something to say.
    text = "Forget that idea with the blue tiles."
    visitor.message.fill(text)
    visitor.message.press("Enter")
    page.get_by_test_id("forget-say").click()
    expect(visitor.turn(text)).to_have_attribute("data-status", re.compile("answered|refined"), timeout=30_000)


def test_a_forest_goes_only_when_its_name_is_written(visitor):
    kept, forest = visitor.plant(*BREAD, name="Kept"), visitor.plant(*KITCHEN, name="Old kitchen")
    page = visitor.page
    visitor.open(forest)
    written = "Object.keys(localStorage).filter((key) => key.startsWith('arborweb.draft.'))"
    visitor.message.fill("The old kitchen had a stove.")
    page.wait_for_function(f"{written}.length === 1")
    other = visitor.new_page()
    other.goto(page.url)
    expect(other.get_by_test_id("counts")).to_contain_text("states")
    page.get_by_test_id("menu-forest").click()
    page.get_by_role("menuitem", name="Delete this forest…").click()
    expect(page.get_by_test_id("forget-preview")).to_be_visible()
    expect(page.get_by_test_id("forget-do")).to_be_disabled()
    page.get_by_test_id("forget-typed").fill("Old kitchen")
    page.get_by_test_id("forget-do").click()
    expect(page).to_have_url(re.compile(rf"/forests/{kept}/"))
    assert [one["id"] for one in visitor.api("GET", "forests/")["results"]] == [kept]
    assert page.evaluate(written) == [], "what was being written for it is gone from the browser"
    expect(other.get_by_test_id("notice")).to_contain_text("This forest isn’t here any more.", timeout=5_000)  # its socket was closed at once
    expect(page.get_by_test_id("notice")).to_have_count(0)
