"""The validator of BranchMemEval catches each fault that is planted into a sound set."""

from __future__ import annotations

import copy

import pytest

from memory.evaluation.branchmemeval import dataset, validate


@pytest.fixture(scope="module")
def sound():
    return list(dataset.generate())[1:]


@pytest.fixture
def sessions(sound):
    return copy.deepcopy(sound)


def asked(sessions, dimension):
    """(session, turn) of the first question of a dimension."""
    return next((session, turn) for session in sessions for turn in session["turns"] if turn.get("question", {}).get("dimension") == dimension)


def turn_of(session, id):
    return next(turn for turn in session["turns"] if turn["id"] == id)


def found(sessions, turn=None):
    return [fault.what for fault in validate.faults(sessions) if turn is None or fault.turn == turn["id"]]


def test_a_sound_set_has_none(sessions):
    assert found(sessions) == []


def test_a_gold_nobody_said(sessions):
    _, turn = asked(sessions, "B1")
    turn["question"]["gold"] = "Timbuktu"
    assert any("isn't supported" in what for what in found(sessions, turn))


@pytest.mark.parametrize("which", ["gold", "confounder"])
def test_an_answer_in_the_question(sessions, which):
    _, turn = asked(sessions, "B5")
    turn["user"] += f" Was it {turn['question'][which]}?"
    assert "the gold or its confounder is in the question" in found(sessions, turn)


@pytest.mark.parametrize("leak", ["on b2 now", "see s01-004", "{value} then", "Anyway. ->-> 3,2", "the confounder is"])
def test_the_construction_in_a_text(sessions, leak):
    turn = sessions[3]["turns"][5]
    turn["assistant"] += f" {leak}"
    assert any("the construction shows" in what for what in found(sessions, turn))


def test_an_update_without_an_old_value(sessions):
    _, turn = asked(sessions, "B2")
    turn["question"]["old"] = None
    assert "there is no old and new value" in found(sessions, turn)


def test_an_update_whose_new_value_was_there_before(sessions):
    session, turn = asked(sessions, "B2")
    turn_of(session, turn["question"]["evidence"][0])["assistant"] += f" Or {turn['question']['gold']}."
    assert "the new value was there before the update" in found(sessions, turn)


def test_a_bridge_whose_link_shows(sessions):
    _, turn = asked(sessions, "B4")
    turn["user"] += f" I mean {turn['question']['link']}."
    assert any("isn't hidden" in what for what in found(sessions, turn))


def test_a_bridge_without_a_link(sessions):
    _, turn = asked(sessions, "B4")
    turn["question"]["link"] = None
    assert "no value links two trajectories" in found(sessions, turn)


def test_a_bridge_of_one_trajectory(sessions):
    session, turn = asked(sessions, "B4")
    turn_of(session, turn["question"]["evidence"][0])["user"] += f" {turn['question']['gold']}"
    assert "the gold is known without the second trajectory" in found(sessions, turn)


def test_a_twin_without_its_instance(sessions):
    _, turn = asked(sessions, "B5")
    turn["user"] = turn["user"].replace(turn["question"]["instance"], "that person")
    assert any("name its instance" in what for what in found(sessions, turn))


def test_evidence_that_doesnt_exist_or_comes_later(sessions):
    session, turn = asked(sessions, "B1")
    turn["question"]["evidence"] = ["s99-001"]
    assert any("doesn't exist" in what for what in found(sessions, turn))
    turn["question"]["evidence"] = [session["turns"][-1]["id"]]
    assert any("doesn't come before" in what for what in found(sessions, turn))


def test_a_parent_that_comes_later(sessions):
    session = sessions[0]
    session["turns"][2]["gold"]["parent"] = session["turns"][9]["id"]
    assert any("doesn't come before" in what for what in found(sessions, session["turns"][2]))


def test_a_parent_of_another_branch(sessions):
    session = sessions[0]
    first = session["turns"][0]
    stranger = next(turn for turn in session["turns"] if turn["gold"]["branch"] not in (first["gold"]["branch"], None) and turn["gold"]["parent"])
    stranger["gold"]["parent"] = first["id"]
    assert "its gold parent is of another branch" in found(sessions, stranger)


def test_a_confounder_of_no_parallel_trajectory(sessions):
    _, turn = asked(sessions, "B5")
    turn["question"]["confounder"] = "Timbuktu"
    assert "the confounder wasn't said in a parallel trajectory" in found(sessions, turn)


def test_a_canonical_answer_that_says_the_other_thing(sessions):
    _, turn = asked(sessions, "B3")
    turn["assistant"] = turn["question"]["confounder"]
    assert any("canonical answer" in what for what in found(sessions, turn))


def test_a_value_lost_in_rewording(sessions):
    turn = next(turn for turn in sessions[0]["turns"] if turn.get("keeps"))
    turn["user"] = turn["assistant"] = "Something else altogether."
    assert any("got lost" in what for what in found(sessions, turn))


def test_a_clock_that_goes_back(sessions):
    turns = sessions[0]["turns"]
    turns[4]["time"] = turns[2]["time"]
    assert any("isn't later" in what for what in found(sessions, turns[4]))


def test_a_session_of_another_composition(sessions):
    session, turn = asked(sessions, "B3")
    del turn["question"]
    assert f"other questions than family {session['family']} has" in found(sessions)
    session["turns"] = session["turns"][:41]
    assert "41 turns instead of 42 to 52" in found(sessions)
    session["branches"] = session["branches"][:2]
    assert any(what.startswith("2 branches") for what in found(sessions))


def test_an_empty_turn_and_an_id_used_twice(sessions):
    turns = sessions[0]["turns"]
    turns[3]["assistant"] = "  "
    turns[6]["id"] = turns[5]["id"]
    whats = found(sessions)
    assert "nothing is said" in whats and "its id is there twice" in whats
