"""The metrics of localization against hand-worked streams."""

import math

import pytest

from memory.evaluation.localization import Gold, Judged, Placed, calibration_error, gold_trees, judge, summarize

# a1 a2 b1 a3 c1: two matters, one resumption (a3), one more root.
GOLD = [Gold("a1", None), Gold("a2", "a1"), Gold("b1", None), Gold("a3", "a2"), Gold("c1", None)]


def placed(*parents: str | None) -> list[Placed]:
    return [Placed(truth.id, parent, None, 0.8, 10.0) for truth, parent in zip(GOLD, parents, strict=True)]


def test_a_stream_placed_as_gold_says_is_right_throughout():
    score = summarize(judge(GOLD, placed(None, "a1", None, "a2", None)))
    assert (score.turns, score.branch, score.resumption, score.parent, score.root_f1) == (4, 1.0, 1.0, 1.0, 1.0)
    assert score.previous_turn == 0.25  # a2 alone continues the turn before


def test_another_state_of_the_right_tree_is_the_right_branch_but_not_the_right_parent():
    score = summarize(judge(GOLD, placed(None, "a1", None, "a1", None)))
    assert (score.branch, score.parent) == (1.0, 0.75)


def test_a_state_counts_for_the_tree_it_belongs_to_not_the_one_an_error_put_it_into():
    # b1 was wrongly put under a2; a3 then goes under b1, whose gold tree is b.
    score = summarize(judge(GOLD, placed(None, "a1", "a2", "b1", None)))
    assert score.branch == 0.5
    assert score.resumption == 0.0
    assert (score.root_precision, score.root_recall) == (1.0, 0.5)


def test_a_wrong_new_root_costs_precision():
    score = summarize(judge(GOLD, placed(None, None, None, "a2", None)))
    assert (score.root_precision, score.root_recall) == (pytest.approx(2 / 3), 1.0)


def test_a_parent_that_comes_later_is_refused():
    with pytest.raises(ValueError, match="doesn't come before"):
        gold_trees([Gold("x", "y"), Gold("y", None)])


def turn(right: bool, probability: float) -> Judged:
    return Judged(right, right, False, False, False, False, probability, math.nan)


def test_stated_and_found_shares_are_compared_bin_by_bin():
    assert calibration_error([turn(True, 0.75)] * 3 + [turn(False, 0.75)]) == pytest.approx(0.0)
    assert calibration_error([turn(True, 1.0), turn(False, 1.0)]) == pytest.approx(0.5)


def test_what_was_not_to_be_judged_is_no_number():
    score = summarize([turn(True, 0.9)])
    assert math.isnan(score.resumption)
    assert math.isnan(score.p50)
