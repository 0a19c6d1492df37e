"""The browser tests' own run: one real stack, one Chromium, a new person for every test."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

from arborweb.home import PROJECT
from tests.arborweb.site import fresh_home, processes, until
from tests.e2e.stack import Stack
from tests.e2e.visitor import Visitor, Watch, save

RESULTS = PROJECT / "test-results"
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """The browser of the machine; CHROMIUM names another."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        raise pytest.UsageError("There is no Chromium here: `make browser`, or name one in CHROMIUM.")
    return found


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """`manage.py up` with two web processes. Stopped as a person would, and nothing may be left of it."""
    with fresh_home() as home:
        stack = Stack(home)
        try:
            stack.wait_until_ready()
            assert until(lambda: stack.health()[0] == 200, 30), stack.health()
            yield stack
        finally:
            code = stack.stop()
            left = processes(home)
        assert (code, left) == (0, []), f"exit {code}, left running: {left}\n{stack.printed()}"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def look() -> dict[str, Any]:
    """How the browser of the test is set up; modules and tests override it."""
    return {"viewport": WIDE}


@pytest.fixture
def stranger(stack: Stack, browser: Browser, look: dict[str, Any], request: pytest.FixtureRequest) -> Iterator[Visitor]:
    """Somebody not signed in. At the end the browser must have had nothing to complain about."""
    context = browser.new_context(**{"locale": "en-GB", "timezone_id": "Europe/Vienna", **look})
    visitor = Visitor(stack, context, Watch())
    yield visitor
    with suppress(Error):
        for page in context.pages:
            for violation in page.evaluate("window.violations || []"):
                visitor.watch.troubles.append(f"policy: {violation}")
    complaints = visitor.watch.complaints() + [f"asked a stranger: {url}" for url in visitor.watch.strangers]
    if complaints or getattr(request.node, "failed", False):
        save(RESULTS / re.sub(r"\W+", "-", request.node.name), visitor)
    context.close()
    assert not complaints, complaints


@pytest.fixture
def visitor(stranger: Visitor) -> Visitor:
    """A new person, signed in, without a forest."""
    stranger.sign_in()
    return stranger


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if call.when == "call" and report.failed:
        item.failed = True  # type: ignore[attr-defined]
    return report
