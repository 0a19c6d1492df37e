"""What a language model is asked inside the low-margin band, and what its word is worth."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine import ask
from memory.engine.ask import fold, question, weighed
from memory.engine.forest import Candidate, Decision, Interaction, Lane, Recall, Recalled
from memory.engine.query import Query, read

NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)


def asked(text: str = "How wide was it?") -> Query:
    return read(text, NOON, "Europe/Paris")


def tip(identity: int, topic: str, user: str = "Something") -> Interaction:
    return Interaction(identity, identity, None, identity, identity, 0, NOON - timedelta(hours=identity), user, "Fine.", topic=topic)


KITCHEN, TALK, BREAD = tip(1, "Kitchen", "The wall stays"), tip(2, "Volcano talk", "Ten slides"), tip(3, "Sourdough", "24 hours")
ALL = (KITCHEN, TALK, BREAD)


def candidate(state: Interaction | None, probability: float) -> Candidate:
    if state is None:
        return Candidate(None, None, "A new topic", "", False, 2.0, probability, {})
    return Candidate(state.id, state.root, state.user, state.topic, state is BREAD, 1.0, probability, {"words": 1.0})


def decision(*shares: tuple[Interaction | None, float], method: str = "recall") -> Decision:
    ranked = sorted((candidate(state, probability) for state, probability in shares), key=lambda one: -one.probability)
    first, second = ranked[0], ranked[1]
    return Decision(
        method if first.state is not None or method != "recall" else "new_root",  # type: ignore[arg-type]
        first.state,
        first.root,
        first.probability,
        first.probability - second.probability,
        2.0,
        first.probability < 0.7,
        "By the ranking.",
        ranked,
        second.state,
        "additive-1-abc",
    )


def recall(*tips: Interaction) -> Recall:
    return Recall([Recalled(one, {}, 0.5) for one in tips], {one.branch: Lane(one) for one in tips}, BREAD, [], {}, len(tips), 10.0)


CLOSE = decision((KITCHEN, 0.48), (TALK, 0.40), (BREAD, 0.07), (None, 0.05))
RECALL = recall(*ALL)


# --- When, and about what ------------------------------------------------------------------------------------------------


def test_the_likeliest_branches_and_a_new_root_are_offered_in_the_order_of_their_use_not_of_their_chance() -> None:
    told = question(asked(), decision((BREAD, 0.5), (TALK, 0.3), (KITCHEN, 0.15), (None, 0.05)), RECALL, below=0.7)
    assert told is not None
    assert [option.state for option in told.options] == [None, KITCHEN.id, TALK.id, BREAD.id]
    assert [option.active for option in told.options] == [False, False, False, True]


def test_nothing_is_asked_where_ranking_is_sure_enough_or_did_not_decide() -> None:
    assert question(asked(), CLOSE, RECALL, below=0.48) is None  # as sure as the band asks for
    assert question(asked(), CLOSE, RECALL, below=0) is None
    for method in ("continuation", "temporal", "given", "corrected", "asked"):
        assert question(asked(), replace(CLOSE, method=method), RECALL, below=0.9) is None  # type: ignore[arg-type]
    fresh = decision((None, 0.5), (TALK, 0.4), (KITCHEN, 0.1))
    assert fresh.method == "new_root" and question(asked(), fresh, RECALL, below=0.7) is not None


def test_at_most_four_branches_are_offered_and_none_that_nobody_would_think_of() -> None:
    many = [tip(number, f"Matter {number}") for number in range(1, 8)]
    told = question(asked(), decision(*((one, 0.13) for one in many), (None, 0.09)), recall(*many), below=0.7)
    assert told is not None and len(told.options) == ask.BRANCHES + 1
    told = question(asked(), decision((KITCHEN, 0.6), (None, 0.38), (TALK, 0.01), (BREAD, 0.01)), RECALL, below=0.7)
    assert told is not None and [option.state for option in told.options] == [None, KITCHEN.id]
    assert question(asked(), decision((None, 0.6), (TALK, 0.01)), RECALL, below=0.7) is None  # only a new root would be left


def test_an_earlier_state_that_was_found_by_its_time_can_be_offered_too() -> None:
    past = tip(9, "Last week")
    told = question(asked(), decision((past, 0.5), (TALK, 0.4), (None, 0.1)), RECALL, [Recalled(past, {}, 0.1)], below=0.7)
    assert told is not None and past.id in [option.state for option in told.options]


# --- What its word is worth ----------------------------------------------------------------------------------------------


def test_a_choice_raises_its_place_by_bayes_rule() -> None:
    assert weighed([0.5, 0.3, 0.2], [0, 1, 2], 1, 3.0) == pytest.approx([0.5 / 1.6, 0.9 / 1.6, 0.2 / 1.6])  # three times as likely as it was


def test_a_model_that_guesses_changes_nothing() -> None:
    assert weighed([0.5, 0.3, 0.2], [0, 1, 2], 2, 1.0) == pytest.approx([0.5, 0.3, 0.2])


def test_what_was_not_offered_loses_less_than_what_was_offered_and_not_chosen() -> None:
    chosen, passed, unknown = weighed([0.4, 0.2, 0.2], [0, 1], 0, 4.0)  # .2 are places that nobody names
    assert chosen == pytest.approx(8 * passed) and unknown == pytest.approx(passed * 0.5 / 0.2) and chosen + passed + unknown < 1


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=9), st.integers(0, 8), st.floats(1, 50))
def test_the_shares_stay_probabilities_and_the_order_of_the_others_stays(weights: list[float], pick: int, odds: float) -> None:
    shares = [weight / sum(weights) for weight in weights]
    offered = list(range(min(5, len(shares))))
    chosen = pick % len(offered)
    after = weighed(shares, offered, chosen, odds)
    assert sum(after) == pytest.approx(1) and all(0 <= share <= 1 for share in after)
    assert after[chosen] >= shares[chosen] - 1e-9
    others = [index for index in offered if index != chosen]
    assert sorted(others, key=lambda index: shares[index]) == sorted(others, key=lambda index: after[index]) or len(set(shares)) < len(shares)


def told_of(made: Decision = CLOSE) -> ask.Question:
    told = question(asked(), made, RECALL, below=0.7)
    assert told is not None
    return told


def test_the_model_overrules_a_close_decision_and_says_over_what() -> None:
    after = fold(CLOSE, told_of(), 2)  # the talk
    assert (after.method, after.parent, after.root) == ("asked", TALK.id, TALK.root)
    assert after.second == KITCHEN.id  # what ranking alone would have chosen stays the secondary branch
    assert after.probability == pytest.approx(0.4 * 4 / (0.4 * 4 + 0.6)) and not after.unsure
    assert [one.probability for one in after.candidates] == sorted((one.probability for one in after.candidates), reverse=True)
    assert after.margin == pytest.approx(after.probability - after.candidates[1].probability)
    assert after.why.startswith("Returns to Volcano talk, Ten slides. The language model was asked and chose it over Kitchen, The wall stays")
    assert after.why.endswith("would have given 48 %. That path was close, so the model that answers was also shown it.")


def test_the_model_agrees() -> None:
    after = fold(CLOSE, told_of(), 1)
    assert (after.parent, after.second) == (KITCHEN.id, TALK.id)
    assert after.probability > 0.7
    assert "unsure (48 %), so the language model was asked: it chose the same over Volcano talk, Ten slides." in after.why


def test_an_unlikely_choice_does_not_win_against_all_else() -> None:
    after = fold(CLOSE, told_of(), 0)  # a new root, at 5 %
    assert (after.method, after.parent, after.second) == ("asked", KITCHEN.id, TALK.id)
    assert "It chose a new topic, but what is known speaks too much against that (5 % before it was asked)." in after.why
    assert after.unsure and "The path of Volcano talk, Ten slides was close" in after.why


def test_a_new_root_can_be_chosen_and_keeps_the_branch_that_was_close() -> None:
    made = decision((BREAD, 0.5), (None, 0.4), (TALK, 0.1))
    after = fold(made, told_of(made), 0)
    assert (after.parent, after.root, after.second) == (None, None, BREAD.id)
    assert after.why.startswith("Begins a new topic. The language model was asked and chose it over Sourdough, 24 hours")


def test_the_active_branch_is_continued_not_returned_to() -> None:
    made = decision((BREAD, 0.5), (TALK, 0.4), (None, 0.1))
    assert fold(made, told_of(made), 2).why.startswith("Continues Sourdough, 24 hours. Ranking alone was unsure (50 %)")


@pytest.mark.parametrize("number", [-1, 4, 99])
def test_a_number_that_was_not_offered_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="wasn't offered"):
        fold(CLOSE, told_of(), number)
