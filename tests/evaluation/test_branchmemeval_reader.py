"""How hard BranchMemEval is for similarity, the reader's check beside it, and rewording by a model."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memory.evaluation import streams
from memory.evaluation.branchmemeval import dataset, difficulty, reader, rephrase
from memory.llm.interface import ModelError
from memory.llm.structured import Structured
from memory.llm.usage import Usage


@pytest.fixture(scope="module")
def sessions():
    return list(dataset.generate())[1:]


def turn(number, branch, parent, user, assistant="Noted.", pointer="go on"):
    return {"id": f"s1-{number:03}", "user": user, "assistant": assistant, "gold": {"branch": branch, "parent": parent, "also": None, "pointer": pointer}}


TWO = {
    "turns": [
        turn(1, "b1", None, "The piano moves on Monday", pointer="new"),
        turn(2, "b2", None, "The party has a cake", pointer="new"),
        turn(3, "b1", "s1-001", "Is the piano heavy?", pointer="consequence"),
        turn(4, "b1", "s1-003", "ok"),
        turn(5, "b2", "s1-002", "candles on it?", pointer="consequence"),
    ]
}


def test_a_resumption_goes_back_to_another_tree_than_the_last():
    assert difficulty.resumptions(TWO) == [2, 4]


def test_words_find_what_shares_words_and_nothing_else():
    scored = difficulty.lexical(TWO)
    piano, candles = scored[1], scored[3]
    assert piano.said(0.01) == "s1-001" == piano.gold
    assert max(candles.near.values()) == 0 and candles.said(0.01) is None and candles.gold == "s1-002"
    assert scored[0].gold is None  # the first turn is nobody's resumption and is left out


def test_figures_are_at_the_threshold_that_is_best():
    made = [difficulty.Scored("a", "go on", True, False, {"a": 0.9, "b": 0.1}), difficulty.Scored(None, "new", False, False, {"a": 0.2, "b": 0.3})]
    figures = difficulty.figures(made)
    assert figures.overall == 1.0 and figures.resumptions == 1.0 and figures.by_pointer == {"go on": (1.0, 1), "new": (1.0, 1)}


def test_the_nearest_state_speaks_for_its_tree():
    vectors = {"The piano moves on Monday\nNoted.": [1, 0], "The party has a cake\nNoted.": [0, 1], "candles on it?": [0.1, 0.9]}

    def embed(texts):
        return np.array([vectors.get(text, [0.5, 0.5]) for text in texts], dtype=float)

    assert difficulty.nearest(TWO, embed)[3].said(0.0) == "s1-002"


def test_words_alone_dont_solve_the_testing_set(sessions):
    figures = difficulty.figures([turn for session in sessions for turn in difficulty.lexical(session)])
    assert max(figures.resumptions, figures.never_new) < difficulty.BAR


# --- The reader -------------------------------------------------------------------------------------------------------


def test_items_hold_no_label_and_the_key_is_apart():
    [task, *items] = dataset.lines(reader.ITEMS)
    key = dataset.lines(reader.KEY)
    assert task == {"task": reader.TASK}
    assert [item["id"] for item in items] == [row["id"] for row in key]
    assert sum(row["sort"] == "resumption" for row in key) == 60
    for item in items:
        assert set(item) == {"id", "transcript", "message", "matters"} and len(item["transcript"].split()) <= reader.WORDS
        assert all(f"[{matter['state']}] USER: {matter['opens']}" in item["transcript"] for matter in item["matters"])
    assert not any(label in json.dumps(items) for label in ('"pointer"', '"branch"', "consequence", "s01-"))


def test_the_items_are_of_the_frozen_set(sessions):
    turns = {turn["id"]: turn for session in sessions for turn in session["turns"]}
    for item, row in zip(dataset.lines(reader.ITEMS)[1:], dataset.lines(reader.KEY), strict=True):
        assert item["message"] == turns[row["turn"]]["user"] and row["pointer"] == turns[row["turn"]]["gold"]["pointer"]
        assert (row["answer"] == "new") == (turns[row["turn"]]["gold"]["parent"] is None)


def test_items_of_a_session_come_in_its_order(sessions):
    seen = {}
    for row in dataset.lines(reader.KEY):
        session, number = row["turn"].split("-")
        assert int(number) > seen.get(session, 0)
        seen[session] = int(number)


KEY = [
    {"id": "r01", "sort": "resumption", "pointer": "consequence", "answer": 1, "states": [1, 4, 7]},
    {"id": "r02", "sort": "resumption", "pointer": "consequence", "answer": 2, "states": [2, 3]},
    {"id": "r03", "sort": "resumption", "pointer": "contrast", "answer": 5, "states": [5]},
    {"id": "r04", "sort": "control", "pointer": "new", "answer": "new", "states": []},
]


def test_a_worked_example_of_scoring():
    """The first by a later state of the right matter, the second wrong, the third not answered, the control right."""
    read = reader.score([{"id": "r01", "answer": 4}, {"id": "r02", "answer": 1}, {"id": "r04", "answer": "New"}], KEY)
    assert read.resumptions == (1, 3) and read.controls == (1, 1)
    assert read.by_pointer == {"consequence": (1, 2), "contrast": (0, 1)}
    assert read.wrong == ("r02",) and read.missing == ("r03",)
    with pytest.raises(ValueError, match="no item r99"):
        reader.score([{"id": "r99", "answer": 1}], KEY)


def test_the_command_scores_a_file(tmp_path):
    key = dataset.lines(reader.KEY)
    answers = [{"id": row["id"], "answer": row["answer"]} for row in key]
    answers[0]["answer"] = 999
    file = tmp_path / "answers.jsonl"
    dataset.write(answers, file)
    out = StringIO()
    call_command("branchmemeval", "score-reader", str(file), stdout=out)
    right = 59 if key[0]["sort"] == "resumption" else 60
    assert f"resumptions: {right} of 60" in out.getvalue() and f"wrong: {key[0]['id']}" in out.getvalue()


def test_the_command_makes_a_set_and_refuses_a_faulty_one(tmp_path):
    file = tmp_path / "set.jsonl"
    out = StringIO()
    folder = tmp_path / "streams"
    call_command("branchmemeval", "generate", "--seed", "5", "--sessions", "4", "--split", "fit", "--out", str(file), "--streams", str(folder), stdout=out)
    assert [len(stream) for stream in streams.load(folder)] == [len(session["turns"]) for session in dataset.read(file)[1:]]
    assert "sessions; questions; other interactions: 4" in out.getvalue()
    call_command("branchmemeval", "validate", str(file), stdout=out)
    assert "4 sessions without a fault" in out.getvalue()
    rows = dataset.read(file)
    rows[1]["turns"][4]["user"] = "see s1-002"
    dataset.write(rows, file)
    with pytest.raises(CommandError, match="faults"):
        call_command("branchmemeval", "validate", str(file), stdout=out, stderr=StringIO())


# --- Rewording --------------------------------------------------------------------------------------------------------


class Scripted:
    """A model whose answers are made of what it was given."""

    def __init__(self, answer):
        self.answer = answer

    def structured(self, messages, schema, *, name, max_tokens):
        value = self.answer(json.loads(messages[-1]["content"]))
        if value is None:
            raise ModelError("structured_invalid", "No form.", "Try again.")
        return Structured(value, Usage(), 1, "json_schema")


@pytest.fixture
def session(sessions):
    return sessions[0]


def test_a_faithful_rewording_is_taken_and_questions_are_left_alone(session):
    reworded, kept = rephrase.rephrase(session, Scripted(lambda given: {"user": f"Well: {given['user']}", "assistant": f"Sure. {given['assistant']}"}))
    assert kept == 0
    for before, after in zip(session["turns"], reworded["turns"], strict=True):
        assert after == before if "question" in before else after["user"] == f"Well: {before['user']}" and after["gold"] == before["gold"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda given: None,
        lambda given: {"user": "Hm.", "assistant": "Yes, 4711 of them."},
        lambda given: {"user": given["user"], "assistant": f"{given['assistant']} That's for Somebody, 12345."},
    ],
)
def test_a_rewording_that_loses_or_adds_is_not_taken(session, spoil):
    reworded, kept = rephrase.rephrase(session, Scripted(spoil))
    assert reworded["turns"] == session["turns"] and kept == sum("question" not in turn for turn in session["turns"])


def test_a_name_that_gives_the_matter_away_is_not_taken():
    told = {"user": "the lid must be locked", "assistant": "I've noted it.", "keeps": []}
    assert rephrase.fits(told, {"user": "lock the lid", "assistant": "Noted."}, ["Marit"])
    assert not rephrase.fits(told, {"user": "lock Marit's lid", "assistant": "Noted."}, ["Marit"])


def test_a_model_that_cant_be_reached_ends_it(session):
    class Gone:
        def structured(self, messages, schema, *, name, max_tokens):
            raise ModelError("unreachable", "No answer.", "Start it.")

    with pytest.raises(ModelError):
        rephrase.rephrase(session, Gone())
