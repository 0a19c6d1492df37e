"""Answers that are computed: right, with the rows they rest on, or not given at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from memory.engine import commit, compute, query
from memory.engine.forest import Computed, Evidence, Found, Interaction

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
NOW = MONDAY + timedelta(days=5)
ZONE = "Europe/Lisbon"

TOLD = (
    "I ran 5 km yesterday.",
    "I ran 7.5 km today.",
    "Bought a steel for €89 on Saturday.",
    "We spent €340 on tiles last week.",
    "I read two books in January.",
    "I read a book in February.",
    "Baked three loaves on Sunday.",
    "I baked two loaves this morning.",
    "I went to the dentist on the 3rd.",
    "Marek quoted €11,400.",
    "Casa Nova quoted €12,900.",
    "We leave on 12 March.",
    "I didn't bake any loaves on Friday.",
)


def remembered(*told: str) -> list[Found]:
    """Everything that these turns, each a root told on Monday, left in the store; state ids count from 1."""
    found = []
    for state, text in enumerate(told, 1):
        learnt = commit.extract(Interaction(state, state, None, state, state, 0, MONDAY, text, ""), [], ZONE, "Lyon")
        for p in learnt.proposals:
            evidence = Evidence(
                kind=p.kind,
                id=len(found) + 1,
                text=p.text,
                slot=p.slot,
                subject=p.subject,
                value=p.value,
                asserted=p.asserted,
                attribute_tag=p.attribute_tag,
                entities=p.entities,
                evidence=p.evidence,
                sources=(state,),
                position=state,
                known_until=None,
                event_time=p.event_time or MONDAY,
                valid_to=None,
                status="current",
                fields=p.fields,
            )
            found.append(Found(evidence, 0.5))
    return found


def answers(asked: str, *told: str, now: datetime = NOW) -> list[Computed]:
    return compute.compute(query.read(asked, now, ZONE), remembered(*(told or TOLD)), now, ZONE)


@pytest.mark.parametrize(
    ("asked", "operation", "value", "sources"),
    [
        ("How many km did I run?", "sum", Decimal("12.5"), {1, 2}),
        ("How many kilometres have I run in total?", "sum", Decimal("12.5"), {1, 2}),
        ("How many times did I run?", "count", Decimal(2), {1, 2}),
        ("How much did I spend on tiles?", "sum", Decimal(340), {4}),
        ("How much have I spent in total?", "sum", Decimal(429), {3, 4}),
        ("How many books did I read?", "count", Decimal(3), {5, 6}),
        ("How many books did I read in January?", "count", Decimal(2), {5}),
        ("How many loaves have I baked?", "count", Decimal(5), {7, 8}),
        ("When did I last bake?", "latest", "2026-03-02", {8}),
        ("When did I bake for the first time?", "earliest", "2026-03-01", {7}),
        ("When was my last dentist visit?", "latest", "2026-02-03", {9}),
        ("How many days until we leave?", "difference", Decimal(5), {12}),
        ("How long ago did I go to the dentist?", "difference", Decimal(32), {9}),
        ("How many days between my dentist visit and the departure?", "difference", Decimal(37), {9, 12}),
        ("Which quote is cheaper, Marek or Casa Nova?", "compare", "Marek", {10, 11}),
    ],
)
def test_a_question_is_answered_by_its_rows(asked: str, operation: str, value: Decimal | str, sources: set[int]) -> None:
    (answer,) = answers(asked)
    assert (answer.operation, answer.value, set(answer.sources)) == (operation, value, sources)
    assert len(answer.rows) == len(sources)


@pytest.mark.parametrize(
    "asked",
    [
        "How many cats do I have?",
        "How much did I spend on curtains?",
        "How many miles did I swim?",
        "When did I last fly?",
        "How many days until the wedding?",
        "Which is cheaper, the red one or the blue one?",
        "What is the weather?",
        "How many books did I read in 2019?",
        "Thanks!",
        "",
    ],
)
def test_nothing_matched_nothing_said(asked: str) -> None:
    assert answers(asked) == []


def test_nothing_known_nothing_said() -> None:
    assert compute.compute(query.read("How many km did I run?", NOW, ZONE), [], NOW, ZONE) == []


def test_an_act_told_twice_counts_once() -> None:
    (answer,) = answers("How many km did I run?", "I ran 5 km yesterday.", "As I said, I ran 5 km yesterday.", "I ran 3 km today.")
    assert answer.value == Decimal(8)


def test_amounts_of_different_units_are_not_added_up() -> None:
    found = answers("How much did I spend in total?", "I spent €40 on flour.", "I spent $25 on a book.")
    assert {answer.value for answer in found} == {Decimal(40), Decimal(25)}


def test_plans_and_what_was_not_done_do_not_count() -> None:
    (answer,) = answers("How many loaves did I bake?", "I baked two loaves.", "I'm going to bake nine loaves tomorrow.", "I didn't bake one loaf yesterday.")
    assert answer.value == Decimal(2)


def test_a_replaced_date_is_not_counted_from() -> None:
    found = remembered("We leave on 9 March.", "We leave on 12 March.")
    old = found[0].evidence
    replaced = [Found(Evidence(**{**{name: getattr(old, name) for name in old.__slots__}, "status": "superseded"}), 0.5), *found[1:]]
    (answer,) = compute.compute(query.read("How many days until we leave?", NOW, ZONE), replaced, NOW, ZONE)
    assert answer.value == Decimal(5)


def test_between_two_days_of_which_one_could_be_either_there_is_no_answer() -> None:
    told = ("I went to the dentist on 10 February.", "I went to the dentist on 20 February.", "We leave on 12 March.")
    assert answers("How many days between my dentist visit and the departure?", *told) == []


def test_ago_means_the_last_time_and_until_the_next() -> None:
    (ago,) = answers("How long ago did I go to the dentist?", "I went to the dentist on 10 February.", "I went to the dentist on 20 February.")
    assert ago.value == Decimal(15)
    (until,) = answers("How many days until Nora leaves?", "Nora leaves on 9 March.", "Tom leaves on 8 March.")
    assert until.value == Decimal(2)


def test_the_answer_says_what_it_rests_on() -> None:
    (answer,) = answers("How many km did I run?")
    assert answer.text == "12.5 km in 2 entries (The user ran 5 km yesterday; The user ran 7.5 km today)"
