"""Undo brings back what was before, or says why it can't; what was forgotten isn't told of."""

from __future__ import annotations

import pytest

from memory.actions.forget import delete_state
from memory.actions.reroute import Move, reroute, reroute_many
from memory.actions.revise import revise
from memory.actions.undo import blocked, undo
from memory.errors import Refused
from memory.models import AtomicFact, AuditEntry, Change, ChangedItem, InteractionState, ParentChange, Revision, StateVector, Topic
from tests.actions.test_reroute import at, check_standings
from tests.forests import learn

pytestmark = pytest.mark.django_db
BUDGET = {"slot": "kitchen|budget", "subject": "kitchen"}


@pytest.fixture
def budget(home):
    old = learn(home.kitchen, "Budget is 20,000", value="20000", **BUDGET)
    new = learn(home.hood, "Budget is 21,500", value="21500", replaces=old, **BUDGET)
    return old, new


def held():
    facts = list(AtomicFact.objects.order_by("pk").values("id", "text", "status", "superseded_by", "valid_to", "known_until", "pinned"))
    return facts, list(Revision.objects.order_by("pk").values()), list(StateVector.objects.filter(kind="fact").order_by("pk").values_list("item"))


def latest():
    return Change.objects.latest("pk")


@pytest.mark.parametrize("do", ["retract", "pin", "unpin", "quarantine", "edit"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_word_on_a_fact_is_undone_exactly(budget, ines, do, which):
    before = held()
    revise(budget[which], do, ines, **({"text": "Budget is 22,000", "value": "22000"} if do == "edit" else {}))
    assert do == "unpin" or held() != before
    undo(latest(), ines)
    assert held() == before
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == [do, "undo"]


def test_what_was_said_again_has_the_time_it_had(budget, ines):
    _, new = budget
    for do in ("retract", "restore"):
        revise(new, do, ines)
    before = held()
    revise(new, "retract", ines)
    assert Revision.objects.filter(verdict="retracted").count() == 1
    undo(latest(), ines)
    assert held() == before


def test_a_value_learned_since_stays_and_counts(budget, home, ines):
    _, new = budget
    revise(new, "retract", ines)
    change = latest()
    learn(home.filters, "Budget is 23,000", value="23000", **BUDGET)
    undo(change, ines)
    assert list(AtomicFact.objects.order_by("pk").values_list("status", flat=True)) == ["superseded", "superseded", "current"]


def test_the_later_change_of_a_fact_is_undone_first(budget, ines):
    old, new = budget
    first = revise(new, "edit", ines, text="Budget is 22,000", value="22000")
    revise(AtomicFact.objects.get(pk=first["id"]), "pin", ines)
    second = latest()
    revise(old, "pin", ines)  # another fact: rests on nothing
    with pytest.raises(Refused, match="changed again since") as refused:
        undo(Change.objects.get(pk=first["change"]), ines)
    assert refused.value.status == 409
    undo(second, ines)
    undo(Change.objects.get(pk=first["change"]), ines)
    assert not AtomicFact.objects.filter(pk=first["id"]).exists()


def test_nothing_is_undone_twice(budget, ines):
    revise(budget[0], "pin", ines)
    undo(latest(), ines)
    with pytest.raises(Refused, match="undone already"):
        undo(latest(), ines)


def test_a_move_is_undone_with_its_decision(home, ines):
    decision = home.filters.turn.decision
    before = (decision.method, decision.chosen_id, decision.unsure, decision.corrected_by_id, decision.corrected_at)
    answer = reroute(home.filters, home.garden, ines)
    undo(Change.objects.get(pk=answer["change"]), ines)
    assert at(home.filters) == (home.hood.pk, home.kitchen.pk, home.kitchen.pk, 3)
    decision.refresh_from_db()
    assert (decision.method, decision.chosen_id, decision.unsure, decision.corrected_by_id, decision.corrected_at) == before
    check_standings(home.forest)


def test_of_two_moves_the_later_is_undone_first_and_leaves_the_first_correction(home, ines, omar):
    first = reroute(home.filters, home.garden, omar)["change"]
    second = reroute(home.filters, home.kitchen, ines)["change"]
    with pytest.raises(Refused, match="moved again since"):
        undo(Change.objects.get(pk=first), ines)
    undo(Change.objects.get(pk=second), ines)
    decision = home.filters.turn.decision
    decision.refresh_from_db()
    assert (decision.method, decision.chosen_id, decision.corrected_by) == ("corrected", home.garden.pk, omar)
    undo(Change.objects.get(pk=first), ines)
    decision.refresh_from_db()
    assert (decision.method, decision.chosen_id, decision.corrected_by) == ("recall", home.hood.pk, None)


@pytest.mark.parametrize("taken", [False, True])
def test_a_root_that_comes_back_has_the_colour_it_had_unless_another_has_it_now(home, ines, taken):
    change = reroute(home.garden, home.kitchen, ines)["change"]
    assert not Topic.objects.filter(root=home.garden).exists()
    if taken:
        reroute(home.tiles, None, ines)
    undo(Change.objects.get(pk=change), ines)
    orders = {home.kitchen.pk: 0, home.tiles.pk: 1, home.garden.pk: 2} if taken else {home.kitchen.pk: 0, home.garden.pk: 1}
    assert dict(Topic.objects.values_list("root_id", "order")) == orders


def test_several_moves_are_one_change(home, ines):
    before = list(InteractionState.objects.order_by("pk").values_list("parent_id", "root_id", "branch_id", "depth"))
    answer = reroute_many(home.forest, [Move(home.tiles.pk, home.garden.pk), Move(home.filters.pk, home.tiles.pk), Move(home.hood.pk, None)], ines)
    assert answer["moved"] == 3 and ParentChange.objects.filter(change=answer["change"]).count() == 3
    assert at(home.filters) == (home.tiles.pk, home.garden.pk, home.garden.pk, 2)
    check_standings(home.forest)
    undo(Change.objects.get(pk=answer["change"]), ines)
    assert list(InteractionState.objects.order_by("pk").values_list("parent_id", "root_id", "branch_id", "depth")) == before


def test_of_several_moves_all_are_made_or_none(home, ines):
    with pytest.raises(Refused):
        reroute_many(home.forest, [Move(home.tiles.pk, home.garden.pk), Move(home.quotes.pk, home.filters.pk)], ines)
    assert at(home.tiles)[0] == home.quotes.pk and not Change.objects.exists()


def test_where_the_place_it_came_from_is_gone_it_says_so(home, ines):
    change = reroute(home.filters, home.garden, ines)["change"]
    delete_state(home.hood, "children_to_parent", ines)
    with pytest.raises(Refused, match="was deleted"):
        undo(Change.objects.get(pk=change), ines)


def test_what_is_forgotten_is_no_longer_told_of(budget, home, ines):
    shown = revise(budget[1], "edit", ines, text="Budget is 22,000", value="22000")
    revise(budget[0], "pin", ines)
    delete_state(home.hood, "children_to_parent", ines)
    assert list(ChangedItem.objects.values_list("item", flat=True)) == [budget[0].pk]
    assert not Change.objects.filter(pk=shown["change"]).exists()


def test_changes_hold_no_content(budget, home, ines):
    revise(budget[1], "edit", ines, text="Budget is zyzzyva", value="zyzzyva")
    reroute(home.filters, home.garden, ines)
    assert "zyzzyva" not in str([list(model.objects.values()) for model in (Change, ChangedItem, ParentChange)])
    assert blocked(list(Change.objects.all())) == dict.fromkeys(Change.objects.values_list("pk", flat=True))
