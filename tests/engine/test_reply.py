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
        ("How high is the window sill?", "Ninety-four, which is a nuisance", "The blue"),
        ("Which way does the slope face?", "South-west, more or less", "About forty"),
        ("When do you work best?", "Between six and eight", "The blue"),
    ],
)
def test_a_reply_in_the_form_that_was_asked_for_fits_better(question: str, reply: str, other: str) -> None:
    assert fits(question, reply) == 1
    assert fits(question, other) <= 0.5


@pytest.mark.parametrize(
    ("question", "reply", "other"),
    [
        ("Wie viele Gäste kommen?", "Ungefähr vierzig", "Im Garten"),
        ("Wann fängt es an?", "Um halb acht", "Die blaue"),
        ("Wo soll es stattfinden?", "Im Garten", "Ungefähr vierzig"),
        ("Wer kommt mit?", "Meine Schwester", "Am Dienstag"),
        ("Lieber der Saal oder der Garten?", "Der Garten", "Um acht"),
        ("¿Cuántos invitados esperas?", "Unos cuarenta", "En el jardín"),
        ("¿Cuándo empieza?", "A las siete", "El azul"),
        ("¿Dónde será?", "En el jardín", "Unos cuarenta"),
        ("¿Quién viene?", "Mi hermana", "El martes"),
        ("Combien d'invités attends-tu ?", "Une quarantaine", "Dans le jardin"),
        ("Où aura lieu la fête ?", "Dans le jardin", "Une quarantaine"),
        ("La salle ou le jardin ?", "Le jardin", "À huit heures"),
        ("有多少客人？", "大概四十个", "在花园里"),
        ("什么时候开始？", "晚上七点", "蓝色的"),
        ("谁会来？", "我妹妹", "星期二"),
        ("大厅还是花园？", "花园", "八点"),
    ],
)
def test_forms_fit_in_other_languages_too(question: str, reply: str, other: str) -> None:
    assert fits(question, reply) == 1
    assert fits(question, other) <= 0.5


@pytest.mark.parametrize(
    ("answer", "left", "offered"),
    [
        ("Gerne! Wie viele Gäste kommen denn?", ["Wie viele Gäste kommen denn?"], []),
        ("Klar. Nenn mir bitte dein Budget.", ["Nenn mir bitte dein Budget."], []),
        ("Hier ist es. Möchtest du mehr darüber wissen?", [], ["Möchtest du mehr darüber wissen?"]),
        ("Aquí tienes. ¿Te gustaría saber más?", [], ["¿Te gustaría saber más?"]),
        ("Dime cuál es tu presupuesto.", ["Dime cuál es tu presupuesto."], []),
        ("Voilà. Souhaites-tu plus de détails ?", [], ["Souhaites-tu plus de détails ?"]),
        ("好的！你们一共几个人？", ["你们一共几个人？"], []),
        ("给你。还有什么问题吗？", [], ["还有什么问题吗？"]),
        ("请告诉我你的预算。", ["请告诉我你的预算。"], []),
    ],
)
def test_questions_are_left_open_in_other_languages_too(answer: str, left: list[str], offered: list[str]) -> None:
    assert (open_questions(answer), offers(answer)) == (left, offered)


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


def test_both_and_neither_answer_a_choice_in_part() -> None:
    assert fits("Handed in on paper or as a file?", "Both, bound with a spiral") == 0.6
    assert fits("Handed in on paper or as a file?", "It rained all day") == 0.1
