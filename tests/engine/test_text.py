"""Text cut and joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine.text import branch_text, ended, excerpt, one_line, sentences, trim


def test_sentences_end_at_marks_and_lines_but_not_at_abbreviations() -> None:
    assert sentences("Dr. Smith came, e.g. at 5 p.m. on Monday. Why?\n- one\n次の文。また") == [
        "Dr. Smith came, e.g. at 5 p.m. on Monday.",
        "Why?",
        "- one",
        "次の文。",
        "また",
    ]


def test_an_excerpt_is_one_line_cut_at_a_word() -> None:
    assert excerpt("The extractor\nhood, loud", 18) == "The extractor…"
    assert excerpt("hood", 18) == "hood"


def test_direction_overrides_and_controls_do_not_reach_a_label() -> None:
    assert one_line("a\u202eb\x00c\n\td") == "abc d"


@given(st.text(max_size=300), st.integers(0, 60))
def test_trimmed_text_fits_and_is_a_beginning(text: str, tokens: int) -> None:
    cut = trim(text, tokens, len)
    assert len(cut) <= tokens
    assert text.startswith(cut.removesuffix("…")) or cut == text


def test_the_branch_aware_text_has_topic_path_node_and_entities() -> None:
    assert branch_text("Kitchen", "Topic: hood | Progress: chosen", "Anna chose Bosch.", ["Bosch", "Bosch", " "]) == (
        "Kitchen\nTopic: hood | Progress: chosen\nAnna chose Bosch.\nBosch"
    )
    assert branch_text("", "", "Hi", []) == "Hi"


@pytest.mark.parametrize("characters", [0, 1, 2, 5])
def test_a_very_short_excerpt_is_still_short(characters: int) -> None:
    assert len(excerpt("extractor hood", characters)) <= max(1, characters)


def test_a_sentence_has_one_end() -> None:
    assert ended("Returns to Kitchen") == "Returns to Kitchen."
    assert ended("Returns to Kitchen, Berg & Son’s quote is…") == "Returns to Kitchen, Berg & Son’s quote is…"
