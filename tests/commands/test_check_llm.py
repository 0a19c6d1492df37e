"""manage.py check_llm against a scripted server: what it says, what it records, and that it leaves nothing behind."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from memory.evaluation import measurements
from memory.llm import failures
from memory.models import Forest
from tests.llm.hostile import hostile_server, usage, whole

pytestmark = pytest.mark.django_db(transaction=True)
NOTHING = {"reasoning": "", "facts": [], "states": [], "events": [], "artifacts": [], "summary": "", "entities": []}


@pytest.fixture
def recorded(settings, monkeypatch):
    """What would be written to the page, by section."""
    sections: dict[str, tuple[list, str]] = {}
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(measurements, "record", lambda section, rows, *, title, note: sections.update({section: (rows, note)}))
    with hostile_server() as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.EXTRACTION = server.url, "m", "one-call"
        server.always = whole(json.dumps(NOTHING), told=usage(500, 40))
        yield sections


def test_a_script_is_read_recorded_and_deleted(recorded, capsys):
    call_command("check_llm", "--script", "b", "--mode", "one-call", "--given", "--turns", "3", "--record", "--note", "Alone on the machine.")
    rows, note = recorded["check-llm-b"]
    figures = dict(rows)
    assert figures["one-call: planted facts stored"].partition(" of ")[2].startswith("7 ")
    assert figures["one-call: calls, input and output tokens, seconds to read a turn"].startswith("1.0, 500, 40, ")
    assert "one-call: seconds to answer a turn, streamed" not in figures
    assert "3 turns" in note and "memory/evaluation/planted_b.json" in note and note.endswith("Alone on the machine.")
    assert "missed" in capsys.readouterr().out
    assert not Forest.objects.filter(name__startswith="check ").exists()


def test_turns_that_teach_nothing_are_counted_by_mode(recorded):
    call_command("check_llm", "--empty", "--turns", "30", "--record")
    rows, _ = recorded["check-llm-empty"]
    assert [(what, figure) for what, figure in rows if "invented" in what] == [
        ("rules: turns of which something was invented", "0 of 30 (0.0%)"),
        ("one-call: turns of which something was invented", "0 of 30 (0.0%)"),
    ]


def test_without_an_endpoint_there_is_nothing_to_check(settings):
    settings.OPENAI_BASE_URL = ""
    with pytest.raises(CommandError, match="OPENAI_BASE_URL"):
        call_command("check_llm")
