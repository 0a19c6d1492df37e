"""Artifacts, events and mutable states (ARBORMEM §4)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from memory.engine.extract import artifacts, events, facts, states
from memory.engine.forest import Interaction, Proposal

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

PACKING = """Here is a packing list for three weeks:

1. Passport and insurance card
2. **Rain jacket**, it rains in March
   - with a hood
3. Adapter

See [the school's page](https://example.org/lyon), too.

Three opening lines:
- “Small data fits in a drawer.”
- “I once lost a spreadsheet.”
"""


def turn(user: str, assistant: str = "", at: datetime = MONDAY) -> Interaction:
    return Interaction(1, 1, None, 1, 1, 0, at, user, assistant)


def happened(text: str, zone: str = "Europe/Lisbon", at: datetime = MONDAY) -> Proposal:
    (event,) = events.propose(turn(text, at=at), zone)
    return event


# --- Artifacts -------------------------------------------------------------------------------------------------------------


def test_list_items_carry_their_number_and_the_name_of_their_list() -> None:
    items = [proposal for proposal in artifacts.propose(turn("Can you write me a packing list?", PACKING)) if proposal.fields["ordinal"]]
    assert [(item.fields["ordinal"], item.text) for item in items] == [
        (1, "Passport and insurance card"),
        (2, "Rain jacket, it rains in March"),
        (3, "Adapter"),
        (1, "“Small data fits in a drawer.”"),
        (2, "“I once lost a spreadsheet.”"),
    ]
    assert {item.fields["topic"] for item in items} == {"Here is a packing list for three weeks", "Three opening lines"}


def test_links_keep_label_and_target() -> None:
    link = next(proposal for proposal in artifacts.propose(turn("Where?", PACKING)) if proposal.fields["artifact_type"] == "link")
    assert link.text == "the school's page: https://example.org/lyon"


def test_items_for_a_request_for_advice_are_recommendations() -> None:
    found = artifacts.propose(turn("Which fitters would you recommend?", "1. Berg & Sohn\n2. Casa Nova"))
    assert [proposal.fields["artifact_type"] for proposal in found] == ["recommendation", "recommendation"]
    assert found[0].fields["topic"].startswith("fitters")


def test_steps_are_steps() -> None:
    found = artifacts.propose(turn("How do I revive a starter?", "1. Pour off the liquid\n2. Feed it\n3. Wait"))
    assert {proposal.fields["artifact_type"] for proposal in found} == {"step"}


def test_a_list_of_twelve_keeps_all_twelve_and_a_long_one_ends_at_twenty() -> None:
    twelve = "\n".join(f"{n}. Thing number {n}" for n in range(1, 13))
    endless = "\n".join(f"- Thing number {n}" for n in range(1, 90))
    assert len(artifacts.propose(turn("A list, please", twelve))) == 12
    assert len(artifacts.propose(turn("A list, please", endless))) == 20


def test_widths_are_kept() -> None:
    (first, _) = artifacts.propose(turn("List", f"1. {'word ' * 80}\n2. short"))
    assert len(first.fields["item_text"]) <= 120 and len(first.evidence) <= 80


def test_code_is_kept_as_a_text_that_was_made_and_its_lines_are_no_list() -> None:
    (code,) = artifacts.propose(turn("Write me a loop", "```python\n- not an item\n- nor this\n```"))
    assert code.fields["artifact_type"] == "generated_text"


def test_artifacts_come_from_the_assistant_alone_and_are_never_asserted() -> None:
    assert artifacts.propose(turn("1. one\n2. two", "Noted.")) == []
    assert not any(proposal.asserted for proposal in artifacts.propose(turn("List", PACKING)))


@pytest.mark.parametrize("answer", ["", "Yes.", "- only one", "1. only one", "He said: - no", "2026. was a good year"])
def test_no_list_no_artifacts(answer: str) -> None:
    assert artifacts.propose(turn("And?", answer)) == []


# --- Events ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "action", "thing", "quantity", "unit", "day"),
    [
        ("I ran 5 km yesterday.", "run", "", "5", "km", date(2026, 3, 1)),
        ("Bought a 6 mm steel for €89 on Saturday.", "buy", "steel", "89", "EUR", date(2026, 2, 28)),
        ("We spent €340 on tiles two days ago.", "spend", "tile", "340", "EUR", date(2026, 2, 28)),
        ("I read two books in January.", "read", "book", "2", "", None),
        ("I baked three loaves today.", "bake", "loav", "3", "", date(2026, 3, 2)),
        ("I paid 12,50 euros for the tram ticket.", "pay", "ticket", "12.5", "EUR", None),
        ("I went to the dentist on 20 February.", "go", "dentist", None, "", date(2026, 2, 20)),
        ("Yesterday I walked for 45 minutes.", "walk", "", "45", "minute", date(2026, 3, 1)),
    ],
)
def test_acts_are_kept_with_amount_and_day(said: str, action: str, thing: str, quantity: str | None, unit: str, day: date | None) -> None:
    event = happened(said)
    assert (event.fields["canonical_action"], event.fields["unit"], event.fields["normalized_date"]) == (action, unit, day)
    assert event.fields["quantity"] == (Decimal(quantity) if quantity else None)
    assert not thing or event.fields["canonical_object"] == thing
    assert event.asserted and event.fields["countable"]


def test_days_are_those_of_the_users_zone() -> None:
    late = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    assert happened("I ran 5 km today.", "Pacific/Auckland", late).fields["normalized_date"] == date(2026, 3, 3)
    assert happened("I ran 5 km today.", "America/Los_Angeles", late).fields["normalized_date"] == date(2026, 3, 2)
    assert happened("I ran 5 km yesterday.", "Pacific/Kiritimati", late).fields["normalized_date"] == date(2026, 3, 2)


def test_what_was_not_done_does_not_count() -> None:
    event = happened("I didn't run this morning, I slept 9 hours.")
    assert event.fields["is_negated"] or event.fields["canonical_action"] == "sleep"
    assert not any(proposal.fields["countable"] for proposal in events.propose(turn("I didn't bake any bread yesterday."), "UTC"))


def test_a_dated_plan_is_kept_as_a_plan() -> None:
    plan = happened("I'm going to visit Marek in Lyon on 3 May.")
    assert (plan.asserted, plan.fields["countable"], plan.fields["normalized_date"]) == (False, False, date(2026, 5, 3))


@pytest.mark.parametrize(
    "said",
    [
        "Did I run 5 km yesterday?",
        "If I run 5 km, I'm tired.",
        "Nora ran 5 km.",
        "I want to run.",
        "You should run 5 km.",
        "I made it last.",
        "It was 5 km.",
        "Run 5 km!",
    ],
)
def test_no_act_of_the_user_no_event(said: str) -> None:
    assert events.propose(turn(said), "UTC") == []


@pytest.mark.parametrize(
    ("said", "ahead"),
    [
        ("tomorrow", date(2026, 3, 3)),
        ("in two weeks", date(2026, 3, 16)),
        ("on 12 March", date(2026, 3, 12)),
        ("on 1 March", date(2027, 3, 1)),
        ("on March 12th", date(2026, 3, 12)),
        ("2026-04-01", date(2026, 4, 1)),
        ("on Friday", date(2026, 3, 6)),
        ("next Friday", date(2026, 3, 13)),
        ("on Monday", date(2026, 3, 9)),
    ],
)
def test_days_ahead(said: str, ahead: date) -> None:
    found = events.upcoming(f"we meet {said}", MONDAY, "Europe/Lisbon")
    assert found is not None and found.date() == ahead


@pytest.mark.parametrize("said", ["we meet soon", "on 31 February", "2025-01-01", ""])
def test_no_day_ahead(said: str) -> None:
    assert events.upcoming(said, MONDAY, "UTC") is None


def test_a_week_over_the_change_of_clocks_is_seven_days() -> None:
    at = datetime(2026, 3, 27, 12, tzinfo=UTC)
    found = events.upcoming("in a week", at, "Europe/Lisbon")
    assert found is not None and (found.date(), found.hour) == (date(2026, 4, 3), 0)


# --- Mutable states --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "key", "value", "slot"),
    [
        ("I live in Porto.", "home_city", "Porto", "user|home_city"),
        ("I grew up in Braga.", "hometown", "Braga", "user|hometown"),
        ("I work at Siemens.", "workplace", "Siemens", "user|workplace"),
        ("My favourite film is Paterson.", "favorite_movie", "Paterson", "user|favorite_movie"),
        ("I'm vegan now.", "dietary_pref", "vegan", "user|dietary_pref"),
        ("My birthday is on 4 May.", "birthday_month", "May", "user|birthday_month"),
        ("My cat is called Miso.", "pet_name", "Miso", ""),
        ("I took up pottery in Porto.", "hobby", "pottery", ""),
        ("I run 5 km every Tuesday.", "workout", "run 5 km every Tuesday", ""),
    ],
)
def test_states_have_canonical_keys(said: str, key: str, value: str, slot: str) -> None:
    found = states.propose(turn(said), facts.read(said, facts.Setting()), "UTC")
    assert [(state.fields["key"], state.value, state.slot) for state in found] == [(key, value, slot)]


def test_at_most_six_states() -> None:
    said = "I live in Porto. I work at Siemens. I'm vegan. My birthday is on 4 May. My cat is called Miso. My dog is called Rex. I grew up in Braga."
    assert len(states.propose(turn(said), facts.read(said, facts.Setting()), "UTC")) == 6


def test_a_plan_to_move_is_no_home() -> None:
    said = "I'm going to move to Berlin in May."
    assert not any(state.asserted for state in states.propose(turn(said), facts.read(said, facts.Setting()), "UTC"))
