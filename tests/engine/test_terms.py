"""Words and names of any language, as the indexes know them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine.query import read
from memory.engine.terms import MAX_TERM, content_terms, count_words, entity_spans, entity_term, entity_terms, fold, has_entity, number, surfaces, terms
from memory.engine.text import sentences
from tests import effort


def test_a_word_is_found_in_any_of_its_forms() -> None:
    assert terms("Running runs, RUN!") == ["run", "run", "run"]


def test_function_words_are_no_terms() -> None:
    assert terms("What is the colour of it?") == ["colour"]


@pytest.mark.parametrize("written", ["€21,500", "21500", "21,500.00", "21'500", "21.500,00 €", "21.5k", "21\u202f500"])
def test_an_amount_is_one_term_however_it_is_written(written: str) -> None:
    assert terms(f"The budget is {written}.")[1] == "21500"


def test_times_dates_and_versions_stay_whole() -> None:
    assert terms("at 10:30 on 2026-03-04, release 1.2.3") == ["10:30", "2026-03-04", "releas", "1.2.3"]


def test_a_unit_is_a_term_of_its_own() -> None:
    assert terms("24kg and 24 kg") == ["24", "kg", "24", "kg"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Zoë lives in Malmö near the Café", "malmo CAFE zoe"),
        ("我想装修厨房，预算两万", "厨房"),
        ("東京タワーに行きました", "東京タワー"),
        ("오늘 부엌을 청소했어요", "부엌"),
        ("أريد تجديد المطبخ", "المطبخ"),
        ("إلى أحمد", "احمد"),
        ("הלכתי לשוק בירושלים", "בירושלים"),
        ("Анна поехала в Москву, ещё раз", "москву еще"),
        ("मैं हिन्दी सीख रहा हूँ", "हिन्दी"),
        ("İstanbul, Straße 5", "istanbul strasse"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("party 🎉 tonight", "🎉"),
    ],
)
def test_text_is_found_in_its_own_language(text: str, query: str) -> None:
    wanted = [term for term in terms(query) if term not in ("da",)]
    assert wanted
    assert any(term in terms(text) for term in wanted[:1])


def test_scripts_without_blanks_become_bigrams() -> None:
    assert terms("抽油烟机") == ["抽油", "油烟", "烟机"]
    assert terms("厨") == ["厨"]


def test_vowel_signs_do_not_break_a_word() -> None:
    assert terms("हिन्दी") == ["हिन्दी"]


def test_content_leaves_out_the_words_of_requests() -> None:
    assert content_terms("Please tell me more about the extractor hood, thanks") == ["extractor", "hood"]


def test_a_term_can_be_shown_as_it_was_written() -> None:
    assert surfaces("Which windows?")["window"] == "windows"


@given(st.text(max_size=400))
def test_every_text_has_terms_that_fit_the_index(text: str) -> None:
    for term in [*terms(text), *entity_terms(text)]:
        assert 0 < len(term) <= MAX_TERM


@given(st.text(max_size=200))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    once = fold(text)
    assert terms(once) == terms(fold(once))


@given(st.text(st.characters(max_codepoint=127), max_size=200) | st.from_regex(r"[0-9,.' kgm:/-]{0,30}", fullmatch=True))
def test_a_text_has_the_same_terms_beside_a_letter_of_another_script(text: str) -> None:
    assert [*terms(text), "ж"] == terms(f"{text}\nж")


@given(st.integers(0, 10**9))
def test_grouping_never_changes_a_number(value: int) -> None:
    assert number(f"{value:,}") == str(value)


def test_names_amounts_and_quotations_are_entities() -> None:
    text = "Can you compare the Bosch DWB66 with Siemens? Anna Smith paid €21,500 in New York City for “the good one”, it weighs 24kg."
    assert entity_terms(text) == ["bosch dwb66", "dwb66", "siemens", "anna smith", "21500 eur", "new york city", "good one", "24 kg"]


def test_a_common_word_that_opens_a_sentence_is_no_entity() -> None:
    assert entity_spans("Please help. However, I think so. What now? Thanks!") == []


def test_katakana_words_and_latin_words_among_them_are_entities() -> None:
    assert entity_terms("新しいパソコンはThinkPadです") == ["パソコン", "thinkpad"]


def test_an_entity_is_the_same_in_question_and_answer() -> None:
    assert entity_term("The Bosch") == entity_term("bosch")
    assert entity_term("€21.5k") == entity_term("€21,500.00") == "21500 eur"
    assert entity_term("24 kg") == entity_term("24KG")


@pytest.mark.parametrize(
    "piece", ["a", "1", "a.", "1,", "1.1:", "A ", "“", "e.g. ", "@", "a-", "Aa", "'", "厨", "12k", "a@", "a1", "$1", "\u0301", "The Of ", "\n", "🎉", "9 kg "]
)
def test_the_largest_turn_of_anything_is_read_in_no_time(piece: str) -> None:
    text = piece * (32_768 // len(piece.encode()))
    spent = effort.seconds(lambda said: (terms(said), entity_spans(said), sentences(said), read(said, datetime(2026, 11, 12, tzinfo=UTC))), text)
    assert spent < 5  # tens of milliseconds; a pattern that backtracks takes minutes


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Is the Bosch hood louder than 54 dB?", 8),
        ("", 0),
        ("我想给厨房买一个抽油烟机", 8),
        ("もう一つ教えてください", 5),
        ("내일 서울에 갑니다", 3),
        ("Qu'est-ce que c'est ?", 4),
    ],
)
def test_words_are_counted_alike_with_and_without_blanks(text: str, count: int) -> None:
    assert count_words(text) == count


NAMED = (
    "Anna",
    "anna",
    "van Gogh",
    "“a quiet place”",
    '"a quiet place"',
    "O'Brien",
    "iPhone",
    "@anna",
    "#anna",
    "example.com",
    "New York",
    "new york",
    "Jean-Luc",
    "5 kg",
    "Hello",
)


@given(st.lists(st.sampled_from((*NAMED, "went", "to", "of", ".", "\n")), max_size=12), st.lists(st.sampled_from(NAMED), max_size=4))
def test_a_text_has_the_entities_that_are_found_in_it(words: list[str], names: list[str]) -> None:
    text, wanted = " ".join(words), entity_terms(". ".join(names)) + [fold(name) for name in names]
    assert has_entity(text, wanted) == (not set(wanted).isdisjoint(entity_terms(text)))
