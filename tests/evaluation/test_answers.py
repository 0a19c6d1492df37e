"""Normalization, match and outcomes of answers, by hand."""

import pytest

from memory.evaluation.answers import contains, normalize, outcome


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Cat, a dog\nAND an owl!", "cat dog and owl"),
        ("Salt & pepper", "salt and pepper"),
        ("$1,200,000.50", "1200000.50"),
        ("rows 1,2 and 3", "rows 1 2 and 3"),
        ("Anna’s well-known café", "annas well known café"),
        ("at 6:00 p.m. in the U.S.", "at 6:00 pm in us"),
        ("red,blue/green_grey", "red blue green grey"),
        ("It is 3.5. Then 4:", "it is 3.5 then 4"),
        ("a the an ...", ""),
    ],
)
def test_normalization(text, normal):
    assert normalize(text) == normal


def test_match_is_at_token_boundaries():
    assert contains("It was on the 7 May 2023.", "7 May, 2023")
    assert not contains("It was on 17 May 2023.", "7 May 2023")
    assert not contains("3.5 miles", "3")
    assert not contains("anything", "the")


@pytest.mark.parametrize(
    ("said", "is_"),
    [
        ("You chose the Alma Hotel.", "correct"),
        ("Hotel Borealis", "confusion"),
        ("Either Alma Hotel or Hotel Borealis", "ambiguous"),
        ("I don't know.", "miss"),
        ("", "miss"),
    ],
)
def test_the_four_outcomes(said, is_):
    assert outcome(said, ["Alma Hotel", "the Alma"], ["Hotel Borealis"]) == is_
