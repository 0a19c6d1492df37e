"""A turn edited in its place grows a branch beside it; code is shown in colour; what one tab drops or keeps, the other follows."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.stories import ASK_PACKING, CODE, KITCHEN, LONG_LINE, PACKING
from tests.e2e.test_safe_and_readable import findings
from tests.e2e.visitor import ANSWERED, PATIENCE

SINK = "The sink stays under the window."
MOVED = "The sink moves to the long wall."


def edit(visitor, text):
    """Open the field of the turn with this text."""
    turn = visitor.turn(text)
    turn.hover()
    turn.get_by_test_id("edit").click()
    field = visitor.page.get_by_test_id("edit-text")
    expect(field).to_be_focused()
    expect(field).to_have_value(text)
    return field


def test_an_edited_turn_is_a_sibling_in_the_forest_and_says_so_in_the_chat(visitor):
    forest = visitor.plant(*KITCHEN)
    visitor.open(forest)
    [(root, none), (sink, above)] = visitor.parents(forest).items()
    assert (none, above) == (None, root)
    field = edit(visitor, SINK)
    send = visitor.page.get_by_test_id("edit-send")
    expect(send).to_be_disabled()
    field.press("Enter")
    expect(field).to_be_visible()
    field.fill(MOVED)
    field.press("Shift+Enter")
    expect(field).to_have_value(f"{MOVED}\n")
    expect(send).to_be_enabled()
    field.press("Enter")

    moved = visitor.turn(MOVED)
    expect(moved).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
    assert visitor.turns.last.get_attribute("data-turn") == moved.get_attribute("data-turn"), "at the end, as every turn"
    expect(visitor.turn(SINK)).to_have_count(1)
    state = int(moved.get_attribute("data-state"))
    assert visitor.parents(forest) == {root: None, sink: root, state: root}
    at = {one: visitor.forest("(view, box, id) => view.placeOf(id)", one) for one in (root, sink, state)}
    assert at[root]["x"] == at[sink]["x"] != at[state]["x"], "a lane of its own"
    assert at[state]["y"] > at[sink]["y"]

    expect(moved.get_by_test_id("edited-from")).to_have_text(re.compile(f"Edited from\\s+“{re.escape(SINK)}”"))
    later = visitor.turn(SINK).get_by_test_id("edited-later")
    expect(later).to_have_text(re.compile(f"Edited later:\\s+“{re.escape(MOVED)}”"))
    moved.get_by_test_id("edited-from").click()
    expect(visitor.turn(SINK)).to_be_focused()
    expect(visitor.page).to_have_url(re.compile(f"state={sink}\\b"))
    later.click()
    expect(moved).to_be_focused()
    expect(visitor.page).to_have_url(re.compile(f"state={state}\\b"))
    visitor.page.reload()
    visitor.ready()
    expect(visitor.turn(MOVED).get_by_test_id("edited-from")).to_be_visible()
    expect(visitor.turn(SINK).get_by_test_id("edited-later")).to_be_visible()


def test_an_edited_root_grows_a_tree_of_its_own_and_asking_again_a_sibling(visitor):
    forest = visitor.plant(*KITCHEN)
    visitor.open(forest)
    first = KITCHEN[0]["user"]
    root, sink = visitor.parents(forest)
    edit(visitor, first).fill("We are redoing our bathroom, with no window at all.")
    visitor.page.get_by_test_id("edit-send").click()
    bathroom = visitor.turn("We are redoing our bathroom, with no window at all.")
    expect(bathroom).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
    visitor.turn(SINK).hover()
    visitor.turn(SINK).get_by_test_id("ask-again").click()
    again = visitor.turn(SINK).nth(1)
    expect(again).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
    expect(again.get_by_test_id("edited-from")).to_have_text(re.compile("Asked again"))
    expect(visitor.turn(SINK).first.get_by_test_id("edited-later")).to_have_text(re.compile("Asked again later"))
    parents = visitor.parents(forest)
    assert parents[int(bathroom.get_attribute("data-state"))] is None
    assert parents[int(again.get_attribute("data-state"))] == root
    assert parents[sink] == root


def test_the_edit_begun_is_kept_over_a_reload_and_given_up_with_escape(visitor):
    forest = visitor.plant(*KITCHEN)
    visitor.open(forest)
    edit(visitor, SINK).fill(MOVED)
    visitor.message.fill("A draft of another message")
    visitor.page.reload()
    visitor.ready()
    field = visitor.page.get_by_test_id("edit-text")
    expect(field).to_have_value(MOVED)
    expect(visitor.message).to_have_value("A draft of another message")
    field.press("Escape")
    expect(field).to_have_count(0)
    expect(visitor.turn(SINK).get_by_test_id("edit")).to_be_focused()
    assert len(visitor.parents(forest)) == 2

    # By keyboard alone: Enter on the focused tool opens it again with what was written; the original text is one step away.
    visitor.page.keyboard.press("Enter")
    expect(field).to_have_value(MOVED)
    visitor.page.get_by_test_id("edit-original").click()
    expect(field).to_have_value(SINK)
    expect(visitor.page.get_by_test_id("edit-send")).to_be_disabled()
    field.press("Escape")
    visitor.page.get_by_test_id("turns").focus()
    visitor.page.keyboard.press("e")
    expect(field).to_have_value(SINK)


def test_a_key_that_ends_a_composition_sends_nothing(visitor):
    forest = visitor.plant(*KITCHEN)
    visitor.open(forest)
    field = edit(visitor, SINK)
    field.fill("台所")
    for how in ("{isComposing: true}", "{keyCode: 229}"):
        field.evaluate(f"(field) => field.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true, cancelable: true, ...{how}}}))")
    visitor.page.wait_for_timeout(200)
    expect(field).to_have_value("台所")
    assert len(visitor.api("GET", f"forests/{forest}/turns/")["results"]) == 2


LUMINANCE = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number); return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b); };
const contrast = (a, b) => { const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x); return (hi + .05) / (lo + .05); };
"""
COLOURS = f"""(code) => {{ {LUMINANCE}
  const ground = getComputedStyle(code.closest('.code')).backgroundColor;
  const plain = getComputedStyle(code).color;
  return [...code.querySelectorAll('span')].filter((span) => span.childElementCount === 0)
    .map((span) => ({{kind: span.className, plain, colour: getComputedStyle(span).color, contrast: contrast(getComputedStyle(span).color, ground)}}));
}}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_is_in_colour_and_can_be_read(visitor, scheme):
    page = visitor.page
    page.emulate_media(color_scheme=scheme)
    visitor.open(visitor.plant(*CODE))
    coloured, plain = page.get_by_test_id("answer").locator("pre code").all()
    expect(coloured.locator(".hljs-keyword").first).to_be_visible()
    parts = coloured.evaluate(COLOURS)
    by_kind = {part["kind"]: part for part in parts}
    for kind in ("hljs-keyword", "hljs-string", "hljs-number", "hljs-comment", "hljs-title function_"):
        assert by_kind[kind]["colour"] != by_kind[kind]["plain"], kind
    assert len({part["colour"] for part in parts}) >= 5
    assert min(part["contrast"] for part in parts) >= 4.5, sorted((part["contrast"], part["kind"]) for part in parts)
    assert plain.locator("span").count() == 0, "no language, no colour"

    # The sanitizer comes last and leaves what is needed: links lead away in a tab of their own, code takes the focus.
    link = page.get_by_test_id("answer").get_by_role("link", name="the manual")
    assert [link.get_attribute(name) for name in ("href", "target", "rel")] == ["https://boards.example/count", "_blank", "noopener noreferrer nofollow"]

    # A long line scrolls inside, by keyboard too; the page doesn't.
    pre = page.get_by_test_id("answer").locator("pre").first
    assert pre.evaluate("(pre) => pre.scrollWidth > pre.clientWidth + 100")
    assert page.get_by_test_id("turns").evaluate("(turns) => turns.scrollWidth <= turns.clientWidth")
    assert pre.get_attribute("tabindex") == "0"
    pre.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("(pre) => pre.scrollLeft > 0", arg=pre.element_handle())

    # The same in the inspector's raw turn.
    page.get_by_test_id("tab-state").click()
    expect(page.get_by_test_id("inspector").locator(".hljs-keyword").first).to_be_visible()


def test_copying_code_copies_it_and_says_so(visitor):
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open(visitor.plant(*CODE))
    block = visitor.page.get_by_test_id("answer").locator(".code").first
    expect(block.locator(".hljs-keyword").first).to_be_visible()
    block.get_by_role("button", name="Copy").click()
    expect(visitor.page.get_by_test_id("toast")).to_have_text("The code is copied.")
    copied = visitor.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("from math import ceil\n\n\ndef boards(") and copied.endswith(f"{LONG_LINE}\n")

    # Over plain HTTP there is no clipboard to ask for.
    visitor.page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    visitor.page.evaluate("document.addEventListener('copy', () => { window.copiedText = document.activeElement.value; })")
    visitor.turns.first.hover()
    visitor.turns.first.get_by_test_id("copy").click()
    expect(visitor.page.get_by_test_id("toast")).to_have_text("The answer is copied.")
    assert visitor.page.evaluate("window.copiedText").startswith("Round up, then add one for waste:")


def test_a_stopped_turn_is_written_anew(visitor):
    forest = stopped(visitor)
    visitor.message.fill("Something begun meanwhile")
    visitor.turn(ASK_PACKING).get_by_test_id("rewrite").click()
    expect(visitor.turn(ASK_PACKING)).to_have_count(0)
    expect(visitor.message).to_be_focused()
    expect(visitor.message).to_have_value(f"Something begun meanwhile\n\n{ASK_PACKING}")
    assert len(visitor.api("GET", f"forests/{forest}/turns/")["results"]) == 1


def test_no_serious_finding_of_the_accessibility_scan(visitor):
    visitor.open(visitor.plant(*KITCHEN, *CODE))
    edit(visitor, SINK).fill(MOVED)
    found = findings(visitor.page)
    visitor.page.get_by_test_id("edit-send").click()
    expect(visitor.turn(MOVED)).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
    visitor.turn(SINK).hover()
    assert found + findings(visitor.page) == []


def other_tab(visitor):
    other = visitor.new_page()
    other.goto(visitor.page.url)
    expect(other.get_by_test_id("app")).to_have_attribute("data-ready", "true", timeout=PATIENCE)
    return other


def stopped(visitor):
    """An answer stopped amid its words, and another tab that came to it afterwards."""
    forest = visitor.plant(*PACKING)
    visitor.open(forest)
    visitor.send(ASK_PACKING)
    visitor.partial(ASK_PACKING, words=5)
    visitor.page.get_by_test_id("stop").click()
    expect(visitor.turn(ASK_PACKING)).to_have_attribute("data-status", "cancelled")
    return forest


@pytest.mark.parametrize("late", [False, True], ids=["watching all the time", "opened afterwards"])
def test_what_one_tab_drops_vanishes_in_the_other(visitor, late):
    forest = stopped(visitor) if late else None
    other = other_tab(visitor) if late else None
    if other is None:
        forest = visitor.plant(*PACKING)
        visitor.open(forest)
        other = other_tab(visitor)
        visitor.send(ASK_PACKING)
        visitor.partial(ASK_PACKING, words=5)
        visitor.page.get_by_test_id("stop").click()
    shown = other.get_by_test_id("turn").filter(has_text=ASK_PACKING)
    expect(shown).to_have_attribute("data-status", "cancelled")
    visitor.turn(ASK_PACKING).get_by_test_id("drop").click()
    expect(visitor.turn(ASK_PACKING)).to_have_count(0)
    expect(shown).to_have_count(0, timeout=1_500)
    expect(other.get_by_test_id("notice")).to_have_count(0)
    assert len(visitor.api("GET", f"forests/{forest}/turns/")["results"]) == 1


def test_what_one_tab_keeps_or_tries_again_the_other_follows(visitor):
    stopped(visitor)
    other = other_tab(visitor)
    shown = other.get_by_test_id("turn").filter(has_text=ASK_PACKING)
    visitor.turn(ASK_PACKING).get_by_test_id("retry").click()
    expect(shown).to_have_attribute("data-status", "answering", timeout=PATIENCE)
    visitor.partial(ASK_PACKING, words=4)
    visitor.page.get_by_test_id("stop").click()
    expect(shown).to_have_attribute("data-status", "cancelled")
    shown.get_by_test_id("keep").click()
    for turn in (shown, visitor.turn(ASK_PACKING)):
        expect(turn).to_have_attribute("data-status", ANSWERED)
        expect(turn).to_have_attribute("data-state", re.compile(r"\d+"))
        expect(turn.get_by_test_id("turn-trouble")).to_have_count(0)


def test_a_tab_that_missed_it_finds_out_when_it_is_back(visitor):
    stopped(visitor)
    other = other_tab(visitor)
    shown = other.get_by_test_id("turn").filter(has_text=ASK_PACKING)
    expect(shown).to_have_count(1)
    visitor.accept_errors("ERR_INTERNET_DISCONNECTED|WebSocket")
    reachable = []
    other.route_web_socket(re.compile("/ws/"), lambda socket: socket.connect_to_server() if reachable else socket.close())
    other.reload()
    expect(other.get_by_test_id("reconnecting")).to_be_visible(timeout=PATIENCE)
    expect(shown).to_have_count(1)
    visitor.turn(ASK_PACKING).get_by_test_id("drop").click()
    expect(visitor.turn(ASK_PACKING)).to_have_count(0)
    reachable.append(True)
    expect(shown).to_have_count(0, timeout=PATIENCE)


def test_a_long_message_is_shown_in_short_and_whole_on_demand(visitor):
    forest = visitor.plant(*KITCHEN)
    visitor.open(forest)
    lines = [f"{number}. Take the board {number} to the saw and cut it at {number * 3} cm." for number in range(560)]
    text = "\n".join(lines)
    assert 28_000 < len(text) < 32_000
    visitor.message.fill(text)
    visitor.message.press("Enter")
    turn = visitor.turns.last
    expect(turn).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
    bubble = turn.get_by_test_id("bubble")
    expect(bubble).to_contain_text(lines[3])
    expect(bubble).not_to_contain_text(lines[40])
    assert bubble.bounding_box()["height"] < 450
    bubble.get_by_test_id("show-all").click()
    expect(bubble).to_contain_text(lines[559])
    expect(bubble.get_by_test_id("show-all")).to_have_attribute("aria-expanded", "true")
    bubble.get_by_test_id("show-all").click()
    expect(bubble).not_to_contain_text(lines[40])
    assert visitor.api("GET", f"forests/{forest}/turns/")["results"][-1]["text"] == text


@pytest.mark.parametrize(
    ("text", "direction"),
    [("אני רוצה מטבח חדש\nעם חלון גדול", "rtl"), ("台所の予算は二百万円です。\n窓は一つだけです。", "ltr"), ("eins\n\n\n  zwei\tdrei", "ltr")],
    ids=["Hebrew", "Japanese", "blank lines and tabs"],
)
def test_every_script_and_every_line_is_shown_as_it_was_written(visitor, text, direction):
    visitor.open(visitor.plant(*KITCHEN))
    visitor.message.fill(text)
    visitor.message.press("Enter")
    turn = visitor.turns.last
    bubble = turn.get_by_test_id("bubble")
    expect(bubble).to_contain_text(text.partition("\n")[0])  # until then the last turn is the one before
    expect(turn).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
    assert bubble.evaluate("(bubble) => bubble.innerText") == text
    assert bubble.evaluate("(bubble) => getComputedStyle(bubble).direction") == direction
    turn.hover()
    turn.get_by_test_id("edit").click()
    field = visitor.page.get_by_test_id("edit-text")
    expect(field).to_have_value(text)
    assert field.evaluate("(field) => getComputedStyle(field).direction") == direction
