"""Baselines that only place inputs: under the previous turn, or on the path that is most alike, with a threshold for the new root.

A path is a chain of interactions; what an input is compared with is the whole path so far: the TF-IDF of its text, or the mean of its vectors. The path
used last has a bonus. Bonus and threshold are fitted on one half of the OASST trees only (`fit`, kept in routers.json with what it was fitted on).
Probabilities aren't calibrated: the cosine of the place, or what it lacks to 1 for a new root.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import recall, terms
from memory.evaluation import localization
from memory.evaluation.cases import Case, Given
from memory.evaluation.systems.base import Placed, PlacesOnly
from memory.evaluation.systems.reading import Setting
from memory.store import texts

FITTED: Final = Path(__file__).parent / "routers.json"


NOTES: Final[Mapping[str, str]] = {
    "previous": "everything continues the turn before",
    "tfidf": "the path nearest by TF-IDF; bonus and threshold fitted on OASST half 0 of 2",
    "minilm": "the path nearest in meaning; bonus and threshold fitted on OASST half 0 of 2",
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a router adds to the path used last, and what a path must have to be resumed."""

    bonus: float
    threshold: float


@cache
def fitted(name: str) -> Fitted:
    """The numbers of a router, as fitted. Raises KeyError for one that wasn't."""
    numbers = json.loads(FITTED.read_text(encoding="utf-8"))["routers"][name]
    return Fitted(numbers["bonus"], numbers["threshold"])


@dataclass
class Chain:
    """A chain of interactions: the id of its last one and what the input is compared with."""

    tip: str
    counts: Counter[str] = field(default_factory=Counter)
    total: NDArray[np.float32] | None = None


class Router(PlacesOnly):
    """What the routers share: a path for each chain, the last one used, and no recall."""

    name = ""
    routes = True

    def __init__(self, setting: Setting, numbers: Fitted | None = None) -> None:
        self.setting = setting
        self._numbers = numbers
        self.open("", "UTC")

    @property
    def numbers(self) -> Fitted:
        return self._numbers or fitted(self.name)

    def open(self, case: str, zone: str) -> None:
        self.paths: list[Chain] = []
        self.active: Chain | None = None
        self._of: dict[str, Chain] = {}

    def place(self, given: Given) -> Placed | None:
        started = time.perf_counter()
        scores = self.scores(given.user)
        order = sorted(range(len(scores)), key=lambda index: -(scores[index] + self._bonus(index)))
        best = order[0] if order else None
        parent, probability = None, 1.0
        if best is not None:
            score = scores[best] + self._bonus(best)
            new = not score > self.numbers.threshold
            parent = None if new else self.paths[best].tip
            probability = min(1.0, max(0.0, 1.0 - score if new else score))
        others: list[str | None] = [self.paths[index].tip for index in order if self.paths[index].tip != parent]
        if best is not None and parent is not None:
            above = [self.paths[index].tip for index in order if scores[index] + self._bonus(index) > self.numbers.threshold]
            others.insert(len(above) - 1, None)
        return Placed(parent, probability, 1000 * (time.perf_counter() - started), tuple(others))

    def _bonus(self, index: int) -> float:
        return self.numbers.bonus if self.paths[index] is self.active else 0.0

    def scores(self, said: str) -> Sequence[float]:
        """How alike the input and each path are."""
        raise NotImplementedError

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        above = self._of[placed.parent] if placed is not None and placed.parent is not None else None
        if above is None or above.tip != (placed.parent if placed else None):
            # A root, or a fork: a path of its own, which has the turns it shares with the other.
            above = Chain(given.id, Counter(above.counts) if above else Counter(), None if above is None or above.total is None else above.total.copy())
            self.paths.append(above)
        above.tip = given.id
        self._of[given.id] = self.active = above
        self.learn(above, texts.of_turn(given.user, given.assistant))

    def learn(self, path: Chain, said: str) -> None:
        """Add an interaction to what its path is known by."""


class Previous(Router):
    """Everything continues the turn before; only the first one is a root."""

    name = "previous"

    def place(self, given: Given) -> Placed | None:
        return Placed(self.active.tip if self.active else None, 1.0, 0.0)


class Tfidf(Router):
    """The path whose words are most alike: cosine of TF-IDF, stems, the frequency of terms counted over interactions."""

    name = "tfidf"

    def open(self, case: str, zone: str) -> None:
        super().open(case, zone)
        self._frequency: Counter[str] = Counter()
        self._states = 0

    def scores(self, said: str) -> Sequence[float]:
        mine = self._weighted(Counter(terms.terms(said)))
        return [_cosine(mine, self._weighted(path.counts)) for path in self.paths]

    def learn(self, path: Chain, said: str) -> None:
        counts = Counter(terms.terms(said))
        path.counts.update(counts)
        self._frequency.update(counts.keys())
        self._states += 1

    def _weighted(self, counts: Mapping[str, int]) -> dict[str, float]:
        return {term: (1 + math.log(number)) * recall.idf(self._frequency[term], self._states) for term, number in counts.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    product = sum(weight * other[term] for term, weight in one.items() if term in other)
    lengths = math.sqrt(sum(weight**2 for weight in one.values()) * sum(weight**2 for weight in other.values()))
    return product / lengths if lengths else 0.0


class MiniLm(Router):
    """The path whose centre is nearest in meaning: cosine with the mean of its interactions' vectors."""

    name = "minilm"

    def scores(self, said: str) -> Sequence[float]:
        if not self.paths:
            return []
        [vector] = self.setting.embedder.embed([said])
        centres = np.stack([path.total for path in self.paths if path.total is not None])
        near: NDArray[np.float64] = (centres @ vector) / np.maximum(np.linalg.norm(centres, axis=1), 1e-9)
        return [float(one) for one in near]

    def learn(self, path: Chain, said: str) -> None:
        [vector] = self.setting.embedder.embed([said])
        path.total = vector if path.total is None else path.total + vector


# --- Fitting ----------------------------------------------------------------------------------------------------------

Accuracy = Callable[[Fitted], float]


def best(accuracy: Accuracy, bonuses: Sequence[float], thresholds: Sequence[float]) -> tuple[Fitted, float]:
    """The numbers with the best branch accuracy, and that; of equals the smaller bonus and threshold."""
    tried = [(accuracy(Fitted(bonus, threshold)), -bonus, -threshold) for bonus in bonuses for threshold in thresholds]
    reached, bonus, threshold = max(tried)
    return Fitted(-bonus, -threshold), reached


def replay(router: Router, case: Case) -> list[localization.Judged]:
    """An online replay of a case, judged."""
    router.open(case.id, case.zone)
    gold: list[localization.Gold] = []
    said: list[localization.Placed] = []
    for step in case.steps:
        placed = router.place(step.given)
        router.observe(step.given, placed=placed)
        if placed is not None and step.gold is not None:
            gold.append(localization.Gold(step.given.id, step.gold.parent))
            said.append(localization.Placed(step.given.id, placed.parent, None, placed.probability, placed.ms))
    return localization.judge(gold, said)


def keep(found: Mapping[str, tuple[Fitted, float]], on: str, path: Path = FITTED) -> None:
    """Write the numbers with what they were fitted on."""
    numbers = {name: {"bonus": fit.bonus, "threshold": fit.threshold, "branch_there": round(reached, 4)} for name, (fit, reached) in found.items()}
    path.write_text(json.dumps({"fitted_on": on, "routers": numbers}, indent=2) + "\n", encoding="utf-8")
