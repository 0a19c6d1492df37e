"""Two paths in one statement: each as it is read alone, with the names that states are known under."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memory import steps
from memory.actions.create_forest import create_forest
from memory.models import InteractionState, Turn
from memory.store import read

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)


def test_paths_that_share_states_are_those_read_alone(ines: Any) -> None:
    forest = create_forest(ines, "Paths")
    states: list[InteractionState] = []
    for number, above in enumerate([None, 0, 1, 1, None]):
        turn = Turn.objects.create(forest=forest, client_id=f"p-{number}", origin="chat" if number == 3 else "observed", text=f"Turn {number}", sent_at=NOON)
        parent = states[above] if above is not None else None
        states.append(steps.commit(turn, steps.placed(forest, turn.text, NOON, parent), "Noted.", generator=""))
    ends = [states[2].pk, states[3].pk, states[1].pk]
    paths, names = read.paths(forest.pk, ends)
    assert paths == {end: read.path(forest.pk, end) for end in ends}
    assert [len(paths[end]) for end in ends] == [3, 3, 2]
    assert names == read.names(forest.pk, [state.pk for state in states[:4]]) == {states[0].pk: "p-0", states[1].pk: "p-1", states[2].pk: "p-2"}
    assert read.paths(create_forest(ines, "Another").pk, ends) == ({}, {})
