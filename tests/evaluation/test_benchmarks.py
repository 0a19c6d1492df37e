"""What each loader makes of a small file in its public format, trap by trap."""

from __future__ import annotations

import gzip
import json
import lzma
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.evaluation.benchmarks import BENCHMARKS, beam, files, irc, locomo, longmemeval, streams
from memory.evaluation.benchmarks.files import WrongFileError
from memory.evaluation.benchmarks.rounds import History, Round, rounds
from memory.evaluation.cases import Case, Given, Gold, Step
from memory.evaluation.threads import gold_links
from tests.evaluation import samples
from tests.evaluation.samples import SENTINEL, write_json


def load(name: str, directory: Path) -> Case:
    [case] = BENCHMARKS[name].load(samples.WRITERS[name](directory))
    return case


# --- LoCoMo


@pytest.fixture
def talk(tmp_path):
    return load("locomo", tmp_path)


def test_locomo_has_a_state_a_message_in_the_order_of_sessions(talk):
    assert [step.given.id for step in talk.steps] == ["D1:1", "D1:2", "D1:26", "D2:1", "D2:5"]
    assert talk.steps[1].given == Given("D1:2", "Ben: Lovely! [shares a picture: a photo of a teal bowl]", "", datetime(2023, 5, 8, 13, 57, tzinfo=UTC))
    assert talk.sessions["D2:5"] == "session_2"
    assert "2 dates have no session and are left out: 3, 4" in talk.notes


def test_locomo_mends_evidence_and_says_so(talk):
    _, two, mended, without, *_ = talk.questions
    assert two.evidence == ("D1:26", "D2:5")
    assert mended.evidence == ("D2:1",)
    assert without.evidence == ()
    told = "\n".join(talk.notes)
    for part in (
        "'D' names no message",
        "'D:2:1' read as D2:1",
        "'D02:01' read as D2:1",
        "(D9:9)",
        "'D1:26; D2:5' read as D1:26, D2:5",
        "q004 has no evidence",
    ):
        assert part in told


def test_locomo_types_answers_and_spans(talk):
    assert [question.type for question in talk.questions] == ["single-hop", "multi-hop", "temporal", "open-domain", "adversarial", "adversarial"]
    assert [question.answers for question in talk.questions[2:]] == [("5",), (f"{SENTINEL} likely",), (), ("No",)]
    assert [question.span for question in talk.questions[:3]] == [True, False, False]
    assert all(question.asked.time > talk.steps[-1].given.time for question in talk.questions)


def test_locomo_keeps_the_adversarial_apart(talk):
    *_, asked, denied = talk.questions
    assert (asked.abstain, asked.confounders) == (True, (f"{SENTINEL} bowls",))
    assert (denied.abstain, denied.confounders) == (False, ("Yes",))
    assert BENCHMARKS["locomo"].apart == {"adversarial"}


def test_locomo_gives_a_session_without_a_date_and_a_repeated_id_a_place(tmp_path):
    [row] = samples.locomo()
    del row["conversation"]["session_2_date_time"]
    row["conversation"]["session_2"].append(samples.message("Ben", "D2:1", "Again."))
    [case] = locomo.load(write_json(tmp_path / "l.json", [row]))
    assert [step.given.id for step in case.steps][-1] == "D2:1#2"
    assert case.steps[3].given.time == datetime(2023, 5, 9, 13, 56, tzinfo=UTC)
    assert {"session 2 has no date: taken for 2023-05-09", "message id D2:1 is used twice: evidence means the first one"} <= set(case.notes)


# --- LongMemEval


@pytest.fixture
def haystack(tmp_path):
    return load("longmemeval", tmp_path)


def test_longmemeval_comes_by_date_and_stops_at_the_end_of_the_day(haystack):
    assert [haystack.sessions[step.given.id] for step in haystack.steps] == [
        "plain_1", "plain_1", "plain_2", "plain_2", f"answer_{SENTINEL}_1", f"answer_{SENTINEL}_1", f"answer_{SENTINEL}_2",
    ]  # fmt: skip
    assert not any("palm" in step.given.user for step in haystack.steps)
    told = "\n".join(haystack.notes)
    for part in (
        "taken by date",
        "1 sessions after the day",
        "repeated session ids: plain_2",
        f"can't see are left out: answer_{SENTINEL}_3",
        "begins with a reply",
    ):
        assert part in told


def test_longmemeval_rounds_carry_their_evidence(haystack):
    [question] = haystack.questions
    given = {step.given.id: step.given for step in haystack.steps}
    assert [given[id].user for id in question.evidence] == ["I bought 12 ferns.", "One more cactus, bought today."]
    assert question.sessions == (f"answer_{SENTINEL}_1", f"answer_{SENTINEL}_2")
    assert (question.answers, question.span, question.abstain) == (("12",), True, False)
    assert haystack.steps[0].given.user == ""
    assert haystack.steps[2].given.user == "Hm\n\nhello?" and haystack.steps[2].given.assistant == "Yes.\n\nHere I am."


def test_longmemeval_asks_after_what_is_visible_on_the_same_day(haystack):
    [question] = haystack.questions
    assert haystack.steps[-1].given.time < question.asked.time
    assert question.asked.time.date() == datetime(2023, 5, 20, tzinfo=UTC).date()


def test_longmemeval_ids_give_nothing_away(haystack):
    assert SENTINEL not in haystack.id
    assert not any("answer" in step.given.id for step in haystack.steps)


def test_longmemeval_abstains_and_a_repeated_gold_session_counts_once(tmp_path):
    [row] = samples.longmemeval(question_id="x_abs", answer_session_ids=["plain_2"])
    row["haystack_sessions"][4][0]["has_answer"] = row["haystack_sessions"][5][0]["has_answer"] = True
    [case] = longmemeval.load(write_json(tmp_path / "l.json", [row]))
    [question] = case.questions
    assert question.abstain and "abs" not in case.id
    assert [case.sessions[id] for id in question.evidence].count("plain_2") == 1


def test_longmemeval_says_which_gold_sessions_are_not_marked(tmp_path):
    [row] = samples.longmemeval(answer_session_ids=["plain_1"])
    [case] = longmemeval.load(write_json(tmp_path / "l.json", [row]))
    assert case.questions[0].sessions == ("plain_1",)
    assert any("without a round marked as evidence: plain_1" in note for note in case.notes)


# --- BEAM


@pytest.fixture
def project(tmp_path):
    return load("beam", tmp_path)


def test_beam_strips_the_markers_at_the_end_only(project):
    assert [step.given.user for step in project.steps] == [
        "Sprint one ends on March 29.", "Always show versions.", "Is x ->-> y valid?", "Sprint one ends on April 5 now.",
    ]  # fmt: skip
    assert project.steps[2].given.assistant == "No."
    assert "4 messages ended in a marker of the generator, which is stripped" in project.notes


def test_beam_evidence_is_rounds_whatever_holds_the_ids(project):
    assert [question.evidence for question in project.questions] == [("m0", "m6"), ("m4", "m0"), ("m2",), (), ("m0", "m6"), ()]
    told = "\n".join(project.notes)
    assert "evidence 99 names no message" in told and "preference_following/1 has no evidence" in told and "abstention/1 has no evidence" not in told


def test_beam_answers_stand_under_several_keys(project):
    assert [question.answers for question in project.questions] == [
        ("April 5",), (f"{SENTINEL} first",), (f"{SENTINEL} both",), (f"{SENTINEL} unknown",), (f"{SENTINEL} all",), (f"{SENTINEL} versions",),
    ]  # fmt: skip
    assert [question.abstain for question in project.questions] == [False, False, False, True, False, False]
    assert project.questions[0].rubric == (f"{SENTINEL} April 5",) and project.questions[0].span


def test_beam_time_goes_on_from_the_anchors(project):
    assert [f"{step.given.time:%m-%d %H:%M}" for step in project.steps] == ["03-15 09:00", "03-15 09:01", "03-15 09:02", "04-01 09:00"]
    assert list(project.sessions.values()) == ["batch 1", "batch 1", "batch 1", "batch 2"]


def test_beam_reads_the_layout_of_its_repository(tmp_path):
    row = samples.beam()
    for place, value in (("9/chat.json", row["chat"]), ("9/probing_questions/probing_questions.json", row["probing_questions"])):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        write_json(tmp_path / place, value)
    [case] = beam.load(tmp_path)
    assert case.id == "beam-9" and len(case.questions) == 6


def test_beam_reads_questions_that_are_text(tmp_path):
    row = samples.beam()
    for text in (repr(row["probing_questions"]), json.dumps(row["probing_questions"])):
        [case] = beam.load(write_json(tmp_path / "b.json", row | {"probing_questions": text}))
        assert len(case.questions) == 6


# --- Streams


def test_streams_follow_parents_and_never_branches(tmp_path):
    case = load("streams", tmp_path)
    assert [step.gold for step in case.steps] == [Gold(None, "a1"), Gold("a1", "a1"), Gold(None, "b1"), Gold("a2", "a1"), Gold("b1", "b1")]
    assert SENTINEL not in repr(case)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"parent": "b1"', '"parent": "c9"', "the parent 'c9' isn't an earlier turn"),
        ('"id": "b1"', '"id": "a1"', "used twice"),
        ('"time": "2026-01-05T09:02', '"time": "soon', "isn't ISO 8601"),
        ('"user"', '"human"', "without user"),
    ],
)
def test_streams_say_what_is_wrong_and_where(tmp_path, old, new, says):
    (tmp_path / "s.jsonl").write_text(samples.stream().replace(old, new))
    with pytest.raises(WrongFileError, match=f"s.jsonl, line .*{says}"):
        list(streams.load(tmp_path))


# --- Ubuntu IRC


def test_irc_has_gold_in_the_annotated_range_only(tmp_path):
    case = load("irc", tmp_path)
    assert [step.given.id for step in case.steps if step.gold is None] == ["0", "1", "2"]
    gold = {step.given.id: step.gold for step in case.steps if step.gold}
    assert (gold["3"].parent, gold["6"].parent, gold["6"].others, gold["8"].parent) == ("1", "5", ("4",), None)
    assert gold["7"].tree == gold["3"].tree != gold["8"].tree
    assert gold_links(gold) == {(str(b), str(a)) for a, b in samples.IRC_LINKS}


def test_irc_texts_and_times(tmp_path):
    case = load("irc", tmp_path)
    assert case.steps[3].given.user == "<ana> ben: look into the log"
    assert case.steps[2].given.user == samples.IRC_LINES[2]
    assert [f"{step.given.time:%d %H:%M}" for step in case.steps][2:] == ["11 23:58", "11 23:59", "12 00:01", "12 00:01", "12 00:01", "12 00:02", "12 00:03"]


def test_irc_text_only_has_no_speakers(tmp_path):
    case = load("irc-text", tmp_path)
    assert [step.given.user for step in case.steps] == [
        "hello", "any idea why X won't start?", "=== has joined #ubuntu", "look into the log", "how do I mount an iso?", "nothing there",
        "ben: mount -o loop; and try startx", "thanks ana", "ben:",
    ]  # fmt: skip


def test_irc_reads_the_parts_asked_for_from_archives_and_directories(tmp_path):
    both = samples.irc_files("dev/2008-12-11_00") | samples.irc_files("train/2008-12-12")
    packed = samples.write_tar(tmp_path / "all.tar.xz", both)
    assert [case.id for case in irc.load(packed)] == ["dev/2008-12-11_00"]
    assert [case.id for case in irc.load(packed, parts=("train",))] == ["train/2008-12-12"]
    for name, text in both.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [case.id for case in irc.load(tmp_path / "train")] == ["2008-12-12"]
    with pytest.raises(WrongFileError, match="no pair of an ascii and an annotation"):
        list(irc.load(packed, parts=("test",)))


def test_irc_without_enough_context_keeps_the_link_in_the_gold(tmp_path):
    [case] = irc.load(samples.write_tar(tmp_path / "i.tar.xz", samples.irc_files()), context=1)
    assert case.steps[0].given.id == "2"
    gold = {step.given.id: step.gold for step in case.steps if step.gold}
    assert (gold["3"].parent, gold["3"].others) == (None, ("1",))
    assert ("3", "1") in gold_links(gold)
    assert any("1 links reach further back" in note for note in case.notes)


# --- What they share


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "beam"])
def test_the_wrong_set_is_told_from_the_right_one(tmp_path, name):
    other = {"locomo": "longmemeval", "longmemeval": "beam", "beam": "locomo"}[name]
    with pytest.raises(WrongFileError, match=r"an object without .* Expected"):
        list(BENCHMARKS[name].load(samples.WRITERS[other](tmp_path)))


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "beam", "streams", "irc"])
def test_what_is_no_such_file_is_said_plainly(tmp_path, name):
    with pytest.raises(WrongFileError, match="doesn't exist"):
        list(BENCHMARKS[name].load(tmp_path / "none.json"))
    with pytest.raises(WrongFileError, match=r"has no .* file"):
        list(BENCHMARKS[name].load(tmp_path))
    bad = tmp_path / ("b.tar.xz" if name == "irc" else "b.json.gz")
    bad.write_bytes(b"\x1f\x8bnot packed at all")
    with pytest.raises(WrongFileError, match="can't be read"):
        list(BENCHMARKS[name].load(bad))


def read_all(path: Path) -> list[object]:
    return [value for name, file in files.documents(path, ".json") for value in files.items(name, file)]


def test_json_comes_in_every_packing(tmp_path):
    rows = [{"n": 1, "text": "ä"}, {"n": 2}]
    whole, lines = json.dumps(rows), "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "a.json").write_text(f"\ufeff{whole}", encoding="utf-8")
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "c.json.xz").write_bytes(lzma.compress(json.dumps(rows, indent=1).encode()))
    for name in ("a.json", "b.json.gz", "c.json.xz"):
        assert read_all(tmp_path / name) == rows
    assert read_all(tmp_path) == rows * 3


def test_a_long_list_is_read_piece_by_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 7)
    rows = [{"text": "x, ] [" * n} for n in range(9)]
    path = write_json(tmp_path / "a.json", rows)
    assert read_all(path) == rows
    path.write_text(path.read_text()[:-1])
    with pytest.raises(WrongFileError, match="cut off"):
        read_all(path)


def test_files_come_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 9, 1):
        write_json(tmp_path / f"{number}.json", {"n": number})
    assert read_all(tmp_path) == [{"n": 1}, {"n": 9}, {"n": 10}]


def test_rounds_join_what_one_side_says_in_a_row():
    said = [("assistant", "a0", 0), ("user", "u1", 1), ("user", " ", 2), ("user", "u2", 3), ("assistant", "a2", 4), ("assistant", "a3", 5), ("user", "u4", 6)]
    assert rounds(said) == [Round("", "a0", (0,)), Round("u1\n\nu2", "a2\n\na3", (1, 2, 3, 4, 5)), Round("u4", "", (6,))]


def test_a_span_stands_in_one_interaction_at_token_boundaries():
    history = History(
        [Step(Given(str(n), text, "", datetime(2026, 1, 1, tzinfo=UTC))) for n, text in enumerate(["It cost $1,200 at Anna's, in the U.S.", "The Cat & dog"])]
    )
    assert all(history.has([gold]) for gold in ("1200", "annas", "the US", "a cat and dog", "COST"))
    assert not any(history.has([gold]) for gold in ("200", "Annas the cat", "", "dogs"))
