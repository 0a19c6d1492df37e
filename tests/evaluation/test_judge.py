"""The judge: what it is told, and how strictly its verdict is read."""

from datetime import UTC, datetime

import pytest

from memory.evaluation import judge
from memory.evaluation.cases import Asked, Question
from memory.evaluation.judge import Judgement, verdict


def question(**more) -> Question:
    return Question("q1", Asked("Which hotel?", datetime(2026, 1, 1, tzinfo=UTC)), **({"type": "single-hop", "answers": ("Alma",)} | more))


@pytest.mark.parametrize(
    ("reply", "is_"),
    [
        ("VERDICT: CORRECT", "correct"),
        ("VERDICT: INCORRECT", "incorrect"),
        ("It names another hotel.\n\n**Verdict:** `incorrect`.", "incorrect"),
        ("Fine.\nverdict: correct\n", "correct"),
        ("INCORRECT", "incorrect"),
        ("Correct.", "correct"),
        ("The answer is not correct", "unclear"),
        ("Verdict: CORRECT or INCORRECT", "unclear"),
        ("VERDICT: CORRECT\nVERDICT: INCORRECT", "unclear"),
        ("VERDICT: PARTIALLY CORRECT", "unclear"),
        ("VERDICT:\nCORRECT", "unclear"),
        ("VERDICT: CORRECT\nOr is it?", "unclear"),
        ("yes", "unclear"),
        ("", "unclear"),
        ("<think>VERDICT: CORRECT</think>\nVERDICT: INCORRECT", "incorrect"),
        ("VERDICT: CORRECT, so far</think>VERDICT: INCORRECT", "incorrect"),
        ("<think>\nVERDICT: CORRECT or not?", "unclear"),
    ],
)
def test_a_verdict_is_read_strictly(reply, is_):
    assert verdict(reply) == is_


def test_a_thought_that_never_ends_gives_no_verdict():
    assert verdict("<think>\nVERDICT: CORRECT\nbut then") == "unclear"


def test_what_is_unclear_never_counts_as_right():
    judged = Judgement(("correct", "unclear", "incorrect", "unclear"))
    assert (judged.score, judged.unclear) == (0.25, 2)


def test_a_gold_answer_is_one_request_with_the_question_the_gold_and_the_response():
    [[system, user]] = judge.requests(question(answers=("Alma", "Alma Hotel")), "the Alma")
    assert (system["role"], user["role"]) == ("system", "user")
    assert "VERDICT: CORRECT" in system["content"]
    for part in ("Which hotel?", "Alma | Alma Hotel", "<response>\nthe Alma\n</response>"):
        assert part in user["content"]


def test_a_rubric_is_judged_point_by_point_and_abstention_by_its_own_rules():
    asked = []

    def ask(messages):
        asked.append(messages)
        return "VERDICT: CORRECT" if "first point" in messages[1]["content"] else "VERDICT: INCORRECT"

    assert judge.judge(question(rubric=("first point", "second point")), "x", ask).verdicts == ("correct", "incorrect")
    assert len(asked) == 2
    [[system, _]] = judge.requests(question(abstain=True, answers=()), "x")
    assert "can't be answered" in system["content"]


def test_types_allow_what_the_published_judges_allow():
    [[days, _]] = judge.requests(question(type="temporal-reasoning"), "x")
    [[plain, _]] = judge.requests(question(), "x")
    assert "off by one" in days["content"] and "off by one" not in plain["content"]


def test_nothing_to_judge_by_is_an_error():
    with pytest.raises(ValueError, match="q1 has no answer"):
        judge.requests(question(answers=()), "x")


def test_the_hash_follows_the_words(monkeypatch):
    before = judge.prompt_hash()
    assert before == judge.prompt_hash() and len(before) == 16
    monkeypatch.setattr(judge, "GOLD", "other")
    assert judge.prompt_hash() != before
