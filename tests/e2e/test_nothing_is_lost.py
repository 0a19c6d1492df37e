"""Answers under way: reloaded, stopped, and the process that writes one killed."""

import itertools
import os
import re
import signal
import time

from playwright.sync_api import expect

from tests.arborweb.site import until
from tests.e2e.stories import ASK_PACKING, PACKING
from tests.e2e.visitor import PATIENCE, plain

# Every text that the answer shows, from the first script of the page on.
FOLLOW = """
window.shown = [];
new MutationObserver(() => {
  const turn = [...document.querySelectorAll('[data-testid=turn]')].at(-1);
  const answer = turn?.querySelector('[data-testid=answer]');
  const text = answer?.innerText ?? '';
  const last = window.shown.at(-1);
  if (answer && text && (!last || last.text !== text)) window.shown.push({text, status: turn.dataset.status});
}).observe(document, {subtree: true, childList: true, characterData: true});
"""


def stored(visitor, forest, text):
    """The turns with this text, as the server has them."""
    return [turn for turn in visitor.api("GET", f"forests/{forest}/turns/")["results"] if turn["text"] == text]


def test_a_reload_amid_an_answer_loses_nothing(visitor):
    forest = visitor.plant(*PACKING)
    visitor.open(forest)
    visitor.send(ASK_PACKING)
    visitor.partial(ASK_PACKING, words=12)
    visitor.context.add_init_script(FOLLOW)
    part = plain(visitor.answer(ASK_PACKING).inner_text())
    assert visitor.turn(ASK_PACKING).get_attribute("data-status") == "answering"
    visitor.page.reload()
    visitor.ready()
    assert visitor.turn(ASK_PACKING).get_attribute("data-status") == "answering", "the reload must fall into the answer"
    expect(visitor.turn(ASK_PACKING)).to_have_attribute("data-status", re.compile("answered|refined"), timeout=PATIENCE)

    [turn] = stored(visitor, forest, ASK_PACKING)
    whole = plain(turn["answer"])
    assert "Something from home for the first evening" in whole
    assert whole.startswith(part)
    assert plain(visitor.answer(ASK_PACKING).inner_text()) == whole
    shown = [(plain(step["text"]), step["status"]) for step in visitor.page.evaluate("window.shown")]
    growing = [text for text, status in shown if status == "answering"]
    assert len(growing) >= 3, "the page went on writing after the reload"
    assert all(whole.startswith(text) for text in growing), "no word twice, none left out"
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(growing)), "nothing shown is taken back"
    assert len(growing[-1]) > len(part)
    assert len(visitor.parents(forest)) == 2


def test_the_process_that_writes_is_killed_and_the_turn_can_be_tried_again(stack, visitor):
    visitor.accept_errors("WebSocket connection|net::ERR_|Failed to load resource|^50")
    forest = visitor.plant(*PACKING)
    visitor.open(forest)
    visitor.send(ASK_PACKING)
    part = visitor.partial(ASK_PACKING, words=8)

    [(turn, pid)] = stack.generating()
    webs = stack.web_processes()
    assert len(webs) == 2, webs
    assert pid in webs, "the one that writes is a web process of this stack"
    time.sleep(1.2)  # the part is kept once a second
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()

    asked = visitor.turn(ASK_PACKING)
    expect(asked).to_have_attribute("data-status", "interrupted", timeout=25_000)
    assert time.monotonic() - killed < 20
    expect(asked.get_by_test_id("turn-trouble")).to_contain_text("ended before it was done")
    assert plain(asked.get_by_test_id("answer").inner_text()).startswith(part), "what was written is still there"
    assert until(lambda: len(stack.web_processes()) == 2), "another one took its place"
    assert pid not in stack.web_processes()
    assert not stack.generating()

    asked.get_by_test_id("retry").click()
    expect(asked).to_have_attribute("data-status", re.compile("answered|refined"), timeout=PATIENCE)
    [again] = stored(visitor, forest, ASK_PACKING)
    assert again["id"] == turn, "the same turn, not a second one"
    assert plain(asked.get_by_test_id("answer").inner_text()) == plain(again["answer"])
    assert "Something from home for the first evening" in again["answer"]
    assert again["answer"].count("Passport") == 1
    assert len(visitor.parents(forest)) == 2, "one state for the turn, beside the one it continues"
    assert stack.rows("SELECT count(*) FROM memory_turn WHERE forest_id = %s", forest) == [(2,)]
    visitor.page.reload()
    visitor.ready()
    assert visitor.turns.count() == 2
    expect(asked).to_have_attribute("data-status", re.compile("answered|refined"))


def test_a_stopped_answer_keeps_its_part_until_its_owner_decides(visitor):
    forest = visitor.plant(*PACKING)
    visitor.open(forest)
    visitor.send(ASK_PACKING)
    visitor.partial(ASK_PACKING, words=5)
    visitor.page.get_by_test_id("stop").click()
    asked = visitor.turn(ASK_PACKING)
    expect(asked).to_have_attribute("data-status", "cancelled")
    part = plain(asked.get_by_test_id("answer").inner_text())
    assert part.startswith("A packing list")
    assert "Something from home" not in part
    assert len(visitor.parents(forest)) == 1, "a stopped turn is no state"
    visitor.page.reload()
    visitor.ready()
    assert plain(asked.get_by_test_id("answer").inner_text()) == part
    asked.get_by_test_id("keep").click()
    expect(asked).to_have_attribute("data-status", re.compile("answered|refined"))
    assert len(visitor.parents(forest)) == 2, "a kept part is one"
    assert plain(asked.get_by_test_id("answer").inner_text()) == part


def test_two_turns_sent_at_once_are_answered_one_after_the_other(visitor):
    forest = visitor.plant(*PACKING)
    visitor.open(forest)
    other = visitor.new_page()
    other.goto(visitor.page.url)
    expect(other.get_by_test_id("app")).to_have_attribute("data-ready", "true")
    second = "The Moreaus have a dog called Praline."
    visitor.send(ASK_PACKING)
    other.get_by_test_id("message").fill(second)
    other.get_by_test_id("message").press("Enter")
    expect(visitor.turn(second)).to_have_attribute("data-status", "queued")
    expect(visitor.turn(second).get_by_test_id("waiting")).to_contain_text("Waits for the turn before it")
    expect(visitor.turn(second)).to_have_attribute("data-status", re.compile("answered|refined"), timeout=PATIENCE)
    texts = [turn["text"] for turn in visitor.api("GET", f"forests/{forest}/turns/")["results"]]
    assert texts[-2:] == [ASK_PACKING, second]
    expect(other.get_by_test_id("turn")).to_have_count(visitor.turns.count())
