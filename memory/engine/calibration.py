"""The fitted numbers of localization: how features become a score, the temperature of the softmax, what cues are worth.

A score is linear in the standardized features plus a small hidden layer: z = clip((x − mean) / scale), score = plain · z + out · tanh(intoᵀ z + bias).
Fitted elsewhere (evaluation/learn.py), kept as JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import inner
from memory.engine.features import FEATURES, PARTS, VERSION
from memory.engine.inner import NEVER

Array = NDArray[np.float64]
CLIP: Final = 4.0  # deviations beyond which a feature counts no further
NAMES: Final = tuple(FEATURES)
_PART_OF: Final = np.array([[float(part == FEATURES[name]) for part in PARTS] for name in NAMES])


class CalibrationMismatchError(ValueError):
    """A calibration that wasn't fitted for this code, or was changed by hand."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted numbers: `mean`, `scale` and `plain` (features), `into` (features, units), `bias` and `out` (units); features in the order of FEATURES.

    `temperature` of the softmax; `cue_probability`, the share of right decisions of each cue; `fitted_on` names the data; `features` is the version of the
    features; `hash` the SHA-256 of all other values as canonical JSON. `inner` and `inner_threshold` are those of back-jumps inside a branch (`inner.py`)."""

    mean: Array
    scale: Array
    plain: Array
    into: Array
    bias: Array
    out: Array
    temperature: float
    cue_probability: Mapping[str, float]
    fitted_on: tuple[str, ...]
    features: int = VERSION
    hash: str = ""
    inner: Mapping[str, float] = field(default_factory=dict)
    inner_threshold: float = NEVER

    @classmethod
    def linear(cls, weights: Mapping[str, float], cue_probability: Mapping[str, float]) -> Calibration:
        """Plain weights on features as they are: to begin a fit with, and for tests. Raises KeyError for an unknown feature."""
        plain = np.zeros(len(NAMES))
        for name, weight in weights.items():
            plain[_at(name)] = weight
        zero, one = np.zeros(len(NAMES)), np.ones(len(NAMES))
        return cls(zero, one, plain, np.zeros((len(NAMES), 0)), np.zeros(0), np.zeros(0), 1.0, cue_probability, ())

    def without(self, names: Collection[str]) -> Calibration:
        """The same with these features counting nothing; the others aren't fitted again."""
        keep = np.array([float(name not in names) for name in NAMES])
        return replace(self, plain=self.plain * keep, into=self.into * keep[:, None], hash="")

    def parts(self, rows: Array) -> Array:
        """Scores by part, (places, parts), for rows of features (places, features); the parts of a place sum to its score.

        What a hidden unit adds is shared among the features in proportion to what each puts into it: their integrated gradients from the mean."""
        z = np.clip((rows - self.mean) / self.scale, -CLIP, CLIP)
        inner = z @ self.into
        lift = np.tanh(inner + self.bias) - np.tanh(self.bias)
        share = np.divide(lift, inner, out=np.zeros_like(lift), where=np.abs(inner) > 1e-9)
        parts: Array = (z * self.plain + z * ((share * self.out) @ self.into.T)) @ _PART_OF
        return parts

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Take in what the fitting command wrote. Raises CalibrationMismatchError for another feature version, an unknown or missing feature, a wrong hash."""
        try:
            version, numbers = int(data["features"]), data["weights"]
            if version != VERSION:
                raise CalibrationMismatchError(
                    f"The localization weights are for feature version {version}, this code has {VERSION}; fit them again with manage.py fit_localization."
                )
            if unlike := numbers.keys() ^ FEATURES.keys():
                raise CalibrationMismatchError(f"The localization weights and this code differ in features: {', '.join(sorted(unlike))}.")
            mean, scale, plain = (np.array([numbers[name][key] for name in NAMES], dtype=np.float64) for key in ("mean", "scale", "plain"))
            into = np.array([numbers[name]["into"] for name in NAMES], dtype=np.float64).reshape(len(NAMES), -1)
            calibration = cls(
                mean=mean,
                scale=scale,
                plain=plain,
                into=into,
                bias=np.array(data["bias"], dtype=np.float64),
                out=np.array(data["out"], dtype=np.float64),
                temperature=float(data["temperature"]),
                cue_probability={str(name): float(share) for name, share in data["cue_probability"].items()},
                fitted_on=tuple(map(str, data["fitted_on"])),
                hash=str(data["hash"]),
                inner={str(name): float(weight) for name, weight in data["inner"]["weights"].items()},
                inner_threshold=float(data["inner"]["threshold"]),
            )
        except CalibrationMismatchError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise CalibrationMismatchError(f"The localization weights can't be read ({error}); fit them again with manage.py fit_localization.") from error
        if unknown := calibration.inner.keys() - set(inner.FEATURES):
            raise CalibrationMismatchError(f"The localization weights name unknown features of back-jumps: {', '.join(sorted(unknown))}.")
        if calibration.hash != digest(data):
            raise CalibrationMismatchError(
                "The localization weights don't have the hash they were written with; fit them again with manage.py fit_localization."
            )
        if not calibration.temperature > 0 or not (calibration.scale > 0).all():
            raise CalibrationMismatchError("The softmax temperature and all scales must be above 0.")
        return calibration

    def to_json(self) -> dict[str, Any]:
        """The JSON form, with the right hash."""
        values: dict[str, Any] = {
            "features": self.features,
            "fitted_on": list(self.fitted_on),
            "temperature": self.temperature,
            "cue_probability": dict(self.cue_probability),
            "inner": {"threshold": self.inner_threshold, "weights": {name: _short(weight) for name, weight in self.inner.items()}},
            "weights": {
                name: {
                    "mean": _short(self.mean[at]),
                    "scale": _short(self.scale[at]),
                    "plain": _short(self.plain[at]),
                    "into": [_short(weight) for weight in self.into[at]],
                }
                for at, name in enumerate(NAMES)
            },
            "bias": [_short(value) for value in self.bias],
            "out": [_short(value) for value in self.out],
        }
        return {**values, "hash": digest(values)}


def digest(values: Mapping[str, Any]) -> str:
    """The hash of fitted numbers in their JSON form."""
    kept = {name: value for name, value in values.items() if name != "hash"}
    return hashlib.sha256(json.dumps(kept, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _at(name: str) -> int:
    if name not in FEATURES:
        raise KeyError(name)
    return NAMES.index(name)


def _short(value: float) -> float:
    """Five significant digits: more say nothing, and the file stays readable."""
    return float(f"{value:.5g}")
