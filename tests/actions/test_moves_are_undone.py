"""Property: a turn moved there and back, or any change undone, leaves the forest equal by content, but for history and audit (tests/equal.py)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.actions.refine import drain
from memory.actions.reroute import Move, reroute, reroute_many
from memory.actions.revise import revise
from memory.actions.undo import undo
from memory.errors import Refused
from memory.models import Change, Forest, InteractionState, Revision
from memory.store.changes import told
from tests.actions.test_reroute import check_standings
from tests.equal import contents, differences
from tests.random_forests import apart, embedding_once, forests, grow, places, quick, rows, states  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedding_once")]
WORDS = ["retract", "restore", "pin", "unpin", "quarantine", "edit"]


def say_of_something(data: Any, forest: Forest, by: Any) -> Any:
    """A person's word on a fact or record that allows it; the row and what was done, or None where there is none."""
    known = rows(forest)
    if not known:
        return None
    row, do = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(WORDS))
    more = {"text": "It is €5,555 after all.", "value": "€5,555"} if do == "edit" else {}
    try:
        return row, revise(row, do, by, **more)["change"]
    except Refused as refused:
        assert refused.status == 409
        return None


def columns(row: Any) -> tuple[Any, ...]:
    row.refresh_from_db()
    status = row.status if row.status in ("retracted", "quarantined") else "in play"  # what else holds in its slot may be elsewhere
    return row.state_id, row.number, row.text, row.slot, row.value, status, row.pinned, row.made_by


@quick
@given(grown=forests(), data=st.data())
def test_a_turn_moved_there_and_back_leaves_an_equal_forest(ines, grown, data):
    with apart():
        forest = grow(ines, grown)
        for _ in range(data.draw(st.integers(0, 2))):
            say_of_something(data, forest, ines)
        before = contents(forest)
        movable = [state for state in states(forest) if places(forest, state)]
        state = data.draw(st.sampled_from(movable))
        home: InteractionState | None = state.parent
        kept = [row for row in rows(forest) if row.pinned or row.made_by == "user" or row.status in ("retracted", "quarantined")]
        as_they_were = [columns(row) for row in kept]
        reroute(state, data.draw(st.sampled_from(places(forest, state))), ines)
        drain(forest.pk)
        check_standings(forest)
        assert [columns(row) for row in kept] == as_they_were
        state.refresh_from_db()
        reroute(state, home, ines)
        drain(forest.pk)
        assert differences(before, contents(forest)) == []


@quick
@given(grown=forests(), data=st.data())
def test_whatever_was_changed_is_undone_step_by_step(ines, grown, data):
    with apart():
        forest = grow(ines, grown)
        done: list[tuple[dict[str, Any], int]] = []
        for _ in range(data.draw(st.integers(1, 4))):
            before = contents(forest)
            change = _do(data, forest, ines)
            drain(forest.pk)
            if change is not None:
                done.append((before, change))
        for before, change in reversed(done):
            undo(Change.objects.get(pk=change), ines)
            drain(forest.pk)
            assert differences(before, contents(forest)) == []
            check_standings(forest)


def _do(data: Any, forest: Forest, by: Any) -> int | None:
    what = data.draw(st.sampled_from(["say", "say", "move", "moves"]))
    if what == "say":
        said = say_of_something(data, forest, by)
        return said[1] if said else None
    movable = [state for state in states(forest) if places(forest, state)]
    if not movable:
        return None
    if what == "move":
        state = data.draw(st.sampled_from(movable))
        change: int = reroute(state, data.draw(st.sampled_from(places(forest, state))), by)["change"]
        return change
    chosen = data.draw(st.lists(st.sampled_from(movable), min_size=1, max_size=3, unique_by=lambda state: state.pk))
    moves = [(state, data.draw(st.sampled_from(places(forest, state)))) for state in chosen]
    try:
        several: int = reroute_many(forest, [Move(state.pk, place.pk if place else None) for state, place in moves], by)["change"]
        return several
    except Refused as refused:  # one of them below another that moved
        assert refused.status == 409
        return None


def test_a_value_that_was_away_for_a_while_leaves_no_replacement_behind_that_never_held(ines):
    forest = grow(ines, [(1, -1), (4, 0), (3, 0)])  # €20,000, then €19,000, then €21,500

    def replacements():
        shown = Revision.objects.filter(told("old_item", "new_item"), forest=forest, verdict="superseded")
        return sorted(shown.values_list("old_item", "new_item"))

    before = replacements()
    assert len(before) == 2
    kitchen, between, _ = states(forest)
    reroute(between, None, ines)
    [(first, _), (_, last)] = before
    assert replacements() == [(first, last)]
    drain(forest.pk)
    reroute(between, kitchen, ines)
    drain(forest.pk)
    assert replacements() == before


def test_a_turn_that_is_read_again_as_before_keeps_its_rows_and_what_names_them(ines):
    forest = grow(ines, [(1, -1), (7, -1), (5, 0)])
    before = {(row._meta.model_name, row.pk) for row in rows(forest)}
    oven = states(forest)[2]
    reroute(oven, states(forest)[1], ines)
    assert {row.state_id for row in rows(forest)} == {states(forest)[0].pk, states(forest)[1].pk}
    drain(forest.pk)
    reroute(oven, states(forest)[0], ines)
    drain(forest.pk)
    assert {(row._meta.model_name, row.pk) for row in rows(forest)} == before


def test_a_root_is_in_its_first_place_again_though_it_was_a_root_in_another_place_meanwhile(ines):
    forest = grow(ines, [(7, -1), (3, 0), (0, -1), (4, -1)])
    before = [contents(forest)]
    first, below, second, third = states(forest)
    changes = [reroute(second, below, ines)["change"]]
    drain(forest.pk)
    before.append(contents(forest))
    changes.append(reroute_many(forest, [Move(below.pk, None), Move(second.pk, None), Move(third.pk, first.pk)], ines)["change"])
    drain(forest.pk)
    before.append(contents(forest))
    changes.append(reroute(InteractionState.objects.get(pk=second.pk), first, ines)["change"])
    drain(forest.pk)
    for then, change in zip(reversed(before), reversed(changes), strict=True):
        undo(Change.objects.get(pk=change), ines)
        drain(forest.pk)
        assert differences(then, contents(forest)) == []
