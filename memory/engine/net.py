"""How features become a score: linear in the standardized features, plus a small hidden layer. Fitted elsewhere (evaluation/learn.py), kept as JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = Array | NDArray[np.float32]  # of features; single precision where there are very many
CLIP: Final = 4.0  # deviations beyond which a feature counts no further


@dataclass(frozen=True, slots=True)
class Net:
    """z = clip((x − mean) / scale), score = plain · z + out · tanh(intoᵀ z + bias).

    `mean`, `scale`, `plain` (features), `into` (features, units), `bias` and `out` (units); features in the order of `names`."""

    names: tuple[str, ...]
    mean: Array
    scale: Array
    plain: Array
    into: Array
    bias: Array
    out: Array

    @classmethod
    def linear(cls, names: Sequence[str], weights: Mapping[str, float]) -> Net:
        """Plain weights on features as they are. Raises KeyError for an unknown feature."""
        if unknown := weights.keys() - set(names):
            raise KeyError(*sorted(unknown))
        zero, one = np.zeros(len(names)), np.ones(len(names))
        plain = np.array([float(weights.get(name, 0.0)) for name in names])
        return cls(tuple(names), zero, one, plain, np.zeros((len(names), 0)), np.zeros(0), np.zeros(0))

    @classmethod
    def mean_of(cls, nets: Sequence[Net]) -> Net:
        """The net whose score is the mean of the scores of these, which share their standardization. Raises ValueError without any."""
        if not nets:
            raise ValueError("There is no net to take the mean of.")
        return replace(
            nets[0],
            plain=np.mean([net.plain for net in nets], axis=0),
            into=np.concatenate([net.into for net in nets], axis=1),
            bias=np.concatenate([net.bias for net in nets]),
            out=np.concatenate([net.out for net in nets]) / len(nets),
        )

    def without(self, names: Collection[str]) -> Net:
        """The same with these features counting nothing; the others aren't fitted again."""
        keep = np.array([float(name not in names) for name in self.names])
        return replace(self, plain=self.plain * keep, into=self.into * keep[:, None])

    def scores(self, rows: Rows) -> Array:
        """Scores, (rows), of rows of features, (rows, features). They are those of `shares` less a constant."""
        z = self._standard(rows)
        found: Array = z @ self.plain + (np.tanh(z @ self.into + self.bias) - np.tanh(self.bias)) @ self.out
        return found

    def shares(self, rows: Array) -> Array:
        """What each feature adds to the score, (rows, features).

        What a hidden unit adds is shared among the features in proportion to what each puts into it: their integrated gradients from the mean."""
        z = self._standard(rows)
        inner = z @ self.into
        lift = np.tanh(inner + self.bias) - np.tanh(self.bias)
        share = np.divide(lift, inner, out=np.zeros_like(lift), where=np.abs(inner) > 1e-9)
        found: Array = z * self.plain + z * ((share * self.out) @ self.into.T)
        return found

    def _standard(self, rows: Rows) -> Array:
        found: Array = np.clip((rows - self.mean) / self.scale, -CLIP, CLIP)
        return found

    @classmethod
    def from_json(cls, names: Sequence[str], data: Mapping[str, Any]) -> Net:
        """Raises ValueError, KeyError or TypeError for what isn't the form of `to_json` for these features."""
        numbers = data["features"]
        if unlike := numbers.keys() ^ set(names):
            raise ValueError(f"The weights and this code differ in features: {', '.join(sorted(unlike))}")
        mean, scale, plain = (np.array([numbers[name][key] for name in names], dtype=np.float64) for key in ("mean", "scale", "plain"))
        into = np.array([numbers[name]["into"] for name in names], dtype=np.float64).reshape(len(names), -1)
        bias, out = (np.array(data[key], dtype=np.float64) for key in ("bias", "out"))
        if not into.shape[1] == bias.size == out.size:
            raise ValueError("The weights have hidden units that don't fit together")
        if not (scale > 0).all():
            raise ValueError("All scales must be above 0")
        return cls(tuple(names), mean, scale, plain, into, bias, out)

    def to_json(self) -> dict[str, Any]:
        return {
            "features": {
                name: {
                    "mean": _short(self.mean[at]),
                    "scale": _short(self.scale[at]),
                    "plain": _short(self.plain[at]),
                    "into": [_short(weight) for weight in self.into[at]],
                }
                for at, name in enumerate(self.names)
            },
            "bias": [_short(value) for value in self.bias],
            "out": [_short(value) for value in self.out],
        }


def _short(value: float) -> float:
    """Five significant digits: more say nothing, and the file stays readable."""
    return float(f"{value:.5g}")
