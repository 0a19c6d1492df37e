"""What the offline engine says: quoted, dated, honest, and nothing that memory doesn't hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import pytest

from memory.engine import answer, assemble, commit, compute, query, revise
from memory.engine.forest import Context, Decision, Evidence, Found, Interaction, Pool, SlotEntry

MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)
NOW = MONDAY + timedelta(days=13)
ZONE = "Europe/Vienna"
PLACED = Decision("recall", 5, 1, 0.9, 0.5, 0.0, False, "", ())

INES = (
    ("We're redoing our kitchen, 9 m² with one window. Where do we start?", "With what can't move: water, waste and the window. What is your budget?"),
    ("Let's say €18,000 for everything, appliances included.", "Comfortable, if the drain stays."),
    ("Which fitters should I ask for quotes?", "Three fitters to ask for quotes:\n1. Berg & Sohn\n2. Casa Nova\n3. Tischlerei Lenz"),
    ("The budget is €21,500 now, appliances apart.", "So the kitchen itself has €21,500."),
    ("The sink stays under the window. The extractor hood recirculates, so it needs no duct.", "Good: such a hood can hang on any wall."),
    ("I spent €89 on a tap yesterday. Today I spent €40 on handles.", "Brass handles, I hope."),
)


@lru_cache(maxsize=1)
def kitchen() -> Pool:
    """Ines' kitchen: six turns, a day apart, and all they taught, revised."""
    path: list[Interaction] = []
    rows: list[Evidence] = []
    topic = ""
    for number, (user, assistant) in enumerate(INES, 1):
        state = Interaction(number, number, number - 1 or None, 1, 1, number - 1, MONDAY + timedelta(days=number - 1), user, assistant, topic=topic, tokens=60)
        learnt = commit.extract(state, path, ZONE, topic)
        topic = learnt.topic
        path.append(replace(state, topic=topic, node_summary=learnt.node_summary))
        for p in learnt.proposals:
            rows.append(
                Evidence(
                    p.kind, len(rows) + 1, p.text, p.slot, p.subject, p.value, p.asserted, p.attribute_tag, p.entities, p.evidence,
                    (number,), number, None, p.event_time or state.time, None, "current", fields=p.fields,
                )
            )  # fmt: skip
    by_id = {row.id: row for row in rows}
    for kind, slot in {(row.kind, row.slot) for row in rows if row.slot}:
        entries = [SlotEntry(row.id, row.value, row.event_time, row.position, row.asserted, row.status) for row in rows if (row.kind, row.slot) == (kind, slot)]
        for outcome in revise.resolve(entries):
            by_id[outcome.id] = replace(by_id[outcome.id], status=outcome.status, superseded_by=outcome.superseded_by, valid_to=outcome.valid_to)
    updates = [(row, by_id[row.superseded_by]) for row in by_id.values() if row.superseded_by]
    return Pool(path, (), (), [Found(row, 0.35) for row in by_id.values()], updates)


def say(text: str, pool: Pool | None = None) -> str:
    pool = pool or kitchen()
    asked = query.read(text, NOW, ZONE)
    computed = compute.compute(asked, pool.found, NOW, ZONE)
    context = assemble.assemble(asked, PLACED, pool, 8000, lambda words: len(words) // 4 + 1, NOW, ZONE, computed=computed)
    return answer.compose(asked, PLACED, context, pool, now=NOW, zone=ZONE)


EMPTY = Pool((), (), (), (), ())


def test_the_current_value_with_its_date_and_the_one_before() -> None:
    assert say("What is the budget?") == "**The kitchen budget is €21,500, appliances apart.** That holds since Thu 5 Nov 2026; before it was €18,000."


def test_the_old_value_when_it_is_asked_for() -> None:
    told = say("What was the original budget?")
    assert told.startswith("**The kitchen budget is €18,000") and "since then: The kitchen budget is €21,500" in told


def test_a_new_value_is_noted_with_what_it_replaces() -> None:
    assert say("The budget is €23,000 now.") == "Noted: The kitchen budget is €23,000. It replaces €21,500 of Thu 5 Nov 2026."


def test_a_value_told_again_is_recognized() -> None:
    assert "You told me so on Thu 5 Nov 2026 too." in say("The budget is €21,500.")


def test_several_facts_are_noted_as_a_list() -> None:
    assert say("I live in Porto. I prefer brass handles.") == "Noted:\n\n- You live in Porto.\n- You prefer brass handles."


def test_a_plan_is_noted_as_a_plan() -> None:
    assert say("I'm going to visit Marek in Lyon on 3 May.").endswith("(a plan)")


def test_sentences_of_turns_are_quoted_with_who_said_them_when() -> None:
    told = say("Does the hood need a duct?")
    assert told == "> The extractor hood recirculates, so it needs no duct.\n\nYou said that on Fri 6 Nov 2026, on Kitchen."


def test_the_second_one_is_the_second_of_the_list() -> None:
    assert say("Which was the second fitter?").startswith("**Casa Nova**")
    assert say("And the last one?").startswith("**Tischlerei Lenz**")


def test_a_list_is_listed_again() -> None:
    told = say("Can you list the fitters again?")
    assert "1. Berg & Sohn\n2. Casa Nova\n3. Tischlerei Lenz" in told


def test_what_was_computed_is_the_answer() -> None:
    told = say("How much did I spend in total?")
    assert told.startswith("**€129 in 2 entries**") and "€89 on a tap" in told


def test_a_request_for_something_new_is_declined_with_what_memory_has() -> None:
    told = say("Write me a poem about the kitchen budget.")
    assert answer.OFFLINE in told and "€21,500" in told and "can’t make anything new" in told


def test_what_memory_does_not_hold_is_said() -> None:
    told = say("What colour are Nora's shoes?")
    assert told.startswith("Memory doesn’t hold an answer to that.") and told.endswith(answer.OFFLINE)


def test_an_empty_memory_says_so() -> None:
    assert say("What is my budget?", EMPTY).startswith("Memory doesn’t hold an answer to that.")
    assert say("I live in Porto.", EMPTY) == "Noted: You live in Porto."


@pytest.mark.parametrize(("said", "told"), [("Thanks!", "You’re welcome."), ("Hello!", "Hello!"), ("Nora might come.", "I kept that on **Kitchen**.")])
def test_small_talk_is_answered_small(said: str, told: str) -> None:
    assert say(said).startswith(told)


def test_what_is_told_beside_a_question_is_noted_and_the_question_answered() -> None:
    told = say("I prefer brass handles. What about the sink?")
    assert told.startswith("Noted: You prefer brass handles.\n\n**The sink stays under the window.**")


def test_only_what_reached_the_context_is_used() -> None:
    asked = query.read("What is the budget?", NOW, ZONE)
    told = answer.compose(asked, PLACED, Context((), (), 0, 0), kitchen(), now=NOW, zone=ZONE)
    assert "€" not in told


@pytest.mark.parametrize("text", ["", "   ", "?", "😀", "a" * 5000, "我的预算是多少？", "What " * 2000, "**bold** <script>alert(1)</script> what?"])
def test_any_input_gets_an_answer(text: str) -> None:
    assert say(text).strip()
    assert say(text, EMPTY).strip()


def test_nothing_is_invented() -> None:
    told = " ".join(say(text) for text in ("What is the budget?", "Does the hood need a duct?", "Which was the second fitter?", "Where is the sink?"))
    known = " ".join(f"{user} {assistant}" for user, assistant in INES)
    for amount in {word.strip(".,;*") for word in told.split() if "€" in word}:
        assert amount in known


def test_the_answer_is_a_function_of_its_input() -> None:
    assert say("What is the budget?") == say("What is the budget?")
