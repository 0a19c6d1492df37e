"""The embedder that every forest pins."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from memory.llm import build_model
from memory.llm.embed import MANY, Embedder, ModelMissingError, ahead, embedder, embedding_with


@pytest.fixture(scope="module", autouse=True)
def model() -> None:
    build_model.build(Path(settings.MODEL_DIR))


def test_vectors_are_float32_rows_of_length_one() -> None:
    vectors = embedder().embed(["The oven goes on the window wall.", "Sourdough", ""])
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


def test_nothing_to_embed_is_no_rows() -> None:
    assert embedder().embed([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_what_is_embedded_beside_it() -> None:
    alone = embedder().embed(["Nora leaves on 12 March."])[0]
    beside = embedder().embed(["x" * 900, "Nora leaves on 12 March.", "A word."])[1]
    assert np.array_equal(alone, beside)


def test_meaning_is_nearer_than_words() -> None:
    oven, stove, starter = embedder().embed(["Where does the oven go?", "The stove stands on the left.", "My starter smells of nail varnish."])
    assert oven @ stove > oven @ starter + 0.1


def test_text_beyond_256_tokens_is_not_read() -> None:
    long = "oak beech cork " * 400
    one, other = embedder().embed([long, long + "and nail varnish"])
    assert np.array_equal(one, other)


@pytest.mark.parametrize("text", ["\ud800 lone", "\x00", "記憶の森", "مرحبا", "👩‍👩‍👧", " " * 5000])
def test_any_text_has_a_vector(text: str) -> None:
    assert np.isfinite(embedder().embed([text])).all()


def test_threads_get_the_same_vectors() -> None:
    texts = [f"turn number {number}" for number in range(16)]
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda text: embedder().embed([text])[0], texts))
    assert np.array_equal(np.stack(vectors), embedder().embed(texts))


def test_a_missing_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="make setup"):
        Embedder(tmp_path).embed(["x"])


def test_what_a_forest_pins_is_known_without_opening_the_model(tmp_path: Path) -> None:
    one = Embedder(tmp_path)
    assert (one.identity, one.dimensions, len(one.weights_hash)) == ("all-MiniLM-L6-v2 int8", 384, 64)


def test_many_texts_are_embedded_as_each_alone() -> None:
    """Shared out among threads: the order stays, and no neighbour changes a vector."""
    texts = [f"The budget of room {number} is €{number},500. " * (1 + number % 7) for number in range(2 * MANY + 1)]
    alone = np.concatenate([embedder().embed([text]) for text in texts])
    assert np.array_equal(embedder().embed(texts), alone)
    assert len(np.unique(alone, axis=0)) == len(texts)


def test_vectors_made_ahead_are_those_made_at_once() -> None:
    texts = ["The oven goes on the window wall.", "Sourdough"]
    first, others = ahead(texts)
    assert np.array_equal([first(), *others()()], embedder().embed(texts))


def test_without_the_model_what_was_begun_says_so(tmp_path: Path) -> None:
    with embedding_with(Embedder(tmp_path)):
        first, others = ahead(["Sourdough", "Bread"])
    with pytest.raises(ModelMissingError):
        first()
    with pytest.raises(ModelMissingError):
        others()()
