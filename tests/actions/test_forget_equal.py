"""D2: after a deletion and its refinement, memory equals that of a forest built without the deleted turn (same parents, offline engine)."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_state
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.reroute import reroute
from memory.models import EVIDENCE_MODELS, AtomicFact, Forest, InteractionState, Posting, Revision, StateVector, TermStat, Topic
from memory.refining import plan
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


def grow(owner, name, without=(), turns=TURNS):
    """The forest with all turns but those left out; children of what is left out hang from its parent."""
    parents = {key: parent for key, parent, *_ in turns}
    forest = create_forest(owner, name)
    for number, (key, parent, user, assistant) in enumerate(turns):
        if key in without:
            continue
        while parent in without:
            parent = parents[parent]
        place = {"parent": parent} if parent else {"new_root": True}
        observe(forest, [{"id": key, "user": user, "assistant": assistant, "time": f"2026-03-{number + 1:02d}T10:00:00Z", **place}])
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
        "replacements": replacements_of(forest),
        "topics": sorted((name[t.root_id], t.key, tuple(t.variants), tuple(t.stems)) for t in Topic.objects.in_forest(forest)),
        "postings": sorted((p.kind, p.term, name[p.state_id], p.count) for p in Posting.objects.in_forest(forest)),
        "terms": sorted(TermStat.objects.in_forest(forest).values_list("kind", "term", "states")),
        "active": name.get(type(forest).objects.get(pk=forest.pk).active_state_id),
        "index": Forest.objects.filter(pk=forest.pk).values_list("indexed_states", "indexed_terms").get(),
        "refined by": sorted((name[pk], s.refined_by, tuple(s.keywords), s.tokens, s.length) for pk, s in states.items()),
    }


def replacements_of(forest):
    """Which value is told to have replaced which, and since when, by the turn's name."""
    at = dict(InteractionState.objects.in_forest(forest).values_list("position", "turn__client_id"))
    words = {(kind, row.pk): row.text for kind, model in EVIDENCE_MODELS.items() for row in model.objects.in_forest(forest)}
    rows = Revision.objects.in_forest(forest).filter(by="rule", verdict="superseded")
    return sorted((row.kind, words[row.kind, row.old_item], words[row.kind, row.new_item], at[row.at_position]) for row in rows)


def vectors_of(forest):
    """Every vector by its turn, its kind and the words of its item."""
    words = {(kind, row.pk): row.text for kind, model in EVIDENCE_MODELS.items() for row in model.objects.in_forest(forest)}
    rows = StateVector.objects.in_forest(forest).select_related("state__turn")
    return {(row.state.turn.client_id, row.kind, words.get((row.kind, row.item), "")): np.array(list(row.vector)) for row in rows}


def assert_equal(one, other):
    mine, theirs = memory_of(one), memory_of(other)
    for part in theirs:
        assert mine[part] == theirs[part], part
    ours, expected = vectors_of(one), vectors_of(other)
    assert set(ours) == set(expected)
    assert all(np.allclose(ours[key], expected[key], atol=0.02) for key in expected)


@pytest.mark.parametrize("gone", ["raise", "tiles", "kitchen"])
def test_memory_equals_that_of_a_forest_without_the_turn(ines, gone):
    forest, other = grow(ines, "With"), grow(ines, "Without", {gone})
    delete_state(InteractionState.objects.get(forest=forest, turn__client_id=gone), "children_to_parent", ines)
    drain(forest.pk)
    assert_equal(forest, other)


@pytest.mark.parametrize("last", ["The kitchen budget is €23,000.", "The kitchen budget is €20,000."])
def test_without_a_value_in_the_middle_the_last_replaced_the_first_when_it_was_said_if_it_is_another(ines, last):
    turns = [
        ("plan", None, "Let us plan the kitchen.", "Good."),
        ("first", "plan", "The kitchen budget is €20,000.", "Noted."),
        ("middle", "first", "The kitchen budget is now €21,500.", "Noted."),
        ("last", "middle", last, "Noted."),
    ]
    forest, other = grow(ines, "With", turns=turns), grow(ines, "Without", {"middle"}, turns)
    delete_state(InteractionState.objects.get(forest=forest, turn__client_id="middle"), "children_to_parent", ines)
    drain(forest.pk)
    assert_equal(forest, other)
    assert bool(replacements_of(forest)) == ("23,000" in last)


SAID = [
    "The {thing} budget is €{n},500.",
    "Make it €{n},250 then.",
    "Actually, {n} days is enough.",
    "My sister {name} lives in {city}.",
    "I moved to {city} last week.",
    "We visited the {thing} shop in {city} on {n} March 2026.",
    "Thanks!",
    "I like it. {name} prefers the {thing} in oak.",
    "The {thing} must be under €{n}00.",
    "Let us plan the {thing}.",
    "{name}.",
    "What about the {thing}?",
]
ANSWERED = [
    "Noted.",
    "1. {name} A{n}\n2. {city} B{n}\n3. Neff C{n}",
    "How much may the {thing} cost?",
    "What is the name of your sister?",
    "",
    "You said €{n},500.",
]


def random_history(rng):
    """Turns that lean on each other: slots, ellipses, answers to questions, thanks, lists; a third continue an earlier turn, some begin a tree."""
    turns = []
    for number in range(rng.randint(7, 10)):

        def fill(text):
            words = {"thing": rng.choice(["kitchen", "Garden", "roof", "oven"]), "name": rng.choice(["Nora", "Paul", "Bosch"])}
            return text.format(**words, city=rng.choice(["Porto", "Lyon", "Graz"]), n=rng.randint(2, 28))

        earlier = [key for key, *_ in turns]
        parent = None if not earlier or rng.random() < 0.15 else rng.choice(earlier) if rng.random() < 0.33 else earlier[-1]
        said = " ".join(fill(text) for text in rng.sample(SAID, rng.randint(1, 2)))
        turns.append((f"t{number}", parent, said, fill(rng.choice(ANSWERED))))
    return turns


def below(turns, top):
    gone = {top}
    for key, parent, *_ in turns:
        if parent in gone:
            gone.add(key)
    return gone


SEEDS = range(120 if os.environ.get("ARBORWEB_LONG_TESTS") else 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_forest_equals_one_without_what_was_deleted(ines, seed):
    """Deep paths are told anew as far as they reach only (`retell.anew`), so this holds the reach to what reading really depends on."""
    rng = random.Random(f"forget/{seed}")
    turns = random_history(rng)
    top, mode, redacted = rng.choice(turns)[0], rng.choice(["children_to_parent", "with_children"]), rng.random() < 0.5
    forest = grow(ines, "With", turns=turns)
    gone = below(turns, top) if mode == "with_children" else {top}
    delete_state(InteractionState.objects.get(forest=forest, turn__client_id=top), mode, ines, redact_quotes=redacted)
    drain(forest.pk)
    answers = dict(InteractionState.objects.filter(forest=forest).values_list("turn__client_id", "assistant_text"))
    other = grow(ines, "Without", gone, [(key, parent, user, answers.get(key, answer)) for key, parent, user, answer in turns])
    assert_equal(forest, other)


def test_what_leaned_on_a_deleted_turn_leans_on_the_one_before_it(ines):
    turns = [
        ("k", None, "Let us plan the kitchen. The kitchen budget is €20,000.", "Good."),
        ("o", "k", "The oven budget is €900.", "Noted."),
        ("f", "o", "I like the windows.", "Yes."),
        ("g", "f", "Which tiles fit?", "White ones."),
        ("c", "g", "Make it €2,000 then.", "Done."),
    ]
    forest, other = grow(ines, "With", turns=turns), grow(ines, "Without", {"o"}, turns)
    values = AtomicFact.objects.filter(forest=forest, value="€2,000").values_list("slot", flat=True)
    assert list(values.all()) == ["kitchen|oven budget"]
    delete_state(InteractionState.objects.get(forest=forest, turn__client_id="o"), "children_to_parent", ines)
    assert list(values.all()) == []  # at once
    drain(forest.pk)
    assert list(values.all()) == ["kitchen|budget"]
    assert_equal(forest, other)


def test_far_below_a_deleted_turn_nothing_is_read_anew(ines):
    turns = [("t0", None, "Let us plan the kitchen.", "Good."), ("t1", "t0", "The oven must be under €900.", "Noted.")]
    turns += [(f"t{n}", f"t{n - 1}", f"The lamp number {n} must be under €{n}00.", "Noted.") for n in range(2, 28)]
    turns += [(f"u{n}", f"u{n - 1}" if n else "t27", f"We bought {n + 2} hooks in Porto.", "Noted.") for n in range(6)]
    forest = grow_late(ines, turns)
    other = grow_late(ines, [(key, "t0" if key == "t2" else parent, user, answer) for key, parent, user, answer in turns if key != "t1"], "Without")
    before = dict(InteractionState.objects.filter(forest=forest).values_list("pk", "refined_at"))
    preview = delete_state(InteractionState.objects.get(forest=forest, turn__client_id="t1"), "children_to_parent", ines, preview=True)
    delete_state(InteractionState.objects.get(forest=forest, turn__client_id="t1"), "children_to_parent", ines)
    drain(forest.pk)
    again = [state for state in InteractionState.objects.filter(forest=forest) if state.refined_at != before[state.pk]]
    assert len(again) == preview["rebuilt"]["summaries"] < 35
    assert preview["rebuilt"]["topics"] == 0
    assert_equal(forest, other)


def grow_late(owner, turns, name="With"):
    """As `grow`, refined at the end."""
    forest = create_forest(owner, name)
    given = [
        {"id": key, "user": user, "assistant": answer, "time": f"2026-03-01T10:{int(key[1:]) + (30 if key[0] == 'u' else 0):02d}:00Z",
         **({"parent": parent} if parent else {"new_root": True})}
        for key, parent, user, answer in turns
    ]  # fmt: skip
    observe(forest, given)
    drain(forest.pk)
    return forest


def test_what_leans_on_its_path_is_read_anew_where_it_is_moved(ines):
    forest = grow(ines, "Moved")
    given = {"id": "less", "user": "Make it €2,000 then.", "assistant": "Done.", "time": "2026-03-20T10:00:00Z", "parent": "grout"}
    observe(forest, [given])
    drain(forest.pk)
    budgets = AtomicFact.objects.filter(forest=forest, slot__contains="budget", status="current")
    assert sorted(budgets.values_list("value", flat=True)) == ["€2,000", "€3,000"]
    less, garden = (InteractionState.objects.get(forest=forest, turn__client_id=key) for key in ("less", "garden"))
    plans = plan(forest.pk, [less.pk])
    token = store.take_lease(forest.pk, "a worker under way")
    reroute(less, garden, ines)
    assert sorted(budgets.values_list("value", flat=True)) == ["€21,500", "€3,000"]
    with pytest.raises(store.LeaseLostError):
        store.apply(forest.pk, token, plans)
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
