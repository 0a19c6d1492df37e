"""The scripted conversation of `check_llm`, taken through the app without a real model: what it counts, and what the checks cost a model that reads right."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memory.actions.create_forest import create_forest
from memory.engine.text import sentences
from memory.evaluation import planted
from memory.llm import failures
from memory.models import AtomicFact
from tests.llm.hostile import Answer, hostile_server, usage, whole

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = planted.script()


@pytest.fixture
def forest(ines):
    return create_forest(ines, "planted", time_zone=SCRIPT["zone"])


def reads_right(body: dict[str, Any]) -> Answer:
    """Finds each planted value, in the sentence that has it."""
    said = re.search(r"<user>(.*?)</user>", body["messages"][-1]["content"], re.DOTALL)
    turn = next((turn for turn in SCRIPT["turns"] if said and turn["user"] == said[1]), None)
    facts = []
    for one in turn["planted"] if turn else []:
        sentence = next(sentence for sentence in sentences(turn["user"]) if all(word in sentence for word in one["says"]))
        facts.append({"fact": sentence, "subject": "user", "attribute": one["name"], "value": one["says"][-1], "replaces": 0})
    found = {"reasoning": "", "summary": "", "entities": [], "facts": facts, "states": [], "events": [], "artifacts": []}
    return whole(json.dumps(found), told=usage(700, 100))


def test_the_script_is_what_it_says():
    assert len(SCRIPT["turns"]) == 30 and sum(len(turn["planted"]) for turn in SCRIPT["turns"]) >= 40
    assert {turn["matter"] for turn in SCRIPT["turns"]} == {"kitchen", "trip", "marathon"}
    for turn in SCRIPT["turns"]:
        assert bool(turn["planted"]) != bool(turn.get("nothing")), turn["id"]
        assert all(word in turn["user"] for one in turn["planted"] for word in one["says"]), turn["id"]


def test_by_rule_nothing_unsupported_is_stored(forest):
    outcome = planted.run(forest, SCRIPT, stream=False, questions=False)
    assert (outcome.turns, outcome.failed, outcome.unsupported) == (30, [], [])
    assert len(outcome.stored) + len(outcome.missed) == outcome.planted


def test_a_model_that_reads_right_loses_little_to_the_checks(forest, settings, monkeypatch):
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    with hostile_server() as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.EXTRACTION = server.url, "m", "one-call"
        server.always = reads_right
        outcome = planted.run(forest, SCRIPT, stream=False, questions=False)
    assert outcome.unsupported == [] and outcome.failed == []
    assert len(outcome.stored) >= 0.9 * outcome.planted, outcome.missed
    assert outcome.wrong_status == []
    assert AtomicFact.objects.in_forest(forest).get(value="€21,500").status == "current"
