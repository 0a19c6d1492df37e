"""Gold stays with the runner: nothing of it reaches a system, and what is found by chance scores what chance does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_type_hints

import pytest

from memory.evaluation import clusters, evidence, localization, run
from memory.evaluation.answers import outcome
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.cases import Asked, Case, Given, Gold, Question, Step
from memory.evaluation.systems.base import Context, Recalled, Shown, System
from tests.evaluation import samples
from tests.evaluation.samples import SENTINEL
from tests.evaluation.tripwire import Tripwire

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BUDGETS = (256, 4096)


def cases(name: str, directory: Path) -> Iterator[Case]:
    return BENCHMARKS[name].load(samples.WRITERS[name](directory))


def measure(name: str, case: Case, directory: Path, wire: Tripwire, **more) -> None:
    """A case, through the runner as it is."""
    plan = run.Plan(name, directory, directory / "out", ("tripwire",), budgets=BUDGETS, **more)
    bench = run.Bench(plan, {"tripwire": lambda setting: wire})
    [row, *_] = bench.measure(run.Unit(case, "tripwire", ("tripwire",)), {})["tripwire"][::-1]
    assert row["kind"] == "case", row


@pytest.mark.parametrize("prefix", ["online", "given"])
@pytest.mark.parametrize("name", list(samples.WRITERS))
def test_nothing_of_gold_reaches_a_system(tmp_path, name, prefix):
    wire = Tripwire()
    for case in cases(name, tmp_path):
        measure(name, case, tmp_path, wire, prefix=prefix)
    assert {"open", "place", "observe"} <= {call for call, _ in wire.shown}
    assert ("recall" in {call for call, _ in wire.shown}) == bool(BENCHMARKS[name].measures & {"evidence", "answers"})
    assert wire.caught(SENTINEL, "answer_", "_abs", "has_answer", "adversarial") == []


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "beam", "streams"])
def test_the_sentinels_are_in_the_files(tmp_path, name):
    """Else the test above would say nothing: what the system mustn't see is there to be seen."""
    [case] = cases(name, tmp_path)
    planted = repr(case) if name != "streams" else samples.stream()  # the loader of streams never even keeps it
    assert SENTINEL in planted


def test_the_wire_trips():
    """The tripwire itself: gold in an id, a question in the place of what is asked."""
    wire = Tripwire()
    wire.observe(Given(f"answer_{SENTINEL}", "hello", "", NOW), placed=None)
    assert len(wire.caught(SENTINEL, "answer_")) == 2
    with pytest.raises(AssertionError, match="recall was given a Question"):
        wire.recall(Question("q", Asked("?", NOW), "t"), BUDGETS)


def test_no_method_of_a_system_takes_gold():
    taken = {kind for method in ("open", "place", "observe", "settle", "recall", "close") for kind in get_type_hints(getattr(System, method)).values()}
    assert not taken & {Gold, Question, Step, Case}


def asked_on_the_way(questions: int = 3) -> Case:
    steps = []
    for number in range(questions):
        asked = Asked(f"What is number {number}?", NOW + timedelta(hours=number))
        gold = Question(f"q{number}", asked, f"{SENTINEL}-B1", answers=(f"{SENTINEL} {number}",), confounders=(f"{SENTINEL} other",), parent=f"t{number - 1}")
        given = Given(f"t{number}", asked.text, "The canonical reply.", asked.time)
        steps.append(Step(given, Gold(None, f"{SENTINEL}-tree"), gold if number else None))
    return Case("on-the-way", tuple(steps))


def test_a_question_on_the_way_is_asked_before_its_turn_is_observed(tmp_path):
    wire = Tripwire()
    measure("locomo", asked_on_the_way(), tmp_path, wire)
    assert wire.caught(SENTINEL) == []
    calls = [(call, getattr(value, "id", None)) for call, value in wire.shown if call in ("observe", "recall") and not hasattr(value, "probability")]
    assert calls == [("observe", "t0"), ("recall", None), ("observe", "t1"), ("recall", None), ("observe", "t2")]


# --- Chance


def questions(number: int = 200) -> list[Question]:
    return [Question(f"q{n}", Asked("?", NOW), "t", evidence=(f"t{n}",), answers=(f"value{n} of {n * 7919}",)) for n in range(number)]


def found(pairs: list[tuple[Question, Question]], decoy: dict[str, str]) -> dict[str, evidence.Score]:
    """Each question against the context that was made for another one (or for itself): its evidence turn and its answer."""
    rows = []
    for asked, made_for in pairs:
        [id] = made_for.evidence
        given = Given(id, f"It is {made_for.answers[0]}.", "", NOW)
        context = Context(given.user, 10, (Shown("turn", given.user, (id,)),))
        rows.append(evidence.judge(asked, Recalled((id,), {256: context}, None, 0.0), {id: given}, {}, decoy.get(asked.id)))
    return evidence.by_type(rows)


def test_shuffled_gold_finds_next_to_nothing_of_evidence():
    asked = questions()
    decoy = {id: gold for (_, id), gold in evidence.decoys([("c", asked)]).items()}
    true = found([(one, one) for one in asked], decoy)["all"]
    assert (true.recall, true.budgets[256].raw, true.budgets[256].answer, true.budgets[256].shuffled) == (1.0, 1.0, 1.0, 0.0)
    others = asked[:]
    random.Random(3).shuffle(others)
    shuffled = found(list(zip(asked, others, strict=True)), decoy)["all"]
    assert max(shuffled.recall, shuffled.budgets[256].raw, shuffled.budgets[256].traced, shuffled.budgets[256].answer) < 0.03


def test_shuffled_gold_makes_answers_miss():
    asked = questions()
    others = asked[:]
    random.Random(3).shuffle(others)
    right = [outcome(one.answers[0], other.answers) == "correct" for one, other in zip(asked, others, strict=True)]
    assert sum(right) / len(right) < 0.03


def test_shuffled_gold_makes_routing_chance():
    """Eight trees, each turn under a random one: a right branch one time in eight, no agreement beyond chance."""
    chance = random.Random(5)
    trees = [f"r{n}" for n in range(8)]
    gold = [localization.Gold(tree, None) for tree in trees] + [localization.Gold(f"t{n}", chance.choice(trees)) for n in range(2000)]
    said = [localization.Placed(turn.id, turn.parent and chance.choice(trees), None, 0.125, 0.0) for turn in gold]
    score = localization.summarize([turn for turn in localization.judge(gold, said) if not turn.gold_root])
    assert score.branch == pytest.approx(1 / 8, abs=0.03) and score.resumption == pytest.approx(1 / 8, abs=0.03)
    assert score.ece < 0.03
    agreement = clusters.compare(localization.gold_trees(gold), localization.said_trees(said))
    assert abs(agreement.ari) < 0.03
    perfect = [replace(placed, parent=turn.parent) for placed, turn in zip(said, gold, strict=True)]
    assert clusters.compare(localization.gold_trees(gold), localization.said_trees(perfect)).ari == 1.0
