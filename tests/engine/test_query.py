"""What kind of question an input is."""

from datetime import UTC, datetime

import pytest

from memory.engine.query import Query, QueryKind, read

NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)


def asked(text: str) -> Query:
    return read(text, NOON, "Europe/Paris")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How many kilometres did I run in October?", "count"),
        ("How much did I spend in total on the kitchen?", "sum"),
        ("When was the last time I saw Tomás?", "latest"),
        ("What was my first concert?", "earliest"),
        ("How long ago did I move to Oslo?", "difference"),
        ("Which came first, the dentist or the party?", "compare"),
        ("What was my previous address?", "previous"),
        ("What is my current budget?", "current"),
        ("Has the date changed?", "update"),
        ("Is Anna still a vegetarian?", "yes_no"),
        ("Can you recommend a book for the flight?", "preference"),
        ("Who is the colleague who also lives in Lyon?", "bridge"),
        ("In which order did we plan the rooms?", "order"),
        ("Remind me what we decided", "past"),
        ("我一共花了多少钱", "sum"),
    ],
)
def test_a_question_is_of_its_kind(text: str, kind: QueryKind) -> None:
    assert asked(text).asks(kind)


def test_a_plain_remark_asks_for_nothing() -> None:
    assert asked("The walls get a coat of white paint.").kinds == frozenset()


@pytest.mark.parametrize(
    ("text", "ordinal"),
    [
        ("What was the second one?", 2),
        ("Tell me more about the third option", 3),
        ("The 4th step, please", 4),
        ("What about number 5?", 5),
        ("Who was the last one on your list?", -1),
        ("第二个是什么？", 2),
        ("What was the seventh on the list?", 7),
    ],
)
def test_an_ordinal_points_into_a_list(text: str, ordinal: int) -> None:
    assert asked(text).ordinal == ordinal
    assert asked(text).asks("ordinal")


def test_a_time_that_has_passed_asks_about_the_past() -> None:
    query = asked("Who came last week?")
    assert query.asks("past")
    assert [window.phrase for window in query.dates] == ["last week"]


def test_an_input_is_read_once_for_all_steps() -> None:
    query = asked("Is the Bosch hood louder than 54 dB?")
    assert query.entities == ("bosch",)
    assert query.content == ("bosch", "hood", "louder", "54", "db")
    assert query.word_count == 8


def test_an_input_without_words_can_be_read() -> None:
    assert asked("").terms == ()
    assert asked("🎉").terms == ("🎉",)


@pytest.mark.parametrize(
    ("text", "names", "set_aside"),
    [
        ("Back to the kitchen: Tomas Berg starts on 20 April.", ("tomas berg",), set()),
        ("Anna pays €300 on Monday", ("anna",), set()),
        ("Am Montag im März kommt Peter", ("peter",), set()),
        ("Not Meera, the other one. The hammers come on 28 September", ("meera",), {"meera"}),
        ("The one without Viktor: the slot is 4 March", ("viktor",), {"viktor"}),
        ("Tiles by Professor Aalto instead of Frau Novak", ("professor aalto", "frau novak"), {"frau novak"}),
        ("We changed the hotel in Lisbon: we booked the Hotel Avenida Palace instead.", ("lisbon", "hotel avenida palace"), set()),
        ("For the other trip Hamza needs a room", ("hamza",), set()),
        ("İstanbul, not İzmir", ("istanbul", "izmir"), {"izmir"}),
        ("Das Haus in der Straße, nicht Annas", ("haus", "strasse", "annas"), {"annas"}),
    ],
)
def test_names_are_no_dates_or_numbers_and_those_that_are_not_meant_are_told(text, names, set_aside):
    query = read(text, NOON, "Europe/Paris")
    assert (query.names, query.set_aside) == (names, set_aside)
