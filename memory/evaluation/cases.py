"""What a benchmark is made of: what a system under test is shown, and what it never is.

A system gets `Given` and `Asked` and nothing else; gold (parents, evidence, answers, types, names of branches) stands in `Gold` and `Question`, which stay
with the runner. tests/evaluation/test_hygiene.py holds that apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Given:
    """One interaction to be remembered, as a system sees it. `assistant` is empty where nobody answered, `user` where the record begins with a reply.

    Ids are the loader's own wherever the public ones give something away (LongMemEval names its gold sessions `answer_…`).
    """

    id: str
    user: str
    assistant: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, as a system sees it: its words and when it is asked."""

    text: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Gold:
    """Where an interaction belongs: the id of its gold parent (None: a new root), and a name of its gold tree.

    others: further interactions that it answers (Ubuntu IRC); without a `parent`, what it answers isn't among those observed.
    """

    parent: str | None
    tree: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold. No part but `asked` ever reaches a system.

    evidence: ids of the interactions that hold what is needed (all of them); empty where unknown. sessions: the gold sessions, named as in `Case.sessions`.
    answers: accepted answers; `span` tells whether they are spans that can be looked for in a text.
    confounders: answers of a parallel trajectory. abstain: the right answer is that it isn't known. rubric: points an answer is judged by.
    parent: the state the question resumes, where the benchmark says it.
    told: values said of the matter, each as (id of its interaction, value, whether it still holds when the question is asked).
    """

    id: str
    asked: Asked
    type: str
    evidence: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    span: bool = True
    confounders: tuple[str, ...] = ()
    abstain: bool = False
    rubric: tuple[str, ...] = ()
    parent: str | None = None
    sessions: tuple[str, ...] = ()
    told: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One interaction of a case. `question`: it is asked first (the prefix frozen), then the interaction is observed with its canonical reply."""

    given: Given
    gold: Gold | None = None
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One history with its questions. `steps` are in the order in which they are observed; `questions` come after all of them.

    sessions: the session of each interaction, by id, where there are sessions. notes: what the loader left out or mended, a line each.
    """

    id: str
    steps: tuple[Step, ...]
    questions: tuple[Question, ...] = ()
    zone: str = "UTC"
    sessions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def at_shuffled_times(case: Case) -> list[Given]:
    """The interactions of a case in their order, with the times dealt out among them anew, by a seed from the case's id: the clock says nothing any more."""
    times = [step.given.time for step in case.steps]
    random.Random(f"times/{case.id}").shuffle(times)
    return [replace(step.given, time=time) for step, time in zip(case.steps, times, strict=True)]


Load = Callable[[Path], Iterator[Case]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: how its files are read and what of it is measured (`localization`, `evidence`, `answers`, `links`).

    apart: types of questions that are reported apart and not in the mean over all.
    """

    name: str
    title: str
    load: Load
    measures: frozenset[str]
    source: str
    unit: str  # what one state is: "one message", "one user–assistant round"
    apart: frozenset[str] = frozenset()
