"""The fitted weights of localization, read once; refused when they aren't those of this code."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from memory.engine.calibration import Calibration

WEIGHTS = Path(__file__).parent / "weights" / "localization.json"


@cache
def calibration() -> Calibration:
    """The shipped calibration. Raises CalibrationMismatchError for weights of another feature version or a wrong hash."""
    return Calibration.from_json(json.loads(WEIGHTS.read_text(encoding="utf-8")))
