"""Streams out of dialogues: gold parents, halves without a dialogue in common, the same for a seed."""

from __future__ import annotations

import json
import random

import pytest

from memory.evaluation import interleave
from memory.evaluation.benchmarks import BENCHMARKS


def trees(number):
    messages = []
    for tree in range(number):
        parent = None
        for turn in range(3):
            for role, text in (("prompter", f"Question {turn} of dialogue {tree}"), ("assistant", f"Reply {turn} of dialogue {tree}")):
                id = f"{tree}-{turn}-{role}"
                messages.append({"message_id": id, "parent_id": parent, "message_tree_id": f"tree-{tree}", "role": role, "text": text, "rank": 0})
                parent = id
        worse = {
            "message_id": f"{tree}-x",
            "parent_id": f"{tree}-0-prompter",
            "message_tree_id": f"tree-{tree}",
            "role": "assistant",
            "text": "worse",
            "rank": 1,
        }
        messages.append(worse)
    return messages


@pytest.fixture
def oasst(tmp_path):
    path = tmp_path / "trees.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in trees(40)))
    return path


def test_streams_are_read_back_with_their_gold(oasst, tmp_path):
    written = interleave.write(tmp_path / "s", "oasst", oasst, streams=3)
    cases = list(BENCHMARKS["streams"].load(tmp_path / "s"))
    assert len(cases) == 3 and sum(len(case.steps) for case in cases) == written
    for case in cases:
        said = {step.given.id: step.given.user for step in case.steps}
        trees = {step.gold.tree for step in case.steps}
        assert 4 <= len(trees) <= 6
        for step in case.steps:
            _, turn, _, _, dialogue = step.given.user.split()
            if step.gold.parent is None:
                assert turn == "0"
            else:
                assert said[step.gold.parent] == f"Question {int(turn) - 1} of dialogue {dialogue}"
        assert len(case.steps) == 3 * len(trees)  # every dialogue is told to its end
    left = sum(a.gold.tree != b.gold.tree for case in cases for a, b in zip(case.steps, case.steps[1:], strict=False))
    assert left > sum(len({step.gold.tree for step in case.steps}) - 1 for case in cases)  # some are left and resumed


def test_halves_share_no_dialogue_and_a_seed_says_everything(oasst, tmp_path):
    used = {}
    for half in (0, 1):
        interleave.write(tmp_path / str(half), "oasst", oasst, part=(half, 2), streams=6, seed=3)
        texts = {step.given.user for case in BENCHMARKS["streams"].load(tmp_path / str(half)) for step in case.steps}
        used[half] = {text.split()[-1] for text in texts}
    assert used[0] and used[1] and used[0].isdisjoint(used[1])
    interleave.write(tmp_path / "again", "oasst", oasst, part=(1, 2), streams=6, seed=3)
    for first in sorted((tmp_path / "1").iterdir()):
        assert first.read_bytes() == (tmp_path / "again" / first.name).read_bytes()


def test_too_few_dialogues_are_refused(tmp_path):
    path = tmp_path / "few.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in trees(3)))
    with pytest.raises(ValueError, match="a stream takes up to 6"):
        interleave.write(tmp_path / "s", "oasst", path)


def test_a_topic_jumps_back_to_the_turn_its_parent_answers():
    topic = {
        "number": 7,
        "turn": [
            {"number": "1-1", "parent": None, "participant": "User", "utterance": "Why do leaves fall?", "manual_rewritten_utterance": "Why do leaves fall?"},
            {"number": "1-2", "parent": "1-1", "participant": "System", "response": "To save water."},
            {"number": "1-3", "parent": "1-2", "participant": "User", "utterance": "All of them?", "manual_rewritten_utterance": "Do all leaves fall?"},
            {"number": "2-1", "parent": "1-1", "participant": "System", "response": "Another reply."},
            {"number": "2-2", "parent": "2-1", "participant": "User", "utterance": "And needles?", "manual_rewritten_utterance": "Do needles fall?"},
        ],
    }
    [dialogue] = next(interleave.cast([topic])).values()
    assert [(said.user, said.assistant, said.parent) for said in dialogue] == [
        ("Why do leaves fall?", "To save water.", None),
        ("All of them?", "", 0),
        ("And needles?", "", 0),
    ]
    assert dialogue[1].resolved == "Do all leaves fall?"


def haystack(case, sessions=40, rounds=4):
    """A LongMemEval case of made-up sessions, one of them too short, one beginning with the assistant."""
    told = {f"{case}p{number}_1": [(f"Ask {turn} of {case}p{number}", f"Reply {turn}") for turn in range(rounds)] for number in range(sessions)}
    talk = [[{"role": role, "content": text} for pair in turns for role, text in zip(("user", "assistant"), pair, strict=True)] for turns in told.values()]
    talk[0].insert(0, {"role": "assistant", "content": "Good morning."})
    return {"haystack_session_ids": [*told, "short"], "haystack_sessions": [*talk, talk[0][1:5]], "question_type": "secret"}


def test_sessions_of_one_case_are_interleaved_and_each_is_left(tmp_path):
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([haystack("a"), haystack("b")]))
    interleave.write(tmp_path / "s", "longmemeval", path, streams=4)
    cases = list(BENCHMARKS["streams"].load(tmp_path / "s"))
    assert len(cases) == 4
    for number, case in enumerate(cases):
        sessions = [step.given.user.split()[-1] for step in case.steps]
        assert {name[0] for name in sessions} == {"ab"[number % 2]}, "a stream is of one case"
        order = {name: [step.given.user.split()[1] for step in case.steps if step.given.user.endswith(f" {name}")] for name in set(sessions)}
        assert all(turns == ["0", "1", "2", "3"] for turns in order.values())
        *others, _ = sorted(order, key=lambda name: max(at for at, one in enumerate(sessions) if one == name))
        for name in others:  # but for the last, which may be alone by then
            places = [at for at, one in enumerate(sessions) if one == name]
            assert places[-1] - places[0] >= len(places), f"{name} was never left for another"


def test_sessions_of_a_persona_stay_in_one_half(tmp_path):
    assert interleave._persona("answer_8748f791_abs_1") == interleave._persona("answer_8748f791_2") == "8748f791"
    assert interleave._persona("sharegpt_bc9Xq_0") == interleave._persona("sharegpt_bc9Xq_13")
    assert interleave._persona("ultrachat_12") != interleave._persona("ultrachat_13")


def test_real_dialogues_are_dealt_into_a_stream_opened_left_and_resumed() -> None:
    lines = [
        {"id": f"g{n}", "user": f"G {n}", "assistant": "", "time": f"2026-03-02T09:{n:02d}:00+00:00", "parent": f"g{n - 1}" if n else None} for n in range(40)
    ]
    dialogues = [[interleave.Said(f"{name} {n}", "", n - 1 if n else None, "") for n in range(4)] for name in "AB"]
    dealt = list(interleave.among(lines, dialogues, random.Random(3), 0.4))
    assert [line for line in dealt if line["id"].startswith("g")] == lines
    for name, number in (("A", 1), ("B", 2)):
        of = [(line["id"], line["parent"], line["user"]) for line in dealt if line["user"].startswith(name)]
        assert of == [(f"d{number}-{n}", f"d{number}-{n - 1}" if n else None, f"{name} {n}") for n in range(4)]
    places = [index for index, line in enumerate(dealt) if line["user"].startswith("A")]
    assert places[-1] - places[0] > 3  # not all in one go
    assert [line["time"] for line in dealt] == sorted(line["time"] for line in dealt)
    assert list(interleave.among(lines, dialogues, random.Random(3), 0.0)) == lines


def test_dialogues_begun_by_telling_are_cut_to_what_is_told() -> None:
    def dialogue(*users: str) -> list[interleave.Said]:
        return [interleave.Said(user, "Fine.", number - 1 if number else None, user) for number, user in enumerate(users)]

    found = interleave.telling(
        {
            "trip": dialogue(
                "I'm planning a trip to Lisbon in May. It is my first one. Can you suggest a hotel?",
                "I like the second one. What does it cost?",
                "And how far is it?",
            ),
            "asked": dialogue("Can you suggest a hotel in Lisbon?", "I like the second one."),
            "short": dialogue("Hi. Which hotel is near the river?"),
        }
    )
    assert list(found) == ["trip"]
    assert [turn.user for turn in found["trip"]] == ["I'm planning a trip to Lisbon in May.", "I like the second one.", "And how far is it?"]
    assert [turn.parent for turn in found["trip"]] == [None, 0, 1]
