"""The fitted weights of localization, read once; refused when they aren't those of this code."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from django.conf import settings

from memory.engine.calibration import Calibration, CalibrationMismatchError

WEIGHTS = Path(__file__).parent / "weights" / "localization.json"


def calibration() -> Calibration:
    """The calibration of this server: the file LOCALIZER_WEIGHTS names, else the shipped one.

    Raises CalibrationMismatchError for a file that can't be read, of another feature version or with a wrong hash."""
    return _read(settings.LOCALIZER_WEIGHTS or WEIGHTS)


@cache
def _read(file: Path) -> Calibration:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CalibrationMismatchError(f"The localization weights {file} can't be read ({error}); see LOCALIZER_WEIGHTS in docs/settings.md.") from error
    return Calibration.from_json(data)
