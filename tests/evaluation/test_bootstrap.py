"""Intervals and paired differences: known cases, seeds, units."""

import math

import pytest

from memory.evaluation.bootstrap import interval, paired


def values(*numbers: float) -> dict[str, float]:
    return {f"q{number:03}": value for number, value in enumerate(numbers)}


def test_an_interval_holds_its_mean_and_shrinks_with_more_questions():
    few, many = interval(values(*[0, 1] * 10)), interval(values(*[0, 1] * 200))
    assert few.mean == many.mean == 0.5
    assert few.low < many.low < 0.5 < many.high < few.high
    # 400 fair coins: the standard error is .025, so that the ends lie near .5 ± 1.96 · .025
    assert (many.low, many.high) == (pytest.approx(0.451, abs=0.006), pytest.approx(0.549, abs=0.006))


def test_a_seed_decides_and_the_order_of_rows_does_not():
    given = values(*[number**0.5 for number in range(40)])
    backwards = dict(reversed(given.items()))
    assert interval(given, seed=7) == interval(backwards, seed=7) != interval(given, seed=8)


def test_units_are_drawn_whole():
    # Ten dialogues, all right or all wrong: a hundred questions say no more than ten do.
    given = {f"d{d}q{q}": float(d % 2) for d in range(10) for q in range(10)}
    units = {question: question[:2] for question in given}
    by_dialogue = interval(given, units=units)
    assert (by_dialogue.values, by_dialogue.units) == (100, 10)
    assert by_dialogue.high - by_dialogue.low > 2 * (interval(given).high - interval(given).low)


def test_a_constant_gain_is_sure_and_no_gain_is_not():
    base = values(*[0, 1, 0, 1, 1, 0, 0, 1] * 5)
    gain = paired({q: v + 0.1 for q, v in base.items()}, base)
    assert (gain.mean, gain.low, gain.high) == (pytest.approx(0.1),) * 3
    assert gain.better and not gain.worse and gain.p < 0.001
    same = paired(base, base)
    assert not same.better and not same.worse and same.p == 1.0


def test_pairs_tell_more_than_two_intervals():
    base = values(*[0, 1] * 50)
    ours = {q: min(1.0, v + (number % 10 == 0)) for number, (q, v) in enumerate(base.items())}
    gain = paired(ours, base)
    assert gain.better and interval(ours).low < interval(base).high
    assert paired(base, ours).worse


def test_both_sides_answer_the_same_questions():
    with pytest.raises(ValueError, match="1 questions are answered by one side only"):
        paired(values(1, 0), values(1))


def test_what_was_not_judged_is_left_out():
    assert interval(values(1, math.nan, 0)).values == 2
    assert paired(values(1, math.nan), values(0, 1)).values == 1
    with pytest.raises(ValueError, match="no value"):
        interval(values(math.nan))
