"""The embedding model is built once, checked by hash, and equals the published one."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tokenizers
from django.conf import settings

from memory.llm import build_model

SENTENCES = (
    "Could the oven go on the window wall, then?",
    "Put the oven below the window.",
    "My sourdough starter smells of nail varnish.",
    "Nora leaves for Lyon on 12 March, coach 8.",
    "hi",
    "Our budget is €21,500 now, appliances apart. " * 8,
)
# Computed with the published model by its own library; the first eight numbers of each embedding.
PUBLISHED = json.loads((Path(__file__).parent / "published_embeddings.json").read_text())


@pytest.fixture(scope="module")
def unquantised() -> tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]:
    """The graph before quantisation (building checks it, too), and its tokenizer."""
    config, weights, tokenizer = build_model._read_source()
    graph = build_model.sentence_encoder(config, weights).SerializeToString()
    return onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"]), tokenizers.Tokenizer.from_str(tokenizer.decode())


@pytest.fixture(scope="module")
def full(unquantised: tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]) -> np.ndarray:
    return embeddings(*unquantised)


def embeddings(session: onnxruntime.InferenceSession, tokenizer: tokenizers.Tokenizer) -> np.ndarray:
    tokenizer.no_padding()
    tokenizer.enable_truncation(build_model.MAX_TOKENS)
    return np.concatenate([run(session, [encoding]) for encoding in tokenizer.encode_batch(list(SENTENCES))])


def run(session: onnxruntime.InferenceSession, batch: list[tokenizers.Encoding]) -> np.ndarray:
    return session.run(None, {"input_ids": np.array([one.ids for one in batch]), "attention_mask": np.array([one.attention_mask for one in batch])})[0]


def test_the_full_graph_equals_the_published_model(full: np.ndarray) -> None:
    assert np.abs(full[:, : len(PUBLISHED[0])] - np.array(PUBLISHED)).max() < 1e-5


def test_embeddings_have_length_one_and_tell_meanings_apart(full: np.ndarray) -> None:
    assert np.allclose(np.linalg.norm(full, axis=1), 1, atol=1e-5)
    oven, below, starter, lyon = full[:4]
    assert oven @ below > 0.5 > max(oven @ starter, oven @ lyon, starter @ lyon)


def test_padding_and_batch_change_nothing_in_the_full_graph(unquantised: tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]) -> None:
    session, tokenizer = unquantised
    tokenizer.enable_padding()
    together = run(session, tokenizer.encode_batch(["The oven.", "The oven goes on the window wall, next to the sink and the drawers."]))
    alone = run(session, [tokenizer.encode("The oven.")])
    assert np.abs(together[0] - alone[0]).max() < 1e-5


def test_the_int8_model_stays_near_the_full_one(full: np.ndarray) -> None:
    directory = Path(settings.MODEL_DIR)
    build_model.build(directory)
    session = onnxruntime.InferenceSession(str(directory / build_model.MODEL_FILE), providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / build_model.TOKENIZER_FILE))
    assert (embeddings(session, tokenizer) * full).sum(axis=1).min() > 0.97


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Building without the work: each build is noted and writes three small files."""
    built: list[Path] = []

    def write(target: Path) -> None:
        built.append(target)
        (target / build_model.MODEL_FILE).write_bytes(b"graph")
        (target / build_model.TOKENIZER_FILE).write_bytes(b"{}")
        files = {name: build_model._sha256(target / name) for name in (build_model.MODEL_FILE, build_model.TOKENIZER_FILE)}
        (target / build_model.MANIFEST_FILE).write_text(json.dumps({"weights_hash": build_model.WEIGHTS_HASH, "files": files}))

    monkeypatch.setattr(build_model, "_build_aside", write)
    return built


def test_a_good_model_is_left_alone(tmp_path: Path, quick: list[Path]) -> None:
    assert build_model.build(tmp_path) is True
    assert build_model.build(tmp_path) is False
    assert len(quick) == 1
    assert build_model.build(tmp_path, force=True) is True


def test_nothing_is_left_beside_the_model(tmp_path: Path, quick: list[Path]) -> None:
    build_model.build(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"lock", build_model.MODEL_FILE, build_model.TOKENIZER_FILE, build_model.MANIFEST_FILE}


@pytest.mark.parametrize("damage", ["truncate", "manifest", "other version", "missing"])
def test_a_damaged_model_is_built_again(tmp_path: Path, quick: list[Path], damage: str) -> None:
    build_model.build(tmp_path)
    manifest = tmp_path / build_model.MANIFEST_FILE
    match damage:
        case "truncate":
            (tmp_path / build_model.MODEL_FILE).write_bytes(b"gra")
        case "manifest":
            manifest.write_text("{")
        case "other version":
            manifest.write_text(manifest.read_text().replace(build_model.WEIGHTS_HASH, "0" * 64))
        case "missing":
            (tmp_path / build_model.TOKENIZER_FILE).unlink()
    assert not build_model.is_built(tmp_path)
    assert build_model.build(tmp_path) is True
    assert build_model.is_built(tmp_path)


def test_builders_at_once_build_once(tmp_path: Path, quick: list[Path]) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: build_model.build(tmp_path), range(4)))
    assert results.count(True) == 1 and len(quick) == 1


def test_a_build_that_fails_leaves_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(target: Path) -> None:
        raise build_model.BuildError("no weights")

    monkeypatch.setattr(build_model, "_build_aside", fail)
    with pytest.raises(build_model.BuildError):
        build_model.build(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"lock"}


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_model, "SOURCE_SHA256", "0" * 64)
    with pytest.raises(build_model.BuildError, match="not those of"):
        build_model._read_source()
