"""Why a turn didn't go to a certain place, in a plain sentence."""

from datetime import UTC, datetime

from memory.engine import query
from memory.engine.feature_names import PARTS
from memory.engine.forest import Candidate, Sign
from memory.engine.why_not import Leaves, words

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)


def candidate(state, score, label="Extractor hood", tree="Kitchen", *, active=False, signs=None, **parts):
    return Candidate(state, state, label, tree, active, score, 0.5, {**dict.fromkeys(PARTS, 0.0), **parts}, signs=signs or {})


def asked(text="Does the hood need a pipe?"):
    return query.read(text, NOW, "UTC")


HOOD = candidate(1, 6.1, meaning=2.1, words=1.6, path=1.7, recency=0.3)
TALK = candidate(2, 2.0, "Opening lines", "Talk", meaning=0.3, words=0.2, path=1.7, recency=0.9)
NEW = candidate(None, 4.0, "A new topic", "", path=4.0)


def test_the_parts_that_weighed_most_against_it_are_named_and_what_spoke_for_it():
    assert words(asked(), "recall", TALK, HOOD) == (
        "It scores 2.0 against 6.1 of Kitchen, Extractor hood. For that one: the meaning there is nearer, and more of the words were said there. "
        "For this one: that was spoken of more lately."
    )


def test_what_spoke_for_either_is_quoted():
    hood = candidate(1, 6.1, reply=3.0, names=1.0, signs={"reply": Sign("answers", ("How high is the beam?",), 1), "names": Sign("only_names", ("Bosch",))})
    talk = candidate(2, 2.0, "Opening lines", "Talk", recency=0.9, signs={"recency": Sign("last")})
    assert words(asked(), "recall", talk, hood) == (
        "It scores 2.0 against 6.1 of Kitchen, Extractor hood. For that one: it answers “How high is the beam?”, and only there was “Bosch” spoken of. "
        "For this one: that was the last matter spoken about."
    )


def test_beside_a_new_topic_no_branch_was_near_enough():
    assert words(asked(), "new_root", TALK, NEW) == (
        "It scores 2.0 against 4.0 of a new topic. For a new topic: that path has too little to do with it. "
        "For this one: that was spoken of lately, and the meaning there is near enough."
    )


def test_a_branch_that_won_is_told_to_be_the_one():
    assert words(asked(), "recall", HOOD, HOOD) == "It lies on the branch that was chosen, which goes on from its end, Kitchen, Extractor hood."


def test_of_a_branch_that_goes_on_from_before_its_end_it_says_what_is_left_aside():
    assert words(asked(), "recall", HOOD, HOOD, leaves=Leaves(unsurely=True, later=True)) == (
        "It lies on the branch that was chosen, but after the place: it goes on from an earlier turn, Kitchen, Extractor hood; "
        "what came after was put there unsurely, and is left aside."
    )
    assert words(asked(), "recall", HOOD, HOOD, leaves=Leaves(unsurely=False, later=False)) == (
        "It lies on the branch that was chosen: it goes on from an earlier turn, Kitchen, Extractor hood; what came after is left aside."
    )


def test_where_nothing_speaks_against_it_any_more_it_says_so():
    assert words(asked(), "recall", HOOD, TALK) == (
        "Nothing: it scores 6.1 against 2.0 of Talk, Opening lines. For this one: the meaning there is nearer, and more of the words were said there. "
        "For that one: that was spoken of more lately."
    )
    assert words(asked(), "new_root", HOOD, NEW).startswith("Nothing: it scores 6.1 against 4.0 of a new topic. For this one: the meaning there is near enough")


def test_a_cue_decides_whatever_the_score():
    going_on = asked("go on")
    assert going_on.cues.continuation
    said = words(going_on, "continuation", HOOD, candidate(2, 2.0, "Opening lines", "Talk", active=True))
    assert said.startswith("“go on” can only mean the matter at hand, Talk, Opening lines. By the score alone: nothing")
    then = asked("What did we say about it last Monday?")
    assert then.cues.temporal
    assert words(then, "temporal", TALK, HOOD).startswith(
        f"“{then.cues.temporal.phrase}” points to what was said then, in Kitchen, Extractor hood. By the score"
    )


def test_what_a_person_chose_needs_no_score():
    assert words(asked(), "recall", TALK, HOOD, given=True).startswith(
        "You said where it goes: Kitchen, Extractor hood. Without that, by the score: it scores 2.0"
    )


def test_no_difference_worth_a_word_is_named():
    near = candidate(2, 6.09, "Opening lines", "Talk", meaning=2.09, words=1.6, path=1.7, recency=0.3)
    assert words(asked(), "recall", near, HOOD) == "It scores 6.1 against 6.1 of Kitchen, Extractor hood."
