"""Run a benchmark: cases × systems, each case on a memory of its own, over several processes.

Rows are kept as they come (rows.py), and a run goes on where it stopped. A system sees `Given` and `Asked` alone; whatever is gold stays here.
Two prefixes: *online*, an interaction is kept where the system placed it, its errors stay, as in life; *given*, it is kept under its gold parent after the
system has placed it. Questions asked on the way freeze the prefix: they are recalled before their interaction is observed with its canonical reply.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any, Final, Literal

from django.db import connection

from memory.engine import cues
from memory.evaluation import evidence, measurements, rows, worker
from memory.evaluation import reader as reading
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.cases import Benchmark, Case, Given, Question, at_shuffled_times
from memory.evaluation.localization import quantile
from memory.evaluation.rows import Ledger, Row, Stamp
from memory.evaluation.systems import SYSTEMS, Factory, group_of, measured, recalls, shows_shuffled_times, viewed
from memory.evaluation.systems.base import Placed, System
from memory.evaluation.systems.cache import CachedEmbedder
from memory.evaluation.systems.peers import NotMeasuredError
from memory.evaluation.systems.reading import Keeping, Readable, Setting
from memory.llm.calibration import calibration
from memory.llm.embed import embedder
from memory.llm.interface import ModelError

BUDGETS: Final = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
FILL: Final = "whole items in rank order, those too long skipped"
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured.

    name: of the rows and of the section in the report. split: what the data are, in a word. limit, sample: the first so many cases, or so many drawn by `seed`;
    questions: so many of each case, drawn likewise. answer: the budgets at which questions are answered. minutes: after these no case is begun.
    vectors: the file of vectors, under `out` when left out.
    """

    benchmark: str
    data: Path
    out: Path
    systems: tuple[str, ...]
    name: str = ""
    split: str = ""
    budgets: tuple[int, ...] = BUDGETS
    prefix: Literal["online", "given"] = "online"
    seed: int = 1
    limit: int | None = None
    sample: int | None = None
    questions: int | None = None
    answer: tuple[int, ...] = ()
    processes: int = 1
    minutes: float | None = None
    keep: bool = False
    again: bool = False
    vectors: Path | None = None

    @property
    def label(self) -> str:
        return f"{self.name or self.benchmark}{'-given' if self.prefix == 'given' else ''}"


@dataclass(frozen=True, slots=True)
class Unit:
    """One case for the systems that share one memory, with the control spans of its questions."""

    case: Case
    group: str
    systems: tuple[str, ...]
    decoys: Mapping[str, str] = field(default_factory=dict)


# --- Which cases ------------------------------------------------------------------------------------------------------


def chosen(plan: Plan, benchmark: Benchmark) -> tuple[list[Case], int]:
    """The cases of a run in its order, and how many there are in all. Raises what the loader raises, ValueError when there is none.

    A sample is drawn in random order: one cut short by time is a sample too, and a smaller one of the same seed is part of a larger one."""
    cases: list[Case] = []
    total = 0
    for case in benchmark.load(plan.data):
        total += 1
        if plan.sample is not None or plan.limit is None or len(cases) < plan.limit:
            cases.append(case)
    if not cases:
        raise ValueError(f"{plan.data} has no case.")
    if plan.sample is not None:
        cases = random.Random(f"cases/{plan.seed}").sample(cases, len(cases))[: plan.sample][: plan.limit]
    return [_fewer(case, plan) for case in cases], total


def _fewer(case: Case, plan: Plan) -> Case:
    """The case with a sample of the questions at its end, in their order; those asked on the way stay."""
    if plan.questions is None or len(case.questions) <= plan.questions:
        return case
    kept = set(random.Random(f"questions/{plan.seed}/{case.id}").sample(range(len(case.questions)), plan.questions))
    return replace(case, questions=tuple(question for number, question in enumerate(case.questions) if number in kept))


def conditions(plan: Plan, benchmark: Benchmark, cases: Sequence[Case], total: int, identity: str) -> str:
    """What has to be known to compare two rows, in one line."""
    number = sum(len(evidence.questions_of(case)) for case in cases)
    drawn = "drawn by seed" if plan.sample is not None else "in order"
    parts = [
        f"one state is {benchmark.unit}",
        f"{len(cases)} of {total} cases{f', {drawn}' if len(cases) < total else ''}",
        *([f"{number} questions{f', at most {plan.questions} a case, drawn by seed' if plan.questions is not None else ''}"] if number else []),
        f"{plan.prefix} prefix",
        *([f"budgets in o200k_base, headings and dates included, {FILL}"] if number else []),
        f"embedder {identity}",
        f"localization weights {calibration().hash[:8]}",
    ]
    return "; ".join(parts)


# --- One case ---------------------------------------------------------------------------------------------------------


class Bench:
    """The systems of one process, and what they share. `factories` replaces some of SYSTEMS: how a test puts in a system of its own."""

    def __init__(self, plan: Plan, factories: Mapping[str, Factory] | None = None) -> None:
        self.plan = plan
        self.benchmark = BENCHMARKS[plan.benchmark]
        self.embedder = CachedEmbedder(embedder(), plan.vectors or plan.out / "embeddings.sqlite")
        self.setting = Setting(self.embedder, run=f"bench {plan.label}", keep=plan.keep)
        self._factories = {**SYSTEMS, **(factories or {})}
        self._systems: dict[str, System] = {}

    def system(self, name: str) -> System:
        """The system of that name; a peer's process stays from case to case."""
        if name not in self._systems:
            self._systems[name] = self._factories[name](self.setting)
        return self._systems[name]

    def measure(self, unit: Unit, ledgers: Mapping[str, Ledger]) -> dict[str, list[Row]]:
        """The rows of a unit by system: of the case as a whole last. A system that can't be measured, or fails, has one row that says why."""
        try:
            return self._measure(unit, ledgers)
        except NotMeasuredError as error:
            self._systems.pop(unit.group, None)
            return {name: [{"kind": "not_measured", "case": unit.case.id, "why": str(error)}] for name in unit.systems}
        except Exception as error:  # one broken case doesn't end a run of an hour: it is told, counted and tried again by the next one
            self._systems.pop(unit.group, None)
            return {name: [{"kind": "failed", "case": unit.case.id, "why": f"{type(error).__name__}: {error}"}] for name in unit.systems}

    def _measure(self, unit: Unit, ledgers: Mapping[str, Ledger]) -> dict[str, list[Row]]:
        case, started, worked = unit.case, time.perf_counter(), time.process_time()
        asked_before, made_before = self.embedder.asked, self.embedder.made
        base = self.system(unit.group)
        members = {name: base if name == unit.group else viewed(base, name) for name in unit.systems}
        found: dict[str, list[Row]] = {name: [] for name in unit.systems}
        asking = _Asking(self, unit, members, ledgers, found)
        shown = at_shuffled_times(case) if shows_shuffled_times(unit.group) else [step.given for step in case.steps]
        base.open(case.id, case.zone)
        placing: list[float] = []
        observing: list[float] = []
        try:
            for step, given in zip(case.steps, shown, strict=True):
                if step.question is not None:
                    base.settle()
                    asking.ask(step.question)
                placed = base.place(given) if base.routes else None
                if placed is not None:
                    placing.append(placed.ms)
                    if unit.group in found:
                        found[unit.group].append(_turn(step.given, case.zone, placed, asdict(step.gold) if step.gold else None))
                if placed is not None and self.plan.prefix == "given" and step.gold is not None:
                    placed = placed if placed.parent == step.gold.parent else Placed(step.gold.parent, 1.0, 0.0)
                before = time.perf_counter()
                base.observe(given, placed=placed)
                observing.append(1000 * (time.perf_counter() - before))
            before = time.perf_counter()
            base.settle()
            settling = 1000 * (time.perf_counter() - before)
            for question in case.questions:
                asking.ask(question)
        finally:
            base.close()
        last = {
            "kind": "case",
            "case": case.id,
            "states": len(case.steps),
            "place_ms": _spread(placing),
            "observe_ms": _spread(observing),
            "state_ms": (sum(placing) + sum(observing) + settling) / max(1, len(case.steps)),
            "seconds": time.perf_counter() - started,
            "cpu_seconds": time.process_time() - worked,  # without the database and a peer's process
            "embedded": self.embedder.asked - asked_before,
            "embedded_anew": self.embedder.made - made_before,
            "notes": list(case.notes),
        }
        return {name: [*mine, {**last, "questions": sum(row["kind"] == "question" for row in mine)}] for name, mine in found.items()}


class _Asking:
    """Puts the questions of a case to systems, judges what they recall, and has them answered."""

    def __init__(self, bench: Bench, unit: Unit, members: Mapping[str, System], ledgers: Mapping[str, Ledger], found: Mapping[str, list[Row]]) -> None:
        self.bench, self.unit, self.members, self.ledgers, self.found = bench, unit, members, ledgers, found
        self.given = {step.given.id: step.given for step in unit.case.steps}
        self.answered = {name: {_answer_key(row) for row in rows.read(ledgers[name].answers)} for name in members} if bench.plan.answer else {}

    def ask(self, question: Question) -> None:
        if not self.bench.benchmark.measures & {"evidence", "answers"}:
            return
        case, plan = self.unit.case, self.bench.plan
        for name, system in self.members.items():
            if not recalls(name):
                continue
            recalled = system.recall(question.asked, sorted({*plan.budgets, *plan.answer}))
            judged = evidence.judge(question, recalled, self.given, case.sessions, self.unit.decoys.get(question.id))
            self.found[name].append(
                {
                    "kind": "question",
                    "case": case.id,
                    **asdict(judged),
                    "ranked": recalled.ranked,
                    "evidence": question.evidence,
                    "placed": {"parent": recalled.placed.parent, "probability": recalled.placed.probability} if recalled.placed else None,
                    "gold_parent": question.parent,
                    "told": [[id, value, holds, system.holds(id, value)] for id, value, holds in question.told] if isinstance(system, Keeping) else None,
                    "ms": recalled.ms,
                    "details": recalled.details,
                }
            )
            for budget in plan.answer:
                if (case.id, question.id, budget) not in self.answered[name] and isinstance(system, Readable):
                    self.ledgers[name].answer(_answer(case, question, budget, system))


def _answer(case: Case, question: Question, budget: int, system: Readable) -> Row:
    """An answer as a row; a model that fails leaves the reason, and the next run tries again."""
    row: Row = {"kind": "answer", "case": case.id, "question": question.id, "type": question.type, "budget": budget, "abstain": question.abstain}
    given = system.reading(budget)
    try:
        return {**row, **asdict(reading.read(given)), "context_tokens": given.context.tokens, "answers": question.answers, "confounders": question.confounders}
    except ModelError as error:
        return {**row, "kind": "unanswered", "why": f"{error.code}: {error.message}"}


def _answer_key(row: Row) -> tuple[Any, ...]:
    return (row["case"], row["question"], row["budget"]) if row["kind"] == "answer" else ()


def _turn(given: Given, zone: str, placed: Placed, gold: Mapping[str, Any] | None) -> Row:
    """A placed input as a row. `temporal`: whether its words go back to a time (“what we said on Monday”), by its true clock."""
    row = {"kind": "turn", "id": given.id, "gold": gold, "parent": placed.parent, "probability": placed.probability, "others": placed.candidates}
    row |= {"temporal": cues.detect(given.user or given.assistant, given.time, zone).temporal is not None, "ms": placed.ms}
    return {**row, "asked": asdict(placed.asked)} if placed.asked is not None else row


def _spread(times: Sequence[float]) -> list[float] | None:
    """p50 and p95."""
    ordered = sorted(times)
    return [quantile(ordered, 0.5), quantile(ordered, 0.95)] if times else None


# --- All of them ------------------------------------------------------------------------------------------------------


def run(plan: Plan, tell: Tell, factories: Mapping[str, Factory] | None = None) -> list[Ledger]:
    """Measure what isn't measured yet; the ledgers of all systems of the plan. Raises OtherRunError, and what the loader raises.

    With `factories` everything runs in this process."""
    benchmark = BENCHMARKS[plan.benchmark]
    cases, total = chosen(plan, benchmark)
    names = [name for name in plan.systems if name in (factories or {}) or measured(name, benchmark.measures)]
    if left := [name for name in plan.systems if name not in names]:
        tell(f"{plan.label}: {', '.join(left)} left out, nothing of what is measured here is theirs")
    stamps = {
        name: Stamp(
            plan.label,
            name,
            plan.split or plan.data.name,
            measurements.commit(),
            plan.seed,
            conditions(plan, benchmark, cases, total, embedder().identity),
            measurements.machine(),
        )
        for name in names
    }
    ledgers = {name: Ledger(plan.out, stamp) for name, stamp in stamps.items()}
    there = {name: ledger.open(again=plan.again) for name, ledger in ledgers.items()}
    done = {name: _also_answered(there[name], ledgers[name], plan) for name in names} if plan.answer else there
    spans = evidence.decoys([(case.id, evidence.questions_of(case)) for case in cases], plan.seed)
    units = list(_units(cases, names, done, spans))
    tell(f"{plan.label}: {len(cases)} cases, {len(names)} systems, {len(units)} units to go")
    progress = _Progress(plan, units, tell)
    skipped: set[str] = set()
    for unit, found in _measured(plan, units, ledgers, progress, skipped, factories):
        for name, mine in found.items():
            if mine[-1]["kind"] == "not_measured":
                if unit.group not in skipped:
                    tell(f"{plan.label}: {name} not measured: {mine[-1]['why']}")
                    ledgers[name].add(mine)
            elif unit.case.id not in there[name] or mine[-1]["kind"] == "failed":
                ledgers[name].add(_with_case(mine, unit.case.id))
            if mine[-1]["kind"] == "failed":
                tell(f"{plan.label}: {name} failed at {unit.case.id}: {mine[-1]['why']}")
        if any(mine[-1]["kind"] == "not_measured" for mine in found.values()):
            skipped.add(unit.group)
        progress.finished(unit)
    return list(ledgers.values())


def _with_case(mine: Iterable[Row], case: str) -> list[Row]:
    return [{**row, "case": case} for row in mine]


def _also_answered(done: Mapping[str, Row], ledger: Ledger, plan: Plan) -> dict[str, Row]:
    """Of the cases that are done, those whose questions are all answered too."""
    answered: dict[str, int] = {}
    for row in rows.read(ledger.answers):
        if row["kind"] == "answer" and row["budget"] in plan.answer:
            answered[row["case"]] = answered.get(row["case"], 0) + 1
    return {case: row for case, row in done.items() if answered.get(case, 0) >= row["questions"] * len(plan.answer)}


def _units(cases: Sequence[Case], names: Sequence[str], done: Mapping[str, Mapping[str, Row]], spans: Mapping[tuple[str, str], str]) -> Iterator[Unit]:
    """What is left to do, system by system, so that the first one embeds for all. In the order of the names given."""
    groups = list(dict.fromkeys(group_of(name) for name in names))
    for group in groups:
        for case in cases:
            left = tuple(name for name in names if group_of(name) == group and case.id not in done[name])
            if left:
                yield Unit(case, group, left, {question: span for (of, question), span in spans.items() if of == case.id})


class _Progress:
    """Tells how far a run is and how long it will take."""

    def __init__(self, plan: Plan, units: Sequence[Unit], tell: Tell) -> None:
        self.plan, self.tell = plan, tell
        self.left = list(units)
        self.total = len(units)
        self.began = time.monotonic()
        self.took: dict[str, list[float]] = {}
        self.begun: dict[tuple[str, str], float] = {}

    @property
    def over(self) -> bool:
        return self.plan.minutes is not None and time.monotonic() - self.began > 60 * self.plan.minutes

    def begins(self, unit: Unit) -> None:
        self.begun[unit.group, unit.case.id] = time.monotonic()

    def finished(self, unit: Unit) -> None:
        took = time.monotonic() - self.begun.get((unit.group, unit.case.id), self.began)
        self.took.setdefault(unit.group, []).append(took)
        self.left.remove(unit)
        every = mean(one for times in self.took.values() for one in times)
        left = sum(mean(self.took.get(one.group, [every])) for one in self.left) / max(1, self.plan.processes)
        done = self.total - len(self.left)
        self.tell(f"{self.plan.label}: {done} of {self.total} ({unit.group}, {unit.case.id}: {took:.1f} s), about {left / 60:.1f} min left")


def _measured(
    plan: Plan, units: Sequence[Unit], ledgers: Mapping[str, Ledger], progress: _Progress, skipped: set[str], factories: Mapping[str, Factory] | None
) -> Iterator[tuple[Unit, dict[str, list[Row]]]]:
    """Each unit with its rows, as they come; none is begun after the time is over, nor of a system that turned out not to be measurable."""
    waiting = list(units)

    def following() -> Unit | None:
        while waiting and not progress.over:
            unit = waiting.pop(0)
            if unit.group not in skipped:
                progress.begins(unit)
                return unit
            progress.left.remove(unit)
        return None

    if plan.processes <= 1 or factories is not None:
        bench = Bench(plan, factories)
        while (unit := following()) is not None:
            yield unit, bench.measure(unit, ledgers)
        return
    context = multiprocessing.get_context("spawn")  # neither a connection nor an ONNX session survives a fork
    start = (pickle.dumps(plan), connection.settings_dict["NAME"], os.getpid())
    with ProcessPoolExecutor(plan.processes, mp_context=context, initializer=worker.begin, initargs=start) as pool:
        running: dict[Future[dict[str, list[Row]]], Unit] = {}
        try:
            while True:
                while len(running) < plan.processes and (unit := following()) is not None:
                    running[pool.submit(worker.measure, unit, ledgers)] = unit
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


# --- Judging ----------------------------------------------------------------------------------------------------------


def judge(plan: Plan, ledgers: Iterable[Ledger], ask: Callable[[Sequence[Mapping[str, str]]], str], name: str, tell: Tell) -> None:
    """Have the answers of a run judged; nothing is generated again, and what is judged stays judged. A judge that fails leaves the answer for the next time."""
    from memory.evaluation import judge as judging

    cases, _ = chosen(plan, BENCHMARKS[plan.benchmark])
    questions = {(case.id, question.id): question for case in cases for question in evidence.questions_of(case)}
    for ledger in ledgers:
        judged = {(row["case"], row["question"], row["budget"]) for row in rows.read(ledger.judged)}
        for row in list(rows.read(ledger.answers)):
            key = (row["case"], row["question"], row["budget"])
            question = questions.get(key[:2])
            if row["kind"] != "answer" or key in judged or question is None:
                continue
            try:
                found = judging.judge(question, row["text"], ask)
            except ModelError as error:
                tell(f"{plan.label}: {ledger.stamp.system}, {key[1]} not judged: {error.message}")
                continue
            except ValueError:  # it has nothing to be judged by
                continue
            told = {"kind": "judged", "case": key[0], "question": key[1], "budget": key[2], "type": row["type"], "score": found.score}
            rows.append(
                ledger.judged,
                [ledger.stamp.on({**told, "verdicts": found.verdicts, "unclear": found.unclear, "judge": name, "prompts": judging.prompt_hash()})],
            )
