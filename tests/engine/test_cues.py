"""What a turn says about where it belongs."""

from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine.cues import Cues, detect
from memory.engine.wording import languages

NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)  # a Thursday
TURNS = Path(__file__).parent / "turns"  # a file a language: “cue cue | turn”
WORDING = {field.name for field in fields(Cues)} - set("continuation temporal returning fresh pronoun inward opener answer greeting".split())  # noqa: SIM905


def worded(text: str) -> set[str]:
    """The cues of wording that a turn has."""
    cues = detect(text, NOON, "UTC")
    return {name for name in WORDING if getattr(cues, name)}


@pytest.mark.parametrize(
    "text", ["Continue", "go on, please", "Tell me more about that.", "继续", "続けて", "Weiter!", "أكمل", "In your last answer you said 24."]
)
def test_going_on_is_a_continuation_cue(text: str) -> None:
    assert detect(text, NOON, "UTC").continuation


@pytest.mark.parametrize(
    "text", ["Continue the story of Anna in Lyon", "Why is the sky blue?", "More and more people move to Oslo, don't they?", "Let's go back to the kitchen"]
)
def test_a_sentence_of_its_own_is_none(text: str) -> None:
    assert not detect(text, NOON, "UTC").continuation


@pytest.mark.parametrize(
    "text",
    [
        "What did we say yesterday about the hood?",
        "On Monday you told me a recipe",
        "Where did we leave off last week?",
        "Was haben wir gestern besprochen?",
        "¿Qué dijimos ayer?",
        "Qu'est-ce que tu as dit hier ?",
        "昨天我们聊了什么",
        "昨日話したこと",
        "어제 말했던 것",
        "ماذا قلت أمس",
    ],
)
def test_a_time_with_the_talk_that_took_place_is_a_temporal_return(text: str) -> None:
    assert detect(text, NOON, "UTC").temporal is not None


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday I ran 5 km",
        "On Monday I met Tomás",
        "Is the shop open on Monday?",
        "Remind me tomorrow",
        "How many km did I run last week?",
        "We planned a party yesterday",
        "Was haben wir hier gesagt?",
    ],
)
def test_news_with_a_time_is_no_temporal_return(text: str) -> None:
    assert detect(text, NOON, "UTC").temporal is None


@pytest.mark.parametrize(
    "text",
    [
        "For a change, how did Rome fall?",
        "Quite another question: what is a quark?",
        "Something I haven't mentioned yet. I'm building a shed.",
        "And one more project. A shed.",
        "On a different note, how tall is it?",
        "Zur Abwechslung: wie hoch ist der Turm?",
        "换个话题，谁写了《红楼梦》？",
    ],
)
def test_another_matter_is_announced_in_many_words(text: str) -> None:
    assert detect(text, NOON, "UTC").fresh
    assert not worded(text) & {"contrast", "additive"}


@pytest.mark.parametrize(
    ("text", "introduces"),
    [
        ("Got news from my yoga teacher Carmen. She wants a mat.", True),
        ("The owner is my chess partner Piet", True),
        ("This paper my hairdresser Lucia has to hand in", True),
        ("Meine Yogalehrerin Carmen hat abgesagt", True),
        ("Mi profesora de yoga Carmen ha llamado", True),
        ("My new Python script fails", False),
        ("My car in Lisbon broke down", False),
        ("I'm planning a trip to Lisbon in May", False),
    ],
)
def test_somebody_is_introduced_by_whatever_they_are_to_the_writer(text: str, introduces: bool) -> None:
    assert detect(text, NOON, "UTC").introducing is introduces


def test_another_matter_is_announced() -> None:
    assert detect("New question: how do I poach an egg?", NOON, "UTC").fresh == "new question"
    assert detect("By the way, who wrote Emma?", NOON, "UTC").fresh
    assert detect("On another subject, who wrote Emma?", NOON, "UTC").fresh
    assert not detect("On the subject of the brewing: who wrote Emma?", NOON, "UTC").fresh  # names its matter


@pytest.mark.parametrize(
    ("cue", "texts"),
    {
        "additive": [
            "Also, could you add Anna?",
            "Thanks! One more thing: how tall is it?",
            "While we're at it, what about the hood?",
            "Do you have tiles as well?",
        ],
        "topical": ["Regarding the kitchen, how much is it?", "As for Anna, she can't come.", "OK, back to the garden", "In the bathroom, we want tiles."],
        "reporting": ["She called, they've agreed.", "I heard back from the bank", "The caterer says they can't do fish", "We got a letter from the landlord."],
        "contrast": [
            "The one without Viktor",
            "Put Ilse aside for a minute",
            "Not hers, the other one.",
            "Rather than the train, what about a bus?",
            "I no longer want the blue tiles",
            "not Anna's, Tom's",
        ],
        "picking": ["The second one, please", "Tell me about the one with the garden", "number three", "What does the cheaper one cost?", "none of these"],
        "reconsidering": ["I changed my mind", "On second thoughts, the train", "Scrap that.", "Let's go back to the options", "I'd rather the other"],
        "choosing": ["I'll take it", "Let's go with the garden", "Book it", "That's the one!"],
        "first_person": ["I live in Oslo", "What is our budget?"],
        "third_person": ["She likes fish", "How tall is it?", "Why is that?"],
        "question": ["how do I poach an egg", "Is Anna coming", "You said 24, right?"],
        "request": ["Write a poem about rain", "Could you please list the steps?", "I need a recipe for four"],
        "statement": ["Tuesday works.", "We live in a flat"],
        "introducing": ["My sister Anna is a vet", "We hired a company called Brightside", "This is about our dog Rex"],
        "elliptical": ["and for two?", "the blue", "Tuesday works", "Why?", "in German"],
    }.items(),
)
def test_a_turn_in_english_has_the_cue_of_its_wording(cue: str, texts: list[str]) -> None:
    assert [text for text in texts if cue not in worded(text)] == []


@pytest.mark.parametrize(
    ("cue", "texts"),
    {
        "additive": ["He is too tall", "Write about Anna"],
        "topical": ["Question: how tall is it?", "In 1990 we moved"],
        "reporting": ["Did she call?", "I called the bank", "What did he say?"],
        "contrast": ["Why not?", "What time is it?"],
        "picking": ["Last time we met in Oslo", "No one came"],
        "choosing": ["What should I book?", "Help me choose a hood", "How do I pick a lock"],
        "first_person": ["Tell me a joke", "How tall is it?"],
        "third_person": ["It is raining", "I think that Oslo is cold", "Is it possible to fly?"],
        "question": ["We live where we like.", "Write a poem", "Ninety-four, which is a nuisance"],
        "request": ["We live in a flat", "How tall is it?"],
        "statement": ["", "Write a poem", "Why?"],
        "introducing": ["my old car is red", "What is it called?"],
        "elliptical": ["How do I poach an egg?", "Write a poem about the sea", "My sister lives in Lyon with her cats"],
    }.items(),
)
def test_a_turn_worded_otherwise_has_not(cue: str, texts: list[str]) -> None:
    assert [text for text in texts if cue in worded(text)] == []


@pytest.mark.parametrize(
    ("text", "inward"),
    [
        ("I am learning the cello and practise scales on it every evening.", 0.75),
        ("Our neighbour sold his boat", 0.5),
        ("Ich lerne Cello, das macht Freude", 0.5),
        ("Can I freeze it?", 0.0),  # one word before: what is done to it
        ("How do I do it?", 0.0),
        ("They said the roof will hold", 0.0),
        ("My cello teacher wants the bow arm looser", 0.0),  # none at all
    ],
)
def test_a_pronoun_that_comes_late_may_mean_something_of_its_own_sentence(text: str, inward: float) -> None:
    assert detect(text, NOON, "UTC").inward == pytest.approx(inward)


@pytest.mark.parametrize("language", [path.stem for path in sorted(TURNS.glob("*.txt"))])
def test_turns_of_a_language_have_exactly_the_cues_that_a_reader_gave_them(language: str) -> None:
    lines = [line.split(" | ", 1) for line in (TURNS / f"{language}.txt").read_text(encoding="utf-8").splitlines()]
    assert len(lines) >= (40 if language in ("en", "de", "es", "fr", "zh") else 15)
    assert [(text, sorted(worded(text) ^ set(cues.split()))) for cues, text in lines if worded(text) != set(cues.split())] == []


def test_every_language_that_has_phrases_has_turns() -> None:
    assert {path.stem for path in TURNS.glob("*.txt")} == set(languages())


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    detect(text, NOON, "Asia/Kathmandu")
