"""What was forgotten is known again by keyed hashes, whatever path its turn is read on, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from memory.engine import commit, forgotten
from memory.engine.forest import Interaction

TIME = datetime(2026, 3, 2, 9, tzinfo=UTC)


def turn(user: str, assistant: str = "Noted.") -> Interaction:
    return Interaction(id=1, position=1, parent=None, root=1, branch=1, depth=0, time=TIME, user=user, assistant=assistant)


def known(proposal, *, alone: bool = True, salt: str = "s"):
    return set(forgotten.marks(proposal.kind, proposal.slot, proposal.value, proposal.text, proposal.evidence, salt, alone=alone))


def facts(extraction):
    return [proposal for proposal in extraction.proposals if proposal.kind == "fact"]


def test_the_same_statement_is_known_by_its_slot_its_words_or_its_value():
    [budget] = facts(commit.extract(turn("The kitchen budget is €20,000."), []))
    marks = known(budget)
    for same in (budget, replace(budget, text="It costs 20k"), replace(budget, slot="garden|budget"), replace(budget, slot="x|y", evidence="other words")):
        assert forgotten.is_forgotten(same, marks, ["s"])
    assert not forgotten.is_forgotten(replace(budget, value="€3,000", text="other"), marks, ["s"])
    assert not forgotten.is_forgotten(replace(budget, kind="event"), marks, ["s"])
    assert not forgotten.is_forgotten(budget, marks, ["another salt"])


def test_a_value_that_something_else_of_the_turn_has_does_not_point_at_that():
    kitchen, garden = facts(commit.extract(turn("The kitchen budget is €3,000. The garden budget is €3,000."), []))
    marks = known(kitchen, alone=False)
    assert forgotten.is_forgotten(kitchen, marks, ["s"]) and not forgotten.is_forgotten(garden, marks, ["s"])


def test_marks_hold_no_word_and_differ_by_salt():
    [budget] = facts(commit.extract(turn("The kitchen budget is €20,000."), []))
    assert all(len(mark) == 64 and set(mark) <= set("0123456789abcdef") for mark in known(budget))
    assert not known(budget) & known(budget, salt="t")


def test_summaries_are_written_from_the_other_sentences():
    said = turn("We plan our kitchen with big windows. The kitchen budget is €20,000.", "Noted: €20,000.")
    extraction = commit.extract(said, [])
    gone = {number for number, proposal in enumerate(extraction.proposals) if "20,000" in proposal.text}
    assert "20,000" in extraction.node_summary
    less = forgotten.without(extraction, said, [], gone)
    told = [less.node_summary, less.path_summary, *less.entities, *less.keywords]
    assert not any("20" in words for words in told)
    assert "kitchen" in less.node_summary
    assert less.proposals == extraction.proposals
    assert forgotten.without(extraction, said, [], set()) is extraction
