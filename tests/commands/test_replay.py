"""Replay: one line in, one line out; what is wrong is named with its line, the rest is kept; gold stays outside."""

import json

import pytest
from django.core.management import CommandError, call_command

from memory.actions import observe as observing
from memory.models import Forest, InteractionState

LINES = [
    {
        "id": "k1",
        "user": "We plan a new kitchen with an oak worktop.",
        "assistant": "Nice.",
        "time": "2026-11-02T09:00:00+01:00",
        "branch": "kitchen",
        "parent": None,
    },
    {"id": "s1", "user": "How warm should a sourdough rest?", "assistant": "24 °C.", "time": "2026-11-03T09:00:00+01:00", "branch": "bread", "parent": None},
    {"id": "k2", "user": "Which oil does the oak worktop of the kitchen need?", "time": "2026-11-04T09:00:00+01:00", "branch": "kitchen", "parent": "k1"},
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES) + "\n", encoding="utf-8")
    return path


@pytest.mark.django_db
def test_every_turn_gives_one_line_and_gold_gives_the_score(ines, file, tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    call_command("replay", str(file), "--forest", "History", "--user", "ines", "--gold", "--out", str(out))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [set(row) for row in rows] == [{"id", "parent", "root", "method", "probability", "ms"}] * 3
    assert [(row["id"], row["parent"], row["root"]) for row in rows] == [("k1", None, "k1"), ("s1", None, "s1"), ("k2", "k1", "k1")]
    said = capsys.readouterr().err
    assert "branch accuracy: 1.000" in said
    assert "branch accuracy of “previous turn”, same turns: 0.000" in said
    assert not InteractionState.objects.filter(refined_at__isnull=True).exists()


@pytest.mark.django_db
def test_gold_never_reaches_the_engine(ines, file, monkeypatch):
    seen = []
    take = observing.observe_one
    monkeypatch.setattr("memory.management.commands.replay.observe_one", lambda forest, given, **how: seen.append(set(given)) or take(forest, given, **how))
    call_command("replay", str(file), "--forest", "History", "--user", "ines", "--gold", "--out", "/dev/null")
    assert set.union(*seen) == {"id", "user", "assistant", "time"}


@pytest.mark.django_db
def test_a_broken_line_is_named_and_the_rest_is_kept(ines, tmp_path, capsys):
    path = tmp_path / "broken.jsonl"
    good = json.dumps(LINES[0])
    path.write_text(
        "\n".join(
            [
                good,
                '{"id": "x", "user": ',
                "[]",
                '{"id": "y", "time": "2026-11-02T09:00:00Z"}',
                '{"id": "z", "user": "a", "time": "2026-11-02"}',
                json.dumps({**LINES[1], "user": "a" * 32_769}),
                json.dumps(LINES[1]),
            ]
        )
    )
    call_command("replay", str(path), "--forest", "Broken", "--user", "ines", "--out", "/dev/null")
    said = capsys.readouterr().err
    for line, reason in ((2, "not JSON"), (3, "not a JSON object"), (4, "without user"), (5, "ISO 8601"), (6, "32 KiB")):
        [told] = [row for row in said.splitlines() if f"line {line} left out" in row]
        assert reason in told
    assert InteractionState.objects.filter(forest__name="Broken").count() == 2


@pytest.mark.django_db
def test_replaying_again_changes_nothing(ines, file):
    for _ in range(2):
        call_command("replay", str(file), "--forest", "Twice", "--user", "ines", "--out", "/dev/null")
    forest = Forest.objects.get(name="Twice")
    assert InteractionState.objects.in_forest(forest).count() == 3
    assert forest.version == 3


@pytest.mark.django_db
def test_a_file_that_is_not_there_is_an_error(ines):
    with pytest.raises(CommandError, match="can't be read"):
        call_command("replay", "/nowhere/x.jsonl", "--forest", "X", "--user", "ines")


@pytest.mark.django_db
def test_a_locomo_conversation_is_read_message_by_message(ines, tmp_path):
    conversation = {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a cat."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a cat"},
        ],
        "session_2_date_time": "10:00 am on 3 June, 2023",
    }
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "c-1", "conversation": conversation, "qa": []}]))
    call_command("replay", str(path), "--format", "locomo", "--forest", "Talk", "--user", "ines", "--out", "/dev/null")
    states = list(InteractionState.objects.filter(forest__name="Talk").order_by("position"))
    assert [state.user_text for state in states] == ["Ana: I adopted a cat.", "Bo: Lovely! [shares a picture: a cat]"]
    assert states[0].time.isoformat() == "2023-05-08T13:56:00+00:00"
