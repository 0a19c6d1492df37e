"""What is looked at before the server starts (Django's system checks)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage, Error, register

from memory.engine.calibration import CalibrationMismatchError
from memory.llm.calibration import calibration

# Commands of manage.py that localize, or say whether the server could. All others go on without weights: `fit_localization` makes them, `migrate` needs none.
LOCALIZING = frozenset(["check", "runserver", "up", "recall", "replay", "bench", "check_llm"])


@register()
def localization_weights(**_: Any) -> list[CheckMessage]:
    """The weights of localization can be used, by a command that needs them."""
    if Path(sys.argv[0]).name == "manage.py" and not LOCALIZING.intersection(sys.argv[1:2]):
        return []
    try:
        calibration()
    except CalibrationMismatchError as error:
        return [Error(str(error), hint="Let LOCALIZER_WEIGHTS name a file of this version, or leave it empty for the weights shipped.", id="memory.E001")]
    return []
