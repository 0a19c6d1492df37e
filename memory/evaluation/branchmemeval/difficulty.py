"""How hard a set is for similarity alone: branch accuracy of three simple localizers that are given the right prefix (which flatters them).

TF-IDF: cosine to the whole path of each tree. Embeddings: the nearest state of each tree. Both say “new” below the threshold that is best on this very set.
Previous turn: always go on. A set that one of the first two solves on resumptions (BAR or more) says nothing about memory.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from memory.engine.terms import content_terms
from memory.evaluation.branchmemeval.dataset import Row

BAR: Final = 0.65
Embed = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, slots=True)
class Scored:
    """One turn: its gold tree (None: a new one), what kind of turn it is, and the similarity of each earlier tree."""

    gold: str | None
    pointer: str
    resumption: bool
    question: bool
    near: Mapping[str, float]

    def said(self, threshold: float) -> str | None:
        best = max(self.near, key=lambda tree: self.near[tree])
        return best if self.near[best] >= threshold else None


@dataclass(frozen=True, slots=True)
class Figures:
    """Branch accuracies 0…1 at the threshold that is best overall; `never_new`: on resumptions when “new” is never said."""

    overall: float
    resumptions: float
    never_new: float
    questions: float
    by_pointer: Mapping[str, tuple[float, int]]


def trees(session: Row) -> dict[str, str]:
    """The gold tree of each turn: the id of the turn that opened it."""
    found: dict[str, str] = {}
    for turn in session["turns"]:
        parent = turn["gold"]["parent"]
        found[turn["id"]] = turn["id"] if parent is None else found[parent]
    return found


def resumptions(session: Row) -> list[int]:
    """Places of turns that go back to another tree than that of the turn before."""
    tree = trees(session)
    turns = session["turns"]
    return [at for at in range(1, len(turns)) if turns[at]["gold"]["parent"] is not None and tree[turns[at]["id"]] != tree[turns[at - 1]["id"]]]


def lexical(session: Row) -> list[Scored]:
    """TF-IDF cosine to the path of each tree; document frequencies of the turns so far."""
    turns, tree, back = session["turns"], trees(session), set(resumptions(session))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    frequency: Counter[str] = Counter()
    scored = []
    for at, turn in enumerate(turns):
        asked = Counter(content_terms(turn["user"]))
        idf = {term: math.log((at + 1) / (1 + frequency[term])) + 1 for known in (asked, *counts.values()) for term in known}
        if at:
            scored.append(_scored(turn, tree, at in back, {name: _cosine(asked, known, idf) for name, known in counts.items()}))
        told = content_terms(f"{turn['user']} {turn['assistant']}")
        counts[tree[turn["id"]]].update(told)
        frequency.update(set(told))
    return scored


def _cosine(one: Counter[str], other: Counter[str], idf: Mapping[str, float]) -> float:
    left = {term: (1 + math.log(count)) * idf[term] for term, count in one.items()}
    right = {term: (1 + math.log(count)) * idf[term] for term, count in other.items()}
    norm = math.sqrt(sum(value**2 for value in left.values())) * math.sqrt(sum(value**2 for value in right.values()))
    return sum(value * right.get(term, 0.0) for term, value in left.items()) / norm if norm else 0.0


def nearest(session: Row, embed: Embed) -> list[Scored]:
    """Cosine of embeddings to the nearest state (question and answer together) of each tree."""
    turns, tree, back = session["turns"], trees(session), set(resumptions(session))
    asked = embed([turn["user"] for turn in turns])
    told = embed([f"{turn['user']}\n{turn['assistant']}" for turn in turns])
    scored = []
    for at in range(1, len(turns)):
        near: dict[str, float] = {}
        for place, similarity in enumerate((told[:at] @ asked[at]).tolist()):
            name = tree[turns[place]["id"]]
            near[name] = max(near.get(name, -1.0), similarity)
        scored.append(_scored(turns[at], tree, at in back, near))
    return scored


def _scored(turn: Row, tree: Mapping[str, str], resumption: bool, near: Mapping[str, float]) -> Scored:
    gold = turn["gold"]
    return Scored(None if gold["parent"] is None else tree[turn["id"]], gold["pointer"], resumption, "question" in turn, near)


def figures(scored: Sequence[Scored]) -> Figures:
    """The figures at the best threshold."""
    tried = np.quantile([max(turn.near.values()) for turn in scored], np.linspace(0, 1, 101)).tolist()
    best = max([-2.0, *tried], key=lambda threshold: sum(turn.said(threshold) == turn.gold for turn in scored))
    back = [turn for turn in scored if turn.resumption]
    by_pointer = {pointer: [turn for turn in scored if turn.pointer == pointer] for pointer in sorted({turn.pointer for turn in scored})}
    return Figures(
        overall=_accuracy(scored, best),
        resumptions=_accuracy(back, best),
        never_new=_accuracy(back, -2.0),
        questions=_accuracy([turn for turn in scored if turn.question], best),
        by_pointer={pointer: (_accuracy(turns, best), len(turns)) for pointer, turns in by_pointer.items()},
    )


def _accuracy(turns: Sequence[Scored], threshold: float) -> float:
    return sum(turn.said(threshold) == turn.gold for turn in turns) / len(turns) if turns else math.nan


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What was measured. `previous_turn` on all turns but the first of each session: it is never right on a resumption."""

    turns: int
    resumptions: int
    previous_turn: float
    lexical: Figures
    nearest: Figures

    @property
    def hard(self) -> bool:
        """Whether neither similarity solves the resumptions, even when it never says “new”."""
        return max(self.lexical.resumptions, self.lexical.never_new, self.nearest.resumptions, self.nearest.never_new) < BAR


def measure(sessions: Sequence[Row], embed: Embed) -> Difficulty:
    words = [turn for session in sessions for turn in lexical(session)]
    near = [turn for session in sessions for turn in nearest(session, embed)]
    back = sum(turn.resumption for turn in words)
    stay = sum(turn.gold is not None and not turn.resumption for turn in words)
    return Difficulty(len(words), back, stay / len(words), figures(words), figures(near))
