"""The turns that teach nothing: what is counted, and that the rules learn next to nothing of them."""

from __future__ import annotations

from dataclasses import replace

from memory.engine import commit
from memory.engine.extract import check, check_facts
from memory.engine.extract.check_facts import Report
from memory.engine.forest import Extraction, Interaction
from memory.evaluation import empty
from memory.llm.interface import ModelError


def by_rule(interaction: Interaction) -> Extraction:
    return commit.extract(interaction, [], "UTC", "")


def test_there_are_many_and_each_is_there_once():
    users = [turn["user"].lower() for turn in empty.turns()]
    assert len(users) >= 600 and len(set(users)) == len(users)
    assert {turn["batch"] for turn in empty.turns()} == {1, 2, 3, 4}


def test_the_rules_invent_in_two_of_a_hundred_at_most():
    found = empty.measure(by_rule, empty.turns())
    assert found.asked == 0
    assert len(found.invented) <= found.turns / 50, found.invented


def test_a_model_that_passes_every_turn_off_as_facts_gets_little_past_the_checks():
    def gullible(interaction: Interaction) -> Extraction:
        said = interaction.user
        turn = check_facts.turn_of(interaction, [], "UTC", "", {})
        row = {"fact": f"The user says {said}", "subject": "user", "attribute": "statement", "value": said, "replaces": 0}
        return check.checked({"facts": [row], "events": [{"action": said.split()[0], "object": said.split()[-1]}]}, turn, [], Report())

    found = empty.measure(gullible, empty.turns())
    assert len(found.invented) <= found.turns * 0.03, found.invented


def test_what_is_learned_asked_and_failed_is_counted():
    turn = {"user": "Thanks! My sister Carla lives in Ghent.", "assistant": "Noted."}
    learned = by_rule(Interaction(1, 1, None, 1, 1, 0, empty.AT, turn["user"], turn["assistant"]))
    found = empty.measure(lambda interaction: replace(learned, report={"calls": 1, "seconds": 2.0}), [turn, turn])
    assert (found.turns, found.asked, found.seconds, len(found.invented)) == (2, 2, 4.0, 2)

    def broken(interaction: Interaction) -> Extraction:
        raise ModelError("model_failed", "", "")

    assert empty.measure(broken, [turn]).failed == 1
