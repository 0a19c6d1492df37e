"""Moving a state takes what follows it along, keeps the history, and can't tie a knot."""

import pytest
from django.db.models import F

from memory.actions.reroute import reroute
from memory.actions.structure import standings
from memory.errors import Refused
from memory.models import AuditEntry, InteractionState, Outbox, ParentChange, Topic

pytestmark = pytest.mark.django_db


def at(state):
    state.refresh_from_db()
    return state.parent_id, state.root_id, state.branch_id, state.depth


def check_standings(forest):
    """Root, branch and depth of every state are what its edges say."""
    rows = list(InteractionState.objects.in_forest(forest).order_by("position"))
    expected = standings({row.pk: row.parent_id for row in rows})
    assert {row.pk: (row.root_id, row.branch_id, row.depth) for row in rows} == {pk: (s.root, s.branch, s.depth) for pk, s in expected.items()}


def test_the_planted_forest_stands_as_its_edges_say(home):
    check_standings(home.forest)


def test_a_subtree_moves_under_another_tree(home, omar):
    version, active = home.forest.version, home.forest.active_state_id
    answer = reroute(home.filters, home.garden, omar)
    assert at(home.filters) == (home.garden.pk, home.garden.pk, home.garden.pk, 1)
    assert answer["state"]["root"] == home.garden.pk and answer["tree"]["topic"] == "Garden" and answer["preview"] is False
    check_standings(home.forest)
    home.forest.refresh_from_db()
    assert (home.forest.version, home.forest.active_state_id) == (version + 1, active)
    change = ParentChange.objects.get()
    assert (change.old_parent_id, change.new_parent_id, change.at_position, change.by_user) == (home.hood.pk, home.garden.pk, 6, omar)
    home.filters.turn.decision.refresh_from_db()
    decision = home.filters.turn.decision
    assert (decision.method, decision.chosen_id, decision.corrected_by, decision.unsure) == ("corrected", home.garden.pk, omar, False)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.actor, entry.forest_number) == ("move", f"state {home.filters.pk}", omar, home.forest.pk)
    assert Outbox.objects.get().kind == "refine"
    assert home.filters.refined_at is None and home.filters.path_summary == ""


def test_moving_to_a_root_plants_a_tree(home, ines):
    reroute(home.hood, None, ines)
    assert at(home.hood) == (None, home.hood.pk, home.hood.pk, 0)
    assert at(home.filters) == (home.hood.pk, home.hood.pk, home.hood.pk, 1)
    assert Topic.objects.get(root=home.hood).order == 2
    # The fork at quotes is gone: tiles go on with the branch.
    assert at(home.tiles) == (home.quotes.pk, home.kitchen.pk, home.kitchen.pk, 2)
    check_standings(home.forest)


def test_a_root_that_joins_another_tree_fells_its_own(home, ines):
    reroute(home.garden, home.kitchen, ines)
    assert not Topic.objects.filter(root=home.garden).exists()
    assert at(home.garden) == (home.kitchen.pk, home.kitchen.pk, home.garden.pk, 1)
    check_standings(home.forest)


def test_an_earlier_child_takes_over_the_branch(home, ines):
    reroute(home.filters, home.kitchen, ines)  # later than quotes: opens a branch
    assert at(home.filters)[2] == home.filters.pk
    reroute(home.quotes, None, ines)
    assert at(home.filters)[2] == home.kitchen.pk
    check_standings(home.forest)


@pytest.mark.parametrize(("moved", "target"), [("quotes", "filters"), ("quotes", "quotes"), ("hood", "tiles"), ("hood", "quotes"), ("garden", None)])
def test_knots_later_parents_and_nothing_new_are_refused(home, ines, moved, target):
    before = list(InteractionState.objects.order_by("pk").values())
    with pytest.raises(Refused) as refused:
        reroute(getattr(home, moved), getattr(home, target) if target else None, ines)
    assert refused.value.status == 409
    assert list(InteractionState.objects.order_by("pk").values()) == before
    assert not ParentChange.objects.exists() and not AuditEntry.objects.exists()


def test_a_preview_changes_nothing(home, ines):
    before = list(InteractionState.objects.order_by("pk").values())
    answer = reroute(home.hood, home.kitchen, ines, preview=True)
    assert (answer["preview"], answer["counts"], answer["used_by"], answer["evidence"], answer["later"]) == (True, {"states": 2, "used_by": 0}, [], 0, 3)
    assert [tree["topic"] for tree in answer["trees"]] == ["Kitchen"]
    assert list(InteractionState.objects.order_by("pk").values()) == before
    assert not AuditEntry.objects.exists()


def test_pages_are_told_of_every_state_that_moved(home, ines, monkeypatch, django_capture_on_commit_callbacks):
    told = []
    monkeypatch.setattr("memory.messages.publish", lambda forest, turn, kind, payload: told.append((kind, payload["state"]["id"], payload["tree"]["root"])))
    with django_capture_on_commit_callbacks(execute=True):
        reroute(home.hood, home.garden, ines) if home.garden.position < home.hood.position else reroute(home.filters, home.garden, ines)
    assert told == [("state.changed", home.filters.pk, home.garden.pk)]


def test_another_forests_states_cannot_be_parents(home, omar, ines):
    from tests.forests import plant, say

    theirs = say(plant(omar), "Theirs")
    InteractionState.objects.filter(pk=theirs.pk).update(position=F("position"))
    with pytest.raises(Refused):
        reroute(home.filters, theirs, ines)
