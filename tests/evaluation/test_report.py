"""The report on hand-made rows: what stands in the tables, what counts as better, and what wasn't measured."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from memory.evaluation import plot, report, rows
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.report import figure, record, section, table
from memory.evaluation.rows import Ledger, Stamp

LOCOMO, STREAMS, IRC = BENCHMARKS["locomo"], BENCHMARKS["streams"], BENCHMARKS["irc"]


def stamp(system, benchmark="locomo", **other):
    return Stamp(
        **{
            "benchmark": benchmark,
            "system": system,
            "split": "dev",
            "commit": "c0ffee1",
            "seed": 1,
            "conditions": "one state is one message",
            "machine": "a box",
        }
        | other
    )


def question(case, id, recall, raw, *, type="single-hop", budgets=(512, 2048), ms=10.0):
    at = {budget: {"tokens": budget - 1, "over": False, "raw": raw, "traced": True, "answer": None, "shuffled": None} for budget in budgets}
    return {
        "kind": "question", "case": case, "question": id, "type": type, "abstain": False, "recall": recall, "all_5": None, "any_1": None, "budgets": at,
        "ranked": [], "evidence": ["x"], "placed": None, "gold_parent": None, "ms": ms, "details": {},
    }  # fmt: skip


def case(id, states=10, questions=0):
    return {
        "kind": "case", "case": id, "states": states, "questions": questions, "place_ms": None, "observe_ms": [1, 2], "state_ms": 3.0, "seconds": 1.5,
        "cpu_seconds": 1.0, "embedded": 0, "embedded_anew": 0, "notes": ["a date is missing"],
    }  # fmt: skip


@pytest.fixture
def evidence_rows(tmp_path):
    """Twenty questions in one talk: ours finds all, bm25 every other one; a peer isn't installed, a baseline failed."""
    mine = [question("t", f"q{number:02}", 1.0, True, type="multi-hop" if number < 5 else "single-hop") for number in range(20)]
    theirs = [question("t", f"q{number:02}", number % 2, bool(number % 2), type="multi-hop" if number < 5 else "single-hop") for number in range(20)]
    Ledger(tmp_path, stamp("ours")).add([*mine, case("t", questions=20)])
    Ledger(tmp_path, stamp("bm25")).add([*theirs, case("t", questions=20)])
    Ledger(tmp_path, stamp("mem0")).add([{"kind": "not_measured", "case": "t", "why": "make peers"}])
    Ledger(tmp_path, stamp("dense")).add([{"kind": "failed", "case": "t", "why": "ZeroDivisionError: no"}])
    return tmp_path


def lines(text, start):
    return [line for line in text.splitlines() if line.startswith(f"| {start}")]


def test_evidence_has_intervals_and_paired_differences(evidence_rows):
    made = section(evidence_rows, "locomo", LOCOMO)
    main, difference, *_ = lines(made.text, "`ours`")[0], lines(made.text, "`bm25`")[1]
    assert main == "| `ours` | 20 | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] |"
    cells = difference.split(" | ")
    assert cells[1].startswith("+0.500 [+0.") and cells[1].endswith("**better** (20)")
    assert "| `ours` | raw | 1.000 | 1.000 |" in made.text and "| `bm25` | traced | 1.000 | 1.000 |" in made.text
    assert lines(made.text, "multi-hop") == ["| multi-hop | 5 | 1.000 | 1.000 | 0.400 | 0.400 |"]
    assert "better" not in lines(made.text, "`bm25`")[0]


def test_what_counts_is_said_once_where_it_is_the_same_and_for_each_where_not(evidence_rows):
    text = section(evidence_rows, "locomo", LOCOMO).text
    assert text.count("one state is one message. Commit c0ffee1, seed 1; a box.") == 1
    Ledger(evidence_rows, stamp("hybrid", commit="badc0de")).add([question("t", "q00", 1.0, True), case("t")])
    text = section(evidence_rows, "locomo", LOCOMO).text
    assert "ours, bm25: Data: dev. one state is one message. Commit c0ffee1" in text
    assert "hybrid: Data: dev. one state is one message. Commit badc0de" in text
    assert [line for line in lines(text, "`hybrid`") if "(1)" in line]  # compared over the one question both have


def test_what_was_not_measured_or_failed_is_said(evidence_rows):
    text = section(evidence_rows, "locomo", LOCOMO).text
    assert "* `mem0`: not measured: make peers" in text
    assert "* `dense`: 1 cases failed" in text and "ZeroDivisionError: no" in text
    assert "* `bm25`: BM25 of whole interactions" in text
    assert "left out or mended 1 things" in text


def test_a_context_over_its_budget_is_pointed_out(tmp_path):
    bad = question("t", "q", 1.0, True)
    bad["budgets"][512]["over"] = True
    Ledger(tmp_path, stamp("ours")).add([bad, case("t")])
    assert "Contexts longer than their budget: ours." in section(tmp_path, "locomo", LOCOMO).text


# --- Localization -----------------------------------------------------------------------------------------------------


def turn(id, gold, parent, probability=0.8, others=()):
    return {
        "kind": "turn",
        "case": "s",
        "id": id,
        "gold": {"parent": gold, "tree": "x", "others": []},
        "parent": parent,
        "probability": probability,
        "others": others,
        "ms": 5.0,
    }


def test_localization_counts_trees_resumptions_and_roots(tmp_path):
    # a1 a2 b1 a3 c1: ours is right but at a3, which it takes for a root.
    gold = [("a1", None), ("a2", "a1"), ("b1", None), ("a3", "a2"), ("c1", None)]
    mine = [None, "a1", None, None, None]
    Ledger(tmp_path, stamp("ours", "streams")).add([*(turn(id, parent, said) for (id, parent), said in zip(gold, mine, strict=True)), case("s", 5)])
    before = [None, "a1", "a2", "b1", "a3"]
    Ledger(tmp_path, stamp("previous", "streams")).add([*(turn(id, parent, said) for (id, parent), said in zip(gold, before, strict=True)), case("s", 5)])
    text = section(tmp_path, "streams", STREAMS).text
    assert "Branch accuracy of “previous turn” on the same turns: 0.250." in text
    assert lines(text, "`ours`")[0].startswith("| `ours` | 4 | 0.750 [")
    assert "0.000 [0.000, 0.000] (1) | 0.667 / 1.000 / 0.800 |" in lines(text, "`ours`")[0]
    assert lines(text, "`previous`")[0].startswith("| `previous` | 4 | 0.250 [")
    assert any("+0.500 [" in line and "(4)" in line for line in lines(text, "`previous`"))
    assert "online replay" in text


def test_back_jumps_have_a_table_where_there_are_any(tmp_path):
    # a3 belongs under a1, a4 under a2, a5 at the end: ours finds the first, puts the second at the end, and makes one more of a5.
    gold = [("a1", None), ("a2", "a1"), ("a3", "a1"), ("a4", "a2"), ("a5", "a4")]
    for name, said in (("ours", [None, "a1", "a1", "a3", "a2"]), ("previous", [None, "a1", "a2", "a3", "a4"])):
        Ledger(tmp_path, stamp(name, "streams")).add([*(turn(id, parent, at) for (id, parent), at in zip(gold, said, strict=True)), case("s", 5)])
    text = section(tmp_path, "streams", STREAMS).text.partition("| inner back-jumps | by gold |")[2]
    assert lines(text, "`ours` | 2 | 0.500 [") and lines(text, "`ours`")[0].endswith("| 2 | 0.500 [0.000, 1.000] |")
    assert lines(text, "`previous`")[0] == "| `previous` | 2 | 0.000 [0.000, 0.000] | 0 | – |"
    Ledger(tmp_path, stamp("ours", "plain")).add([*(turn(id, parent, parent) for id, parent in gold[:2]), case("s", 2)])
    assert "inner back-jumps" not in section(tmp_path, "plain", STREAMS).text


def test_turns_without_a_temporal_cue_are_also_compared_alone(tmp_path):
    # Without the clock a3 is lost, which names a time; b1 and b2 are placed alike.
    gold = [("a1", None), ("b1", None), ("b2", "b1"), ("a3", "a1")]
    for name, last in (("ours", "a1"), ("ours-shuffled-time", "b2")):
        listed = [turn(id, parent, last if id == "a3" else parent) | {"temporal": id == "a3"} for id, parent in gold]
        Ledger(tmp_path, stamp(name, "streams")).add([*listed, case("s", 4)])
    Ledger(tmp_path, stamp("previous", "streams")).add([*(turn(id, parent, parent) for id, parent in gold), case("s", 4)])
    text = section(tmp_path, "streams", STREAMS).text.partition("| ours minus |")[2]
    _, _, every, without, _ = lines(text, "`ours-shuffled-time`")[0].split("|")
    assert every.startswith(" +0.333 [") and every.endswith("(3) ")
    assert without == " +0.000 [+0.000, +0.000] (2) "
    Ledger(tmp_path, stamp("ours", "early")).add([*(turn(id, parent, parent) for id, parent in gold), case("s", 4)])  # rows that don't say it
    Ledger(tmp_path, stamp("previous", "early")).add([*(turn(id, parent, parent) for id, parent in gold), case("s", 4)])
    assert lines(section(tmp_path, "early", STREAMS).text.partition("| ours minus |")[2], "`previous`")[0].endswith("(3) | – |")


def test_links_of_annotated_messages_count(tmp_path):
    said = [("m1", None, None), ("m2", "m1", "m1"), ("m3", "m1", "m2")]
    listed = [turn(id, gold, parent) for id, gold, parent in said]
    listed.insert(0, {**turn("m0", None, None), "gold": None})
    listed[3]["gold"]["others"] = ["m2"]
    Ledger(tmp_path, stamp("ours", "irc")).add([*listed, case("s", 4)])
    assert lines(section(tmp_path, "irc", IRC).text, "`ours`")[0] == "| `ours` | 3 | 1.000 / 0.750 / 0.857 | 1.000 | 1.000 | 1.000 |"


# --- Answers ----------------------------------------------------------------------------------------------------------


def test_answers_by_rule_and_by_judge(tmp_path):
    ledger = Ledger(tmp_path, stamp("ours"))
    ledger.add([question("t", "q1", 1.0, True), question("t", "q2", 1.0, True), case("t", questions=2)])
    for id, text in (("q1", "It is teal."), ("q2", "It is navy.")):
        ledger.answer(
            {"kind": "answer", "case": "t", "question": id, "type": id.upper(), "budget": 512, "abstain": False, "text": text, "reader": "offline",
             "asked": "0", "input": 9, "output": 3, "ms": 7.0, "context_tokens": 400, "answers": ["teal"], "confounders": ["navy"]}
        )  # fmt: skip
    ledger.answer({"kind": "unanswered", "case": "t", "question": "q3", "budget": 512, "why": "busy"})
    judged = {"kind": "judged", "case": "t", "budget": 512, "type": "x", "verdicts": ["correct"], "unclear": 0, "judge": "j", "prompts": "abc"}
    rows.append(ledger.judged, [{**judged, "question": "q1", "score": 1.0}, {**judged, "question": "q2", "score": 1.0}])
    text = section(tmp_path, "locomo", LOCOMO).text
    [line] = [line for line in lines(text, "`ours`") if "offline" in line]
    assert line.startswith("| `ours` | 512 | offline | 2 | 0.500 [") and "| 0.500 / 0.000 / 0.000 | 1.000 [1.000, 1.000] | 400 | 7 / 7 |" in line
    assert "| right / confused (answers) | budget | Q1 | Q2 |" in text and lines(text, "`ours` | 512 | 1.00 / 0.00 (1) | 0.00 / 1.00 (1)")
    assert "Judge: j (prompts abc)." in text and "1 calls of the reader failed" in text


# --- Page and picture -------------------------------------------------------------------------------------------------


def test_revision_judges_what_was_kept(tmp_path):
    """Of four values that hold one was kept as outdated and one not at all; of two outdated ones one still passes for current."""
    told = [
        ["a", "€300", True, True],
        ["b", "May", True, False],
        ["c", "Rob", True, True],
        ["d", "Ulm", True, None],
        ["e", "€280", False, False],
        ["f", "April", False, True],
    ]
    mine = [question("t", f"q{number}", 1.0, True) | {"told": [one]} for number, one in enumerate(told)]
    Ledger(tmp_path, stamp("ours")).add([*mine, case("t", questions=6)])
    Ledger(tmp_path, stamp("bm25")).add([question("t", "q0", 1.0, True) | {"told": None}, case("t", questions=1)])
    text = section(tmp_path, "locomo", LOCOMO).text.partition("### Revision")[2]
    assert lines(text, "`ours`")[0] == "| `ours` | 0.333 (1 of 3) | 0.500 (of 2) | 1 |"
    assert not lines(text.partition("###")[0], "`bm25`")


def test_a_section_is_written_with_its_picture(evidence_rows, tmp_path):
    page = tmp_path / "docs" / "benchmarks.md"
    made = section(evidence_rows, "locomo", LOCOMO)
    for _ in range(2):
        record(made, page)
    text = page.read_text()
    assert text.startswith("# Benchmarks") and text.count("## LoCoMo") == 1 and text.count("<!-- begin locomo -->") == 1
    assert "![Evidence in the context by budget](benchmarks/locomo.svg)" in text and "Again: `" in text
    drawn = ET.fromstring((page.parent / "benchmarks" / "locomo.svg").read_text())
    assert len(drawn.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_curves_leave_out_what_is_not_known():
    drawn = plot.curves("A & B", {"ours": [(512, 0.5), (1024, float("nan")), (2048, 1.0)], "none": [(512, float("nan"))]}, y="share")
    root = ET.fromstring(drawn)
    [line] = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(line.attrib["points"].split()) == 2
    assert {"512", "2K", "ours"} <= {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.curves("x", {"none": [(512, float("nan"))]}, y="share")


def test_labels_of_curves_stand_apart():
    heights = plot._apart([("a", 100.0), ("b", 101.0), ("c", 99.0)])
    ordered = sorted(heights.values())
    assert all(later - earlier >= 14 for earlier, later in pairwise(ordered))
    assert max(plot._apart([(str(n), 395.0) for n in range(5)]).values()) <= plot.HEIGHT - 8


def test_cells_and_figures():
    assert table(["a", "b"], []) == ""
    assert table(["a"], [["x | y\nz"]]) == "| a |\n| --- |\n| x \\| y z |"
    assert (figure(float("nan")), figure(None), figure(0.5), figure(12.34, 1)) == ("–", "–", "0.500", "12.3")


def test_intervals_are_over_dialogues_where_there_are_enough():
    units = {f"q{number}": f"d{number % 12}" for number in range(40)}
    assert report._units(units, units) is units
    assert report._units(units, dict.fromkeys(units, "d")) is None
