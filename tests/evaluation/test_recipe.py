"""What the weights are fitted on, and the forests of very many open branches, made of small files in the formats of the public ones."""

from __future__ import annotations

import json

import pytest

from memory.evaluation import candidates, recipe
from memory.evaluation.branchmemeval import dataset
from memory.evaluation.streams import CachedEmbedder
from memory.llm.calibration import calibration
from memory.llm.embed import embedder
from tests.evaluation.test_interleave import trees


@pytest.fixture
def shared(tmp_path):
    topics = [
        {
            "number": str(topic),
            "turn": [
                turn
                for n in range(4)
                for turn in (
                    {"number": f"{n}-1", "parent": f"{n - 1}-2" if n else None, "participant": "User", "utterance": f"Question {n} of topic {topic}"},
                    {"number": f"{n}-2", "parent": f"{n}-1", "participant": "System", "response": f"Reply {n} of topic {topic}"},
                )
            ],
        }
        for topic in range(14)
    ]
    talk = [{"role": role, "content": f"I am planning step {n}"} for n in range(3) for role in ("user", "assistant")]
    sessions = [[{**said, "content": f"{said['content']} of session {session}"} for said in talk] for session in range(90)]
    case = {"question_id": "q", "haystack_session_ids": [f"s{n}_0" for n in range(90)], "haystack_sessions": sessions}
    for name, rows in ((recipe.FILES["oasst"], trees(120)), (recipe.FILES["cast"], topics), (recipe.FILES["longmemeval"], [case])):
        path = tmp_path / "shared" / name.removesuffix(".gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows) if name.endswith(".json.gz") else "".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "shared"


@pytest.fixture
def plain_files(monkeypatch):
    monkeypatch.setattr(recipe, "FILES", {kind: name.removesuffix(".gz") for kind, name in recipe.FILES.items()})
    monkeypatch.setattr(candidates, "FILES", recipe.FILES)


@pytest.fixture
def few_generated(monkeypatch):
    generate = dataset.generate
    monkeypatch.setattr(recipe.dataset, "generate", lambda seed, split: generate(seed, 2, split))


@pytest.mark.usefixtures("plain_files", "few_generated")
def test_halves_share_no_real_dialogue_and_every_stream_has_its_fold(shared, tmp_path):
    told = {}
    for half in (0, 1):
        found, folds = recipe.sources(shared, (half,), tmp_path / str(half))
        assert {name: len(streams) for name, streams in found.items()} == {name: len(fold) for name, fold in folds.items()}
        assert found.keys() == {"oasst", "cast", "cast-resolved", "longmemeval", "longmemeval-told", recipe.GENERATED}
        assert all(set(fold) == {0, 1} for fold in folds.values())
        told[half] = {turn.user for streams in found.values() for stream in streams for turn in stream if turn.user.split()[-1].isdigit()}
    assert told[0] and told[1] and told[0].isdisjoint(told[1])
    both, folds = recipe.sources(shared, (0, 1), tmp_path / "both")
    for name, streams in both.items():
        for stream, fold in zip(streams, folds[name], strict=True):
            real = {turn.user for turn in stream} & (told[0] | told[1])
            assert real <= told[fold]


@pytest.mark.usefixtures("plain_files", "few_generated")
def test_real_dialogues_stand_among_the_generated_turns_of_some_of_those_streams(shared, tmp_path):
    found, _ = recipe.sources(shared, (0,), tmp_path / "made")
    dealt = [any(turn.user.split()[-1].isdigit() for turn in stream) for stream in found[recipe.GENERATED]]
    assert dealt.count(True) == len(dealt) / (len(recipe.PLAIN_SEEDS) + len(recipe.DEALT_SEEDS))


@pytest.mark.usefixtures("plain_files")
def test_very_many_branches_are_open_before_the_first_is_resumed(shared):
    turns = candidates.stream(shared, 1, 40, seed=1)
    begun = [turn for turn in turns if turn.parent is None]
    assert len(begun) == 40
    last_begun = max(index for index, turn in enumerate(turns) if turn.parent is None)
    again = [turn for index, turn in enumerate(turns) if index > last_begun and turns[index - 1].tree != turn.tree and turn.parent is not None]
    assert len({turn.tree for turn in again}) >= 39  # the one begun last may just go on
    with pytest.raises(ValueError, match="wanted"):
        candidates.stream(shared, 1, 4000, seed=1)
    found = candidates.measure(turns[: last_begun + 12], 40, CachedEmbedder(embedder().embed), calibration())
    assert found.among == found.resumed > 5 and found.ranked == 40 and 0 <= found.right <= found.resumed
