"""A person's corrections, written for them alone, are labelled dialogues that weights can be fitted on."""

from __future__ import annotations

import json
import stat
import tarfile

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.reroute import reroute
from memory.llm.calibration import WEIGHTS
from memory.models import InteractionState

pytestmark = pytest.mark.django_db
TALK = [
    ("I want to redo my kitchen.", "Fine."),
    ("Which hood fits the kitchen wall?", "A flat one."),
    ("How do I bake sourdough bread?", "Slowly."),
    ("How long must the sourdough rest?", "A night."),
    ("What does such a kitchen hood cost?", "€400."),
    ("Is the bread done at 24 hours?", "Yes."),
]


def told(owner, name, *, wrong=True):
    """Two forests' worth of turns that found their own places; one is put right by its owner."""
    forest = create_forest(owner, name)
    for number, (user, assistant) in enumerate(TALK):
        observe(forest, [{"id": f"t{number}", "user": user, "assistant": assistant, "time": f"2026-03-02T{number:02}:00:00Z"}])
        drain(forest.pk)
    if wrong:
        states = list(InteractionState.objects.filter(forest=forest).order_by("position"))
        last = states[-1]
        reroute(last, next(state for state in states if state.pk != last.parent_id and state.pk != last.pk), owner)
        drain(forest.pk)
    return forest


def lines(path):
    with tarfile.open(path) as archive:
        return [[json.loads(line) for line in archive.extractfile(member)] for member in archive]


def test_they_are_written_as_streams_whose_parents_are_as_corrected(ines, omar, tmp_path, capsys):
    forest = told(ines, "Mine")
    told(ines, "Never corrected", wrong=False)
    told(omar, "His")
    out = tmp_path / "ines.tar"
    call_command("corrections", "ines", "--out", str(out))
    [stream] = lines(out)
    states = {state.pk: state for state in InteractionState.objects.filter(forest=forest)}
    assert [line["user"] for line in stream] == [user for user, _ in TALK]
    assert [line["parent"] for line in stream] == [f"s{state.parent_id}" if state.parent_id else None for state in states.values()]
    assert [line["corrected"] for line in stream] == [False] * 5 + [True]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "1 corrections in 1 forests, 6 turns" in capsys.readouterr().out


def test_weights_are_fitted_on_them_but_never_in_the_shipped_ones_place(ines, tmp_path):
    for name in ("One", "Two"):
        told(ines, name)
    out = tmp_path / "ines.tar"
    call_command("corrections", "ines", "--out", str(out))
    shipped = WEIGHTS.read_bytes()
    with pytest.raises(CommandError, match="a person's own"):
        call_command("fit_localization", f"mine={out}")
    assert WEIGHTS.read_bytes() == shipped
    call_command("fit_localization", f"mine={out}", "--out", str(tmp_path / "mine.json"))
    assert json.loads((tmp_path / "mine.json").read_text())["fitted_on"] == ["mine"]


def test_a_turn_moved_back_is_no_correction(ines, tmp_path):
    forest = told(ines, "Mine", wrong=False)
    states = list(InteractionState.objects.filter(forest=forest).order_by("position"))
    home = states[-1].parent
    reroute(states[-1], next(state for state in states if state.pk not in (states[-1].parent_id, states[-1].pk)), ines)
    states[-1].refresh_from_db()
    reroute(states[-1], home, ines)
    with pytest.raises(CommandError, match="hasn't moved"):
        call_command("corrections", "ines", "--out", str(tmp_path / "ines.tar"))


def test_they_are_written_outside_the_project_and_for_somebody_who_is_there(ines):
    with pytest.raises(CommandError, match="outside the project"):
        call_command("corrections", "ines", "--out", str(settings.BASE_DIR / "ines.tar"))
    with pytest.raises(CommandError, match="nobody called"):
        call_command("corrections", "ivo", "--out", "ivo.tar")
