"""Which value of a slot holds (W6, D3): a function of the set of values, whatever the order they came in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine.forest import SlotEntry, Status
from memory.engine.revise import normalize, replacements, resolve, same_slot, slot, supersedes, why_not

MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)


def entry(id: int, value: str, day: int, *, position: int | None = None, asserted: bool = True, status: Status = "current", pinned: bool = False) -> SlotEntry:
    return SlotEntry(id, value, MONDAY + timedelta(days=day), position or id, asserted, status, pinned)


BUDGETS = [entry(1, "€18,000", 0), entry(2, "€21,500", 7), entry(3, "€20,000", 11)]


def test_the_latest_budget_holds_and_each_older_one_points_at_the_next() -> None:
    first, second, third = resolve(BUDGETS)
    assert (first.status, first.superseded_by, first.valid_to, first.known_until) == ("superseded", 2, BUDGETS[1].event_time, 2)
    assert (second.status, second.superseded_by) == ("superseded", 3)
    assert (third.status, third.superseded_by, third.valid_to, third.known_until) == ("current", None, None, None)


def test_the_order_of_arrival_does_not_matter() -> None:
    expected = set(resolve(BUDGETS))
    assert all(set(resolve(list(order))) == expected for order in permutations(BUDGETS))


def test_without_the_newest_value_the_older_one_holds_again() -> None:
    replaced = [entry(1, "€18,000", 0, status="superseded"), entry(2, "€21,500", 7)]
    assert resolve(replaced[:1])[0].status == "current"


def test_the_same_value_told_again_replaces_nothing() -> None:
    assert {outcome.status for outcome in resolve([entry(1, "€18,000", 0), entry(2, "18 000 euros", 3), entry(3, "18k €", 5)])} == {"current"}


def test_a_value_that_comes_back_replaces_the_one_between() -> None:
    first, between, back = resolve([entry(1, "€18,000", 0), entry(2, "€21,500", 7), entry(3, "€18,000", 9)])
    assert (first.superseded_by, between.superseded_by, back.status) == (2, 3, "current")


def test_what_was_so_earlier_does_not_replace_what_is_so_later_though_it_was_told_later() -> None:
    now, then = resolve([entry(1, "Porto", 0), entry(2, "Lyon", -400)])
    assert (now.status, then.status, then.superseded_by) == ("current", "superseded", 1)
    assert then.known_until == 2  # only then were both known


def test_of_two_values_of_one_moment_the_later_told_holds() -> None:
    first, second = resolve([entry(1, "3 pm", 0, position=4), entry(2, "4 pm", 0, position=5)])
    assert (first.superseded_by, second.status) == (2, "current")


@pytest.mark.parametrize("status", ["retracted", "quarantined"])
def test_what_a_person_took_away_neither_holds_nor_replaces(status: Status) -> None:
    old, gone = resolve([entry(1, "€18,000", 0), entry(2, "€99,000", 7, status=status)])
    assert (old.status, gone.status, gone.superseded_by) == ("current", status, None)


def test_a_plan_replaces_nothing_and_is_not_replaced() -> None:
    old, plan, new = resolve([entry(1, "Porto", 0), entry(2, "Berlin", 3, asserted=False), entry(3, "Lyon", 5)])
    assert (old.superseded_by, plan.status, plan.superseded_by, new.status) == (3, "current", None, "current")


def test_a_pinned_value_is_not_replaced_but_replaces() -> None:
    old, pinned, new = resolve([entry(1, "oak", 0), entry(2, "beech", 2, pinned=True), entry(3, "cork", 4)])
    assert (old.superseded_by, pinned.status, new.status) == (2, "current", "current")


def test_outcomes_come_in_the_order_asked() -> None:
    assert [outcome.id for outcome in resolve([BUDGETS[2], BUDGETS[0], BUDGETS[1]])] == [3, 1, 2]


def test_no_values_no_outcomes() -> None:
    assert resolve([]) == []


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (entry(2, "€18,000.00", 5), "the value is the same"),
        (entry(2, "€9,000", -5), "it held earlier"),
        (entry(2, "€9,000", 5, asserted=False), "it was a plan or a guess, not a statement"),
        (entry(2, "€9,000", 5, status="retracted"), "it was retracted"),
    ],
)
def test_why_a_value_does_not_replace_is_said_in_words(new: SlotEntry, reason: str) -> None:
    assert why_not(new, BUDGETS[0]) == reason
    assert not supersedes(new, BUDGETS[0])


entries = st.lists(
    st.builds(
        SlotEntry,
        id=st.integers(1, 50),
        value=st.sampled_from(["€18,000", "18000 EUR", "€21,500", "Porto", "porto"]),
        event_time=st.integers(0, 5).map(lambda day: MONDAY + timedelta(days=day)),
        position=st.integers(1, 9),
        asserted=st.booleans(),
        status=st.sampled_from(["current", "superseded", "retracted", "quarantined"]),
        pinned=st.booleans(),
    ),
    max_size=7,
    unique_by=lambda one: one.id,
)


@given(entries, st.randoms(use_true_random=False))
def test_the_outcome_is_a_function_of_the_set(given_entries: list[SlotEntry], random: object) -> None:
    shuffled = list(given_entries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert set(resolve(shuffled)) == set(resolve(given_entries))


@given(entries)
def test_resolving_again_changes_nothing(given_entries: list[SlotEntry]) -> None:
    outcomes = {outcome.id: outcome for outcome in resolve(given_entries)}
    again = [SlotEntry(one.id, one.value, one.event_time, one.position, one.asserted, outcomes[one.id].status, one.pinned) for one in given_entries]
    assert resolve(again) == resolve(given_entries)


@given(entries)
def test_of_what_takes_part_something_always_holds(given_entries: list[SlotEntry]) -> None:
    outcomes = resolve(given_entries)
    parts = [one.id for one in given_entries if one.asserted and one.status in ("current", "superseded")]
    assert not parts or any(outcome.status == "current" for outcome in outcomes if outcome.id in parts)


@given(entries)
def test_replacements_are_those_that_held_at_some_position(given_entries: list[SlotEntry]) -> None:
    held: dict[tuple[int, int], int] = {}
    for position in range(1, 10):
        for outcome in resolve([one for one in given_entries if one.position <= position]):
            if outcome.superseded_by is not None:
                held.setdefault((outcome.id, outcome.superseded_by), position)
    assert replacements(given_entries) == held


def test_a_value_learned_late_comes_between_two_others_and_both_replacements_are_told() -> None:
    assert replacements([entry(1, "Porto", 0), entry(2, "Lyon", 9), entry(3, "Bern", 4)]) == {(1, 2): 2, (1, 3): 3, (3, 2): 3}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("€ 21,500.00", "21500 EUR"),
        ("€21.5k", "21,500 euros"),
        ("21.500 €", "€21,500"),
        ("Hotel Bristol", "hotel bristol."),
        ("the Moreaus", "Moreaus"),
        ("24 kg", "24kg"),
        ("about 20 minutes", "20 minutes"),
    ],
)
def test_equal_values_written_differently(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(("one", "other"), [("€18,000", "$18,000"), ("24 kg", "24 km"), ("9 March", "12 March"), ("3 pm", "3:30 pm"), ("1.5 m", "15 m")])
def test_different_values_stay_different(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


def test_slots_are_named_without_case_or_blanks() -> None:
    assert slot(" Lyon  exchange", "Departure date") == "lyon exchange|departure date"
    assert same_slot("Kitchen|Budget", "kitchen|budget")
    assert not same_slot("", "")
    assert slot("", "budget") == ""
