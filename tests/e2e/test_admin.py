"""Administration in a real browser: filtered, previewed, done by the worker with progress, cancelled; readable, and within the content policy."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from playwright.sync_api import expect

from tests.e2e.stories import BREAD, KITCHEN
from tests.e2e.test_safe_and_readable import findings
from tests.e2e.visitor import PATIENCE, Visitor

MODELS = [model._meta.model_name for model in apps.get_app_config("memory").get_models()]
OTHERS = ("auth/user/", "auth/user/add/", "auth/group/add/", "admin/logentry/", "password_change/", "memory/forest/health/")


def promote(visitor: Visitor, **columns: bool) -> None:
    name = visitor.api("GET", "me/")["username"]
    for column, value in columns.items():
        visitor.stack.rows(f"UPDATE auth_user SET {column} = %s WHERE username = %s RETURNING id", value, name)


@pytest.fixture
def root(visitor: Visitor) -> Visitor:
    """Who administers the site, with forests of their own."""
    promote(visitor, is_staff=True, is_superuser=True)
    return visitor


def go(visitor: Visitor, path: str) -> None:
    visitor.page.goto(f"{visitor.stack.address}/admin/{path}")


def choose(visitor: Visitor, action: str) -> None:
    """All rows of the list, and what to do with them."""
    visitor.page.get_by_label("Select all objects on this page for an action").check()
    visitor.page.get_by_label("Action:").select_option(label=action)
    visitor.page.get_by_role("button", name="Go").click()


def test_rows_are_filtered_previewed_and_done_with_progress(root: Visitor) -> None:
    page, forest = root.page, root.plant(*KITCHEN, *BREAD)
    root.say("The kitchen budget is €18,000.", refined=True)
    go(root, f"memory/interactionstate/?forest__id__exact={forest}")
    every = page.locator("#result_list tbody tr").count()
    with_facts = [row for row in root.api("GET", f"forests/{forest}/states/")["results"] if row["facts"]]
    page.get_by_role("navigation", name="Filter").locator("details", has_text="By has facts").get_by_role("link", name="Yes").click()
    expect(page.locator("#result_list tbody tr")).to_have_count(len(with_facts))
    assert 0 < len(with_facts) < every

    # The way back to the page, at that very state.
    first = page.locator("#result_list tbody tr").first
    expect(first.get_by_role("link", name="Open")).to_have_attribute("href", re.compile(rf"^/forests/{forest}/#state=\d+$"))

    choose(root, "Extract again…")
    expect(page.get_by_role("heading", name="Extract again")).to_be_visible()
    expect(page.locator(".consequences tbody tr")).to_have_count(len(with_facts))
    assert findings(page, preload=False) == [], "the preview"
    page.get_by_role("button", name=f"Extract again: {len(with_facts)}").click()
    page.evaluate("window.sameDocument = true")
    expect(page.locator("#progress-heading")).to_have_text("Done", timeout=PATIENCE)
    expect(page.locator("#progress-message")).to_have_text(f"Done: {len(with_facts)} of {len(with_facts)}")
    assert findings(page, preload=False) == [], "the progress"
    root.wait_until_refined(forest)


def test_a_bulk_job_is_watched_and_cancelled(root: Visitor) -> None:
    page, forest = root.page, root.plant(*KITCHEN, *BREAD)
    with root.stack.holding(forest):
        go(root, f"memory/interactionstate/?forest__id__exact={forest}")
        number = page.locator("#result_list tbody tr").count()
        choose(root, "Extract again…")
        page.get_by_role("button", name=f"Extract again: {number}").click()
        page.evaluate("window.sameDocument = true")
        expect(page.locator("#progress-heading")).to_have_text("Running", timeout=PATIENCE)
        expect(page.locator("#progress-words")).to_have_text(f"0 of {number}")
        assert page.evaluate("window.sameDocument"), "the page was loaded anew"
        page.locator("#progress").get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("Cancelled. What was done stays.")).to_be_visible()
        expect(page.locator("#progress-heading")).to_have_text("Cancelled")
        expect(page.locator("#progress").get_by_role("button")).to_have_count(0)
    for _ in range(100):
        page.reload()
        if page.locator("#progress-message").inner_text() == f"Cancelled: 0 of {number}":
            break
        page.wait_for_timeout(100)
    expect(page.locator("#progress-message")).to_have_text(f"Cancelled: 0 of {number}")
    assert root.api("GET", f"forests/{forest}/")["counts"]["pending"] == 0, "nothing was marked to be read again"


def test_traces_and_health_are_read_without_a_serious_finding(root: Visitor) -> None:
    page, forest = root.page, root.plant(*KITCHEN)
    root.open(forest)
    root.say("The kitchen budget is €18,000.", refined=True)
    root.say("What is the kitchen budget?", refined=True)
    [(decision, context)] = root.stack.rows(
        "SELECT d.id, c.id FROM memory_routingdecision d JOIN memory_contexttrace c USING (turn_id) WHERE d.forest_id = %s ORDER BY d.id DESC LIMIT 1", forest
    )
    go(root, f"memory/routingdecision/{decision}/change/")
    expect(page.locator(".candidates tbody tr").first).to_be_visible()
    assert findings(page, preload=False) == [], "why it went there"
    go(root, f"memory/contexttrace/{context}/change/")
    expect(page.locator(".trace-block").first).to_contain_text("of the budget")
    assert findings(page, preload=False) == [], "what the model saw"
    page.get_by_role("link", name="Health").first.click()
    expect(page.get_by_role("img", name=re.compile("^Commit lag"))).to_be_visible()
    expect(page.locator(".plot circle.series-1").first).to_be_attached()
    assert findings(page, preload=False) == [], "health"
    fill = page.locator(".plot circle.series-1").first.evaluate("(dot) => getComputedStyle(dot).fill")
    assert fill != "rgb(0, 0, 0)", "the stylesheet colours the plots"


def test_a_turn_is_moved_once_its_consequences_were_seen(root: Visitor) -> None:
    page, forest = root.page, root.plant(*KITCHEN, *BREAD)
    parents = root.parents(forest)
    moved = max(pk for pk, parent in parents.items() if parent is not None)
    target = next(pk for pk, parent in parents.items() if parent is None and pk < moved and pk != parents[moved])
    go(root, f"memory/interactionstate/{moved}/change/")
    page.get_by_role("link", name="Move it").click()
    page.get_by_label("State:", exact=True).fill(str(target))
    assert findings(page, preload=False) == [], "the form"
    page.get_by_role("button", name="Show what it does").click()
    expect(page.get_by_role("heading", name=f"Under state {target}")).to_be_visible()
    expect(page.locator(".consequences li").first).to_have_text("Turns that move: 1.")
    assert findings(page, preload=False) == [] and root.violations() == [], "the preview"
    assert root.parents(forest) == parents
    page.get_by_role("button", name="Move it").click()
    expect(page.locator(".messagelist")).to_contain_text("Moved.")
    assert root.parents(forest)[moved] == target


def test_no_page_of_the_admin_breaks_its_content_policy(root: Visitor) -> None:
    page, forest = root.page, root.plant(*KITCHEN)
    root.api("GET", f"forests/{forest}/health/")
    go(root, "")
    for model in MODELS:
        go(root, f"memory/{model}/")
        assert root.violations() == [], model
        row = page.locator("#result_list tbody tr th a").first
        if row.count():
            row.click()
            expect(page.locator("#content")).to_be_visible()
            assert root.violations() == [], f"a row of {model}"
    for path in (*OTHERS, f"memory/forest/health/?forest={forest}"):
        go(root, path)
        assert root.violations() == [], path


def test_the_staff_sees_numbers_and_model_servers_alone(visitor: Visitor) -> None:
    page = visitor.page
    visitor.plant(*KITCHEN, name="Secret garden")
    promote(visitor, is_staff=True)
    go(visitor, "")
    expect(page.locator("#content-main .module th a")).to_have_text(["Model capabilities"])
    page.get_by_role("link", name="Health").first.click()
    expect(page.get_by_role("heading", name="Health", exact=True)).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("Secret garden")
    visitor.accept_errors("403")
    go(visitor, "memory/interactionstate/")
    expect(page.locator("body")).to_contain_text("This isn’t open to you")
