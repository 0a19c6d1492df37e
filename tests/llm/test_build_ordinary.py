"""The list of ordinary words is what the vocabularies say, and tells a name from a word that opens a sentence."""

import pytest

from memory.engine.terms import entity_terms
from memory.llm.build_ordinary import TARGET, words


def test_the_list_is_what_the_vocabularies_say():
    assert TARGET.read_text(encoding="utf-8").split() == words()


@pytest.mark.parametrize("text", ["Heard back from them", "Quite another question", "Fermenting needs time", "Update, they said no", "Morgen regnet es"])
def test_an_ordinary_word_that_opens_a_sentence_is_no_name(text):
    assert entity_terms(text) == []


@pytest.mark.parametrize("name", ["Anna", "Tom", "Montrose", "Casa Linde", "Lucia", "Oslo", "Köln"])
def test_a_name_that_opens_a_sentence_is_one(name):
    assert len(entity_terms(f"{name} was lovely")) == 1
