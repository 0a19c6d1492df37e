"""What ranking looks at, out of the database: the same as for a forest held in memory, on which the weights are fitted."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from memory import steps
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_state
from memory.actions.refine import drain
from memory.engine import query, recall
from memory.engine.forest import Lane
from memory.evaluation.streams import MemoryForest
from memory.llm.embed import embedder
from memory.models import InteractionState, PieceVector, RoutingDecision, Turn

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)
TALK = [
    (None, "We redo Greta's kitchen. The wall to the window must stay.", "Noted. How high is the ceiling there? And which extractor do you like?"),
    (1, "It is 2.48 m.", "Good. Options:\n1. A Bosch that recirculates\n2. A Siemens with a pipe through the wall\n3. None at all"),
    (None, "My sourdough needs 24 hours in the fridge, says Ruth.", "24 hours is fine. At what temperature?"),
    (3, "At 4 degrees. Ruth bakes on Fridays.", "Then start on Thursday."),
    (2, "The second one, please.", "The Siemens it is. When does the fitter come?"),
    (2, "Or rather the first.", "The Bosch then."),  # a fork beside the turn before
]
ASKED = ["On Friday at ten. He brings the pipe through the wall.", "How warm for Ruth's 24 hours?", "Who painted the Night Watch?", "The one with the pipe"]


def both(ines: Any, talk: Any = TALK) -> tuple[Any, MemoryForest]:
    forest = create_forest(ines, "Lanes")
    held = MemoryForest(embedder().embed)
    states: list[InteractionState] = []
    for number, (parent, user, answer) in enumerate(talk, 1):
        at = NOON + timedelta(hours=number)
        turn = Turn.objects.create(forest=forest, client_id=f"l-{number}", origin="observed", text=user, sent_at=at)
        above = states[parent - 1] if parent else None
        states.append(steps.commit(turn, steps.placed(forest, user, at, above), answer, generator=""))
        held.add(parent, user, answer, at)
        drain(forest.pk, tell=False)
        forest.refresh_from_db()
    return forest, held


@pytest.mark.parametrize("said", ASKED)
def test_lanes_of_the_database_are_those_of_the_forest_in_memory(said: str, ines: Any) -> None:
    forest, held = both(ines)
    position = dict(InteractionState.objects.in_forest(forest).values_list("pk", "position"))
    later = NOON + timedelta(days=1)
    ours = steps.localize_text(forest, said, later).recall
    theirs, _ = held.recall(query.read(said, later, "UTC"))
    assert {position[branch] for branch in ours.lanes} == set(theirs.lanes) and len(theirs.lanes) == 3
    assert ours.telling == pytest.approx(theirs.telling)
    for branch, lane in ours.lanes.items():
        assert_alike(lane, theirs.lanes[position[branch]], position)
    assert ours.earlier == theirs.earlier == []


def test_of_a_long_input_the_rarest_words_alone_are_looked_up_in_whole_trees(ines: Any) -> None:
    things = re.findall(
        r"\w+",
        "anvil barrel cradle drum easel fiddle goblet hammock icebox jigsaw kettle lantern mallet napkin organ pliers quiver rudder saddle urn vase",
    )
    talk = [(number or None, f"The {thing} goes into the cellar.", "Noted.") for number, thing in enumerate(things)]
    forest, held = both(ines, [*talk, (None, "My sourdough needs 24 hours.", "24 hours is fine.")])
    position = dict(InteractionState.objects.in_forest(forest).values_list("pk", "position"))
    said = f"Of these I want to sell one each week: {', '.join(reversed(things))}."
    ours = steps.localize_text(forest, said, NOON + timedelta(days=2)).recall
    theirs, _ = held.recall(query.read(said, NOON + timedelta(days=2), "UTC"))
    [lane] = [lane for lane in theirs.lanes.values() if len(lane.latest) > 1]
    assert 0 < len(set(things) - lane.terms) < len(things)  # not all of them, or the test says nothing
    for branch, own in ours.lanes.items():
        assert_alike(own, theirs.lanes[position[branch]], position)


def test_all_other_open_branches_are_looked_at_where_they_end_and_began(ines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "LANE_LIMIT", 2)
    monkeypatch.setattr(recall, "RECENT_BRANCHES", 1)
    forest, held = both(ines, [*TALK, (None, "Our cat Miso is ill.", "Since when?"), (7, "Since Monday.", "Call the vet."), (None, "A poem?", "Here it is.")])
    position = dict(InteractionState.objects.in_forest(forest).values_list("pk", "position"))
    said = "The vet found a tooth of Miso's that has to be pulled."
    for as_of in (None, 8):
        ours = steps.localize_text(forest, said, NOON + timedelta(days=1), as_of=as_of).recall
        whole = {position[branch] for branch in ours.lanes}
        assert len(whole) == 2 and whole | {position[int(branch)] for branch in ours.further.branches} == {1, 3, 6, 7, *([9] if as_of is None else [])}
        assert set(ours.tips.values()) <= set(ours.ends)
    theirs, _ = held.recall(query.read(said, NOON + timedelta(days=1), "UTC"))
    ours = steps.localize_text(forest, said, NOON + timedelta(days=1)).recall
    assert ours.further and theirs.further and len(theirs.further) == 3
    assert [position[int(branch)] for branch in ours.further.branches] == theirs.further.branches.tolist()
    for at in range(3):
        assert_alike(ours.further.lane(at), theirs.further.lane(at), position)


@pytest.mark.parametrize("said", ASKED)
def test_a_branch_that_took_in_a_turn_unsurely_is_also_a_place_as_it_stood_before(said: str, ines: Any) -> None:
    forest, held = both(ines)
    position = dict(InteractionState.objects.in_forest(forest).values_list("pk", "position"))
    for state, probability in ((2, 0.79), (4, 0.9), (5, 0.4)):
        turn = Turn.objects.get(state__position=state, forest=forest)
        RoutingDecision.objects.update_or_create(
            forest=forest, turn=turn, defaults={"method": "recall", "probability": probability, "margin": 0.1, "threshold": 0.0}
        )
        held._placed[state - 1] = probability
    later = NOON + timedelta(days=1)
    ours = steps.localize_text(forest, said, later).recall
    theirs, _ = held.recall(query.read(said, later, "UTC"))
    assert [(position[lane.tip.id], position[lane.aside or 0]) for lane in ours.earlier] == [(2, 5), (1, 2)]
    for lane, other in zip(ours.earlier, theirs.earlier, strict=True):
        assert_alike(lane, other, position)
    for branch, lane in ours.lanes.items():
        assert_alike(lane, theirs.lanes[position[branch]], position)


def assert_alike(lane: Lane, other: Lane, position: dict[int, int]) -> None:
    """A lane of the database, whose states have these positions, is one of the forest in memory, whose ids are positions; vectors are half floats."""
    assert position[lane.tip.id] == other.tip.id and [position[state] for state in lane.latest] == list(other.latest)
    assert {position[state]: cosine for state, cosine in lane.turns.items()} == pytest.approx(other.turns, abs=0.002)
    assert lane.near == pytest.approx(other.near, abs=0.002)
    assert lane.described == pytest.approx(other.described, abs=0.002)
    assert {(position[state], number): text for (state, number), text in lane.questions.items()} == other.questions
    assert list(lane.sentences) == pytest.approx(list(other.sentences), abs=0.002)
    assert {(position[state], number): cosine for (state, number), cosine in lane.pieces.items()} == pytest.approx(other.pieces, abs=0.002)
    assert {(position[state], number): cosine for (state, number), cosine in lane.answered.items()} == pytest.approx(other.answered, abs=0.002)
    assert (lane.terms, lane.tip_terms, lane.root_terms, lane.names) == (other.terms, other.tip_terms, other.root_terms, other.names)
    assert {position[state]: words for state, words in lane.words.items()} == other.words
    assert {position[state]: cosine for state, cosine in lane.joined.items()} == pytest.approx(other.joined, abs=0.002)
    assert {position[state]: share for state, share in lane.placed.items()} == other.placed
    assert (position[lane.aside] if lane.aside else None) == other.aside


def test_a_lane_says_how_surely_its_states_were_put_there_and_a_person_s_word_is_sure(ines: Any) -> None:
    forest = create_forest(ines, "Lanes")
    states, decisions = [], []
    for number, (user, answer, by_hand) in enumerate([(TALK[0][1], TALK[0][2], False), (TALK[1][1], TALK[1][2], False), (TALK[4][1], TALK[4][2], True)]):
        at = NOON + timedelta(hours=number)
        turn = Turn.objects.create(forest=forest, client_id=f"l-{number}", origin="observed", text=user, sent_at=at)
        place = steps.placed(forest, user, at, states[0]) if by_hand else steps.localize_text(forest, user, at)
        decisions.append(place.decision)
        states.append(steps.commit(turn, place, answer, generator=""))
        drain(forest.pk, tell=False)
        forest.refresh_from_db()
    placed = {
        state: share for lane in steps.localize_text(forest, "And now?", NOON + timedelta(days=1)).recall.lanes.values() for state, share in lane.placed.items()
    }
    assert placed == pytest.approx({states[0].pk: decisions[0].probability, states[1].pk: decisions[1].probability, states[2].pk: 1.0})
    assert decisions[1].probability < 1


def test_a_turn_has_its_user_s_words_as_a_vector_before_it_is_refined(ines: Any) -> None:
    forest = create_forest(ines, "Lanes")
    turn = Turn.objects.create(forest=forest, client_id="l-1", origin="observed", text=TALK[0][1], sent_at=NOON)
    state = steps.commit(turn, steps.placed(forest, turn.text, NOON, None), TALK[0][2], generator="")
    assert list(PieceVector.objects.filter(state=state).values_list("number", flat=True)) == [0]
    drain(forest.pk, tell=False)
    assert set(PieceVector.objects.filter(state=state).values_list("number", flat=True)) == {0, 1, 2, 10, 20, 21}


@pytest.mark.parametrize(("kept", "read"), [(-7.5, 0.0), (3.0, 1.0), (float("nan"), 1.0), (float("-inf"), 0.0)])
def test_a_chance_that_is_none_counts_as_the_nearest_that_is_one(kept: float, read: float, ines: Any) -> None:
    forest, _ = both(ines)
    state = InteractionState.objects.in_forest(forest).earliest("position")
    RoutingDecision.objects.update_or_create(
        forest=forest, turn=state.turn, defaults={"method": "recall", "probability": kept, "margin": 0.0, "threshold": 0.0}
    )
    found = steps.localize_text(forest, "And now?", NOON + timedelta(days=1)).recall
    assert {lane.placed[state.pk] for lane in found.lanes.values() if state.pk in lane.placed} == {read}


def test_a_place_before_an_unsure_turn_that_is_deleted_while_it_is_looked_at_is_left_out(ines: Any) -> None:
    forest, _ = both(ines)
    states = {state.position: state for state in InteractionState.objects.in_forest(forest)}
    RoutingDecision.objects.update_or_create(
        forest=forest, turn=states[5].turn, defaults={"method": "recall", "probability": 0.4, "margin": 0.1, "threshold": 0.0}
    )
    gone = states[2]  # where the branch ended before that turn
    deleted: list[int] = []

    def between(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if "lag(v.vector)" in sql and not deleted:
            deleted.append(gone.pk)
            delete_state(gone, "children_to_parent", ines)
        return found

    with connection.execute_wrapper(between):
        place = steps.localize_text(forest, "How warm for Ruth's 24 hours?", NOON + timedelta(days=1))
    assert deleted and gone.pk not in place.recall.ends
    assert {states[4].branch_id, states[5].branch_id, states[6].branch_id} == place.recall.lanes.keys() and not place.recall.earlier
