"""Phrases written as data are found in texts."""

import pytest

from memory.engine.phrases import Phrases, tokens


def found(phrase: str, text: str, names: frozenset[str] = frozenset(), **lists: str) -> list[str]:
    phrases = Phrases(lists)
    phrases.add(phrase, "tag")
    listed = tokens(text)
    return [" ".join(listed[start:end]) for _, start, end in phrases.find(listed, names)]


@pytest.mark.parametrize(
    ("phrase", "text", "match"),
    [
        ("one more thing", "And one more thing!", "one more thing"),
        ("one (more|last) thing", "One last thing", "one last thing"),
        ("(a|b c) d", "x b c d", "b c d"),
        ("go on [please]", "go on now", "go on"),
        ("the * one", "the blue one", "the blue one"),
        ("not … , the", "not the red, the blue", "not the red , the"),
        ("number #", "number 12", "number 12"),
        ("cheap~ one", "a cheaper one", "cheaper one"),
        ("the ~est one", "the cheapest one", "the cheapest one"),
        ("{!self} called", "Anna called", "anna called"),
        ("my {person} said", "my mother in law said", "my mother in law said"),
        ("changed my mind", "changed, my mind", "changed , my mind"),
        ("don't", "I don’t", "don t"),
        ("回到", "我们回到厨房", "回 到"),
        ("der große", "Der Große", "der grosse"),
    ],
)
def test_a_phrase_is_found(phrase: str, text: str, match: str) -> None:
    assert match in found(phrase, text, self="i|you", person="sister|mother in law")


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("one more thing", "one more. Thing"),
        ("the * one", "the, one"),
        ("not , the", "not the"),
        ("{!self} called", "I called"),
        ("number #", "number one"),
        ("back", "backpack"),
    ],
)
def test_a_phrase_is_not_found_in_other_words_or_over_the_end_of_a_sentence(phrase: str, text: str) -> None:
    assert found(phrase, text, self="i|you") == []


def test_a_name_is_a_word_written_with_a_capital_where_letters_have_one() -> None:
    assert found("my sister <name>", "my sister Anna", frozenset({"anna"})) == ["my sister anna"]
    assert found("my sister <name>", "my sister sings") == []
    assert found("我妹妹<name>", "我妹妹安")


@pytest.mark.parametrize("phrase", ["(a|b", "a)", "[a]", "…", "", "{nobody}", "a & b", "a <who>"])
def test_a_phrase_that_cannot_be_read_is_refused_with_its_reason(phrase: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Phrases().add(phrase, "tag")


def test_many_ways_through_a_phrase_take_no_longer_than_their_length() -> None:
    phrases = Phrases()
    phrases.add(" ".join(["[*]"] * 30) + " end", "tag")
    assert not list(phrases.find(["word"] * 200))
