"""A seeded forest is one that the rest of ArborWeb can use: its indexes agree with its states, and it is recalled from and added to like any other."""

from collections import Counter

import pytest

from memory import steps
from memory.actions.create_forest import create_forest
from memory.evaluation import seeding, synthetic
from memory.llm.embed import embedder
from memory.models import AtomicFact, InteractionState, Posting, StateVector, TermStat, Topic, Turn
from memory.store import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def seeded(ines):
    forest = create_forest(ines, "Seeded")
    turns = list(synthetic.history(60, trees=5, seed=3))
    seeding.seed(forest, turns, embedder().embed)
    return forest, turns


def test_indexes_agree_with_the_states(seeded):
    forest, turns = seeded
    postings = Posting.objects.in_forest(forest)
    assert {(row.kind, row.term): row.states for row in TermStat.objects.in_forest(forest) if row.kind != 2} == Counter(
        postings.exclude(kind=2).values_list("kind", "term")
    )
    states = list(InteractionState.objects.in_forest(forest))
    assert [state.position for state in states] == list(range(1, 61)) and forest.last_position == forest.indexed_states == 60
    assert forest.indexed_terms == sum(state.length for state in states)
    assert [None if state.parent_id is None else state.parent_id - states[0].pk for state in states] == [made.parent for made in turns]
    assert Topic.objects.in_forest(forest).count() == 5 and AtomicFact.objects.in_forest(forest).count() == 30
    assert StateVector.objects.in_forest(forest).count() == 60 * 2 + 5 + 30


def test_it_is_recalled_from_and_grows(seeded):
    forest, turns = seeded
    place = steps.localize_text(forest, turns[40].user, turns[-1].time)
    assert place.decision.candidates and steps.assemble(forest, place, 2_000)[0].tokens > 0
    parent = InteractionState.objects.in_forest(forest).get(position=41)
    turn = Turn.objects.create(forest=forest, client_id="next", origin="observed", text="More of it.", sent_at=turns[-1].time)
    steps.commit(turn, steps.placed(forest, "More of it.", turns[-1].time, parent), "Yes.", generator="")
    new = InteractionState.objects.in_forest(forest).get(position=61)
    assert [state.id for state in read.path(forest.pk, new.pk)][-2:] == [parent.pk, new.pk]
