"""The files of languages are read, checked and told apart."""

import subprocess
import sys
from pathlib import Path

import pytest

from memory.engine.wording import languages, load, read


def test_english_is_there() -> None:
    assert "en" in languages()


def test_nothing_is_built_before_a_text_is_read() -> None:
    asked = "import django; django.setup(); from memory import steps, tasks; from memory.engine import wording; print(wording.languages.cache_info().currsize)"
    said = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "0"


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("common = 3", "xx.toml: `common`"),
        ("common = ''\n[words]", "xx.toml: no such part as words"),
        ("common = ''\n[phrases.adittive]\nopens = ['also']", "xx.toml: no such tag as adittive"),
        ("common = ''\n[phrases.additive]\nbegins = ['also']", "xx.toml, additive: no such place as begins"),
        ("common = ''\n[phrases.additive]\nopens = ['(also']", "xx.toml, additive, opens: “.*” opens a bracket"),
        ("common = ''\n[phrases.additive]\nopens = ['{who} also']", "xx.toml, additive, opens: there is no list “who”"),
        ("common = ", "xx.toml: "),
    ],
)
def test_a_file_with_a_fault_is_refused_by_name_and_place(tmp_path: Path, written: str, fault: str) -> None:
    (tmp_path / "xx.toml").write_text(written)
    with pytest.raises(ValueError, match=fault):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How tall is it?", "en"),
        ("Wie hoch ist das?", "de"),
        ("¿Qué altura tiene?", "es"),
        ("Quelle est sa hauteur ?", "fr"),
        ("Quanto è alto?", "it"),
        ("Qual é a altura dele?", "pt"),
        ("Какой он высоты?", "ru"),
        ("有多高？", "zh"),
        ("高さはどのくらいですか", "ja"),
        ("높이가 얼마예요?", "ko"),
        ("كم ارتفاعه؟", "ar"),
        ("מה הגובה שלו?", "he"),
    ],
)
def test_the_language_of_a_text_is_told(text: str, language: str) -> None:
    assert language in read(text).languages
    assert read(text).has("question")


def test_a_sentence_around_a_word_of_another_script_is_read_as_well() -> None:
    assert set(read("What does the word 你好 mean in this?").languages) >= {"en", "zh"}
    assert read("我明天要去机场接 Anna").languages == ("zh",)


def test_a_phrase_counts_only_where_it_may_stand() -> None:
    assert read("Also the hood").has("additive")
    assert not read("The hood is red. Also, it is loud.").has("additive")
    assert read("Thanks a lot! Also, is it loud?").has("additive")
    assert read("Is it red, too?").has("additive")
    assert not read("It is too red").has("additive")


def test_of_a_pasted_text_head_and_end_are_read() -> None:
    assert read("word " * 5_000 + "\nIs it red?").has("question")
    assert read("Regarding the hood: " + "word " * 5_000).has("topical")
    assert not read("word " * 1_000 + "the second one " + "word " * 1_000).has("picking")
