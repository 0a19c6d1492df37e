"""Nothing a person can send takes long to read: 32 KiB of one shape after the other, each within a second of the processor."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.engine import commit, compute, cues, query, reply, terms, when
from memory.engine.forest import Interaction
from tests import effort

LIMIT = 32 * 1024
AT = datetime(2026, 3, 9, 14, 0, tzinfo=UTC)
OPENING = "I like that, and how many days between "
SHAPES = [
    "\n", " ", "\t", "a", "a ", "A ", "Aa ", "1", "1 ", "1.", "1,", ".", "?", "- a\n", "> ", "\n>", "“", "“a” ", "(",
    "[a](", "<a", "<memory ", "```", "**", "€", "€1 ",
    "١", "你", "👩‍👧", "\u202e", "e\u0301", "March 3 ", "yesterday ", "between ", "how many days before ", "first or ", "a or b, ", "paid ", "wh ", "when the ",
    "no ", "and ", "from a to b ", "the the ", "A & ", "A's ", "a-", "a@", "www.", "a.b", "x1", "1A", "I bought a book, ", "we decided on a ",
]  # fmt: skip


def said(user: str, assistant: str = "Yes.") -> Interaction:
    return Interaction(1, 1, None, 1, 1, 0, AT, user, assistant)


def computed(text: str) -> object:
    asked = replace(query.read(text, AT), kinds=frozenset({"difference", "compare", "sum", "count"}))
    return compute.compute(asked, [], AT, "UTC")


READERS: dict[str, Callable[[str], object]] = {
    "query": lambda text: query.read(text, AT, "Europe/Lisbon"),
    "cues": lambda text: cues.detect(text, AT, "Europe/Lisbon"),
    "windows": lambda text: list(when.windows(text, AT, "Europe/Lisbon")),
    "reply": lambda text: [
        reply.open_questions(text),
        reply.offers(text),
        reply.list_items(text),
        reply.fits("How many or how long?", text),
        reply.fits(text, "Two"),
    ],
    "terms": lambda text: [*terms.terms(text), *terms.entity_terms(text)],
    "question": computed,
    "told": lambda text: commit.extract(said(text), [], "Europe/Lisbon"),
    "answered": lambda text: commit.extract(said("What do you recommend?", text), []),
    "path": lambda text: commit.extract(said("Make it €5 then"), [said(text, text)]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", READERS)
def test_a_hostile_text_is_read_in_time(reader, shape):
    text = OPENING + shape * ((LIMIT - len(OPENING)) // len(shape.encode()))
    assert effort.seconds(READERS[reader], text) < 1


@pytest.mark.parametrize(
    "text", ["In December 9999", "In January 0001", "Since March 0000", "On 0000-00-00", "On 9999-12-31", "99/99/9999", "31.12.9999", "999 years ago"]
)
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Adak"])
def test_a_time_beyond_the_calendar_is_no_time(text, zone):
    for year in (2, 2026, 9998):
        at = AT.replace(year=year)
        told = replace(said(f"I moved to Lyon {text}"), time=at)
        assert query.read(f"{text} we talked about it", at, zone).time == at
        assert commit.extract(told, [], zone).node_summary
