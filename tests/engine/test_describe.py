"""What stands in place of a name, and how names were brought in."""

import pytest

from memory.engine.describe import descriptions, introductions


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
