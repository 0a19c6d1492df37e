"""What asking the model gains and costs: the same turns with its word and without, from rows and from a real run against a scripted server."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from memory.evaluation import asking, report
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.results import load
from memory.evaluation.rows import Ledger, Stamp, read
from memory.evaluation.systems import SYSTEMS, USUAL
from memory.evaluation.systems.peers import NotMeasuredError
from memory.evaluation.systems.reading import Setting
from memory.llm import failures
from memory.llm.embed import embedder
from tests.evaluation.histories import write_stream
from tests.llm import hostile as scripts
from tests.llm.hostile import hostile_server


def turn(id, gold, parent, asked=None):
    row = {"kind": "turn", "case": "s", "id": id, "gold": {"parent": gold, "tree": "", "others": []}, "parent": parent, "probability": 0.6}
    return {**row, "others": [], "ms": 1.0, **({"asked": asked} if asked else {})}


def call(parent, places, chosen, error="", ms=2000.0):
    shares = [[name, share] for name, share in places]
    said = {"parent": parent, "probability": max(share for _, share in shares), "places": shares, "offered": list(range(len(shares)))}
    return {**said, "chosen": chosen, "error": error, "ms": ms, "input_tokens": 400, "output_tokens": 6}


@pytest.fixture
def measured(tmp_path):
    """Two matters, a and b; four of five turns asked about: one agreed on, one put right, one put wrong, one left wrong by a late call."""
    stamp = Stamp("streams", "ours-asked", "dev", "c0ffee1", 1, "one state is one turn", "a box")
    ways = [("a1", 0.45), ("b1", 0.40), (None, 0.15)]
    listed = [
        turn("a1", None, None),
        turn("b1", None, None, call(None, [(None, 0.6), ("a1", 0.4)], 0)),
        turn("b2", "b1", "b1", call("a1", ways, 1)),
        turn("a2", "a1", "b2", call("a1", [("a1", 0.45), ("b2", 0.40), (None, 0.15)], 1, ms=4000.0)),
        turn("b3", "b2", "a2", call("a2", [("a2", 0.5), ("b2", 0.45), (None, 0.05)], None, "model_timeout", ms=8000.0)),
        turn("a3", "a2", "a2"),
    ]
    case = {
        "kind": "case", "case": "s", "states": 6, "questions": 0, "place_ms": None, "observe_ms": [1, 2], "state_ms": 3.0, "seconds": 1.5,
        "cpu_seconds": 1.0, "embedded": 0, "embedded_anew": 0, "notes": [],
    }  # fmt: skip
    Ledger(tmp_path, stamp).add([*listed, case])
    return tmp_path


def test_the_same_turns_are_compared_with_the_model_s_word_and_without(measured):
    found = asking.compare(load(measured, "streams")["ours-asked"])
    assert found is not None
    assert {key.partition("\0")[2]: value for key, value in found.with_asked.items()} == {"b1": 1.0, "b2": 1.0, "a2": 0.0, "b3": 0.0}
    assert {key.partition("\0")[2]: value for key, value in found.without_asked.items()} == {"b1": 1.0, "b2": 0.0, "a2": 1.0, "b3": 0.0}
    assert len(found.with_all) == len(found.without_all) == 5
    assert sum(found.own.values()) == 2 and len(found.own) == 3  # of the calls that brought an answer
    assert set(found.offered.values()) == {1.0}
    assert found.failed == {"model_timeout": 1}
    assert (found.input_tokens, found.output_tokens, found.seconds) == (400, 6, (2.0, 8.0))


def test_other_weights_of_its_word_are_worked_out_on_the_same_turns(measured):
    found = asking.compare(load(measured, "streams")["ours-asked"])
    assert found.by_odds[1] == 0.5  # as without its word: b1 and a2
    assert found.by_odds[2] == found.by_odds[100] == 0.5  # b1 and b2
    assert set(found.by_odds) == set(asking.ODDS)


def test_the_report_has_a_section_of_it_only_where_a_model_was_asked(measured, tmp_path):
    text = report.section(measured, "streams", BENCHMARKS["streams"]).text
    assert "### The model asked inside the band" in text
    assert "| `ours-asked` | asked | 4 | 0.500 [" in text and "model_timeout 1" in text and "| 400 / 6 | 2.0 / 8.0 |" in text
    (tmp_path / "other").mkdir()
    stamp = Stamp("streams", "ours", "dev", "c0ffee1", 1, "one state is one turn", "a box")
    rows = list(read(measured / "streams" / "ours-asked.jsonl"))
    Ledger(tmp_path / "other", stamp).add([{key: value for key, value in row.items() if key != "asked"} for row in rows])
    assert "asked inside the band" not in report.section(tmp_path / "other", "streams", BENCHMARKS["streams"]).text


# --- A run ---------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_run_asks_about_unsure_turns_only_and_says_what_it_cost(tmp_path, settings, monkeypatch, capsys):
    monkeypatch.setattr(failures, "BACKOFF_SECONDS", 0.01)
    data = write_stream(tmp_path / "streams" / "a.jsonl").parent
    settings.EXTRACTION, settings.LOCALIZER_ASK_BELOW = "rules", 0.99
    with hostile_server() as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODEL = server.url, "m"
        server.always = lambda body: scripts.whole('{"place": 1}', told=scripts.usage(300, 6))
        call_command("bench", "streams", "--data", str(data), "--out", str(tmp_path / "out"), "--system", "ours-asked", "--processes", "1")
    said = capsys.readouterr().out
    listed = [row for row in read(tmp_path / "out" / "streams" / "ours-asked.jsonl") if row["kind"] == "turn"]
    asked = [row for row in listed if "asked" in row]
    assert 0 < len(asked) == len(server.requests) < len(listed)
    for row in asked:
        assert row["asked"]["probability"] < 0.99 and row["asked"]["places"][row["asked"]["chosen"]][0] is not None
        assert (row["asked"]["input_tokens"], row["asked"]["output_tokens"], row["asked"]["error"]) == (300, 6, "")
    assert "### The model asked inside the band" in said and "failed" not in said
    assert all(body["response_format"]["json_schema"]["name"] == "place" for body in server.bodies)  # nothing else was asked of it


@pytest.mark.django_db
def test_it_is_measured_only_when_named_and_where_asking_is_all_that_differs(settings):
    assert "ours-asked" in SYSTEMS and "ours-asked" not in USUAL
    system = SYSTEMS["ours-asked"](Setting(embedder()))
    with pytest.raises(NotMeasuredError, match="OPENAI_BASE_URL"):
        system.open("a", "UTC")
    settings.OPENAI_BASE_URL, settings.EXTRACTION = "http://127.0.0.1:9/v1", "one-call"
    with pytest.raises(NotMeasuredError, match="EXTRACTION=rules"):
        system.open("a", "UTC")
