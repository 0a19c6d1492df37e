"""Fitting and replay on small made-up streams, with a bag of words in place of the embedder."""

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memory.engine import localize
from memory.engine.calibration import Calibration
from memory.evaluation import fit
from memory.evaluation.localization import summarize
from memory.evaluation.streams import CachedEmbedder, GoldTurn, Vector, load, replay

DIALOGUES = {
    "kitchen": ["I want to redo my kitchen", "Which hood fits the kitchen wall?", "Does the kitchen hood need a pipe?", "What does such a hood cost?"],
    "bread": ["How do I bake sourdough bread?", "How long must the sourdough rest?", "Is the bread done at 24 hours?", "Why is my bread so flat?"],
    "lisbon": ["Help me with my talk in Lisbon", "How long should the Lisbon talk be?", "Shall the talk begin with a joke?", "Where do I stay in Lisbon?"],
}
ORDER = ["kitchen", "kitchen", "bread", "bread", "kitchen", "lisbon", "bread", "lisbon", "lisbon", "kitchen", "bread", "lisbon"]


def embed(texts: Sequence[str]) -> Vector:
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, zlib.crc32(word.strip("?,.").encode()) % 64] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def write(directory: Path, name: str, order: Sequence[str]) -> None:
    last: dict[str, str] = {}
    lines = []
    for number, dialogue in enumerate(order):
        told = sum(line["branch"] == dialogue for line in lines)
        line = {"id": f"t{number}", "user": DIALOGUES[dialogue][told], "assistant": f"About {dialogue}.", "branch": dialogue, "parent": last.get(dialogue)}
        lines.append({**line, "time": f"2026-03-02T{number:02}:00:00+00:00"})
        last[dialogue] = f"t{number}"
    (directory / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def streams(tmp_path: Path) -> list[list[GoldTurn]]:
    for number in range(4):
        write(tmp_path, f"s{number}", ORDER[number:] + ORDER[:number])
    return load(tmp_path)


def test_gold_trees_follow_parents(streams: list[list[GoldTurn]]) -> None:
    assert [turn.tree for turn in streams[0]] == [0, 0, 2, 2, 0, 5, 2, 5, 5, 0, 2, 5]


def test_a_parent_that_comes_later_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "user": "Hi", "time": "2026-03-02T09:00:00+00:00", "parent": "b"}\n')
    with pytest.raises(ValueError, match="line 1"):
        load(tmp_path)


def test_fitted_weights_find_their_way_and_can_be_read_back(streams: list[list[GoldTurn]]) -> None:
    told: list[str] = []
    cached = CachedEmbedder(embed)
    calibration = fit.fit({"made up": streams}, cached, told.append, processes=2, steps=300)
    assert Calibration.from_json(calibration.to_json()).fitted_on == ("made up",)
    assert fit.measure(streams, cached, calibration).branch > 0.8
    assert told


def test_replay_keeps_its_errors(streams: list[list[GoldTurn]]) -> None:
    never = replace_new(fit.START)
    placed = replay(streams[0], embed, lambda asked, found: localize.localize(asked, found, never))
    assert all(row.decision.parent is None for row in placed)
    measured = summarize(row.judged for row in placed[1:])
    assert measured.root_recall == 1.0
    assert measured.resumption == 0.0


def replace_new(calibration: Calibration) -> Calibration:
    """Weights for which everything is new."""
    return Calibration.linear({"new": 99.0}, calibration.cue_probability)


def test_nothing_to_fit_on_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to fit"):
        fit.fit({}, embed)
