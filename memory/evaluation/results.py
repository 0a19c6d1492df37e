"""What the rows of a run say, as values: what the report is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memory.evaluation import localization, revision, rows, threads
from memory.evaluation.answers import Outcome, outcome
from memory.evaluation.cases import Gold
from memory.evaluation.evidence import AtBudget, Found
from memory.evaluation.rows import Row
from memory.evaluation.systems import SYSTEMS

STAMP: Final = ("split", "commit", "seed", "conditions", "machine")
Values = dict[str, float]


@dataclass
class Measured:
    """One system in one benchmark: its stamp, and its rows by kind; questions and turns by case. `why`: what is said where it wasn't measured."""

    system: str
    stamp: Mapping[str, Any]
    cases: dict[str, Row] = field(default_factory=dict)
    questions: dict[tuple[str, str], Row] = field(default_factory=dict)
    turns: dict[str, list[Row]] = field(default_factory=dict)
    answers: list[Row] = field(default_factory=list)
    judged: list[Row] = field(default_factory=list)
    failed: list[Row] = field(default_factory=list)
    why: str = ""

    # --- Evidence -----------------------------------------------------------------------------------------------------

    def found(self) -> list[Found]:
        """The judged questions."""
        return [_found(row) for row in self.questions.values()]

    def of_questions(self, value: Callable[[Found], float | bool | None], types: Callable[[Found], bool]) -> Values:
        """A figure of each question (case and id), NaN where it wasn't to be judged; only of `types` that are wanted."""
        figures = {}
        for (case, id), row in self.questions.items():
            one = _found(row)
            if types(one):
                figure = value(one)
                figures[_key(case, id)] = math.nan if figure is None else float(figure)
        return figures

    def dialogues(self) -> dict[str, str]:
        """Question → case, and turn → case: what a bootstrap over dialogues draws."""
        asked = {_key(case, id): case for case, id in self.questions}
        return asked | {_key(case, row["id"]): case for case, listed in self.turns.items() for row in listed}

    # --- Localization -------------------------------------------------------------------------------------------------

    def streams(self, *, teacher: bool = False, unasked: bool = False) -> dict[str, list[tuple[str, localization.Judged]]]:
        """The judged turns of each case with their ids; only turns with gold, the first of each case left out. `unasked`: where a model was asked, the place
        is that of ranking alone, on the same forest."""
        judged = {}
        for case, listed in self.turns.items():
            gold, placed = _placed([_unasked(row) for row in listed] if unasked else listed)
            if gold:
                found = localization.judge(gold, placed, teacher=teacher)
                judged[case] = list(zip([one.id for one in gold[1:]], found, strict=True))
        return judged

    def timeless(self) -> set[str]:
        """The turns (case and id) without a temporal cue; none of rows that don't say it."""
        return {_key(case, row["id"]) for case, listed in self.turns.items() for row in listed if row.get("temporal") is False}

    def partitions(self) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
        """(gold trees, trees as placed) by case; turns with gold only."""
        gold, said = {}, {}
        for case, listed in self.turns.items():
            truth, placed = _placed(listed)
            if truth:
                gold[case], said[case] = localization.gold_trees(truth), localization.said_trees(placed)
        return gold, said

    # --- Links --------------------------------------------------------------------------------------------------------

    def links(self) -> tuple[dict[str, threads.Links], dict[str, threads.Links]]:
        """(gold links, said links) by file; annotated messages only."""
        gold, said = {}, {}
        for case, listed in self.turns.items():
            annotated = [row for row in listed if row["gold"] is not None]
            if annotated:
                gold[case] = threads.gold_links({row["id"]: _gold(row["gold"]) for row in annotated})
                said[case] = threads.said_links({row["id"]: row["parent"] for row in annotated})
        return gold, said

    # --- Revision -----------------------------------------------------------------------------------------------------

    def revised(self) -> revision.Revised | None:
        """How values that were told fare when they are asked for; None where nothing is told or statuses aren't kept."""
        judged = [
            revision.compare({said: holds}, {} if kept is None else {said: kept})
            for (case, question), row in self.questions.items()
            for place, (_, value, holds, kept) in enumerate(row.get("told") or ())
            for said in [revision.Told(_key(case, question), value, place)]
        ]
        return sum(judged[1:], judged[0]) if judged else None

    # --- Answers ------------------------------------------------------------------------------------------------------

    def outcomes(self, budget: int) -> dict[str, Outcome]:
        """The outcome by rule of each answer whose question has a gold."""
        return {
            _key(row["case"], row["question"]): outcome(row["text"], row["answers"], row["confounders"])
            for row in self.answers
            if row["kind"] == "answer" and row["budget"] == budget and row["answers"] and not row["abstain"]
        }

    def scores(self, budget: int) -> Values:
        """The judge's score of each answer, 0…1."""
        return {_key(row["case"], row["question"]): row["score"] for row in self.judged if row["budget"] == budget}

    def budgets(self) -> list[int]:
        """The budgets at which there are answers."""
        return sorted({row["budget"] for row in self.answers if row["kind"] == "answer"})


def load(out: Path, label: str) -> dict[str, Measured]:
    """What was measured under that name, by system, in the order of SYSTEMS; others behind."""
    found = {}
    for path in (out / label).glob("*.jsonl"):
        if path.name.count(".") == 1 and (one := _measured(path)) is not None:
            found[one.system] = one
    order = list(SYSTEMS)
    return dict(sorted(found.items(), key=lambda pair: (order.index(pair[0]) if pair[0] in order else len(order), pair[0])))


def _measured(path: Path) -> Measured | None:
    listed = list(rows.read(path))
    if not listed:
        return None
    one = Measured(path.stem, {name: listed[-1].get(name) for name in STAMP})
    for row in listed:
        match row["kind"]:
            case "case":
                one.cases[row["case"]] = row
            case "question":
                one.questions[row["case"], row["question"]] = row
            case "turn":
                one.turns.setdefault(row["case"], []).append(row)
            case "failed":
                one.failed.append(row)
            case "not_measured":
                one.why = row["why"]
    one.failed = [row for row in one.failed if row["case"] not in one.cases]
    one.answers = list(rows.read(path.with_suffix(".answers.jsonl")))
    one.judged = list(rows.read(path.with_suffix(".judged.jsonl")))
    if one.cases:
        one.why = ""
    return one


def _key(case: str, id: str) -> str:
    return f"{case}\0{id}"


def _found(row: Row) -> Found:
    return Found(
        question=row["question"],
        type=row["type"],
        abstain=row["abstain"],
        recall=row["recall"],
        all_5=row["all_5"],
        any_1=row["any_1"],
        budgets={int(budget): AtBudget(**at) for budget, at in row["budgets"].items()},
    )


def _gold(value: Mapping[str, Any]) -> Gold:
    return Gold(value["parent"], value["tree"], tuple(value.get("others", ())))


def _unasked(row: Row) -> Row:
    asked = row.get("asked")
    return {**row, "parent": asked["parent"], "probability": asked["probability"]} if asked else row


def _placed(listed: Iterable[Row]) -> tuple[list[localization.Gold], list[localization.Placed]]:
    wanted: Sequence[Row] = [row for row in listed if row["gold"] is not None]
    gold = [localization.Gold(row["id"], row["gold"]["parent"]) for row in wanted]
    placed = [localization.Placed(row["id"], row["parent"], None, row["probability"], row["ms"], tuple(row["others"])) for row in wanted]
    return gold, placed
