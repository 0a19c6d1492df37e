"""Rows shown as docs/interfaces.md says, in a number of queries that doesn't grow with the forest."""

from typing import NamedTuple

import pytest
from django.test.utils import CaptureQueriesContext

from memory import present
from memory.models import Forest, InteractionState, ParentChange, StateLink, Turn
from memory.present.search import search
from tests.forests import learn, plant, say, trace, wait

pytestmark = pytest.mark.django_db


class Kitchen(NamedTuple):
    forest: Forest
    root: InteractionState
    quotes: InteractionState
    hood: InteractionState
    tiles: InteractionState
    grout: InteractionState
    garden: InteractionState


@pytest.fixture
def kitchen(ines):
    """Kitchen: root → quotes → (hood | tiles → grout), and a garden tree."""
    forest = plant(ines)
    root = say(forest, "Plan the kitchen", "Gladly.", topic="Kitchen", node_summary="Kitchen planning")
    quotes = say(forest, "Quotes?", "Three.", root, node_summary="Quotes")
    hood = say(forest, "Hood?", "Recirculating.", quotes, node_summary="Extractor hood", entities=["Bosch"])
    tiles = say(forest, "Tiles?", "White.", quotes, node_summary="Tiles")
    grout = say(forest, "Grout?", "Grey.", tiles, node_summary="Grout")
    garden = say(forest, "Garden", "Yes.", topic="Garden")
    return Kitchen(forest, root, quotes, hood, tiles, grout, garden)


def test_state_rows_say_what_the_drawing_marks(kitchen):
    old = learn(kitchen.quotes, "Budget is €20,000", slot="ines|budget")
    learn(kitchen.hood, "Budget is €21,500", slot="ines|budget", replaces=old)
    for number in (1, 2, 3):
        learn(kitchen.tiles, f"tile {number}", "artifact", ordinal=number)
    StateLink.objects.create(forest=kitchen.forest, state=kitchen.hood, parent=kitchen.root, weight=0.4)
    ParentChange.objects.create(forest=kitchen.forest, state=kitchen.tiles, old_parent=kitchen.root, new_parent=kitchen.quotes, at_position=4)
    kitchen.hood.turn.decision.unsure = True
    kitchen.hood.turn.decision.save()
    InteractionState.objects.filter(pk=kitchen.tiles.pk).update(refined_at=None)
    rows = {row["id"]: row for row in present.state_rows(kitchen.forest, InteractionState.objects.all())}
    assert list(rows) == [state.pk for state in kitchen[1:]]
    assert (rows[kitchen.quotes.pk]["facts"], rows[kitchen.quotes.pk]["replaced"], rows[kitchen.quotes.pk]["new_value"]) == (1, True, False)
    assert (rows[kitchen.hood.pk]["facts"], rows[kitchen.hood.pk]["replaced"], rows[kitchen.hood.pk]["new_value"]) == (1, False, True)
    assert (rows[kitchen.hood.pk]["unsure"], rows[kitchen.hood.pk]["second"], rows[kitchen.hood.pk]["entities"]) == (True, kitchen.root.pk, ["Bosch"])
    assert (rows[kitchen.tiles.pk]["list"], rows[kitchen.tiles.pk]["moved_from"], rows[kitchen.tiles.pk]["pending"], rows[kitchen.tiles.pk]["facts"]) == (
        3,
        kitchen.root.pk,
        True,
        0,
    )
    assert rows[kitchen.root.pk]["label"] == "Kitchen planning"
    assert present.state_row(kitchen.hood) == rows[kitchen.hood.pk]


def test_an_unanswered_summary_falls_back_to_the_words_said(ines):
    state = say(plant(ines), "  How long\nis " + "the wall and " * 20, "2 m")
    label = present.state_row(state)["label"]
    assert label.startswith("How long is the wall") and len(label) <= 80 and label.endswith("…")


def test_trees_come_in_order_of_planting(kitchen):
    assert present.tree_rows(kitchen.forest) == [
        {"root": kitchen.root.pk, "order": 0, "topic": "Kitchen", "variants": []},
        {"root": kitchen.garden.pk, "order": 1, "topic": "Garden", "variants": []},
    ]
    assert present.tree_row(kitchen.hood)["root"] == kitchen.root.pk


def test_a_turn_carries_crumb_decision_and_chips(kitchen):
    fact = learn(kitchen.quotes, "Budget is €20,000", evidence="twenty thousand")
    trace(kitchen.grout, kitchen.root, fact)
    shown = present.turn_json(kitchen.grout.turn)
    assert [step["label"] for step in shown["crumb"]] == ["Kitchen", "Tiles"]
    assert (shown["text"], shown["answer"], shown["state"], shown["status"]) == ("Grout?", "Grey.", kitchen.grout.pk, "refined")
    assert shown["decision"] == {"method": "recall", "parent": kitchen.tiles.pk, "root": kitchen.root.pk, "probability": 0.9, "unsure": False}
    assert shown["chips"] == [{"kind": "fact", "id": fact.pk, "label": "Budget is €20,000", "state": kitchen.quotes.pk, "quote": "twenty thousand"}]
    assert present.chips(kitchen.grout.turn.context.blocks) == shown["chips"]
    fact.delete()
    assert present.turn_json(Turn.objects.get(pk=kitchen.grout.turn_id))["chips"] == []


def test_a_deep_crumb_has_root_last_two_branches_and_parent(ines):
    forest = plant(ines)
    state = say(forest, "root", topic="Root")
    for name in ("a", "b", "c"):
        say(forest, f"{name} first", parent=state)
        state = say(forest, f"{name} second", parent=state)
        state = say(forest, f"{name} on", parent=state)
    last = say(forest, "end", parent=state)
    assert [step["label"] for step in present.turn_json(last.turn)["crumb"]] == ["Root", "b second", "c second", "c on"]


def test_a_waiting_turn_has_neither_crumb_nor_decision(ines):
    shown = present.turn_json(wait(plant(ines), "Hello"))
    assert (shown["text"], shown["crumb"], shown["decision"], shown["state"], shown["chips"]) == ("Hello", [], None, None, [])


def test_evidence_shows_its_revisions_and_typed_fields(kitchen):
    old = learn(kitchen.quotes, "Lives in Porto", "mutable_state", slot="ines|city", value="Porto")
    new = learn(kitchen.hood, "Lives in Lagos", "mutable_state", slot="ines|city", value="Lagos", replaces=old)
    shown = present.evidence_json(new)
    assert shown["supersedes"] == [old.pk] and shown["fields"] == {"key": "city"} and shown["kind"] == "mutable_state"
    assert [revision["words"] for revision in shown["revisions"]] == ["“Lives in Porto” was replaced by “Lives in Lagos”."]
    assert present.evidence_json(old)["superseded_by"] == new.pk
    event = learn(kitchen.hood, "Ran 5 km", "event", quantity="5.000", unit="km")
    event.refresh_from_db()
    assert present.evidence_json(event)["fields"]["quantity"] == "5"


def test_a_state_lists_what_it_supports_and_where_it_was_used(kitchen):
    fact = learn(kitchen.root, "Ceiling is 2.4 m")
    fact.sources.append(kitchen.quotes.pk)
    fact.save()
    trace(kitchen.grout, kitchen.quotes)
    shown = present.state_json(kitchen.quotes)
    assert [row["id"] for row in shown["facts"]] == [fact.pk]
    assert present.state_row(kitchen.quotes)["facts"] == 1
    assert [use["state"] for use in shown["used_by"]] == [kitchen.grout.pk]
    assert shown["topic"] == "Kitchen"


def test_counts_of_a_forest(kitchen):
    learn(kitchen.hood, "new", replaces=learn(kitchen.quotes, "old"))
    InteractionState.objects.filter(pk=kitchen.hood.pk).update(refined_at=None)
    assert present.forest_json(kitchen.forest)["counts"] == {"states": 6, "trees": 2, "turns": 6, "facts": 1, "pending": 1}


def test_queries_do_not_grow_with_the_number_of_rows(ines, django_assert_max_num_queries):
    from django.db import connection

    forest = plant(ines)
    parent = say(forest, "root")
    counts = []
    for _ in range(2):
        for _ in range(6):
            parent = say(forest, "more", parent=parent)
            trace(parent, learn(parent, "a fact"))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert present.state_rows(forest, InteractionState.objects.all())
            assert present.turn_list(Turn.objects.all())
            assert present.evidence_list(type(learn(parent, "x")).objects.all()[:5])
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert present.trace_json(parent.turn)["context"]["tokens"] == 14


def test_a_trace_contrasts_the_place_that_was_chosen_with_the_next(kitchen):
    decision = kitchen.grout.turn.decision
    answers = {"kind": "answers", "quotes": ["Which grey?"], "state": kitchen.tiles.pk}
    [chosen] = decision.candidates
    chosen |= {"parts": {"meaning": 1.0, "reply": 2.5}, "signs": {"reply": answers}}
    second = {
        **chosen,
        "state": kitchen.hood.pk,
        "probability": 0.1,
        "parts": {"meaning": 1.6, "reply": 0.5},
        "signs": {"meaning": {"kind": "near_last", "quotes": [], "state": None}},
    }
    decision.candidates = [chosen, second]

    def contrast():
        decision.save()
        kitchen.grout.turn.refresh_from_db()
        return present.trace_json(kitchen.grout.turn)["decision"]["contrast"]

    assert contrast() == [
        {"key": "reply", "label": "Left open", "by": 2.0, "words": "it answers “Which grey?”"},
        {"key": "meaning", "label": "Meaning", "by": -0.6, "words": "what was said last there is nearest to it"},
    ]
    assert present.trace_json(kitchen.grout.turn)["decision"]["next"] == {"state": kitchen.hood.pk, "label": "x"}
    # Where an earlier turn of the branch was chosen, its end stands beside it with the same score.
    decision.candidates = [chosen, {**chosen, "state": kitchen.grout.pk, "signs": {}}, second]
    assert [one["key"] for one in contrast()] == ["reply", "meaning"]
    decision.candidates = [chosen, second]
    # Kept before there were signs: it still says which way each part weighs.
    del chosen["signs"], second["signs"]
    assert [one["words"] for one in contrast()] == ["it fits better what was left open there", "the meaning there is nearer"]
    # Of what a person chose, or where the place was deleted since, nothing is weighed.
    decision.method = "corrected"
    assert contrast() == []
    decision.method, decision.candidates = "recall", [second, {**chosen, "state": None}]
    assert contrast() == []


def test_no_label_turns_the_reading_direction_of_what_follows(ines):
    forest = plant(ines)
    state = say(forest, "Budget \u202e000,5 for Bosch\u2066", words="budget bosch")
    learn(state, "Budget \u202e000,5")
    [row] = present.state_rows(forest, InteractionState.objects.all())
    assert row["label"] == "Budget 000,5 for Bosch"
    assert {hit["text"] for hit in search(forest, "budget", 9)} == {"Budget 000,5 for Bosch", "Budget 000,5"}
