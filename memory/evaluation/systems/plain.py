"""Baselines of our own on the same units: whole interactions, ranked by words, by meaning, by both, by age, and filled into the budget.

BM25 is plain (k₁ 1.2, b .75, the engine's stems); meaning is the cosine of the run's embedder on the whole interaction.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import recall, terms
from memory.engine.forest import Context as Assembled
from memory.engine.forest import Interaction
from memory.evaluation.cases import Asked, Given
from memory.evaluation.systems.base import LEADERS, Placed, Recalled
from memory.evaluation.systems.reading import Reading, Setting, fill, plain_reading, shown
from memory.llm.tokens import count
from memory.store import texts

DENSE_WEIGHT: Final = 0.6  # BENCHMARKS: the stronger yardstick
RECENT: Final = 10  # interactions that “recent” keeps
NOTES: Final[Mapping[str, str]] = {
    "bm25": "BM25 of whole interactions",
    "dense": "cosine of whole interactions",
    "hybrid": f"both, standardized, weight of the cosine {DENSE_WEIGHT}",
    "recent": f"the last {RECENT} interactions",
    "full": "everything, cut at the budget from the newest back",
}
Scores = NDArray[np.float64]


class Listed:
    """What every system without a forest does: it keeps interactions in a list, ranks all of them for a question and fills the budget in rank order."""

    name = ""
    routes = False
    skipping = True  # an interaction that doesn't fit is skipped, else it is the end

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.open("", "UTC")

    def open(self, case: str, zone: str) -> None:
        self.zone = zone
        self.states: list[Interaction] = []
        self.names: dict[int, str] = {}
        self._asked: tuple[Asked, Mapping[int, Assembled]] | None = None

    def place(self, given: Given) -> Placed | None:
        return None

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        number = len(self.states) + 1
        tokens = count(given.user) + count(given.assistant)
        self.states.append(Interaction(number, number, None, number, number, 0, given.time, given.user, given.assistant, tokens=tokens))
        self.names[number] = given.id

    def settle(self) -> None:
        """Nothing waits."""

    def recall(self, asked: Asked, budgets: Sequence[int]) -> Recalled:
        started = time.perf_counter()
        ranked = [self.states[index] for index in self.rank(asked)]
        between = time.perf_counter()
        contexts = {budget: fill(ranked, budget, self.zone, skipping=self.skipping) for budget in budgets}
        done = time.perf_counter()
        self._asked = asked, contexts
        packing = 1000 * (done - between) / max(1, len(budgets))
        return Recalled(
            ranked=tuple(self.names[state.id] for state in ranked[:LEADERS]),
            contexts={budget: shown(context, self.names) for budget, context in contexts.items()},
            placed=None,
            ms=1000 * (between - started) + packing,
            details={"rank_ms": 1000 * (between - started), "pack_ms": packing},
        )

    def rank(self, asked: Asked) -> list[int]:
        """Indexes of the interactions, best first; none that is never to be shown."""
        raise NotImplementedError

    def reading(self, budget: int) -> Reading:
        if self._asked is None:
            raise KeyError(budget)
        asked, contexts = self._asked
        return plain_reading(asked, contexts[budget], self.states, self.zone)

    def close(self) -> None:
        self.open("", "UTC")


def said(state: Interaction) -> str:
    """What a unit is indexed by: both texts, as a forest embeds them."""
    return texts.of_turn(state.user, state.assistant)


def best_first(scores: Scores) -> list[int]:
    """Indexes by score; of equals the later one."""
    return sorted(range(len(scores)), key=lambda index: (-scores[index], -index))


class Words:
    """An inverted index of texts that grows, and BM25 over it."""

    def __init__(self) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._lengths: list[int] = []

    def add(self, text: str) -> None:
        counts = Counter(terms.terms(text))
        for term, number in counts.items():
            self._postings.setdefault(term, []).append((len(self._lengths), number))
        self._lengths.append(sum(counts.values()))

    def bm25(self, text: str) -> Scores:
        """The score of every text for the distinct terms of `text`."""
        scores = np.zeros(len(self._lengths))
        lengths = np.asarray(self._lengths, dtype=np.float64)
        average = max(1.0, float(lengths.mean())) if self._lengths else 1.0
        norm = recall.BM25_K1 * (1 - recall.BM25_B + recall.BM25_B * lengths / average)
        for term in dict.fromkeys(terms.terms(text)):
            if found := self._postings.get(term):
                at, number = np.array(found).T
                scores[at] += recall.idf(len(found), len(lengths)) * number * (recall.BM25_K1 + 1) / (number + norm[at])
        return scores


class Bm25(Listed):
    """By words alone."""

    name = "bm25"

    def open(self, case: str, zone: str) -> None:
        super().open(case, zone)
        self.words = Words()

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        super().observe(given, placed=placed)
        self.words.add(said(self.states[-1]))

    def rank(self, asked: Asked) -> list[int]:
        return best_first(self.words.bm25(asked.text))


class Dense(Listed):
    """By meaning alone."""

    name = "dense"

    def open(self, case: str, zone: str) -> None:
        super().open(case, zone)
        self._vectors: list[NDArray[np.float32]] = []

    def settle(self) -> None:
        waiting = [said(state) for state in self.states[len(self._vectors) :]]
        if waiting:
            self._vectors.extend(self.setting.embedder.embed(waiting))

    def cosines(self, text: str) -> Scores:
        self.settle()
        [vector] = self.setting.embedder.embed([text])
        return (np.stack(self._vectors) @ vector).astype(np.float64) if self._vectors else np.zeros(0)

    def rank(self, asked: Asked) -> list[int]:
        return best_first(self.cosines(asked.text))


class Hybrid(Bm25, Dense):
    """Both, each standardized over all interactions."""

    name = "hybrid"

    def rank(self, asked: Asked) -> list[int]:
        return best_first(DENSE_WEIGHT * _standard(self.cosines(asked.text)) + (1 - DENSE_WEIGHT) * _standard(self.words.bm25(asked.text)))


def _standard(scores: Scores) -> Scores:
    deviation = float(scores.std()) if len(scores) else 0.0
    return (scores - scores.mean()) / deviation if deviation > 0 else np.zeros_like(scores)


class Recent(Listed):
    """The last ten interactions, newest first, whatever is asked."""

    name = "recent"

    def rank(self, asked: Asked) -> list[int]:
        return list(range(len(self.states)))[::-1][:RECENT]


class Full(Listed):
    """Everything, cut at the budget from the newest back."""

    name = "full"
    skipping = False

    def rank(self, asked: Asked) -> list[int]:
        return list(range(len(self.states)))[::-1]
