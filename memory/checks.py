"""What is looked at before the server starts (Django's system checks)."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, register

from memory.engine.calibration import CalibrationMismatchError
from memory.llm.calibration import calibration


@register()
def localization_weights(**_: Any) -> list[CheckMessage]:
    """The weights of localization can be used."""
    try:
        calibration()
    except CalibrationMismatchError as error:
        return [Error(str(error), hint="Let LOCALIZER_WEIGHTS name a file of this version, or leave it empty for the weights shipped.", id="memory.E001")]
    return []
