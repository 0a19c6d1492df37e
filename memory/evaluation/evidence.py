"""Whether the evidence of a question reaches the context, without a language model (BENCHMARKS “Metrics”), question by question and by type.

Per token budget: *raw*, every gold interaction stands in the context as said; *traced*, every gold interaction is raw or a source of an item of at most two
sources (a summary that cites a whole path doesn't count); *answer*, the normalized gold stands in the context, beside a *shuffled* gold as the control.
Beside them recall over ranked interactions and, where there are sessions, recall_all@5 and recall_any@1 over ranked sessions (LongMemEval).
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory.evaluation.answers import contains, normalize
from memory.evaluation.cases import Case, Given, Question

if TYPE_CHECKING:  # the package of the systems needs Django, the metrics don't
    from memory.evaluation.systems.base import Context, Recalled

K: Final = 10
TRACE_SOURCES: Final = 2
ABSTENTION: Final = "abstention"

# A context holds these by chance: they say nothing about what was found.
_EVERYWHERE: Final = frozenset({"yes", "no", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"})


@dataclass(frozen=True, slots=True)
class AtBudget:
    """One question at one budget. None: not to be judged (no evidence known, no span). `over`: the context is longer than the budget it was made for."""

    tokens: int
    over: bool
    raw: bool | None
    traced: bool | None
    answer: bool | None
    shuffled: bool | None


@dataclass(frozen=True, slots=True)
class Found:
    """One question, judged. recall in 0…1 at K interactions; all_5 and any_1 over sessions. None: not to be judged."""

    question: str
    type: str
    abstain: bool
    recall: float | None
    all_5: bool | None
    any_1: bool | None
    budgets: Mapping[int, AtBudget]


def judge(question: Question, recalled: Recalled, given: Mapping[str, Given], sessions: Mapping[str, str], decoy: str | None = None) -> Found:
    """Judge what a system recalled for a question. given: the interactions of the case by id; sessions: `Case.sessions`; decoy: see `decoys`."""
    judged = question.sessions if sessions and not question.abstain else ()
    ranked = ranked_sessions(recalled.ranked, sessions)
    return Found(
        question=question.id,
        type=question.type,
        abstain=question.abstain,
        recall=recall(question.evidence, recalled.ranked) if question.evidence else None,
        all_5=set(judged) <= set(ranked[:5]) if judged else None,
        any_1=not set(judged).isdisjoint(ranked[:1]) if judged else None,
        budgets={budget: _at(question, context, budget, given, decoy) for budget, context in recalled.contexts.items()},
    )


def _at(question: Question, context: Context, budget: int, given: Mapping[str, Given], decoy: str | None) -> AtBudget:
    golds = spans(question)
    text = normalize(context.text) if golds else ""
    return AtBudget(
        tokens=context.tokens,
        over=context.tokens > budget,
        raw=raw(question.evidence, context, given) if question.evidence else None,
        traced=traced(question.evidence, context, given) if question.evidence else None,
        answer=any(contains(text, gold, normalized=True) for gold in golds) if golds else None,
        shuffled=contains(text, decoy, normalized=True) if golds and decoy is not None else None,
    )


def recall(evidence: Collection[str], ranked: Sequence[str], k: int = K) -> float:
    """The share of the gold interactions among the first `k` ranked ones, 0…1; an interaction named twice takes one place."""
    return len(set(evidence) & set(list(dict.fromkeys(ranked))[:k])) / len(set(evidence))


def raw(evidence: Iterable[str], context: Context, given: Mapping[str, Given]) -> bool:
    """Whether each gold interaction stands in the context whole, as a turn: both sides of it, blanks aside."""
    return set(evidence) <= _raw(context, given)


def traced(evidence: Iterable[str], context: Context, given: Mapping[str, Given]) -> bool:
    """Whether each gold interaction is raw in the context, or a source of an item of at most two sources whose text is in it."""
    shown = _flat(context.text)
    sources = {id for item in context.items if len(set(item.sources)) <= TRACE_SOURCES and _flat(item.text) in shown for id in item.sources}
    return set(evidence) <= sources | _raw(context, given)


def _raw(context: Context, given: Mapping[str, Given]) -> set[str]:
    shown, found = _flat(context.text), set()
    for item in context.items:
        text = _flat(item.text)
        if item.kind == "turn" and text in shown:  # an item that the text doesn't have was never shown
            found |= {id for id in item.sources if id in given and _flat(given[id].user) in text and _flat(given[id].assistant) in text}
    return found


def _flat(text: str) -> str:
    """Text with its blanks normalized; a defused bracket (“‹”, so that quoted text can't close a block) is the bracket it was."""
    return " ".join(text.replace("‹", "<").split())


def spans(question: Question) -> tuple[str, ...]:
    """The golds that are looked for in a text: none where they are no spans, where the answer is that it isn't known; yes, no and one digit left out."""
    if not question.span or question.abstain:
        return ()
    return tuple(gold for gold in question.answers if (text := normalize(gold)) and text not in _EVERYWHERE and not re.fullmatch(r"\d", text))


def decoys(cases: Iterable[tuple[str, Sequence[Question]]], seed: int = 1) -> dict[tuple[str, str], str]:
    """The shuffled-gold control: (case, question) → a gold span of another question, of another case where there is one, that isn't one of its own golds.

    A question that no other gold fits has none.
    """
    pool = [(case, question.id, golds) for case, questions in cases for question in questions if (golds := spans(question))]
    every = [(case, gold, normalize(gold)) for case, _, golds in pool for gold in golds]
    chance = random.Random(seed)
    found: dict[tuple[str, str], str] = {}
    for case, id, golds in pool:
        own = {normalize(gold) for gold in golds}
        fit = [(other != case, gold) for other, gold, text in every if text not in own]
        if fit:
            found[case, id] = chance.choice([gold for away, gold in fit if away] or [gold for _, gold in fit])
    return found


def questions_of(case: Case) -> list[Question]:
    """All questions of a case: those asked on the way, then those at its end."""
    return [step.question for step in case.steps if step.question is not None] + list(case.questions)


def ranked_sessions(ranked: Iterable[str], sessions: Mapping[str, str]) -> list[str]:
    """Sessions in the order in which their first interaction is ranked; an interaction without a session is passed over."""
    return list(dict.fromkeys(sessions[id] for id in ranked if id in sessions))


@dataclass(frozen=True, slots=True)
class BudgetScore:
    """Shares in 0…1 at one budget; NaN where nothing was to be judged. tokens: the mean. over: contexts longer than the budget (must be 0)."""

    raw: float
    traced: float
    answer: float
    shuffled: float
    tokens: float
    over: int


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one type of question. evidenced, spanned: how many questions the shares of evidence and of answers rest on."""

    questions: int
    evidenced: int
    spanned: int
    recall: float
    all_5: float
    any_1: float
    budgets: Mapping[int, BudgetScore]


def by_type(found: Iterable[Found], apart: Collection[str] = ()) -> dict[str, Score]:
    """Scores by type of question, and `all` first: the mean over questions without the types kept `apart` (`Benchmark.apart`).

    A question whose right answer is that it isn't known has no evidence to find; such questions stand under “abstention” and not in `all`.
    """
    groups: dict[str, list[Found]] = {"all": []}
    for one in found:
        type = ABSTENTION if one.abstain and one.type not in apart else one.type
        groups.setdefault(type, []).append(one)
        if type != ABSTENTION and type not in apart:
            groups["all"].append(one)
    return {type: _summed(group) for type, group in groups.items()}


def _summed(group: Sequence[Found]) -> Score:
    budgets = sorted({budget for one in group for budget in one.budgets})
    at = {budget: [one.budgets[budget] for one in group if budget in one.budgets] for budget in budgets}
    return Score(
        questions=len(group),
        evidenced=sum(one.recall is not None for one in group),
        spanned=sum(any(row.answer is not None for row in one.budgets.values()) for one in group),
        recall=_mean(one.recall for one in group),
        all_5=_mean(one.all_5 for one in group),
        any_1=_mean(one.any_1 for one in group),
        budgets={
            budget: BudgetScore(
                raw=_mean(row.raw for row in rows),
                traced=_mean(row.traced for row in rows),
                answer=_mean(row.answer for row in rows),
                shuffled=_mean(row.shuffled for row in rows),
                tokens=_mean(row.tokens for row in rows),
                over=sum(row.over for row in rows),
            )
            for budget, rows in at.items()
        },
    )


def _mean(values: Iterable[float | None]) -> float:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else math.nan
