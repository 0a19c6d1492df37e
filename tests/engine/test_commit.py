"""What turns teach, by rule: facts in their slots, in sentences that stand by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.engine.commit import EXTRACTORS, extract
from memory.engine.forest import Extraction, Interaction, Proposal

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def talk(*turns: str | tuple[str, str], topic: str = "", zone: str = "Europe/Lisbon") -> Extraction:
    """What the last of these turns teaches on the path of those before it."""
    path: list[Interaction] = []
    for number, given in enumerate(turns, 1):
        user, assistant = given if isinstance(given, tuple) else (given, "Noted.")
        state = Interaction(number, number, number - 1 or None, 1, 1, number - 1, MONDAY + timedelta(hours=number), user, assistant, topic=topic)
        learnt = extract(state, path, zone, topic)
        topic = learnt.topic
        path.append(replace(state, node_summary=learnt.node_summary, path_summary=learnt.path_summary, topic=topic))
    return learnt


def facts(learnt: Extraction) -> list[Proposal]:
    return [proposal for proposal in learnt.proposals if proposal.kind == "fact"]


def slots(learnt: Extraction) -> dict[str, str]:
    return {proposal.slot: proposal.value for proposal in facts(learnt) if proposal.slot and proposal.asserted}


@pytest.mark.parametrize(
    ("said", "slot", "value"),
    [
        ("My budget is €18,000, appliances included.", "kitchen|budget", "€18,000"),
        ("The kitchen budget is €21,500 now.", "kitchen|budget", "€21,500"),
        ("The budget for the kitchen is 21,500 euros.", "kitchen|budget", "21,500 euros"),
        ("Thanks! By the way, our budget is $900.", "kitchen|budget", "$900"),
        ("We have €18,000 for the kitchen.", "kitchen|budget", "€18,000"),
        ("They leave on 9 March, coach 8.", "kitchen|departure date", "9 March"),
        ("Departure moved to 12 March.", "kitchen|departure date", "12 March"),
        ("The departure date is 12 March 2026.", "kitchen|departure date", "12 March 2026"),
        ("Nora leaves on 9 March.", "nora|departure date", "9 March"),
        ("The meeting is at 3 pm.", "kitchen|meeting time", "3 pm"),
        ("The meeting was moved from 3 pm to 4:30 pm.", "kitchen|meeting time", "4:30 pm"),
        ("Please change the deadline to Friday.", "kitchen|deadline", "Friday"),
        ("We pushed the deadline to 1 April.", "kitchen|deadline", "1 April"),
        ("The harbour master postponed Marlene's launch to 16 May.", "marlene|launch date", "16 May"),
        ("My landlord has raised the rent to €900.", "kitchen|rent", "€900"),
        ("Our hotel is Hotel Bristol.", "kitchen|hotel", "Hotel Bristol"),
        ("The flight is LH1172.", "kitchen|flight", "LH1172"),
        ("The flight is at 7:40.", "kitchen|flight time", "7:40"),
        ("The luggage limit is 24 kg.", "kitchen|luggage limit", "24 kg"),
        ("We decided on oak for the worktop.", "kitchen|worktop", "oak"),
        ("For the floor we chose cork.", "kitchen|floor", "cork"),
        ("Marek quoted €11,400 without the worktop.", "marek|quote", "€11,400"),
        ("The quote from Casa Nova is €12,900.", "casa nova|quote", "€12,900"),
        ("Berg & Sohn came back with €10,900.", "berg & sohn|quote", "€10,900"),
        ("My phone number is +49 170 5551234.", "user|phone number", "+49 170 5551234"),
        ("I live in Porto.", "user|home_city", "Porto"),
        ("I just moved to São Paulo last week!", "user|home_city", "São Paulo"),
        ("I work at Siemens.", "user|workplace", "Siemens"),
        ("I work as a nurse at the clinic.", "user|job", "nurse"),
        ("My dog is called Biscuit.", "dog|name", "Biscuit"),
        ("My favourite drink is green tea.", "user|favorite_drink", "green tea"),
        ("I'm vegetarian now.", "user|dietary_pref", "vegetarian"),
        ("My sister's wedding is on 14 June.", "sister|wedding date", "14 June"),
    ],
)
def test_a_value_finds_its_slot(said: str, slot: str, value: str) -> None:
    assert slots(talk(said, topic="Kitchen")) == {slot: value}


@pytest.mark.parametrize(
    ("before", "said", "slot", "value"),
    [
        ("My budget is €18,000.", "Let's make it €21,500 then.", "kitchen|budget", "€21,500"),
        ("My budget is €18,000.", "No, €23,000.", "kitchen|budget", "€23,000"),
        ("My budget is €18,000.", "It's now €22k.", "kitchen|budget", "€22k"),
        ("They leave on 9 March.", "Actually 12 March instead.", "kitchen|departure date", "12 March"),
        ("They leave on 9 March.", "The coach is full: leaving 12 March instead.", "kitchen|departure date", "12 March"),
        ("The meeting is at 3 pm.", "Make that 4 pm, please.", "kitchen|meeting time", "4 pm"),
        ("Nora leaves on 9 March.", "Change it to 12 March.", "nora|departure date", "12 March"),
        ("Nora's departure date is 9 March.", "The departure date is 12 March.", "nora|departure date", "12 March"),
    ],
)
def test_a_correction_finds_the_slot_it_corrects(before: str, said: str, slot: str, value: str) -> None:
    assert slots(talk(before, "And what else?", said, topic="Kitchen")) == {slot: value}


def test_a_correction_keeps_the_tag_of_what_it_corrects() -> None:
    first = facts(talk("The budget is €18,000.", topic="Kitchen"))[0]
    second = facts(talk("The budget is €18,000.", "Make it €21,500.", topic="Kitchen"))[0]
    assert second.attribute_tag == first.attribute_tag != ""


def test_make_it_means_what_the_user_can_set_not_somebodys_quote() -> None:
    assert slots(talk("My budget is €18,000.", "Marek quoted €11,400.", "Let's make it €21,500.", topic="Kitchen")) == {"kitchen|budget": "€21,500"}


def test_an_answer_to_the_assistants_question_fills_what_was_asked_for() -> None:
    learnt = talk(("We plan a new kitchen.", "Lovely. What is your budget?"), "Let's say €18,000 for everything, appliances included.", topic="Kitchen")
    assert slots(learnt) == {"kitchen|budget": "€18,000"}
    assert facts(learnt)[0].text == "The kitchen budget is €18,000 for everything, appliances included."


def test_a_bare_value_without_anything_to_correct_is_left_alone() -> None:
    assert facts(talk("Make it €21,500.", topic="Kitchen")) == []


def test_two_people_of_one_schema_keep_their_slots_apart() -> None:
    learnt = talk("Ana's flight is at 7:40 and Tom's flight is at 9:15.", topic="Trips")
    assert set(slots(learnt)) >= {"ana|flight time"}
    assert slots(talk("Tom's flight is at 9:15.", topic="Trips")) == {"tom|flight time": "9:15"}


def test_number_hour_and_price_of_one_thing_do_not_collide() -> None:
    found = slots(talk("The flight is LH1172. The flight is at 7:40. The flight is €120.", topic="Lisbon"))
    assert set(found) == {"lisbon|flight", "lisbon|flight time", "lisbon|flight price"}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I prefer oak over laminate.", "The user prefers oak over laminate."),
        ("I don't eat meat.", "The user doesn't eat meat."),
        ("My wife Ana likes cork.", "The user's wife Ana likes cork."),
        ("Nora is allergic to hazelnuts.", "Nora is allergic to hazelnuts."),
        ("Bought a 6 mm baking steel in Porto.", "The user bought a 6 mm baking steel in Porto."),
        ("The fridge goes next to the door.", "The fridge goes next to the door."),
        ("I've played the cello since 2011.", "The user has played the cello since 2011."),
    ],
)
def test_statements_become_sentences_that_stand_by_themselves(said: str, text: str) -> None:
    assert text in [fact.text for fact in facts(talk(said))]


@pytest.mark.parametrize("said", ["I'm going to move to Berlin in May.", "We want to visit Marek in Lyon on 3 May.", "I plan to work at Siemens from June."])
def test_a_plan_is_kept_but_not_asserted(said: str) -> None:
    found = facts(talk(said))
    assert found
    assert not any(fact.asserted for fact in found)


def test_a_date_that_is_fixed_is_stated_even_in_the_future_tense() -> None:
    assert slots(talk("We will leave on 12 March.", topic="Lyon")) == {"lyon|departure date": "12 March"}


def test_what_was_so_once_is_dated_then() -> None:
    fact = facts(talk("I lived in Lyon last year."))[0]
    assert (fact.slot, fact.value) == ("user|home_city", "Lyon")
    assert fact.event_time == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_change_told_today_holds_from_today() -> None:
    assert facts(talk("I moved to Lyon last week."))[0].event_time is None


def test_what_is_told_before_a_question_is_told() -> None:
    learnt = talk("By the way, I've been using my Fitbit Charge 3 for 6 months now, do you have any tips for it?")
    assert [fact.text for fact in facts(learnt)] == ["The user has been using the user's Fitbit Charge 3 for 6 months now."]
    assert facts(talk("I might buy a Fitbit Charge 3 one day, do you like it?")) == []


def test_every_fact_quotes_the_words_it_rests_on() -> None:
    fact = facts(talk("Good news! My budget is €18,000, appliances included.", topic="Kitchen"))[0]
    assert fact.evidence == "My budget is €18,000, appliances included."
    assert "€18,000" in fact.entities


@pytest.mark.parametrize(
    ("said", "slot", "value"),
    [
        ("Ich wohne jetzt in Köln.", "user|home_city", "Köln"),
        ("Mein Budget ist 1.200 €.", "küche|budget", "1.200 €"),
        ("J'habite à Lyon avec ma fille.", "user|home_city", "Lyon"),
        ("Vivo en Sevilla desde hace dos años.", "user|home_city", "Sevilla"),
        ("Me llamo Lucía.", "user|name", "Lucía"),
        ("我住在上海。", "user|home_city", "上海"),
        ("私は京都に住んでいます。", "user|home_city", "京都"),
    ],
)
def test_other_languages_keep_their_words(said: str, slot: str, value: str) -> None:
    learnt = talk(said, topic="Küche")
    assert slots(learnt) == {slot: value}
    assert facts(learnt)[0].text.rstrip(".。") == said.rstrip(".。")


@pytest.mark.parametrize(
    "said",
    ["Ich habe gestern mit Oma telefoniert, sie kommt am Sonntag.", "昨日はとても楽しかったです。", "Мы вчера ходили в театр с Машей.", "أحب القهوة في الصباح"],
)
def test_words_no_rule_reads_give_a_summary_and_no_garbage(said: str) -> None:
    learnt = talk(said)
    assert learnt.proposals == ()
    assert learnt.node_summary


def test_extraction_is_a_pure_function() -> None:
    turns = ("We're redoing our kitchen.", "My budget is €18,000.", "Make it €21,500.")
    assert talk(*turns) == talk(*turns)
    assert EXTRACTORS


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "?" * 4000, "a" * 32_000, "記憶の森" * 2000, "€" * 500, "x, and I " * 2000, "1. \n2. \n", "the X is " * 1500, "(" * 3000, "I " * 5000],
)
def test_odd_input_is_survived_in_time(text: str) -> None:
    started = datetime.now(tz=UTC)
    talk((text, text))
    assert datetime.now(tz=UTC) - started < timedelta(seconds=3)


def test_summaries_are_short_and_name_the_value() -> None:
    learnt = talk(
        "We talked it over for hours, with my mother-in-law, and in the end, well: " + "so much to say " * 40 + ". My budget is €18,000.", topic="Kitchen"
    )
    assert "€18,000" in learnt.node_summary
    assert len(learnt.node_summary.split()) <= 50


def test_the_path_summary_tells_topic_beginning_and_latest_steps() -> None:
    turns: Sequence[str] = [f"The cupboard number {n} is {n}0 cm wide." for n in range(1, 9)]
    summary = talk("We're redoing our kitchen in Porto.", *turns, topic="Kitchen").path_summary
    assert summary.startswith("Topic: Kitchen | Progress: We're redoing our kitchen")
    assert "80 cm" in summary and "10 cm" not in summary


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("We're redoing our kitchen, a galley of 9 m². Where do we start?", "Kitchen"),
        ("My Lisbon talk got accepted!", "Lisbon talk"),
        ("I need help with my tax return.", "Tax return"),
        ("Hi!", ""),
    ],
)
def test_the_first_turn_names_the_tree(said: str, topic: str) -> None:
    assert talk((said, "")).topic == topic


def test_a_tree_that_began_with_a_greeting_is_named_by_what_follows() -> None:
    assert talk(("Hi!", "Hello!"), ("My sourdough starter smells of vinegar.", "")).topic == "Sourdough starter"
