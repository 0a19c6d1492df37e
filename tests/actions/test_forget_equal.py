"""D2: after a deletion and its refinement, memory equals that of a forest built without the deleted turn (same parents, offline engine)."""

from __future__ import annotations

import pytest

from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_state
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.reroute import reroute
from memory.models import EVIDENCE_MODELS, AtomicFact, InteractionState, Posting, TermStat, Topic
from memory.steps import plan_refinement
from memory.store import refine as store

pytestmark = pytest.mark.django_db

TURNS = [
    ("kitchen", None, "I am planning our kitchen. The kitchen budget is €20,000.", "Noted."),
    ("oven", "kitchen", "Which oven should we take? The oven must be under €900.", "1. Bosch HBG\n2. Siemens HB\n3. Neff B3"),
    ("raise", "oven", "The kitchen budget is now €21,500.", "Updated."),
    ("tiles", "raise", "We visited the tile shop in Porto on 3 March 2026.", "Nice."),
    ("garden", None, "Let us plan the garden. The garden budget is €3,000.", "Good."),
    ("hood", "kitchen", "The hood must be recirculating.", "Understood."),
    ("grout", "tiles", "What is the kitchen budget?", "€21,500."),
]


def grow(owner, name, without=()):
    """The forest with all turns but those left out; children of what is left out hang from its parent."""
    parents = {key: parent for key, parent, *_ in TURNS}
    forest = create_forest(owner, name)
    for number, (key, parent, user, assistant) in enumerate(TURNS):
        if key in without:
            continue
        while parent in without:
            parent = parents[parent]
        place = {"parent": parent} if parent else {"new_root": True}
        observe(forest, [{"id": key, "user": user, "assistant": assistant, "time": f"2026-03-{number + 5:02d}T10:00:00Z", **place}])
        drain(forest.pk)
    return forest


def memory_of(forest):
    """Everything derived, with ids and positions replaced by the turns' names."""
    states = {state.pk: state for state in InteractionState.objects.in_forest(forest).select_related("turn")}
    name = {pk: state.turn.client_id for pk, state in states.items()}
    evidence = []
    for kind, model in EVIDENCE_MODELS.items():
        rows = {row.pk: row for row in model.objects.in_forest(forest)}
        for row in rows.values():
            newer = rows[row.superseded_by_id].text if row.superseded_by_id else None
            evidence.append((kind, name[row.state_id], row.text, row.slot, row.value, row.status, newer, [name[source] for source in row.sources]))
    return {
        "states": sorted(
            (
                name[pk],
                name.get(s.parent_id),
                name[s.root_id],
                name[s.branch_id],
                s.depth,
                s.node_summary,
                s.path_summary,
                tuple(s.entities),
                s.refined_at is None,
            )
            for pk, s in states.items()
        ),
        "evidence": sorted(evidence),
        "topics": sorted((name[t.root_id], t.key, tuple(t.variants), tuple(t.stems)) for t in Topic.objects.in_forest(forest)),
        "postings": sorted((p.kind, p.term, name[p.state_id], p.count) for p in Posting.objects.in_forest(forest)),
        "terms": sorted(TermStat.objects.in_forest(forest).values_list("kind", "term", "states")),
        "active": name.get(type(forest).objects.get(pk=forest.pk).active_state_id),
    }


@pytest.mark.parametrize("gone", ["raise", "tiles", "kitchen"])
def test_memory_equals_that_of_a_forest_without_the_turn(ines, gone):
    forest, other = grow(ines, "With"), grow(ines, "Without", {gone})
    delete_state(InteractionState.objects.get(forest=forest, turn__client_id=gone), "children_to_parent", ines)
    drain(forest.pk)
    with_it, without = memory_of(forest), memory_of(other)
    for part in without:
        assert with_it[part] == without[part], part


def test_what_leans_on_its_path_is_read_anew_where_it_is_moved(ines):
    forest = grow(ines, "Moved")
    given = {"id": "less", "user": "Make it €2,000 then.", "assistant": "Done.", "time": "2026-03-20T10:00:00Z", "parent": "grout"}
    observe(forest, [given])
    drain(forest.pk)
    budgets = AtomicFact.objects.filter(forest=forest, slot__contains="budget", status="current")
    assert sorted(budgets.values_list("value", flat=True)) == ["€2,000", "€3,000"]
    less, garden = (InteractionState.objects.get(forest=forest, turn__client_id=key) for key in ("less", "garden"))
    plan = plan_refinement(forest.pk, less.pk)
    token = store.take_lease(forest.pk, "a worker under way")
    reroute(less, garden, ines)
    assert sorted(budgets.values_list("value", flat=True)) == ["€21,500", "€3,000"]
    with pytest.raises(store.LeaseLostError):
        store.apply(forest.pk, token, plan)
    drain(forest.pk)
    assert sorted(budgets.values_list("value", flat=True)) == ["€2,000", "€21,500"]


def test_a_move_there_and_back_leaves_the_memory_as_it_was(ines):
    forest = grow(ines, "Moved")
    before = memory_of(forest)
    hood, kitchen, garden = (InteractionState.objects.get(forest=forest, turn__client_id=key) for key in ("hood", "kitchen", "garden"))
    reroute(hood, garden, ines)
    drain(forest.pk)
    assert memory_of(forest)["states"] != before["states"]
    reroute(hood, kitchen, ines)
    drain(forest.pk)
    after = memory_of(forest)
    for part in ("states", "evidence", "terms", "postings", "active"):
        assert after[part] == before[part], part
