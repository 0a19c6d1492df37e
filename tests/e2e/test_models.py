"""Who answers: connected, tried, chosen and let go of in the page, with a scripted server on loopback behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.stack import Stack
from tests.e2e.stories import BREAD, KITCHEN
from tests.e2e.visitor import PATIENCE, Visitor
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Answer, Hostile, hostile_server

OFFLINE = "Answers are made offline"


def good(body: dict[str, Any]) -> Answer:
    if body.get("stream"):
        return scripts.stream(
            scripts.chunk({"content": f"{body['model']} says "}), 0.4, scripts.chunk({"content": "oak."}), scripts.chunk({}, "stop"), scripts.DONE
        )
    return scripts.whole('{"shade": "teal", "count": 7}' if "shade" in json.dumps(body) else "{}")


@pytest.fixture
def server(stack: Stack) -> Iterator[Hostile]:
    """A server with three models. Whatever a test connected is let go of, for those that come after."""
    with hostile_server() as server:
        server.models = Answer([json.dumps({"data": [{"id": name} for name in ("large", "small", "nomic-embed-text")]})])
        server.always = good
        yield server
        (stack.home / "connection.json").unlink(missing_ok=True)


@pytest.fixture
def staff(visitor: Visitor) -> Visitor:
    """Of those who run the site."""
    name = visitor.api("GET", "me/")["username"]
    visitor.stack.rows("UPDATE auth_user SET is_staff = true WHERE username = %s RETURNING id", name)
    return visitor


def connect(visitor: Visitor, server: Hostile) -> None:
    visitor.api("PUT", "model/connection/", {"base_url": server.url, "api_key": KEY, "model": "large"})


def test_a_model_is_tried_connected_and_let_go_of(staff: Visitor, server: Hostile) -> None:
    page = staff.page
    staff.open(staff.plant(*KITCHEN))
    expect(page.get_by_test_id("offline")).to_contain_text(OFFLINE)
    page.get_by_test_id("connect-model").click()
    form = page.get_by_test_id("connect")
    expect(page.get_by_test_id("role-answer")).to_contain_text("Offline engine")

    # A wrong address says what to do.
    form.get_by_role("button", name="LM Studio").click()
    expect(form.get_by_label("Address", exact=True)).to_have_value("http://127.0.0.1:1234/v1")
    form.get_by_label("Address", exact=True).fill("http://127.0.0.1:9/v1")
    form.get_by_label("Answers", exact=True).fill("large")
    form.get_by_label("Answers", exact=True).press("Enter")
    tested = page.get_by_test_id("test-answer")
    expect(tested).to_have_attribute("data-works", "false", timeout=PATIENCE)
    expect(tested).to_contain_text("Check that it runs")
    expect(page.get_by_test_id("test")).to_be_in_viewport()

    # So does a wrong key; the right one passes every check.
    form.get_by_label("Address", exact=True).fill(server.url)
    expect(tested).to_have_count(0)
    server.script(scripts.failure(401))
    form.get_by_label("Key", exact=True).fill("sk-wrong")
    page.get_by_test_id("look").click()
    expect(page.get_by_test_id("found").get_by_role("button")).to_have_text(["large", "small"])
    page.get_by_test_id("test").click()
    expect(tested).to_contain_text("refused the key")
    form.get_by_label("Key", exact=True).fill(KEY)
    page.get_by_test_id("test").click()
    expect(tested).to_have_attribute("data-works", "true", timeout=PATIENCE)
    assert tested.locator("li").evaluate_all("rows => rows.map((row) => row.dataset.check)") == ["list", "stream", "structured"]
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    expect(page.get_by_test_id("offline")).to_have_count(1)  # trying connects nothing

    page.get_by_test_id("use").click()
    expect(page.get_by_test_id("toast")).to_have_text("large answers from now on.")
    expect(page.get_by_test_id("offline")).to_have_count(0)
    staff.say("Which tree?")
    expect(staff.answer("Which tree?")).to_have_text("large says oak.")

    # The key is kept, and shown to nobody.
    page.reload()
    staff.ready()
    page.get_by_test_id("menu-forest").click()
    page.get_by_role("menuitem", name="Models…").click()
    expect(form.get_by_label("Key", exact=True)).to_have_value("")
    expect(form.get_by_label("Key", exact=True)).to_have_attribute("placeholder", "A key is kept")
    assert KEY not in page.content() and KEY not in "".join(staff.stack.logs().values())

    page.get_by_test_id("disconnect").click()
    expect(page.get_by_test_id("offline")).to_contain_text(OFFLINE)
    staff.say("And which bush?")
    expect(staff.answer("And which bush?")).not_to_contain_text("says oak")
    assert not (staff.stack.home / "connection.json").exists()


def test_another_model_is_chosen_for_the_forest(staff: Visitor, server: Hostile) -> None:
    page = staff.page
    forest, other = staff.plant(*KITCHEN), staff.plant(name="Work")
    connect(staff, server)
    staff.open(forest)
    page.get_by_test_id("menu-model").click()
    expect(page.get_by_role("menuitemradio")).to_have_text([re.compile("large.*usual", re.DOTALL), re.compile("small")])
    page.get_by_role("menuitemradio", name="small").click()
    expect(page.get_by_test_id("menu-model")).to_contain_text("small")
    staff.say("Which tree?")
    expect(staff.answer("Which tree?")).to_have_text("small says oak.")
    staff.turn("Which tree?").get_by_test_id("why").click()
    expect(page.get_by_test_id("trace").locator("xpath=..")).to_contain_text("Answered by small in")

    # It is this forest's alone, and kept.
    staff.open(other)
    expect(page.get_by_test_id("menu-model")).to_contain_text("large")
    staff.open(forest)
    expect(page.get_by_test_id("menu-model")).to_contain_text("small")


def test_a_chosen_model_that_is_gone_is_said(staff: Visitor, server: Hostile) -> None:
    forest = staff.plant(*KITCHEN)
    connect(staff, server)
    staff.api("PATCH", f"forests/{forest}/", {"answer_model": "small"})
    server.models = Answer([json.dumps({"data": [{"id": "large"}]})])
    staff.api("PUT", "model/connection/", {"base_url": server.url, "api_key": "another", "model": "large"})  # whose list nobody knows yet
    staff.open(forest)
    picker = staff.page.get_by_test_id("menu-model")
    expect(picker).to_have_attribute("aria-label", re.compile("^small isn’t offered any more, large answers"))
    staff.say("Which tree?")
    expect(staff.answer("Which tree?")).to_have_text("large says oak.")
    staff.turn("Which tree?").get_by_test_id("why").click()
    expect(staff.page.get_by_test_id("note-model_gone")).to_be_visible()


def test_others_see_who_answers_and_cannot_change_it(visitor: Visitor, server: Hostile) -> None:
    page = visitor.page
    visitor.open(visitor.plant(*KITCHEN))
    page.get_by_test_id("connect-model").click()
    expect(page.get_by_test_id("ask-staff")).to_be_visible()
    expect(page.get_by_test_id("connect")).to_have_count(0)
    page.keyboard.press("Escape")
    # The line can be put away; a word stays that leads there.
    page.get_by_test_id("offline-close").click()
    expect(page.get_by_test_id("offline")).to_have_count(0)
    page.reload()
    visitor.ready()
    expect(page.get_by_test_id("offline-word")).to_be_visible()
    expect(page.get_by_test_id("offline")).to_have_count(0)
    page.get_by_test_id("offline-word").click()
    expect(page.get_by_test_id("models")).to_be_visible()
    visitor.api("PUT", "model/connection/", {"base_url": server.url}, status=403)
    visitor.accept_errors("403")


@pytest.mark.parametrize("look", [{"viewport": PHONE, "has_touch": True, "is_mobile": True}])
def test_on_a_phone(staff: Visitor, server: Hostile) -> None:
    page, forest = staff.page, staff.plant(*KITCHEN)
    connect(staff, server)
    staff.open(forest)
    page.get_by_test_id("menu-model").tap()
    page.get_by_role("menuitem", name="About the models…").tap()
    page.get_by_test_id("test").tap()
    expect(page.get_by_test_id("test-answer")).to_have_attribute("data-works", "true", timeout=PATIENCE)
    expect(page.get_by_test_id("use")).to_be_in_viewport()
    widths = "box => [box.scrollWidth, box.clientWidth]"
    for box in (page.locator("html"), page.locator(".dialog-inner")):
        wide, room = box.evaluate(widths)
        assert wide <= room


VAGUE = ("Does it need more of it?", "What about the window, then?", "How much water?", "Is it done in six hours?", "The oven is hot.", "And under it?")


def test_a_turn_that_the_model_was_asked_about_is_marked(staff: Visitor, server: Hostile) -> None:
    """Ranking is unsure of one of these; recall says of which. The model is asked about it, once, and the page says what came of that."""
    page, forest = staff.page, staff.plant(*KITCHEN, *BREAD)
    staff.wait_until_refined(forest)
    connect(staff, server)
    places = {text: staff.api("POST", f"forests/{forest}/recall/", {"text": text})["localization"] for text in VAGUE}
    vague = next(text for text, place in places.items() if place["asks"])

    def about_a_place(body: dict[str, Any]) -> bool:
        return "Which conversation does the message belong to?" in json.dumps(body)

    server.always = lambda body: scripts.whole('{"place": 1}', told=scripts.usage(420, 6)) if about_a_place(body) else good(body)
    staff.open(forest)
    staff.say(vague)
    expect(staff.turn(vague).get_by_test_id("asked")).to_have_text("model asked")
    assert sum(map(about_a_place, server.bodies)) == 1
    staff.turn(vague).get_by_test_id("why").click()
    trace = page.get_by_test_id("trace").locator("xpath=..")
    expect(trace).to_contain_text("language model was asked")
    expect(trace).to_contain_text("Model asked for the place, ")
    trace.get_by_test_id("costs").locator("summary").click()
    expect(trace.get_by_role("row", name=re.compile("^Place 1 420 6"))).to_be_visible()
    expect(trace.get_by_role("row", name=re.compile("^Model asked for the place"))).to_be_visible()
