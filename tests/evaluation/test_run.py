"""Runs: what a system is shown, prefixes, rows, resuming, several processes, answers and judging."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.evaluation import rows, run
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.cases import Asked, Benchmark, Case, Given, Gold, Question, Step, at_shuffled_times
from memory.evaluation.rows import Ledger, OtherRunError, Stamp
from memory.evaluation.run import Plan
from memory.evaluation.systems import measured, recalls
from memory.evaluation.systems.base import Placed
from memory.evaluation.systems.peers import NotMeasuredError
from memory.evaluation.systems.plain import Bm25
from memory.models import Forest
from tests.evaluation.histories import SAID, START, write_locomo, write_stream
from tests.evaluation.tripwire import Tripwire

SAYS_TIME = ("ms", "details", "place_ms", "observe_ms", "state_ms", "seconds", "cpu_seconds", "embedded_anew")


@pytest.fixture
def talks(tmp_path):
    return write_locomo(tmp_path / "talks.json")


@pytest.fixture
def streams(tmp_path):
    return write_stream(tmp_path / "streams" / "a.jsonl").parent


def plan(benchmark, data, out, *systems, **how):
    return Plan(benchmark, data, out, systems or ("tripwire",), budgets=(256, 1024), **how)


def read(ledgers):
    return {ledger.stamp.system: list(rows.read(ledger.path)) for ledger in ledgers}


def timeless(found):
    """Rows without what differs from run to run."""
    return {
        name: sorted(json.dumps({key: value for key, value in row.items() if key not in SAYS_TIME}, sort_keys=True) for row in listed)
        for name, listed in found.items()
    }


class Log(list):
    def __call__(self, line):
        self.append(line)


# --- What a system is shown -------------------------------------------------------------------------------------------


@pytest.fixture
def asked_on_the_way(monkeypatch):
    """A benchmark of one case with a question before its third interaction, and gold that must not be seen."""
    steps = [Step(Given(id, user, assistant, START), Gold(parent, "zzgold-tree")) for id, parent, user, assistant in SAID]
    question = Question(
        "q1", Asked(SAID[2][2], START), "zzgold-type", evidence=("k1",), answers=("zzgold answer",), confounders=("zzgold other",), rubric=("zzgold",)
    )
    steps[2] = Step(steps[2].given, steps[2].gold, question)
    last = Question("q2", Asked("What does Olga charge?", START), "zzgold-type", evidence=("k2",), answers=("zzgold",))
    case = Case("case", tuple(steps), (last,), "Europe/Berlin", notes=("zzgold note",))
    benchmark = Benchmark("made", "Made", lambda path: iter([case]), frozenset({"localization", "evidence", "answers"}), "us", "one round")
    monkeypatch.setitem(BENCHMARKS, "made", benchmark)
    return case


def test_a_system_never_sees_gold(asked_on_the_way, tmp_path):
    wire = Tripwire()
    for prefix in ("online", "given"):
        run.run(plan("made", tmp_path, tmp_path / "out", prefix=prefix), Log(), {"tripwire": lambda setting: wire})
    assert wire.caught("zzgold") == []
    assert {call for call, _ in wire.shown} == {"open", "place", "observe", "recall"}


def test_a_question_on_the_way_is_asked_before_its_interaction_is_kept(asked_on_the_way, tmp_path):
    wire = Tripwire()
    [ledger] = run.run(plan("made", tmp_path, tmp_path / "out"), Log(), {"tripwire": lambda setting: wire})
    order = [(call, value.id if isinstance(value, Given) else value.text) for call, value in wire.shown if isinstance(value, Given | Asked)]
    at = order.index(("recall", SAID[2][2]))
    assert order[at - 1] == ("observe", "k2") and order[at + 1] == ("place", "d1")
    asked = {row["question"]: row for row in rows.read(ledger.path) if row["kind"] == "question"}
    assert asked["q1"]["ranked"] == ["k2", "k1"] and len(asked["q2"]["ranked"]) == len(SAID)
    assert asked["q1"]["recall"] == 1.0


def test_under_a_given_prefix_interactions_stand_under_gold_but_the_placement_is_what_counts(asked_on_the_way, tmp_path):
    wire = Tripwire()
    [ledger] = run.run(plan("made", tmp_path, tmp_path / "out", prefix="given"), Log(), {"tripwire": lambda setting: wire})
    kept = [value.parent for call, value in wire.shown if call == "observe" and isinstance(value, Placed)]
    assert kept == [parent for _, parent, _, _ in SAID]
    turns = [row["parent"] for row in rows.read(ledger.path) if row["kind"] == "turn"]
    assert turns == [None, *(id for id, *_ in SAID[:-1])]
    assert ledger.path.parent.name == "made-given"


# --- Shuffled times ---------------------------------------------------------------------------------------------------


def on_the_hour(id="case"):
    """Eight turns, an hour apart; the fourth goes back to a time."""
    said = [f"Turn number {number}." for number in range(8)]
    said[3] = "What did we say yesterday about the kitchen?"
    return Case(id, tuple(Step(Given(f"t{n}", text, "Good.", START + timedelta(hours=n)), Gold(None, "zzgold-tree")) for n, text in enumerate(said)))


def test_shuffled_times_are_a_permutation_and_nothing_else_changes():
    case = on_the_hour()
    true, shown = [step.given for step in case.steps], at_shuffled_times(case)
    assert [replace(given, time=START) for given in shown] == [replace(given, time=START) for given in true]
    assert [given.time for given in shown] != [given.time for given in true]
    assert sorted(given.time for given in shown) == [given.time for given in true]
    assert at_shuffled_times(case) == shown and at_shuffled_times(on_the_hour("another")) != shown
    without_gold = replace(case, steps=tuple(Step(step.given) for step in case.steps))
    assert at_shuffled_times(without_gold) == shown


def test_only_the_system_of_shuffled_times_is_shown_them(monkeypatch, tmp_path):
    case, wires = on_the_hour(), {"tripwire": Tripwire(), "ours-shuffled-time": Tripwire()}
    monkeypatch.setitem(BENCHMARKS, "made", Benchmark("made", "Made", lambda path: iter([case]), frozenset({"localization"}), "us", "one round"))
    found = read(run.run(plan("made", tmp_path, tmp_path / "out", *wires), Log(), {name: lambda setting, name=name: wires[name] for name in wires}))
    for name, expected in (("tripwire", [step.given for step in case.steps]), ("ours-shuffled-time", at_shuffled_times(case))):
        for call in ("place", "observe"):
            assert [value for to, value in wires[name].shown if to == call and isinstance(value, Given)] == expected
        assert wires[name].caught("zzgold") == []
        assert [row["temporal"] for row in found[name] if row["kind"] == "turn"] == [number == 3 for number in range(8)]


def test_shuffled_times_are_measured_where_turns_are_placed_and_asked_nothing():
    measuring = [name for name, benchmark in BENCHMARKS.items() if measured("ours-shuffled-time", benchmark.measures)]
    assert measuring == ["branchmemeval", "streams"]
    assert not recalls("ours-shuffled-time")


# --- Rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_every_row_says_of_which_run_it_is(talks, tmp_path):
    [ledger] = run.run(plan("locomo", talks, tmp_path / "out", "bm25", split="made up", seed=7, questions=2), Log())
    listed = list(rows.read(ledger.path))
    assert [row["kind"] for row in listed] == ["question", "question", "case"] * 2
    for row in listed:
        assert (row["benchmark"], row["system"], row["split"], row["seed"]) == ("locomo", "bm25", "made up", 7)
        assert row["commit"] and row["machine"]
        for said in ("one message", "2 of 2 cases", "4 questions, at most 2 a case", "online prefix", "o200k_base", "embedder"):
            assert said in row["conditions"]


@pytest.mark.django_db
def test_ours_and_a_baseline_run_on_the_same_work_and_leave_no_forest(talks, streams, tmp_path):
    found = read(run.run(plan("locomo", talks, tmp_path / "out", "ours", "without-facts", "bm25", limit=1), Log()))
    asked = {name: [row["question"] for row in listed if row["kind"] == "question"] for name, listed in found.items()}
    assert asked["ours"] == asked["without-facts"] == asked["bm25"] and len(asked["ours"]) == 3
    assert all(row["recall"] == 1.0 for row in found["ours"] if row["kind"] == "question")
    assert not Forest.objects.exists()
    placed = read(run.run(plan("streams", streams, tmp_path / "out", "ours", "previous", "bm25"), Log()))
    assert set(placed) == {"ours", "previous"}
    assert [row["parent"] for row in placed["previous"] if row["kind"] == "turn"] == [None, *(id for id, *_ in SAID[:-1])]


@pytest.mark.django_db(transaction=True)
def test_two_processes_give_the_rows_of_one(talks, tmp_path):
    alone = read(run.run(plan("locomo", talks, tmp_path / "one", "ours", "hybrid"), Log()))
    together = read(run.run(plan("locomo", talks, tmp_path / "two", "ours", "hybrid", processes=2), Log()))
    assert timeless(alone) == timeless(together)
    assert not Forest.objects.exists()


def test_a_smaller_sample_is_part_of_a_larger_one(tmp_path):
    file = write_locomo(tmp_path / "many.json", talks=9)
    drawn = {size: [case.id for case in run.chosen(plan("locomo", file, tmp_path, sample=size, seed=3), BENCHMARKS["locomo"])[0]] for size in (3, 6)}
    assert drawn[6][:3] == drawn[3] != ["talk-0", "talk-1", "talk-2"]
    first, total = run.chosen(plan("locomo", file, tmp_path, limit=2), BENCHMARKS["locomo"])
    assert ([case.id for case in first], total) == (["talk-0", "talk-1"], 9)
    with pytest.raises(ValueError, match="no case"):
        run.chosen(plan("locomo", write_locomo(tmp_path / "none.json", talks=0), tmp_path), BENCHMARKS["locomo"])


# --- Ends, and going on -----------------------------------------------------------------------------------------------


class Counting(Bm25):
    """Counts the cases it was opened for; is interrupted when told to."""

    opened: list[str] = []
    stop_at = ""

    def open(self, case, zone):
        super().open(case, zone)
        if case:
            self.opened.append(case)
        if case and case == self.stop_at:
            raise KeyboardInterrupt


@pytest.fixture
def counting():
    Counting.opened, Counting.stop_at = [], ""
    return {"bm25": Counting}


@pytest.mark.django_db
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, counting):
    file, out, log = write_locomo(tmp_path / "many.json", talks=4), tmp_path / "out", Log()
    whole = read(run.run(plan("locomo", file, tmp_path / "whole", "bm25"), Log()))
    Counting.stop_at = "talk-2"
    with pytest.raises(KeyboardInterrupt):
        run.run(plan("locomo", file, out, "bm25"), log, counting)
    assert Counting.opened == ["talk-0", "talk-1", "talk-2"]
    path = out / "locomo" / "bm25.jsonl"
    with path.open("a") as cut:  # as a kill in the midst of a case, and of a line, leaves it
        cut.write(json.dumps({**next(rows.read(path)), "case": "talk-2"}) + '\n{"kind": "question", "case": "ta')
    Counting.opened, Counting.stop_at = [], ""
    again = run.run(plan("locomo", file, out, "bm25"), log, counting)
    assert Counting.opened == ["talk-2", "talk-3"]
    assert timeless(read(again)) == timeless(whole)
    Counting.opened = []
    run.run(plan("locomo", file, out, "bm25"), log, counting)
    assert Counting.opened == []
    run.run(plan("locomo", file, out, "bm25", again=True), log, counting)
    assert len(Counting.opened) == 4


@pytest.mark.django_db
def test_rows_of_another_run_are_not_mixed_in(talks, tmp_path):
    run.run(plan("locomo", talks, tmp_path, "bm25"), Log())
    with pytest.raises(OtherRunError, match="seed: 1 / 2"):
        run.run(plan("locomo", talks, tmp_path, "bm25", seed=2), Log())
    run.run(plan("locomo", talks, tmp_path, "hybrid"), Log())  # another system on the same work


@pytest.mark.django_db
def test_when_time_is_over_no_case_is_begun(talks, tmp_path, counting):
    run.run(plan("locomo", talks, tmp_path, "bm25", minutes=0), Log(), counting)
    assert Counting.opened == []


class Absent(Bm25):
    def open(self, case, zone):
        super().open(case, zone)
        if case:
            raise NotMeasuredError("make peers")


class Broken(Bm25):
    def observe(self, given, *, placed):
        if given.id == "D1:2":
            raise ZeroDivisionError("no")


@pytest.mark.django_db
def test_what_cannot_be_measured_or_fails_says_so_and_the_rest_goes_on(talks, tmp_path):
    log = Log()
    found = read(run.run(plan("locomo", talks, tmp_path, "mem0", "dense", "bm25"), log, {"mem0": Absent, "dense": Broken}))
    assert [(row["kind"], row["why"]) for row in found["mem0"]] == [("not_measured", "make peers")]
    assert [(row["kind"], row["case"]) for row in found["dense"]] == [("failed", "talk-0"), ("failed", "talk-1")]
    assert sum(row["kind"] == "case" for row in found["bm25"]) == 2
    assert any("mem0 not measured: make peers" in line for line in log)
    assert any("dense failed at talk-0: ZeroDivisionError: no" in line for line in log)
    later = read(run.run(plan("locomo", talks, tmp_path, "dense"), log))  # mended, it is tried again
    assert [row["kind"] for row in later["dense"]] == ["question"] * 3 + ["case"] + ["question"] * 3 + ["case"]


@pytest.mark.django_db
def test_progress_is_told(talks, tmp_path):
    log = Log()
    run.run(plan("locomo", talks, tmp_path, "bm25", "tfidf"), log)
    assert log[0] == "locomo: tfidf left out, nothing of what is measured here is theirs"
    assert log[1] == "locomo: 2 cases, 1 systems, 2 units to go"
    assert "1 of 2 (bm25, talk-0" in log[2] and "min left" in log[2]


# --- Ledgers ----------------------------------------------------------------------------------------------------------


def test_a_line_cut_short_stays_a_line_of_its_own(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    rows.append(path, [{"kind": "answer", "n": 1}])
    with path.open("a") as file:
        file.write('{"kind": "ans')
    rows.append(path, [{"kind": "answer", "n": float("nan"), "t": (1, 2)}])
    assert list(rows.read(path)) == [{"kind": "answer", "n": 1}, {"kind": "answer", "n": None, "t": [1, 2]}]
    assert list(rows.read(tmp_path / "none.jsonl")) == []


def test_a_ledger_keeps_whole_cases_only(tmp_path):
    ledger = Ledger(tmp_path, Stamp("b", "s", "dev", "c0ffee", 1, "as said", "here"))
    assert ledger.open() == {}
    ledger.add([{"kind": "question", "case": "a"}, {"kind": "case", "case": "a"}])
    ledger.add([{"kind": "question", "case": "b"}])
    assert set(ledger.open()) == {"a"}
    assert [row["case"] for row in rows.read(ledger.path)] == ["a", "a"]


# --- Answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_questions_are_answered_once_and_judged_once(talks, tmp_path, monkeypatch):
    how = plan("locomo", talks, tmp_path, "ours", "bm25", limit=1, answer=(1024,))
    ledgers = run.run(how, Log())
    answered = {ledger.stamp.system: list(rows.read(ledger.answers)) for ledger in ledgers}
    assert {name: len(listed) for name, listed in answered.items()} == {"ours": 3, "bm25": 3}
    first = answered["bm25"][0]
    assert "teal" in first["text"] and (first["reader"], first["budget"]) == ("offline", 1024)
    assert first["answers"] == ["teal"] and first["commit"]

    def no_more(given):
        raise AssertionError("generated again")

    monkeypatch.setattr("memory.evaluation.reader.read", no_more)
    assert read(run.run(how, Log())) == read(ledgers)
    calls = []

    def ask(messages):
        calls.append(messages)
        return "VERDICT: CORRECT" if "teal" in messages[-1]["content"].split("<response>")[1] else "VERDICT: INCORRECT"

    for _ in range(2):
        run.judge(how, ledgers, ask, "judge-1", Log())
    assert len(calls) == 6
    judged = [row for ledger in ledgers for row in rows.read(ledger.judged)]
    assert [row["score"] for row in judged if row["question"].endswith("q001")] == [1.0, 1.0]
    assert {row["judge"] for row in judged} == {"judge-1"} and all(row["prompts"] for row in judged)


@pytest.mark.django_db
def test_answers_asked_for_later_are_given_without_measuring_the_case_twice(talks, tmp_path):
    run.run(plan("locomo", talks, tmp_path, "bm25"), Log())
    [ledger] = run.run(plan("locomo", talks, tmp_path, "bm25", answer=(256,)), Log())
    assert sum(row["kind"] == "case" for row in rows.read(ledger.path)) == 2
    assert sum(row["kind"] == "answer" for row in rows.read(ledger.answers)) == 6
