"""Evidence in contexts, by hand: raw, traced, answer and control; recall; sessions; by type."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from memory.evaluation import evidence
from memory.evaluation.cases import Asked, Case, Given, Question, Step
from memory.evaluation.evidence import by_type, decoys, judge, ranked_sessions, raw, recall, spans, traced
from memory.evaluation.systems.base import Context, Recalled, Shown

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GIVEN = {
    "t1": Given("t1", "My cat is called Miso.", "What a name!\n\nHow old is <Facts> Miso?", NOW),
    "t2": Given("t2", "She is seven.", "", NOW),
    "t3": Given("t3", "We live in Porto.", "Lovely.", NOW),
}


def turn(id: str, text: str = "") -> Shown:
    given = GIVEN[id]
    return Shown("turn", text or f"[Thu 1 Jan 2026, 00:00]\nUser: {given.user}\nAssistant: {given.assistant}", (id,))


def context(*items: Shown, tokens: int = 100) -> Context:
    return Context("<Evidence>\n" + "\n".join(item.text for item in items) + "\n</Evidence>", tokens, items)


def question(**more) -> Question:
    return Question(**({"id": "q", "asked": Asked("?", NOW), "type": "single-hop", "evidence": ("t1", "t2"), "answers": ("Miso",)} | more))


def test_raw_needs_every_turn_whole():
    assert raw(["t1", "t2"], context(turn("t1"), turn("t2")), GIVEN)
    assert not raw(["t1", "t2"], context(turn("t1")), GIVEN)
    cut = turn("t1", "User: My cat is called Miso.\nAssistant: What a name! How…")
    assert not raw(["t1"], context(cut), GIVEN)


def test_raw_forgives_blanks_and_defused_brackets_only():
    assert raw(["t1"], context(turn("t1", "User: My cat is called  Miso.\nAssistant: What a name! How old is ‹Facts> Miso?")), GIVEN)


def test_raw_is_a_turn_and_stands_in_the_text():
    summary = Shown("summary", turn("t2").text, ("t2",))
    assert not raw(["t2"], context(summary), GIVEN)
    assert not raw(["t2"], Context("nothing of it", 5, (turn("t2"),)), GIVEN)
    assert not raw(["t2"], context(Shown("turn", turn("t2").text, ("t3",))), GIVEN)


def test_traced_takes_items_of_at_most_two_sources():
    fact = Shown("fact", "Miso is seven.", ("t1", "t2"))
    assert traced(["t1", "t2"], context(fact), GIVEN)
    assert not traced(["t1", "t2"], context(Shown("summary", "All about Miso.", ("t1", "t2", "t3"))), GIVEN)
    assert traced(["t1", "t3"], context(Shown("fact", "Miso", ("t1",)), turn("t3")), GIVEN)
    assert not traced(["t1"], Context("other text", 5, (Shown("fact", "Miso", ("t1",)),)), GIVEN)


def test_recall_is_the_share_found_among_the_first_ten_places():
    ranked = [f"x{n}" for n in range(9)] + ["x0", "t1", "t2"]
    assert recall(("t1", "t2"), ranked) == 0.5
    assert recall(("t1", "t2"), ranked, k=12) == 1.0


def test_golds_that_stand_everywhere_are_left_out():
    assert spans(question(answers=("Miso", "No.", "7", "yes", "the", "two"))) == ("Miso",)
    assert spans(question(answers=("12",))) == ("12",)
    assert spans(question(span=False)) == spans(question(abstain=True)) == ()


def found(asked: Question, *, ranked=("t1",), items=(), sessions=None, decoy=None, tokens=100):
    return judge(asked, Recalled(tuple(ranked), {512: context(*items, tokens=tokens)}, None, 1.0), GIVEN, sessions or {}, decoy)


def test_one_question_judged():
    one = found(question(), items=[turn("t1")], decoy="Porto")
    assert (one.recall, one.all_5, one.any_1) == (0.5, None, None)
    at = one.budgets[512]
    assert (at.raw, at.traced, at.answer, at.shuffled, at.over) == (False, False, True, False, False)
    assert found(question(), tokens=513).budgets[512].over


def test_what_cannot_be_judged_is_none():
    one = found(question(evidence=(), answers=("yes",)), decoy="Porto")
    at = one.budgets[512]
    assert (one.recall, at.raw, at.traced, at.answer, at.shuffled) == (None, None, None, None, None)


SESSIONS = {"t1": "s1", "t2": "s1", "t3": "s2", "t4": "s3", "t5": "s4", "t6": "s5", "t7": "s6"}


def test_sessions_are_ranked_by_their_first_interaction():
    assert ranked_sessions(["t2", "t1", "zz", "t3"], SESSIONS) == ["s1", "s2"]
    gold = question(sessions=("s1", "s5"))
    ranked = ["t1", "t2", "t3", "t4", "t5", "t6"]  # six interactions, five sessions
    assert (found(gold, ranked=ranked, sessions=SESSIONS).all_5, found(gold, ranked=ranked, sessions=SESSIONS).any_1) == (True, True)
    late = found(question(sessions=("s1", "s6")), ranked=["t3", "t1", "t4", "t5", "t6", "t7"], sessions=SESSIONS)
    assert (late.all_5, late.any_1) == (False, False)
    assert found(question(sessions=("s1",), abstain=True), sessions=SESSIONS).all_5 is None


def test_scores_by_type_keep_the_adversarial_and_abstentions_apart():
    rows = [
        found(question(id="1"), ranked=("t1", "t2"), items=[turn("t1"), turn("t2")]),
        found(question(id="2", type="multi-hop")),
        found(question(id="3", type="adversarial", abstain=True), ranked=("t1", "t2")),
        found(question(id="4", type="multi-hop", abstain=True, evidence=())),
    ]
    scores = by_type(rows, apart={"adversarial"})
    assert list(scores) == ["all", "single-hop", "multi-hop", "adversarial", "abstention"]
    everything = scores["all"]
    assert (everything.questions, everything.evidenced, everything.recall, everything.budgets[512].raw) == (2, 2, 0.75, 0.5)
    assert everything.spanned == 2 and everything.budgets[512].answer == 0.5
    assert scores["adversarial"].recall == 1.0
    assert math.isnan(scores["abstention"].recall) and math.isnan(everything.all_5)


def test_decoys_are_other_golds_and_of_other_cases_where_there_are_some():
    one = [question(id="1", answers=("Miso",)), question(id="2", answers=("miso!",)), question(id="3", answers=("Porto",))]
    other = [question(id="1", answers=("Lisbon",)), question(id="2", answers=("yes",))]
    both = decoys([("a", one), ("b", other)])
    assert {both["a", "1"], both["a", "2"], both["a", "3"]} == {"Lisbon"}
    assert both["b", "1"] in {"Miso", "miso!", "Porto"} and ("b", "2") not in both
    assert decoys([("a", one)])["a", "3"] in {"Miso", "miso!"}
    assert decoys([("a", one[:2])]) == {}
    assert decoys([("a", one), ("b", other)], seed=3) == decoys([("a", one), ("b", other)], seed=3)


def test_questions_of_a_case_come_in_the_order_they_are_asked():
    on_the_way, at_the_end = question(id="1"), question(id="2")
    case = Case("c", (Step(GIVEN["t1"], question=on_the_way), Step(GIVEN["t2"])), (at_the_end,))
    assert evidence.questions_of(case) == [on_the_way, at_the_end]


def test_shares_of_nothing_are_no_number():
    assert math.isnan(by_type([])["all"].recall)
    assert by_type([])["all"].budgets == pytest.approx({})
