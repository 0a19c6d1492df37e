"""What an answer leaves open, and whether a reply has the form that was asked for."""

import pytest

from memory.engine.reply import FREE, fits, list_items, offers, open_questions


@pytest.mark.parametrize(
    ("question", "reply", "other"),
    [
        ("How many guests are you expecting?", "About forty", "In the garden"),
        ("What is your budget?", "€500", "My sister does"),
        ("When does it start?", "At 7", "My sister does"),
        ("Which day suits you?", "Tuesday works", "The blue"),
        ("Where will it be?", "In the garden", "About forty"),
        ("Who is coming?", "My sister Anna", "On Tuesday"),
        ("Would you like the hall or the garden?", "The garden, please", "It starts at 7"),
        ("Do you have a venue?", "Yes, the old mill", "How do I poach an egg?"),
        ("What is your dog called?", "Rex", "Write a poem about the sea"),
    ],
)
def test_a_reply_in_the_form_that_was_asked_for_fits_better(question: str, reply: str, other: str) -> None:
    assert fits(question, reply) == 1
    assert fits(question, other) <= 0.5


def test_what_takes_any_form_is_worth_little() -> None:
    assert fits("Tell me more about your project", "It is a mill by the river") == FREE


def test_a_question_answers_little_and_nothing_answers_nothing() -> None:
    assert fits("How many guests?", "How do I poach 2 eggs?") < 0.5
    assert fits("How many guests?", "") == 0


def test_not_to_know_answers_by_half() -> None:
    assert fits("How many guests are you expecting?", "I don't know yet") == 0.5


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Lovely! To plan this:\n\n1. How many guests?\n2. What's your **budget**?\n\nLet me know!", ["How many guests?", "What's your budget?"]),
        ("Sure. Let me know your budget.", ["Let me know your budget."]),
        ("Happy to help. Tell me how many guests come.", ["Tell me how many guests come."]),
        ("Why is the sky blue? Because light is scattered. Blue more than red. So it is blue.", []),
        ("Here it is. Would you like to know more?", []),
        ("Done. Is there anything else I can help you with?", []),
        ("```\nwhat?\n```\nDone.", []),
    ],
)
def test_what_an_answer_leaves_open(answer: str, left: list[str]) -> None:
    assert open_questions(answer) == left


def test_offers_are_told_from_questions() -> None:
    assert offers("Here it is. Would you like to know more?") == ["Would you like to know more?"]
    assert offers("How many guests?") == []


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ("Here:\n- red\n- blue\n\nAnd then:\n1. **one**\n\n2. two\n   more of it\n3) three\n\nWhich one?", ["one", "two", "three"]),
        ("Would you prefer the garden, the hall or the old mill?", ["the garden", "the hall", "the old mill"]),
        ("No list here.", []),
    ],
)
def test_the_last_list_has_its_items(answer: str, items: list[str]) -> None:
    assert list_items(answer) == items
