"""What must hold of every set, however it was worded (ARBORMEM §5). `faults` is run on all that is generated; a set with faults is not written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memory.evaluation.answers import contains
from memory.evaluation.branchmemeval.dataset import Row, moment
from memory.evaluation.branchmemeval.plan import LONGEST, QUESTIONS, SHORTEST

# What only the construction knows: labels of branches and dimensions, ids of turns, fields left unfilled, markers as other sets have leaked them.
_LEAK: Final = re.compile(r"[{}]|\bb[1-9]\b|\bs\d+-\d+\b|->|\b(?:confounder|distractor|b[1-5] question|gold (?:answer|parent)|evidence id)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that must not be: in which session, at which turn (empty: the session as a whole), what."""

    session: str
    turn: str
    what: str

    def __str__(self) -> str:
        return f"{self.turn or self.session}: {self.what}"


def faults(sessions: Sequence[Row]) -> list[Fault]:
    """All faults of a set's sessions."""
    found = [Fault(session["id"], turn, what) for session in sessions for turn, what in (*_shape(session), *_texts(session), *_questions(session))]
    twice = [id for id, count in Counter(session["id"] for session in sessions).items() if count > 1]
    return found + [Fault(id, "", "there is another session of this id") for id in twice]


def _shape(session: Row) -> Iterator[tuple[str, str]]:
    """Ids, parents, times, numbers."""
    turns = session["turns"]
    branches = {branch["label"]: branch for branch in session["branches"]}
    if len(branches) not in (3, 4):
        yield "", f"{len(branches)} branches instead of 3 or 4"
    if not SHORTEST <= len(turns) <= LONGEST:
        yield "", f"{len(turns)} turns instead of {SHORTEST} to {LONGEST}"
    if Counter(turn["question"]["dimension"] for turn in turns if "question" in turn) != Counter(QUESTIONS[session["family"]]):
        yield "", f"other questions than family {session['family']} has"
    known: dict[str, str | None] = {}
    last: datetime | None = None
    for turn in turns:
        id, gold, time = turn["id"], turn["gold"], moment(turn)
        if id in known:
            yield id, "its id is there twice"
        for parent in (gold["parent"], gold["also"]):
            if parent is not None and parent not in known:
                yield id, f"the gold parent {parent} doesn't come before it"
        if gold["parent"] in known and known[gold["parent"]] != gold["branch"]:
            yield id, "its gold parent is of another branch"
        if gold["parent"] is None and gold["branch"] is not None and gold["branch"] in known.values():
            yield id, "its branch was opened before"
        if gold["branch"] is not None and gold["branch"] not in branches:
            yield id, f"there is no branch {gold['branch']}"
        if last is not None and time <= last:
            yield id, "it isn't later than the turn before it"
        known[id], last = gold["branch"], time


def _texts(session: Row) -> Iterator[tuple[str, str]]:
    """What a system sees: said at all, nothing of the construction in it."""
    for turn in session["turns"]:
        if not turn["user"].strip() or not turn["assistant"].strip():
            yield turn["id"], "nothing is said"
        text = f"{turn['user']}\n{turn['assistant']}"
        if leak := _LEAK.search(text):
            yield turn["id"], f"the construction shows: {leak[0]!r}"
        missing = [kept for kept in turn.get("keeps", ()) if kept.casefold() not in text.casefold()]
        if missing:
            yield turn["id"], f"{missing[0]!r} got lost in the wording"


def _questions(session: Row) -> Iterator[tuple[str, str]]:
    turns = {turn["id"]: turn for turn in session["turns"]}
    place = {id: at for at, id in enumerate(turns)}
    for id, turn in turns.items():
        if "question" in turn:
            missing = [evidence for evidence in turn["question"]["evidence"] if evidence not in place]
            late = [evidence for evidence in turn["question"]["evidence"] if evidence in place and place[evidence] >= place[id]]
            if missing or late or not turn["question"]["evidence"]:
                yield id, f"evidence that doesn't exist or doesn't come before: {', '.join(missing + late) or 'none at all'}"
                continue
            for what in _question(session, turn, turns, place):
                yield id, what


def _question(session: Row, turn: Row, turns: Mapping[str, Row], place: Mapping[str, int]) -> Iterator[str]:
    asked = turn["question"]
    evidence = [_told(turns[id]) for id in asked["evidence"]]
    gold, confounder, text = asked["gold"], asked["confounder"], turn["user"]
    before = [other for id, other in turns.items() if place[id] < place[turn["id"]]]
    if not contains(evidence[-1], gold):
        yield f"the gold {gold!r} isn't supported by its evidence"
    if any(contains(text, answer) for answer in (gold, confounder)):
        yield "the gold or its confounder is in the question"
    if contains(gold, confounder) or contains(confounder, gold):
        yield "gold and confounder can't be told apart"
    if not contains(turn["assistant"], gold) or contains(turn["assistant"], confounder):
        yield "the canonical answer doesn't say the gold, or says the confounder"
    twins = _twins(session, turn["gold"]["branch"])
    mine = {turn["gold"]["branch"]}
    if not any(other["gold"]["branch"] in twins and contains(_told(other), confounder) for other in before) and asked["dimension"] != "B4":
        yield "the confounder wasn't said in a parallel trajectory"
    if asked["dimension"] != "B4" and any(turns[id]["gold"]["branch"] not in mine for id in asked["evidence"]):
        yield "its evidence is of another branch"
    match asked["dimension"]:
        case "B2":
            yield from _update(asked, evidence)
        case "B4":
            yield from _bridge(asked, evidence, text, {turns[id]["gold"]["branch"] for id in asked["evidence"]})
        case "B5":
            others = [branch["owner"] for branch in session["branches"] if branch["label"] in twins]
            if not contains(text, asked["instance"]) or any(contains(text, other) for other in others):
                yield "it doesn't name its instance, or names the twin"


def _update(asked: Mapping[str, Any], evidence: Sequence[str]) -> Iterator[str]:
    if not asked["old"] or contains(asked["old"], asked["gold"]) or len(evidence) != 2 or not contains(evidence[0], asked["old"]):
        yield "there is no old and new value"
    elif contains(evidence[0], asked["gold"]):
        yield "the new value was there before the update"


def _bridge(asked: Mapping[str, Any], evidence: Sequence[str], text: str, branches: set[str | None]) -> Iterator[str]:
    if not asked["link"] or len(branches) != 2 or not all(contains(told, asked["link"]) for told in evidence):
        yield "no value links two trajectories"
    elif contains(text, asked["link"]):
        yield "the linking value isn't hidden: the question has it"
    if contains(evidence[0], asked["gold"]):
        yield "the gold is known without the second trajectory"
    if not contains(evidence[-1], asked["confounder"]):
        yield "the confounder isn't beside the gold"


def _told(turn: Row) -> str:
    return f"{turn['user']}\n{turn['assistant']}"


def _twins(session: Row, label: str) -> set[str]:
    """The labels of the other branches of this one's kind."""
    kinds = {branch["label"]: branch["kind"] for branch in session["branches"]}
    return {other for other, kind in kinds.items() if other != label and kind == kinds.get(label)}
