"""The fitted numbers of localization: how features become scores, the temperature of the softmax, what cues are worth. Kept as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from memory.engine import inner
from memory.engine.feature_names import FEATURES, PARTS, VERSION
from memory.engine.inner import NEVER
from memory.engine.net import Array, Net

NAMES: Final = tuple(FEATURES)
_PART_OF: Final = np.array([[float(part == FEATURES[name]) for part in PARTS] for name in NAMES])


class CalibrationMismatchError(ValueError):
    """A calibration that wasn't fitted for this code, or was changed by hand."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted numbers: `places` scores branches and the new root (features in the order of FEATURES), with the `temperature` of their softmax.

    `cue_probability` is the share of right decisions of each cue; `fitted_on` names the data; `earlier` scores the states of a branch (`inner.py`), of which
    one before the tip is resumed above `threshold`; `features` is the version of the features; `hash` the SHA-256 of all other values as canonical JSON."""

    places: Net
    temperature: float
    cue_probability: Mapping[str, float]
    fitted_on: tuple[str, ...]
    earlier: Net
    threshold: float = NEVER
    features: int = VERSION
    hash: str = ""

    @classmethod
    def linear(cls, weights: Mapping[str, float], cue_probability: Mapping[str, float]) -> Calibration:
        """Plain weights on features as they are, and no back-jumps: to begin a fit with, and for tests. Raises KeyError for an unknown feature."""
        return cls(Net.linear(NAMES, weights), 1.0, cue_probability, (), Net.linear(inner.FEATURES, {}))

    def without(self, names: Collection[str]) -> Calibration:
        """The same with these features counting nothing; the others aren't fitted again."""
        return replace(self, places=self.places.without(names), hash="")

    def parts(self, rows: Array) -> Array:
        """Scores by part, (places, parts), for rows of features (places, features); the parts of a place sum to its score."""
        found: Array = self.places.shares(rows) @ _PART_OF
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Take in what the fitting command wrote. Raises CalibrationMismatchError for another feature version, an unknown or missing feature, a wrong hash."""
        try:
            version = int(data["features"])
            if version != VERSION:
                raise CalibrationMismatchError(
                    f"The localization weights are for feature version {version}, this code has {VERSION}; fit them again with manage.py fit_localization."
                )
            calibration = cls(
                places=Net.from_json(NAMES, data["places"]),
                temperature=float(data["temperature"]),
                cue_probability={str(name): float(share) for name, share in data["cue_probability"].items()},
                fitted_on=tuple(map(str, data["fitted_on"])),
                earlier=Net.from_json(inner.FEATURES, data["earlier"]),
                threshold=float(data["earlier"]["threshold"]),
                hash=str(data["hash"]),
            )
        except CalibrationMismatchError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise CalibrationMismatchError(f"The localization weights can't be read ({error}); fit them again with manage.py fit_localization.") from error
        if calibration.hash != digest(data):
            raise CalibrationMismatchError(
                "The localization weights don't have the hash they were written with; fit them again with manage.py fit_localization."
            )
        if not calibration.temperature > 0:
            raise CalibrationMismatchError("The softmax temperature must be above 0.")
        return calibration

    def to_json(self) -> dict[str, Any]:
        """The JSON form, with the right hash."""
        values: dict[str, Any] = {
            "features": self.features,
            "fitted_on": list(self.fitted_on),
            "temperature": self.temperature,
            "cue_probability": dict(self.cue_probability),
            "places": self.places.to_json(),
            "earlier": {"threshold": self.threshold, **self.earlier.to_json()},
        }
        return {**values, "hash": digest(values)}


def digest(values: Mapping[str, Any]) -> str:
    """The hash of fitted numbers in their JSON form."""
    kept = {name: value for name, value in values.items() if name != "hash"}
    return hashlib.sha256(json.dumps(kept, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def laid_out(value: Any, depth: int = 0) -> str:
    """JSON with a line for each entry of what holds objects, and one line for all else: what a new fit changed can be seen."""
    if not (isinstance(value, dict) and any(isinstance(held, dict) for held in value.values())):
        return json.dumps(value, separators=(",", ":"))
    inside = ",\n".join(f"{' ' * (depth + 1)}{json.dumps(name)}: {laid_out(held, depth + 1)}" for name, held in value.items())
    return f"{{\n{inside}\n{' ' * depth}}}"
