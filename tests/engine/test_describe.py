"""What stands in place of a name, and how names were brought in."""

import pytest

from memory.engine.describe import descriptions, introductions, matter, named


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("The woman who cuts my fringe phoned.", "The woman who cuts my fringe phoned"),
        ("What about the one with the grey bird?", "the one with the grey bird"),
        ("Got a note from him with the baton, we start at six.", "him with the baton"),
        ("My mother's other child agrees.", "My mother's other child"),
        ("Was ist mit der Frau, die mir die Haare schneidet?", "der Frau, die mir die Haare schneidet"),
        ("A note from the man across the landing. He agrees.", "the man across the landing"),
        ("As for the one I shared a bunk bed with, yes.", "the one I shared a bunk bed with"),
        ("Hablé con la mujer que me corta el pelo.", "la mujer que me corta el pelo"),
        ("J'ai vu celle qui me coupe les cheveux.", "celle qui me coupe les cheveux"),
    ],
)
def test_a_description_is_found_as_written(text: str, described: str) -> None:
    assert described in descriptions(text)


@pytest.mark.parametrize("text", ["How tall is it?", "We live in Oslo.", ""])
def test_what_describes_nobody_has_none(text: str) -> None:
    assert descriptions(text) == []


@pytest.mark.parametrize(
    ("text", "introduced"),
    [
        ("The owner is my chess partner Piet.", ["my chess partner Piet"]),
        ("My sister Anna and our dog Rex came.", ["My sister Anna", "our dog Rex"]),
        ("Meine Yogalehrerin Carmen hat abgesagt.", ["Meine Yogalehrerin Carmen"]),
        ("Mi profesora de yoga Carmen ha llamado.", ["Mi profesora de yoga Carmen"]),
        ("Mon professeur de yoga Carmen est malade.", ["Mon professeur de yoga Carmen"]),
        ("We live in Oslo.", []),
    ],
)
def test_an_introduction_is_found_as_written(text: str, introduced: list[str]) -> None:
    assert introductions(text) == introduced


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("On the subject of the brewing: where do a hundred empty bottles dry?", "on the subject of the brewing"),
        ("Considering her back, who lifts the bags?", "considering her back"),
        ("In view of the oil rig, drip hoses with a clock", "in view of the oil rig"),
        ("The videos, you know: the mower ruins every take", "the videos"),
        ("It's the newborn that gives me a headache. Colic at four", "it's the newborn that gives me a headache"),
        ("As for Ottilie", "as for ottilie"),
        ("Regarding the kitchen we are redoing with my brother in law this spring can we go on", "regarding the kitchen we are"),
        ("Zum Teich: wie tief?", "zum teich"),
        ("Could you explain more about that?", ""),
        ("The best thing about Paris is food", ""),
        ("", ""),
    ],
)
def test_the_matter_that_is_named_first(text: str, first: str) -> None:
    assert matter(text) == first


def test_what_names_a_matter_is_looked_up_first_and_once() -> None:
    assert named("On the subject of the brewing: what did the woman who cuts my fringe say?") == [
        "on the subject of the brewing",
        "the woman who cuts my fringe say",
    ]
    assert named("How tall is it?") == []
