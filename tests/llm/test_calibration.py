"""Which weights localization uses, and what is said of a file that doesn't serve."""

import json
import sys
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError

from memory.engine.calibration import CalibrationMismatchError
from memory.llm.calibration import calibration
from memory.management.commands.fit_localization import written


def test_weights_of_one_s_own_take_the_place_of_those_shipped(tmp_path, settings):
    shipped = calibration()
    file = tmp_path / "mine.json"
    file.write_text(written(replace(shipped, temperature=2.5)))
    settings.LOCALIZER_WEIGHTS = file
    assert calibration().temperature == 2.5 and calibration().hash != shipped.hash
    assert (calibration().places.plain == shipped.places.plain).all()
    settings.LOCALIZER_WEIGHTS = None
    assert calibration().hash == shipped.hash


@pytest.mark.parametrize("content", [None, "", "{}", json.dumps({"features": 1}), "[1, 2]"])
def test_a_file_that_does_not_serve_is_refused_when_the_server_starts_with_what_to_do(content, tmp_path, settings):
    file = tmp_path / "mine.json"
    if content is not None:
        file.write_text(content)
    settings.LOCALIZER_WEIGHTS = file
    with pytest.raises(CalibrationMismatchError):
        calibration()
    with pytest.raises(SystemCheckError, match=r"memory\.E001") as refused:
        call_command("check")
    assert "LOCALIZER_WEIGHTS" in str(refused.value)
    with pytest.raises(SystemCheckError, match=r"memory\.E001"):
        call_command("up")


@pytest.mark.django_db
def test_what_makes_such_a_file_or_needs_none_is_not_stopped_by_it(tmp_path, settings, monkeypatch):
    settings.LOCALIZER_WEIGHTS = tmp_path / "mine.json"
    for command in ("check", "runserver"):
        monkeypatch.setattr(sys, "argv", ["manage.py", command])
        with pytest.raises(SystemCheckError, match=r"memory\.E001"):
            call_command("check")
    monkeypatch.setattr(sys, "argv", ["manage.py", "recall"])
    with pytest.raises(SystemCheckError, match=r"memory\.E001"):
        call_command("recall", "Home", "Hello", skip_checks=False)
    monkeypatch.setattr(sys, "argv", ["manage.py", "fit_localization"])
    with pytest.raises(CommandError, match="can't be fitted on"):
        call_command("fit_localization", f"mine={tmp_path}", "--out", str(tmp_path / "new.json"), skip_checks=False)
    monkeypatch.setattr(sys, "argv", ["manage.py", "migrate"])
    call_command("migrate", "--plan", skip_checks=False)
