"""Learning the ranker from examples: a conditional logit whose scores are linear in the features plus one small hidden layer, in NumPy.

The loss is −log Σ right · softmax, each source of examples with its weight; L2 on everything, features standardized, dropout while learning. Deterministic
for a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import inner
from memory.engine.net import CLIP, Net, Rows

Matrix = NDArray[np.float64]
Parameters = dict[str, NDArray[np.float32]]
NETS: Final = 6  # learnt from other first weights and batches, and their mean taken: what one of them imagines the others don't
HIDDEN: Final = 32
STEPS: Final = 4_000
BATCH: Final = 192
RATE: Final = 3e-3
DECAY: Final = 0.004
PULL: Final = {"plain": 1.0, "into": 0.25, "out": 0.25}
DROPOUT: Final = 0.25


@dataclass(frozen=True, slots=True)
class Example:
    """One turn: a row of features per place, (rows, features); how right each place is, 0…1; its weight."""

    rows: Rows
    right: Matrix
    weight: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples one after the other: `rows` (places of all, features), `right` of each, where each example `starts` and how many places it has; its `share`."""

    rows: NDArray[np.float32]
    right: NDArray[np.float32]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    share: Matrix

    def take(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Rows and rightness of the chosen examples, and of each row the place of its example among them."""
        places = self.places[chosen]
        of = np.repeat(np.arange(len(chosen)), places)
        at = np.arange(len(of)) - np.repeat(np.cumsum(places) - places, places) + np.repeat(self.starts[chosen], places)
        return self.rows[at], self.right[at], of


def batch(examples: Sequence[Example]) -> Batch:
    places = np.array([len(item.rows) for item in examples])
    share = np.array([item.weight for item in examples])
    rows = np.concatenate([item.rows for item in examples]).astype(np.float32)
    return Batch(rows, np.concatenate([item.right for item in examples]).astype(np.float32), np.cumsum(places) - places, places, share / share.sum())


def learn(
    examples: Sequence[Example],
    names: Sequence[str],
    *,
    nets: int = 1,
    hidden: int = HIDDEN,
    steps: int = STEPS,
    decay: float = DECAY,
    dropout: float = DROPOUT,
    seed: int = 0,
) -> Net:
    """A net over these features that makes the right rows of the examples likely: the mean of so many `nets`. Raises ValueError without any example."""
    if not examples:
        raise ValueError("There is nothing to learn from.")
    data = batch(examples)
    mean, scale = data.rows.mean(axis=0), data.rows.std(axis=0)
    scale[scale < 1e-6] = 1.0  # it never changes: what it says is always the same
    standardized = replace(data, rows=np.clip((data.rows - mean) / scale, -CLIP, CLIP).astype(np.float32))
    found = [_descend(standardized, hidden, steps, decay, dropout, np.random.default_rng(seed + number)) for number in range(nets)]
    return Net.mean_of([_net(names, mean, scale, parameters) for parameters in found])


def _descend(data: Batch, hidden: int, steps: int, decay: float, dropout: float, rng: np.random.Generator) -> Parameters:
    count = data.rows.shape[1]
    parameters = {
        "plain": np.zeros(count, dtype=np.float32),
        "into": (rng.standard_normal((count, hidden)) / np.sqrt(count)).astype(np.float32),
        "bias": np.zeros(hidden, dtype=np.float32),
        "out": (rng.standard_normal(hidden) / np.sqrt(max(1, hidden))).astype(np.float32),
    }
    first = {name: np.zeros_like(value) for name, value in parameters.items()}
    second = {name: np.zeros_like(value) for name, value in parameters.items()}
    for step in range(1, steps + 1):
        slopes = _slopes(parameters, *data.take(rng.choice(len(data.share), size=BATCH, p=data.share)), dropout, rng)
        rate = RATE * min(1.0, 2.0 * (1.0 - step / steps) + 0.02)
        for name, slope in slopes.items():
            slope += PULL.get(name, 0.0) * decay * parameters[name]
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            moved = (first[name] / (1 - 0.9**step)) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            parameters[name] = parameters[name] - rate * moved
    return parameters


def _slopes(
    parameters: Parameters,
    rows: NDArray[np.float32],
    right: NDArray[np.float32],
    of: NDArray[np.int64],
    dropout: float,
    rng: np.random.Generator,
) -> Parameters:
    """The slope of the mean loss in each parameter; features and hidden units are left out at random. `of`: the example of each row, in order from 0."""
    count = int(of[-1]) + 1
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    kept = ((rng.random((count, rows.shape[1])) >= dropout) / (1 - dropout)).astype(np.float32)
    units = ((rng.random((count, len(parameters["bias"]))) >= dropout) / (1 - dropout)).astype(np.float32)[of]
    dropped = rows * kept[of]
    inner = np.tanh(dropped @ parameters["into"] + parameters["bias"])
    lit = inner * units
    scores = rows @ parameters["plain"] + lit @ parameters["out"]
    raised = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
    hit = right * raised
    error = (raised / np.add.reduceat(raised, starts)[of] - hit / np.maximum(np.add.reduceat(hit, starts), 1e-30)[of]).astype(np.float32) / count
    back = error[:, None] * (parameters["out"] * units) * (1 - inner**2)
    return {"plain": error @ rows, "into": dropped.T @ back, "bias": back.sum(axis=0), "out": error @ lit}


def _net(names: Sequence[str], mean: NDArray[np.float32], scale: NDArray[np.float32], parameters: Parameters) -> Net:
    plain, into, bias, out = (parameters[name].astype(np.float64) for name in ("plain", "into", "bias", "out"))
    return Net(tuple(names), mean.astype(np.float64), scale.astype(np.float64), plain, into, bias, out)


# --- Back-jumps inside a branch -----------------------------------------------------------------------------------------

PRECISION: Final = 0.8  # of back-jumps that are followed: most turns go on at the tip, and a wrong jump hides what came after
ENOUGH: Final = 5  # followed on streams not learnt from, or none are


def learn_jumps(jumps: Sequence[Example], *, nets: int = 1, steps: int = STEPS // 2) -> Net:
    """A net over `inner.FEATURES` that makes the right state of each branch likely; the first row of an example is the tip. Raises ValueError without any."""
    return learn(jumps, inner.FEATURES, nets=nets, hidden=16, steps=steps)


def threshold_of(folds: Sequence[tuple[Sequence[Example], Sequence[Example]]], *, steps: int = STEPS // 2) -> float:
    """The least share from which back-jumps are right PRECISION of the time, on jumps that weren't learnt from: folds of (learnt, unseen)."""
    followed: list[tuple[float, bool]] = []
    for learnt, unseen in folds:
        if learnt and unseen:
            net = learn_jumps(learnt, steps=steps)
            for jump in unseen:
                scores = net.scores(jump.rows)
                shares = np.exp(scores - scores.max())
                best = int(shares[1:].argmax()) + 1
                followed.append((float(shares[best] / shares.sum()), bool(jump.right[best])))
    followed.sort(key=lambda one: -one[0])
    least, hits = inner.NEVER, 0
    for count, (share, hit) in enumerate(followed, 1):
        hits += hit
        if count >= ENOUGH and hits / count >= PRECISION:
            least = share
    return round(min(least * 0.999, inner.NEVER), 4) if least <= 1 else inner.NEVER
