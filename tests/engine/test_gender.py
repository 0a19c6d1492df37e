"""Whether a text speaks of a man or of a woman, and who does as the input does."""

from datetime import UTC, datetime

import pytest

from memory.engine import wording
from memory.engine.forest import Interaction
from memory.engine.gender import agreement, spoken_of


def state(user: str, *, path: str = "", answer: str = "") -> Interaction:
    return Interaction(1, 1, None, 1, 1, 0, datetime(2026, 11, 12, tzinfo=UTC), user, answer, path_summary=path)


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("He sells to a restaurant", 1),
        ("She has test nerves, my sister", -1),
        ("My aunt told his boss", 0),
        ("The theme is: here, where there were others", 0),
        ("Mein Bruder braucht ein Bett", 1),
        ("Meine Schwester braucht ein Bett", -1),
        ("Mi hermana necesita una cama", -1),
        ("Mon frère a besoin d'un lit", 1),
        ("我妈妈喜欢这个", -1),
        ("其他的都可以", 0),
        ("", 0),
    ],
)
def test_of_whom_a_text_speaks(text: str, one: int) -> None:
    assert spoken_of(text, wording.read(text).languages).one == one


def test_who_is_spoken_of_as_in_the_input_agrees_with_it() -> None:
    rosa = state("I had a terrible night", path="I am to prepare my sister Rosa for an exam; she works full time")
    piet = state("He needs a bed in the middle", path="A trip for my uncle Piet")
    beds = state("Which plants are poisonous?")
    assert agreement("She can't read for long", [rosa, piet, beds]) == pytest.approx([2 / 3, -2 / 3, 0.0])
    assert agreement("His back hurts", [rosa, piet, beds]) == pytest.approx([-2 / 3, 2 / 3, 0.0])


@pytest.mark.parametrize("text", ["Which bed is it?", "His mother says hello"])
def test_an_input_that_speaks_of_neither_or_of_both_agrees_with_nobody(text: str) -> None:
    assert agreement(text, [state("She sleeps"), state("He sleeps")]) == [0.0, 0.0]
