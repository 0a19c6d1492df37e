"""Revision quality, by hand."""

import math

import pytest

from memory.evaluation.revision import Computed, Revised, Told, compare, computed, order_independence

BUDGET_1, BUDGET_2 = Told("kitchen|budget", "9,000 euros", 1), Told("kitchen|budget", "12,000 euros", 5)
HOTEL, CITY = Told("trip|hotel", "Alma", 2), Told("trip|city", "Porto", 3)
EXPECTED = {BUDGET_1: False, BUDGET_2: True, HOTEL: True, CITY: True}


def test_an_end_state_as_expected():
    assert compare(EXPECTED, EXPECTED) == Revised(current=3, outdated=1, invalidated=0, missed=0, unkept=0)


def test_a_current_value_taken_for_outdated_and_an_outdated_one_kept_current():
    scored = compare(EXPECTED, {BUDGET_1: True, BUDGET_2: True, HOTEL: False, CITY: True})
    assert (scored.invalidated, scored.missed) == (1, 1)
    assert scored.false_invalidation == pytest.approx(1 / 3)
    assert scored.supersession_recall == 0.0


def test_what_was_never_kept_judges_extraction_not_revision():
    scored = compare(EXPECTED, {Told("Kitchen|budget", "12000 Euros.", 5): True, Told("other|slot", "x", 9): False})
    assert scored == Revised(current=1, outdated=0, invalidated=0, missed=0, unkept=3)
    assert math.isnan(scored.supersession_recall)


def test_cases_add_up():
    one = Revised(200, 10, 1, 1, 0)
    assert (one + one).false_invalidation == pytest.approx(0.005)
    assert (one + one).supersession_recall == pytest.approx(0.9)


def test_the_order_of_arrival_must_not_matter():
    wrong = EXPECTED | {BUDGET_1: True}
    assert order_independence([EXPECTED, dict(reversed(EXPECTED.items())), wrong]) == 0.5
    assert math.isnan(order_independence([EXPECTED]))


def test_a_computed_answer_needs_the_right_rows():
    gold = Computed("1,200", frozenset({"t1", "t2"}))
    right, lucky, wrong = Computed("1200", frozenset({"t1", "t2"})), Computed("1200", frozenset({"t1"})), Computed("900", frozenset({"t1", "t2"}))
    scored = computed([(gold, [wrong, right]), (gold, [lucky]), (gold, [wrong]), (gold, [])])
    assert (scored.right, scored.lucky, scored.silent, scored.questions) == (0.25, 0.25, 0.25, 4)
    assert math.isnan(computed([]).right)
