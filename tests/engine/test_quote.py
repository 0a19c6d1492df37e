"""Where later answers repeat what is to be forgotten: runs of words and values, by passages, and not what the rest of memory says too."""

from __future__ import annotations

import pytest

from memory.engine.quote import MARKER, Wording, only_marker

SAID = "Our alarm code is zyzzyva7391. The plumber Nora Moreau wants € 21,500.00 for the new bathroom floor."


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        ("As you said: the code is Zyzzyva7391.", "As you said: the code is Zyzzyva7391."),
        ("It costs 21500 EUR. That is a lot.", "It costs 21500 EUR."),
        ("Sure.\nThe plumber wants it for a new bathroom floor.\nAnything else?", ""),  # words between, of other words: no run
        ("Nora Moreau will come on Monday.", "Nora Moreau will come on Monday."),
        ("And the plumber for the new bathroom floor?", ""),
        ("Whether Nora Moreau wants 21,500 is open.", "Whether Nora Moreau wants 21,500 is open."),
        ("Tiles are white.", ""),
    ],
)
def test_names_exact_values_and_runs_of_words_are_quotes(answer, quoted):
    assert Wording([SAID]).quoted(answer) == quoted


def test_inflected_words_with_other_function_words_between_them_are_a_run():
    wording = Wording(["she bakes sourdough bread with walnuts on sundays"])
    assert wording.quoted("Baking a sourdough bread and walnut on Sunday is nice.") != ""
    assert wording.quoted("Bread with walnuts is nice.") == ""


def test_what_the_rest_of_memory_says_as_well_is_no_quote():
    answer = "Nora Moreau gets 21,500 euros."
    assert Wording([SAID]).quoted(answer) == answer
    assert Wording([SAID], elsewhere=["I told you that Nora Moreau came.", "It was 21500 EUR"]).quoted(answer) == ""


def test_a_passage_is_the_whole_sentence_or_line_and_the_rest_stays():
    answer = "Noted.\n1. Change zyzzyva7391 soon\n2. Call the bank\nThe floor is fine. Nora Moreau knows. Bye."
    assert Wording([SAID]).without(answer) == f"Noted.\n1. {MARKER}\n2. Call the bank\nThe floor is fine. {MARKER} Bye."
    assert Wording([SAID]).without("Nothing of it.") == "Nothing of it."


def test_scripts_without_blanks_go_by_their_characters():
    wording = Wording(["我把钥匙藏在花园的红色花盆下面。"])
    assert wording.quoted("好的。钥匙藏在花园的红色花盆下面，对吗？") != ""
    assert wording.quoted("花园很漂亮。") == ""


def test_small_talk_is_no_quote_however_long():
    assert not Wording(["Sure, please tell me more, I am happy to help you with that!"]).quoted("Please tell me more, happy to help!")


def test_a_text_of_markers_alone_is_told_from_one_with_words():
    assert only_marker(f" {MARKER}, ") and not only_marker(f"Bosch {MARKER}") and not only_marker("")
