"""What of a model's reading holds: every way in which it can be wrong is dropped, and counted by reason."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from memory.engine.extract import check, telling
from memory.engine.extract.check_facts import Report, turn_of
from memory.engine.forest import Evidence, Extraction, Interaction, Proposal

AT = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)  # a Monday, nine o'clock in Berlin
HERE = Path(__file__).parent
EMPTY = json.loads((HERE / "empty_turns.json").read_text(encoding="utf-8"))
TELLING = json.loads((HERE / "telling_turns.json").read_text(encoding="utf-8"))


def said(user: str, assistant: str = "Noted.", *, position: int = 1) -> Interaction:
    return Interaction(position, position, position - 1 or None, 1, 1, position - 1, AT, user, assistant, topic="Kitchen")


def held(slot: str, value: str, text: str, number: int = 41) -> Evidence:
    subject = slot.partition("|")[0]
    return Evidence("fact", number, text, slot, subject, value, True, "2.1", (), "", (1,), 1, None, AT, None, "current")


def read(
    user: str,
    answer: Mapping[str, Any],
    assistant: str = "Noted.",
    *,
    path: Sequence[Interaction] = (),
    offered: Mapping[int, Evidence] | None = None,
    topic: str = "",
    zone: str = "Europe/Berlin",
) -> tuple[Extraction, Report]:
    report = Report()
    turn = turn_of(said(user, assistant, position=len(path) + 1), path, zone, topic, offered or {})
    return check.checked(answer, turn, path, report), report


def fact(text: str, value: str = "", subject: str = "user", attribute: str = "", replaces: int = 0, **more: Any) -> dict[str, Any]:
    return {"fact": text, "subject": subject, "attribute": attribute, "value": value, "replaces": replaces, **more}


def only(extraction: Extraction, kind: str = "fact") -> Proposal:
    [proposal] = [proposal for proposal in extraction.proposals if proposal.kind == kind]
    return proposal


# --- What holds --------------------------------------------------------------------------------------------------------------


def test_a_fact_in_its_slot():
    extraction, report = read(
        "The kitchen budget is €18,000, appliances included.",
        {"facts": [fact("The kitchen budget is €18,000.", "€18,000", "kitchen", "budget")]},
        topic="Kitchen",
    )
    found = only(extraction)
    assert (found.slot, found.value, found.asserted) == ("kitchen|budget", "€18,000", True)
    assert found.evidence.startswith("The kitchen budget is €18,000")
    assert report.kept == {"fact": 1} and not report.dropped


def test_a_correction_takes_the_slot_of_what_it_cites():
    old = held("kitchen|budget", "€18,000", "The kitchen budget is €18,000.")
    extraction, _ = read("Make it €21,500 then.", {"facts": [fact("The kitchen budget is €21,500.", "€21,500", replaces=3)]}, offered={3: old}, topic="Kitchen")
    assert (only(extraction).slot, only(extraction).attribute_tag) == ("kitchen|budget", "2.1")


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ("Tomas Berg is hired as the fitter.", True),
        ("The kitchen budget is €18,000 and Tomas Berg is hired.", False),
        ("An old sailing boat needs new paint, and Tomas Berg is hired.", False),
    ],
)
def test_a_summary_is_of_its_turn_alone(summary, kept):
    path = [said("The kitchen budget is €18,000. An old sailing boat needs new paint.", position=1)]
    extraction, report = read("We hired Tomas Berg as the fitter.", {"summary": summary}, path=path, topic="Kitchen")
    assert (extraction.node_summary == summary, report.dropped["summary: not of this turn"]) == (kept, not kept)


def test_a_fact_that_is_no_sentence_is_none():
    extraction, report = read("She's called Marlene Hansen.", {"facts": [fact("Marlene Hansen.", "Marlene Hansen", "boat", "name")]}, topic="Boat")
    assert not extraction.proposals and report.dropped["fact: words nobody said"] == 1


def test_paraphrases_are_kept_in_the_users_words():
    extraction, report = read("I moved to Lyon last week.", {"facts": [fact("The user relocated permanently to Lyon.", "Lyon")]})
    assert only(extraction).text == "The user moved to Lyon last week."
    assert report.changed["in the user’s words"] == 1


@pytest.mark.parametrize("user", TELLING)
def test_turns_that_tell_something_are_heard_in_any_language(user):
    assert any(clause.tells for clause in telling.clauses(user))


def test_a_fact_keeps_the_language_of_its_source():
    extraction, _ = read("Ich wohne jetzt in Berlin.", {"facts": [fact("The user lives in Berlin.", "Berlin")]})
    assert only(extraction).text == "Ich wohne jetzt in Berlin."


def test_numbers_count_however_they_are_written():
    extraction, report = read("The rent is 1.2k euros a month.", {"facts": [fact("The rent is 1,200 euros a month.", "1,200 euros", "flat", "rent")]})
    assert (only(extraction).value, report.dropped) == ("1.2k euros", {})


# --- What the rules read beside it -------------------------------------------------------------------------------------------


def test_what_both_read_is_one_item_and_the_rules_stays():
    extraction, report = read(
        "The kitchen budget is €18,000.", {"facts": [fact("The budget of the kitchen is €18,000.", "€18,000", "kitchen", "budget")]}, topic="Kitchen"
    )
    assert (only(extraction).text, only(extraction).made_by) == ("The kitchen budget is €18,000.", "rule")
    assert report.changed == {"also by rule": 1}


MARLENE = fact("The boat is called Marlene.", "Marlene", "boat", "name")


def test_what_the_rules_missed_is_kept_from_the_model():
    extraction, report = read("The berth costs €400. She's called Marlene.", {"facts": [MARLENE]}, topic="Boat")
    made = {proposal.made_by: proposal.text for proposal in extraction.proposals}
    assert made == {"rule": "The Boat berth price is €400.", "model": "The boat is called Marlene."}
    assert not report.changed


def test_a_part_of_what_the_rules_keep_whole_adds_nothing():
    said = "I bought a blue tent from Decathlon in Porto."
    parts = [fact("The user bought a blue tent.", "blue tent"), fact("The tent is from Decathlon in Porto.", "Decathlon", "tent", "maker")]
    extraction, report = read(said, {"facts": parts})
    assert [proposal.text for proposal in extraction.proposals if proposal.kind == "fact"] == ["The user bought a blue tent from Decathlon in Porto."]
    assert report.changed["also by rule"] == 2


def test_more_than_the_rules_keep_of_a_clause_is_added():
    extraction, _ = read(
        "The kitchen budget is €18,000, not counting the oven from Bosch.",
        {"facts": [fact("The oven is from Bosch.", "Bosch", "oven", "maker")]},
        topic="Kitchen",
    )
    assert [("Bosch" in proposal.text, proposal.made_by) for proposal in extraction.proposals] == [(False, "rule"), (True, "model")]


def test_another_act_of_the_same_kind_is_another_event():
    extraction, _ = read("I saw Nora yesterday. I saw the sea in Ghent.", {"events": [{"action": "saw", "object": "Nora"}, {"action": "saw", "object": "sea"}]})
    assert [(proposal.fields["object"], proposal.made_by) for proposal in extraction.proposals if proposal.kind == "event"] == [
        ("Nora", "rule"),
        ("sea", "model"),
    ]


def test_a_checked_citation_keeps_its_slot_beside_that_of_the_rules():
    old = held("boat|paint_money", "€650", "The boat's paint money is €650.")
    row = fact("The paint money of the boat is now €820.", "€820", "boat", "paint money", replaces=1)
    extraction, _ = read("The paint is now €820, so that's the money.", {"facts": [row]}, offered={1: old}, topic="Boat")
    assert ("boat|paint_money", "model") in [(proposal.slot, proposal.made_by) for proposal in extraction.proposals]


def test_the_rules_come_first_and_the_same_whatever_the_model_says():
    said, answered = "The berth costs €400. She's called Marlene.", "Two shops:\n1. Leroy Merlin\n2. Bauhaus"
    told = [read(said, {"facts": facts}, answered, topic="Boat")[0] for facts in ([], [MARLENE])]
    ruled = [[proposal.text for proposal in extraction.proposals if proposal.made_by == "rule"] for extraction in told]
    assert ruled[0] == ruled[1] == [proposal.text for proposal in told[1].proposals[: len(ruled[0])]]
    assert len(told[1].proposals) > len(told[0].proposals)


def test_events_and_states_of_both_are_one():
    answer = {
        "states": [{"key": "home_city", "value": "Porto", "evidence_text": "I live in Porto"}],
        "events": [{"action": "bought", "object": "pan", "quantity": "1"}],
    }
    extraction, _ = read("I live in Porto. I bought a pan yesterday.", answer)
    assert sorted(proposal.kind for proposal in extraction.proposals if proposal.kind != "fact") == ["event", "mutable_state"]


def test_the_rules_learn_nothing_where_nothing_is_told():
    extraction, _ = read("Is the kitchen budget €18,000?", {})
    assert extraction.proposals == ()


# --- What is dropped ---------------------------------------------------------------------------------------------------------

PORTO = "I live in Porto."


@pytest.mark.parametrize(
    ("user", "assistant", "answer", "reason"),
    [
        ("Thanks, that helps a lot!", "", {"facts": [fact("The user was helped a lot.", "a lot")]}, "fact: nothing told"),
        (PORTO, "", {"facts": [fact("The user's dog is called Rex.", "Rex", "dog", "name")]}, "fact: a value nobody said"),
        (PORTO, "", {"facts": [fact("The user earns 90,000 a year.", "90,000")]}, "fact: a value nobody said"),
        (PORTO, "", {"facts": [fact("Somebody enjoys opera enormously.")]}, "fact: words nobody said"),
        (
            PORTO,
            "The tower is 75 metres high.",
            {"facts": [fact("The tower is 75 metres high.", "75 metres", "tower", "height")]},
            "fact: only the assistant said it",
        ),
        (f"{PORTO} Is Nora coming on 12 May?", "", {"facts": [fact("Nora comes on 12 May.", "12 May", "Nora", "arrival date")]}, "fact: only asked"),
        (f"{PORTO} Write a poem about Lisbon.", "", {"facts": [fact("The user writes a poem about Lisbon.", "Lisbon")]}, "fact: only a request"),
        (PORTO, "", {"facts": [fact("The user lives in Porto.", "Porto"), fact("The user lives in Porto.", "Porto")]}, "fact: said twice"),
        (PORTO, "", {"facts": [fact("", "Porto")]}, "fact: empty"),
        (PORTO, "", {"facts": [fact("The user lives in Porto.", "Porto", replaces=7)]}, "citation: not offered"),
        (PORTO, "", {"states": [{"key": "shoe_size", "value": "Porto"}]}, "state: unknown key"),
        (PORTO, "", {"states": [{"key": "hobby", "value": "sailing"}]}, "state: a value nobody said"),
        (PORTO, "", {"states": [{"key": "hobby", "value": ""}]}, "state: empty"),
        ("My sister lives in Lyon.", "", {"states": [{"key": "home_city", "value": "Lyon"}]}, "state: not about the user"),
        ("I flew to Lyon yesterday.", "", {"states": [{"key": "home_city", "value": "Lyon"}]}, "state: not about the user"),
        ("I don't live in Lyon any more.", "", {"states": [{"key": "home_city", "value": "Lyon"}]}, "state: denied"),
        ("I bought a pan yesterday.", "", {"events": [{"action": "bought", "object": "bicycle"}]}, "event: words nobody said"),
        ("Nora bought a pan yesterday.", "", {"events": [{"action": "bought", "object": "pan"}]}, "event: not the user’s act"),
        ("I bought a pan yesterday.", "", {"events": [{"action": "buy", "object": "pan", "quantity": "1/3"}]}, "quantity: no decimal"),
        ("I bought a pan yesterday.", "", {"events": [{"action": "buy", "object": "pan", "quantity": "250"}]}, "quantity: nobody said it"),
        (
            PORTO,
            "Try Café Piolho for lunch.",
            {"artifacts": [{"artifact_type": "recommendation", "item_text": "Try Café Majestic"}]},
            "artifact: not in the answer",
        ),
        (PORTO, "Try Café Piolho for lunch.", {"artifacts": [{"artifact_type": "secret", "item_text": "Try Café Piolho"}]}, "artifact: unknown type"),
        (PORTO, "Let me know if you like it.", {"artifacts": [{"artifact_type": "other", "item_text": "Let me know if you like it."}]}, "artifact: only talk"),
        (PORTO, "", {"summary": "Marta lives in Oslo with 3 dogs."}, "summary: not of this turn"),
    ],
)
def test_dropped_and_counted(user, assistant, answer, reason):
    _, report = read(user, answer, assistant)
    assert report.dropped[reason] == 1, report


def test_at_most_so_many_of_each():
    user = " ".join(f"The shelf number {n} costs €{n}0." for n in range(1, 12))
    facts = [fact(f"The shelf number {n} costs €{n}0.", f"€{n}0", f"shelf number {n}", "price") for n in range(1, 12)]
    extraction, report = read(user, {"facts": facts})
    assert report.dropped["fact: too many"] == 3
    assert (report.changed["also by rule"], len(extraction.proposals)) == (8, 11)  # the rules have a bound of their own


def test_a_citation_of_another_thing_never_takes_its_slot():
    offered = {1: held("kitchen|budget", "€18,000", "The kitchen budget is €18,000."), 2: held("trip|budget", "€900", "The trip budget is €900.")}
    extraction, report = read(
        "The worktop costs €4,200.", {"facts": [fact("The worktop costs €4,200.", "€4,200", "worktop", "price", replaces=1)]}, offered=offered
    )
    assert only(extraction).slot != "kitchen|budget"
    assert report.dropped["citation: of something else"] == 1
    extraction, _ = read(
        "The kitchen budget is €20,000.",
        {"facts": [fact("The kitchen budget is €20,000.", "€20,000", "trip", "budget", replaces=2)]},
        offered=offered,
        topic="Kitchen",
    )
    assert only(extraction).slot == "kitchen|budget"


def test_plans_and_guesses_are_kept_as_such():
    plan, _ = read("I'm going to move to Lyon in June.", {"facts": [fact("The user is going to move to Lyon in June.", "Lyon")]})
    guess, _ = read("Maybe the kitchen budget is €30,000.", {"facts": [fact("The kitchen budget is €30,000.", "€30,000", "kitchen", "budget")]})
    assert not only(plan).asserted and not only(guess).asserted


def test_somebody_elses_city_is_not_the_users():
    extraction, _ = read("My sister Nora lives in Lyon.", {"facts": [fact("The user lives in Lyon.", "Lyon", "user", "home_city")]})
    found = only(extraction)
    assert found.slot != "user|home_city"


def test_a_denial_stays_one():
    extraction, _ = read("I don't eat meat.", {"facts": [fact("The user eats meat.", "meat")]})
    assert only(extraction).text == "The user doesn't eat meat."


def test_names_and_numbers_of_a_question_back_nothing():
    extraction, _ = read("I live in Porto. Is Nora coming on 12 May?", {"facts": [fact("The user lives in Porto with Nora since 12 May.", "Porto")]})
    assert only(extraction).text == "The user lives in Porto."


def test_recalled_context_and_reasoning_are_not_read_again():
    user = "<memory>The user lives in Oslo.</memory> <think>They own 3 boats.</think> I live in Porto."
    answer = {"facts": [fact("The user lives in Oslo.", "Oslo"), fact("The user owns 3 boats.", "3 boats"), fact("The user lives in Porto.", "Porto")]}
    extraction, report = read(user, answer)
    assert only(extraction).text == "The user lives in Porto."
    assert report.dropped["fact: a value nobody said"] == 2


# --- Days --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zone", "day"), [("Europe/Berlin", date(2026, 11, 8)), ("Pacific/Kiritimati", date(2026, 11, 8)), ("Etc/GMT+12", date(2026, 11, 7))])
def test_days_are_worked_out_in_code(zone, day):
    answer = {"events": [{"action": "bought", "object": "pan", "quantity": "80", "unit": ""}]}
    extraction, _ = read("I bought a pan for €80 yesterday.", answer, zone=zone)
    event = only(extraction, "event")
    assert (event.fields["normalized_date"], event.fields["quantity"], event.fields["unit"], event.fields["countable"]) == (day, Decimal(80), "EUR", True)


def test_a_date_in_the_models_own_writing_goes_back_to_the_users():
    extraction, report = read(
        "The kitchen fitting starts on 12 May.", {"facts": [fact("The kitchen fitting starts on 2027-05-12.", "2027-05-12", "kitchen", "start date")]}
    )
    assert only(extraction).value == "12 May"
    assert report.changed["date as said"] == 1


def test_a_date_turned_round_goes_back_to_the_users():
    extraction, report = read("It takes place on 22 August.", {"facts": [fact("The exam takes place on August 22.", "August 22")]}, topic="Exam")
    [found] = [proposal for proposal in extraction.proposals if proposal.made_by == "model"]
    assert (found.text, found.value) == ("The exam takes place on 22 August.", "22 August")
    assert report.changed["date as said"] == 1


def test_a_plan_of_a_named_day_is_no_event_to_count():
    extraction, _ = read("I'm going to buy a pan tomorrow.", {"events": [{"action": "buy", "object": "pan"}]})
    event = only(extraction, "event")
    assert (event.asserted, event.fields["countable"], event.fields["normalized_date"]) == (False, False, date(2026, 11, 10))


# --- Nothing to remember -----------------------------------------------------------------------------------------------------


def inventions(user: str, assistant: str) -> dict[str, Any]:
    """What a model that finds something everywhere would answer: invented facts, and the turn's own words passed off as facts."""
    words = sorted(user.split(), key=len)
    longest, numbers = words[-1].strip(".,!?"), [word for word in words if any(character.isdigit() for character in word)]
    value = numbers[0].strip(".,!?") if numbers else longest
    return {
        "summary": "Marta from Oslo pays 300.",
        "facts": [
            fact("The user's sister Marta lives in Oslo.", "Oslo", "Marta", "home_city"),
            fact("The user's budget is 4,200 euros.", "4,200 euros", "user", "budget"),
            fact(user, value, "user", "preference"),
            fact(f"The user says {user}", user, "user", "statement"),
            fact(f"The user is interested in {longest}.", longest, "user", "interest"),
            fact("The user prefers short answers."),
        ],
        "states": [{"key": key, "value": value, "evidence_text": user} for key in ("home_city", "hobby", "favorite_book", "job", "pet_name", "workout")],
        "events": [
            {"action": words[0].strip(".,!?") or "said", "object": longest, "quantity": value},
            {"action": "bought", "object": "car", "quantity": "1"},
        ],
        "artifacts": [
            {"artifact_type": "other", "topic": "", "item_text": assistant, "ordinal": 1},
            {"artifact_type": "recommendation", "topic": "", "item_text": "Trattoria da Enzo", "ordinal": 1},
        ],
    }


def test_turns_with_nothing_to_remember_give_nothing_whatever_a_model_invents():
    assert len(EMPTY) >= 200
    learned = []
    for turn in EMPTY:
        extraction, report = read(turn["user"], inventions(turn["user"], turn["assistant"]), turn["assistant"])
        assert report.dropped
        if extraction.proposals:
            learned.append((turn["user"], [proposal.text for proposal in extraction.proposals]))
    assert len(learned) <= len(EMPTY) / 50, learned
