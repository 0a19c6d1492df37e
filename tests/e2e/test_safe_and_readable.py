"""What must hold on every page: no serious finding of the accessibility scan, no breach of the content policy, memories shown as text."""

from functools import cache

import pytest
from playwright.sync_api import expect

from arborweb.home import PROJECT
from tests.e2e.conftest import PHONE
from tests.e2e.stories import BREAD, KITCHEN
from tests.e2e.visitor import ANSWERED, PATIENCE


@cache
def axe() -> str:
    return (PROJECT / "frontend/node_modules/axe-core/axe.min.js").read_text()


def findings(page, preload=True) -> list[str]:
    """Serious and critical ones, with the elements; colours in both themes. `preload` reads stylesheets that import others by styles of the scan's own,
    which the content policy reports: without it a locked orientation isn't looked for."""
    page.evaluate(axe())  # through the debugger, where the page's content policy doesn't apply
    found = []
    for scheme, what in (("light", None), ("dark", "color-contrast")):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(350)  # colours under way to another don't count, however long a busy machine takes over them
        page.wait_for_function("() => document.getAnimations().every((one) => !(one instanceof CSSTransition) || one.playState !== 'running')")
        asked = "([rule, preload]) => axe.run(document, {resultTypes: ['violations'], preload, ...(rule && {runOnly: [rule]})})"
        result = page.evaluate(asked, [what, preload])
        assert result["passes"], "the scan looked at the page"
        found += [
            f"{scheme}: {finding['impact']} {finding['id']}: {node['target']} {node['html'][:120]} {(node['any'] or [{'message': ''}])[0]['message']}"
            for finding in result["violations"]
            if finding["impact"] in {"serious", "critical"}
            for node in finding["nodes"]
        ]
    return found


def test_the_scan_finds_what_is_wrong(stack, stranger):
    stranger.page.goto(f"{stack.address}/sign-in/")
    assert findings(stranger.page) == []
    stranger.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    stranger.page.evaluate("document.querySelector('h1').style.setProperty('color', '#1a2a22')")  # on the dark ground
    found = findings(stranger.page)
    assert any("button-name" in finding for finding in found)
    assert any("dark: serious color-contrast" in finding for finding in found)


def test_no_serious_finding_anywhere_on_the_page(visitor):
    page = visitor.page
    assert findings(page) == [], "first visit"
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    visitor.say("The kitchen budget is €18,000.", refined=True)
    visitor.say("The kitchen budget is €21,500 now.", refined=True)
    found = {}
    for tab in ("why", "state", "evidence", "health"):
        page.get_by_test_id(f"tab-{tab}").click()
        expect(page.get_by_test_id(f"tab-{tab}")).to_have_attribute("aria-selected", "true")
        found[tab] = findings(page)
    page.get_by_test_id("tab-evidence").click()
    page.get_by_test_id("fact").first.click()
    found["timeline"] = findings(page)
    page.get_by_test_id("search").fill("starter")
    expect(page.get_by_test_id("hits")).to_be_visible()
    found["search"] = findings(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    found["help"] = findings(page)
    page.keyboard.press("Escape")
    page.get_by_test_id("drawing-tree").click()
    found["tree"] = findings(page)
    assert {part: problems for part, problems in found.items() if problems} == {}


def test_no_serious_finding_where_things_are_put_right(visitor):
    page = visitor.page
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    visitor.say("The kitchen budget is €18,000.", refined=True)
    visitor.say("The kitchen budget is €21,500 now.", refined=True)
    starter = min(visitor.parents(forest))
    found = {}
    page.get_by_test_id("tab-why").click()
    page.get_by_test_id("why-not").click()
    found["choosing"] = findings(page)
    visitor.choose(starter)
    expect(page.get_by_test_id("comparison")).to_be_visible()
    page.get_by_test_id("meaning").locator("summary").click()
    page.get_by_test_id("costs").locator("summary").click()
    page.get_by_test_id("candidate-more").first.click()
    found["comparison"] = findings(page)
    page.get_by_test_id("compare-move").click()
    expect(page.get_by_test_id("move-preview")).to_be_visible()
    found["move"] = findings(page)
    page.get_by_test_id("move-do").click()
    expect(page.get_by_test_id("toast-undo")).to_be_visible()
    page.get_by_test_id("tab-state").click()
    expect(page.get_by_test_id("moves")).to_be_visible()
    found["moved"] = findings(page)
    page.get_by_test_id("menu-state-more").click()
    page.get_by_role("menuitem", name="Delete…").click()
    expect(page.get_by_test_id("forget-preview")).to_be_visible()
    found["forget"] = findings(page)
    page.keyboard.press("Escape")
    page.get_by_test_id("tab-health").click()
    expect(page.get_by_test_id("changes")).to_be_visible()
    found["health"] = findings(page)
    page.get_by_test_id("filter").click()
    found["filters"] = findings(page)
    page.keyboard.press("Escape")
    page.get_by_test_id("tab-evidence").click()
    page.get_by_test_id("fact").first.click()
    page.get_by_test_id("edit-value").click()
    page.get_by_test_id("wording").fill("The kitchen budget is not fixed.")
    found["wording"] = findings(page)
    page.keyboard.press("Escape")
    page.get_by_test_id("travel").click()
    page.get_by_test_id("time-slider").press("ArrowLeft")
    expect(page.get_by_test_id("as-of-note")).to_be_visible()
    found["time"] = findings(page)
    assert {part: problems for part, problems in found.items() if problems} == {}


class TestOnAPhone:
    @pytest.fixture
    def look(self):
        return {"viewport": PHONE, "has_touch": True, "is_mobile": True}

    def test_no_serious_finding(self, visitor):
        visitor.open(visitor.plant(*BREAD, *KITCHEN))
        found = {}
        for tab in ("chat", "forest", "details"):
            visitor.page.get_by_test_id(f"phone-{tab}").tap()
            found[tab] = findings(visitor.page)
        assert {part: problems for part, problems in found.items() if problems} == {}


@pytest.mark.parametrize("path", ["/sign-in/", "/admin/login/", "/api/docs/", "/nothing-here/"])
def test_no_page_breaks_its_content_policy(stack, stranger, path):
    stranger.accept_errors("404 .*nothing-here")
    answer = stranger.page.goto(f"{stack.address}{path}", wait_until="networkidle")
    policy = answer.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy
    assert "default-src 'none'" in policy
    assert stranger.violations() == []
    if path == "/api/docs/":
        expect(stranger.page.locator(".opblock").first).to_be_visible()
    # The watch would notice one: an inline script is refused and reported.
    stranger.accept_errors("Content Security Policy|policy: script-src")
    stranger.page.evaluate("document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = true'}))")
    stranger.page.wait_for_timeout(100)
    assert stranger.page.evaluate("window.ran") is None
    assert any("script-src" in violation for violation in stranger.violations())


CANARY = '<img src=x onerror="window.canary=1"><script>window.canary=2</script><b>bold</b>'
ANSWER = (
    f"Kept: {CANARY}\n\n![picture](https://tracker.example/pixel.png) and [a link](javascript:window.canary=3)\n\n"
    '<iframe src="https://tracker.example/"></iframe>\n\n```html\n<script>window.canary=4</script>\n```'
)


def test_what_is_remembered_is_shown_as_text(visitor):
    page = visitor.page
    forest = visitor.plant(
        {"id": "x1", "new_root": True, "time": "2026-03-01T08:00:00+01:00", "user": f"My password hint is {CANARY} for the canary.", "assistant": ANSWER},
        *BREAD,
    )
    visitor.open(forest)
    [bubble] = page.get_by_test_id("bubble").filter(has_text="canary").all()
    assert CANARY in bubble.inner_text()
    answer = page.get_by_test_id("answer").filter(has_text="Kept:")
    assert CANARY in answer.inner_text()
    text = f"The name of my boat is {CANARY}"
    visitor.say(text, refined=True)
    assert CANARY in visitor.turn(text).get_by_test_id("bubble").inner_text()

    # Everywhere it can turn up: labels, hover card, search, all tabs, the exact messages.
    states = visitor.parents(forest)
    for state in (min(states), max(states)):
        page.get_by_test_id("forest").evaluate("(box, id) => box.forestView.centerOn(id)", state)
        page.wait_for_timeout(400)
        place = visitor.forest("(view, box, id) => view.placeOf(id)", state)
        page.get_by_test_id("forest").hover(position=place)
        page.wait_for_timeout(400)
        page.get_by_test_id("forest").click(position=place)
        for tab in ("why", "state", "evidence"):
            page.get_by_test_id(f"tab-{tab}").click()
            page.wait_for_timeout(150)
    expect(page.get_by_test_id("inspector")).to_be_visible()
    page.get_by_test_id("search").fill("canary")
    expect(page.get_by_test_id("hits").get_by_role("option").filter(has_text="<img").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_test_id("why").last.click()
    page.get_by_test_id("exact-messages").click()
    expect(page.get_by_role("dialog")).to_contain_text("<img src=x")
    page.keyboard.press("Escape")

    assert page.evaluate("window.canary") is None
    assert page.locator("main img, main iframe, main script, main b:text-is('bold')").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert visitor.watch.strangers == [], "nothing was fetched from elsewhere"
    expect(visitor.turns.last).to_have_attribute("data-status", ANSWERED, timeout=PATIENCE)
