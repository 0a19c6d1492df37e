"""The metrics of localization against hand-worked streams."""

import math

import pytest

from memory.evaluation import clusters
from memory.evaluation.localization import (
    Gold,
    Judged,
    Placed,
    at_coverage,
    back_jumps,
    by_gap,
    calibration_error,
    gold_trees,
    judge,
    propagation,
    said_trees,
    summarize,
    swapped,
)

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


def test_a_gap_is_the_turns_of_other_trees_since_the_tree_was_active():
    gold = [Gold("a1", None), Gold("b1", None), Gold("b2", "b1"), Gold("a2", "a1"), Gold("a3", "a2"), Gold("b3", "b2")]
    said = [Placed(turn.id, turn.parent if turn.id != "a2" else None, None, 1.0, 1.0) for turn in gold]
    judged = judge(gold, said)
    assert [turn.gap for turn in judged] == [None, 0, 2, 0, 2]
    assert by_gap(judged)["0"] == (1.0, 2)
    assert by_gap(judged)["2–3"] == (0.5, 2)
    assert list(by_gap(judged)) == ["0", "1", "2–3", "4–7", "8–15", "16–31", "32+"]
    assert by_gap(judged)["32+"][1] == 0


def test_the_true_parent_may_lie_on_the_chosen_path_without_being_chosen():
    # a3 belongs under a1; it went under a2, whose path is a1 a2. By the forest as it grew, b1 under a2 has that path too.
    gold = [Gold("a1", None), Gold("a2", "a1"), Gold("a3", "a1"), Gold("b1", None), Gold("a4", "a2")]
    said = [Placed(id, parent, None, 1.0, 1.0) for id, parent in (("a1", None), ("a2", "a1"), ("a3", "a2"), ("b1", "a2"), ("a4", "b1"))]
    assert [turn.on_path for turn in judge(gold, said)] == [True, True, False, True]
    assert [turn.on_path for turn in judge(gold, said, teacher=True)] == [True, True, False, False]
    score = summarize(judge(gold, said))
    assert (score.parent, score.on_path) == (0.25, 0.75)


def test_the_second_place_counts_for_top_2():
    tries = [("a1",), ("a1",), (None,), ("b1",), ("a2",)]
    said = [Placed(truth.id, parent, None, 0.5, 1.0, others) for truth, parent, others in zip(GOLD, (None, None, "a2", "a2", None), tries, strict=True)]
    assert [turn.top_2 for turn in judge(GOLD, said)] == [True, True, True, True]
    assert [turn.top_2 for turn in judge(GOLD, placed(None, None, "a2", "a2", None))] == [False, False, True, True]


def test_an_error_takes_later_turns_of_its_tree_with_it():
    def run(tree: str, *rights: bool) -> list[Judged]:
        return [Judged(right, right, False, False, False, False, 1.0, 1.0, tree=tree) for right in rights]

    # Tree a: a first error, two more in a row, then right again (2); a later error doesn't count. Tree b: one error alone (0). Tree c: none.
    stream = run("a", True, False, False, False, True, False) + run("b", False, True) + run("c", True)
    assert propagation([stream]) == 1.0
    # The same names in another stream are other trees; an error that lasts to the end counts to the end.
    assert propagation([stream, run("a", False, False)]) == 1.0
    assert propagation([run("a", False, False, False), run("a", True)]) == 2.0
    assert math.isnan(propagation([run("a", True)]))


def test_back_jumps_are_counted_by_the_gold_trees_and_right_under_exactly_the_parent():
    # a1 a2 b1 a3 | a4 under a1 (back-jump) | b2 under b1 | a5 under a2 (back-jump) | a6 under a5 | b3 under b1 (back-jump)
    gold = [
        Gold("a1", None), Gold("a2", "a1"), Gold("b1", None), Gold("a3", "a2"), Gold("a4", "a1"),
        Gold("b2", "b1"), Gold("a5", "a2"), Gold("a6", "a5"), Gold("b3", "b1"),
    ]  # fmt: skip

    def counted(**other: str | None) -> tuple[int, int, int]:
        said = [Placed(turn.id, other.get(turn.id, turn.parent), None, 1.0, 1.0) for turn in gold]
        found = back_jumps(judge(gold, said))
        return found.gold, found.made, found.right

    assert counted() == (3, 3, 3)
    assert counted(a4="a3", a5="a4", b3="b2") == (3, 0, 0)  # always the latest of the right tree
    assert counted(a4="a2") == (3, 3, 2)  # an earlier state, but not that one
    assert counted(a5=None, b3="a6") == (3, 1, 1)  # a new root, and the latest of another tree
    assert counted(a6="b1") == (3, 4, 3)  # an earlier state of another tree is one, and a wrong one
    # b1 went under a2 by mistake. a3 under a2 is still none, for b1 counts for its own tree; b2 under a2 is one, for a3 and a4 have come since.
    assert counted(b1="a2") == (3, 3, 3)
    assert counted(b1="a2", b2="a2") == (3, 4, 3)
    found = back_jumps(judge(gold, [Placed(turn.id, "a1" if turn.id in ("a4", "a5") else turn.parent, None, 1.0, 1.0) for turn in gold]))
    assert (found.recall, found.precision) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    plain = back_jumps(judge(GOLD, placed(None, "a1", "a2", "b1", None)))
    assert (plain.gold, plain.made) == (0, 0) and math.isnan(plain.recall) and math.isnan(plain.precision)


def test_turns_that_went_into_a_twin():
    judged = judge(GOLD, placed(None, "a1", None, "b1", None))
    assert swapped(judged, {"a1": ["b1"], "b1": ["a1"]}) == 0.5  # of a2 and a3, a3
    assert math.isnan(swapped(judged, {}))


def test_branches_said_against_gold_as_partitions():
    # a1 a2 a3 | b1 | c1 by gold; b1 was put under a2 and a3 under b1: a1 a2 b1 a3 | c1.
    said = said_trees(placed(None, "a1", "a2", "b1", None))
    assert said == {"a1": "a1", "a2": "a1", "b1": "a1", "a3": "a1", "c1": "c1"}
    agreement = clusters.compare(gold_trees(GOLD), said)
    assert agreement.one_to_one == pytest.approx(4 / 5)
    assert clusters.compare(gold_trees(GOLD), said_trees(placed(None, "a1", None, "a2", None))).ari == 1.0


def test_accuracy_at_coverage_takes_the_surest():
    judged = [turn(True, 0.9), turn(True, 0.8), turn(False, 0.3), turn(False, 0.2)]
    assert (at_coverage(judged, 0.5), at_coverage(judged, 0.75), at_coverage(judged, 1)) == (1.0, pytest.approx(2 / 3), 0.5)
