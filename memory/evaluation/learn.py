"""Learning the ranker from examples: a conditional logit whose scores are linear in the features plus one small hidden layer, in NumPy.

The loss is −log Σ_right softmax, each source of examples with its weight; L2 on everything, features standardized, dropout while learning. Deterministic
for a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import inner
from memory.engine.calibration import CLIP, NAMES, Calibration

Matrix = NDArray[np.float64]
HIDDEN: Final = 32
STEPS: Final = 4_000
BATCH: Final = 192
RATE: Final = 3e-3
DECAY: Final = 0.001
PULL: Final = {"plain": 1.0, "into": 0.25, "out": 0.25}
DROPOUT: Final = 0.25


@dataclass(frozen=True, slots=True)
class Example:
    """One turn: a row of features per branch and a last one for the new root, (rows, features); which rows are right; its weight."""

    rows: Matrix
    right: NDArray[np.bool_]
    weight: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples side by side, short ones padded: rows (examples, places, features), which places there are, which are right, the share of each example."""

    rows: NDArray[np.float32]
    inside: NDArray[np.bool_]
    right: NDArray[np.bool_]
    share: Matrix


def batch(examples: Sequence[Example]) -> Batch:
    most = max(len(item.rows) for item in examples)
    rows = np.zeros((len(examples), most, len(NAMES)), dtype=np.float32)
    inside = np.zeros((len(examples), most), dtype=bool)
    right = np.zeros((len(examples), most), dtype=bool)
    for index, item in enumerate(examples):
        rows[index, : len(item.rows)], inside[index, : len(item.rows)], right[index, : len(item.rows)] = item.rows, True, item.right
    share = np.array([item.weight for item in examples])
    return Batch(rows, inside, right, share / share.sum())


def learn(
    examples: Sequence[Example], *, hidden: int = HIDDEN, steps: int = STEPS, decay: float = DECAY, dropout: float = DROPOUT, seed: int = 0
) -> Calibration:
    """A calibration (temperature 1, nothing said of cues) that makes the right rows of the examples likely. Raises ValueError without any."""
    if not examples:
        raise ValueError("There is nothing to learn from.")
    data = batch(examples)
    seen = data.rows[data.inside]
    mean, scale = seen.mean(axis=0), seen.std(axis=0)
    scale[scale < 1e-6] = 1.0  # it never changes: what it says is always the same
    standard = np.clip((data.rows - mean) / scale, -CLIP, CLIP).astype(np.float32)
    rng = np.random.default_rng(seed)
    parameters = {
        "plain": np.zeros(len(NAMES), dtype=np.float32),
        "into": (rng.standard_normal((len(NAMES), hidden)) / np.sqrt(len(NAMES))).astype(np.float32),
        "bias": np.zeros(hidden, dtype=np.float32),
        "out": (rng.standard_normal(hidden) / np.sqrt(max(1, hidden))).astype(np.float32),
    }
    first = {name: np.zeros_like(value) for name, value in parameters.items()}
    second = {name: np.zeros_like(value) for name, value in parameters.items()}
    for step in range(1, steps + 1):
        chosen = rng.choice(len(examples), size=BATCH, p=data.share)
        slopes = _slopes(parameters, standard[chosen], data.inside[chosen], data.right[chosen], dropout, rng)
        rate = RATE * min(1.0, 2.0 * (1.0 - step / steps) + 0.02)
        for name, slope in slopes.items():
            slope += PULL.get(name, 0.0) * decay * parameters[name]
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            moved = (first[name] / (1 - 0.9**step)) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            parameters[name] = parameters[name] - rate * moved
    return _calibration(parameters, mean, scale)


def _slopes(
    parameters: dict[str, NDArray[np.float32]],
    rows: NDArray[np.float32],
    inside: NDArray[np.bool_],
    right: NDArray[np.bool_],
    dropout: float,
    rng: np.random.Generator,
) -> dict[str, NDArray[np.float32]]:
    """The slope of the mean loss in each parameter; features and hidden units are left out at random."""
    kept = ((rng.random((len(rows), 1, rows.shape[2])) >= dropout) / (1 - dropout)).astype(np.float32)
    units = ((rng.random((len(rows), 1, len(parameters["bias"]))) >= dropout) / (1 - dropout)).astype(np.float32)
    dropped = rows * kept
    inner = np.tanh(dropped @ parameters["into"] + parameters["bias"])
    scores = np.where(inside, rows @ parameters["plain"] + (inner * units) @ parameters["out"], -np.inf)
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    hit = np.where(right, raised, 0.0)
    error = (raised / raised.sum(axis=1, keepdims=True) - hit / np.maximum(hit.sum(axis=1, keepdims=True), 1e-30)).astype(np.float32) / len(rows)
    back = error[:, :, None] * (parameters["out"] * units) * (1 - inner**2)
    return {
        "plain": np.tensordot(error, rows, axes=2),
        "into": np.tensordot(dropped, back, axes=([0, 1], [0, 1])),
        "bias": back.sum(axis=(0, 1)),
        "out": np.tensordot(error, inner * units, axes=2),
    }


def _calibration(parameters: dict[str, NDArray[np.float32]], mean: NDArray[np.float32], scale: NDArray[np.float32]) -> Calibration:
    plain, into, bias, out = (parameters[name].astype(np.float64) for name in ("plain", "into", "bias", "out"))
    return Calibration(mean.astype(np.float64), scale.astype(np.float64), plain, into, bias, out, 1.0, {}, ())


# --- Back-jumps inside a branch -----------------------------------------------------------------------------------------

PRECISION: Final = 0.85  # of back-jumps that are followed: most turns go on at the tip, and a wrong jump hides what came after
ENOUGH: Final = 5  # followed on streams not learnt from, or none are


@dataclass(frozen=True, slots=True)
class Jump:
    """One turn that resumes a known branch: features of the branch's earlier states (states, features), which of these is right (None: the tip), its weight."""

    rows: Matrix
    right: int | None
    weight: float


def learn_jumps(jumps: Sequence[Jump], *, ridge: float = 0.01, steps: int = 800) -> dict[str, float]:
    """Weights of `inner.FEATURES` that make the right state of each branch likely; the tip scores 0. Deterministic (Adam from zero, full batch)."""
    most, width = max(len(jump.rows) for jump in jumps) + 1, len(inner.FEATURES)
    rows, inside = np.zeros((len(jumps), most, width)), np.zeros((len(jumps), most), dtype=bool)
    for index, jump in enumerate(jumps):
        rows[index, 1 : len(jump.rows) + 1], inside[index, : len(jump.rows) + 1] = jump.rows, True
    right = np.array([0 if jump.right is None else jump.right + 1 for jump in jumps])
    share = np.array([jump.weight for jump in jumps])
    share = share / share.sum()
    scale = rows[inside].std(axis=0)
    scale[scale < 1e-6] = 1.0
    rows /= scale
    weights, first, second = np.zeros(width), np.zeros(width), np.zeros(width)
    for step in range(1, steps + 1):
        scores = np.where(inside, rows @ weights, -np.inf)
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely = raised / raised.sum(axis=1, keepdims=True)
        slope = np.tensordot(share[:, None] * likely, rows, axes=2) - share @ rows[np.arange(len(jumps)), right] + ridge * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights = weights - 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return {name: float(weight) for name, weight in zip(inner.FEATURES, weights / scale, strict=True)}


def threshold_of(folds: Sequence[tuple[Sequence[Jump], Sequence[Jump]]]) -> float:
    """The least share from which back-jumps are right PRECISION of the time, on jumps that weren't learnt from: folds of (learnt, unseen)."""
    followed: list[tuple[float, bool]] = []
    for learnt, unseen in folds:
        if learnt and unseen:
            weights = np.array(list(learn_jumps(learnt).values()))
            for jump in unseen:
                scores = np.concatenate([[0.0], jump.rows @ weights])
                shares = np.exp(scores - scores.max())
                best = int(shares[1:].argmax())
                followed.append((float(shares[best + 1] / shares.sum()), best == jump.right))
    followed.sort(key=lambda one: -one[0])
    least, hits = inner.NEVER, 0
    for count, (share, hit) in enumerate(followed, 1):
        hits += hit
        if count >= ENOUGH and hits / count >= PRECISION:
            least = share
    return round(min(least * 0.999, inner.NEVER), 4) if least <= 1 else inner.NEVER
