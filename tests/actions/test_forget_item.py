"""Deleting one fact or record: it goes whole, what it replaced holds again, its turn stays and never teaches it again."""

from __future__ import annotations

import json

import pytest

from memory.actions.create_forest import create_forest
from memory.actions.export_forest import export_forest
from memory.actions.forget import delete_state
from memory.actions.forget_item import delete_item
from memory.actions.import_chat import begin, run
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.refine_again import refine_again
from memory.actions.reroute import reroute
from memory.actions.revise import revise
from memory.engine.forest import Extraction, Proposal
from memory.llm.offline import OfflineModel
from memory.models import AtomicFact, AuditEntry, ContextTrace, Forgotten, InteractionState, MutableState, Revision, StateVector
from memory.turn import recall
from tests.forests import trace

pytestmark = pytest.mark.django_db

GIVEN = [
    {"id": "plan", "user": "I am planning our kitchen with two windows.", "assistant": "Good.", "time": "2026-03-05T10:00:00Z", "new_root": True},
    {"id": "first", "user": "The kitchen budget is €20,000.", "assistant": "Noted.", "time": "2026-03-06T10:00:00Z", "parent": "plan"},
    {
        "id": "raise",
        "user": "The oven is from Bosch. The kitchen budget is now €21,500.",
        "assistant": "Good.",
        "time": "2026-03-07T10:00:00Z",
        "parent": "first",
    },
    {"id": "garden", "user": "Let us plan the garden. I live in Porto.", "assistant": "Good.", "time": "2026-03-08T10:00:00Z", "new_root": True},
    {"id": "later", "user": "What is left?", "assistant": "You have €21,500.\nThe windows stay.", "time": "2026-03-09T10:00:00Z", "parent": "raise"},
]


@pytest.fixture
def forest(ines):
    made = create_forest(ines, "Home")
    observe(made, GIVEN)
    drain(made.pk)
    return made


def budget(forest, value="€21,500"):
    return AtomicFact.objects.get(forest=forest, slot="kitchen|budget", value=value)


def state(forest, name):
    return InteractionState.objects.get(forest=forest, turn__client_id=name)


def told(forest):
    """Everything derived that has words, but the turns themselves; of the later answer that says it, too, only what isn't read off that answer."""
    rows = [model.objects.in_forest(forest).values() for model in (AtomicFact, MutableState, Revision)]
    others = InteractionState.objects.in_forest(forest).exclude(turn__client_id="later")
    states = others.values_list("node_summary", "path_summary", "entities", "keywords")
    return str([list(found) for found in rows] + list(states))


def test_a_deleted_fact_goes_with_vector_and_revisions_and_the_older_value_holds_again(forest, ines):
    row = budget(forest)
    preview = delete_item(row, ines, preview=True)
    assert preview["counts"] == {"facts": 1, "records": 0, "used_by": 0, "quoted_by": 1}
    assert [item["text"] for item in preview["restored"]] == [budget(forest, "€20,000").text]
    assert next((one["kind"], one["id"]) for one in preview["stays"]) == ("state", state(forest, "raise").pk)
    assert "Delete the turn" in preview["stays"][0]["because"]
    assert [(one["state"], one["quote"]) for one in preview["quoted_by"]] == [(state(forest, "later").pk, "You have €21,500.")]
    assert AtomicFact.objects.filter(pk=row.pk).exists() and not AuditEntry.objects.exists() and not Forgotten.objects.exists()

    done = delete_item(row, ines)
    assert {**done, "preview": True} == preview
    old = budget(forest, "€20,000")
    assert (old.status, old.superseded_by_id, old.valid_to, old.known_until) == ("current", None, None, None)
    assert not Revision.objects.filter(slot="kitchen|budget").exists()
    assert not StateVector.objects.filter(kind="fact", item=row.pk).exists()
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject) == ("delete_item", f"fact {row.pk}") and "21" not in json.dumps(entry.counts)


def test_what_describes_its_turn_is_written_without_it(forest, ines):
    assert "21,500" in told(forest)
    delete_item(budget(forest), ines)
    assert "21,500" not in told(forest)  # at once, before the worker comes
    drain(forest.pk)
    assert "21,500" not in told(forest) and "21500" not in told(forest)
    raised, later = state(forest, "raise"), state(forest, "later")
    assert "Bosch" in raised.node_summary and raised.refined_at and later.refined_at
    assert raised.user_text.endswith("€21,500.")


def test_it_does_not_come_back_when_its_turn_is_read_again(forest, ines):
    delete_item(budget(forest), ines)
    drain(forest.pk)
    refine_again(state(forest, "raise"), ines)
    drain(forest.pk)
    assert "21,500" not in told(forest)
    assert AtomicFact.objects.filter(state=state(forest, "raise")).exists()  # its other facts are there


def test_it_does_not_come_back_when_its_turn_is_moved(forest, ines):
    observe(forest, [{"id": "less", "user": "Make it €2,000 then.", "assistant": "Done.", "time": "2026-03-20T10:00:00Z", "parent": "raise"}])
    drain(forest.pk)
    [fact] = AtomicFact.objects.filter(forest=forest, value="€2,000")
    delete_item(fact, ines)
    drain(forest.pk)
    reroute(state(forest, "less"), state(forest, "garden"), ines)
    drain(forest.pk)
    assert not AtomicFact.objects.filter(forest=forest, value="€2,000").exists()


def test_it_does_not_come_back_when_a_model_reads_its_turn_in_other_words(forest, ines, monkeypatch):
    delete_item(budget(forest), ines)
    drain(forest.pk)

    def extract(self, interaction, path, **more):
        said = Proposal("fact", "They may spend 21,500 euros on it.", slot="renovation|money", value="21,500 euros", evidence="is now €21,500", made_by="model")
        other = Proposal("fact", "The oven is from Bosch.", slot="oven|maker", value="Bosch", made_by="model")
        return Extraction("Bosch oven.", (), (), "Bosch", "Kitchen", (), (said, other))

    monkeypatch.setattr(OfflineModel, "extract", extract)
    refine_again(state(forest, "raise"), ines)
    drain(forest.pk)
    assert not AtomicFact.objects.filter(forest=forest, slot="renovation|money").exists()
    assert AtomicFact.objects.filter(forest=forest, made_by="model", value="Bosch").exists()


def test_it_does_not_come_back_in_a_forest_restored_from_an_export(forest, ines, tmp_path, uploads_folder):
    delete_item(budget(forest), ines)
    drain(forest.pk)
    path = tmp_path / "export.json"
    with export_forest(forest) as file:
        path.write_bytes(file.read())
    again = create_forest(ines, "Again")
    run(begin(again, path).pk)
    refine_again(state(again, "raise"), ines)
    drain(again.pk)
    assert state(again, "raise").user_text.endswith("€21,500.")
    assert "21,500" not in told(again)


def test_the_same_value_said_by_another_turn_is_its_own(forest, ines):
    observe(forest, [{"id": "again", "user": "The kitchen budget is now €21,500.", "assistant": "Yes.", "time": "2026-03-21T10:00:00Z", "parent": "later"}])
    drain(forest.pk)
    first, second = AtomicFact.objects.filter(forest=forest, value="€21,500").order_by("known_from")
    preview = delete_item(first, ines, preview=True)
    assert ("fact", second.pk) in {(one["kind"], one["id"]) for one in preview["stays"]}
    delete_item(first, ines)
    drain(forest.pk)
    second.refresh_from_db()
    assert second.status == "current"


def test_what_else_the_turn_taught_of_it_is_named(forest, ines):
    home = MutableState.objects.get(forest=forest, key="home_city")
    fact = AtomicFact.objects.get(forest=forest, value="Porto")
    named = {(one["kind"], one["id"]) for one in delete_item(fact, ines, preview=True)["stays"]}
    assert ("mutable_state", home.pk) in named


def test_an_edit_gives_way_to_what_it_had_changed_and_a_middle_value_to_its_heir(forest, ines):
    first = budget(forest)
    edited = revise(first, "edit", ines, text="The kitchen budget is €22,000.", value="€22,000")
    again = revise(AtomicFact.objects.get(pk=edited["id"]), "edit", ines, text="The kitchen budget is €23,000.", value="€23,000")
    delete_item(AtomicFact.objects.get(pk=edited["id"]), ines)
    first.refresh_from_db()
    assert (first.status, first.superseded_by_id) == ("superseded", again["id"])
    preview = delete_item(AtomicFact.objects.get(pk=again["id"]), ines, preview=True)
    assert [one["id"] for one in preview["restored"]] == [first.pk]
    delete_item(AtomicFact.objects.get(pk=again["id"]), ines)
    first.refresh_from_db()
    assert (first.status, first.superseded_by_id) == ("current", None)


def test_later_answers_that_were_given_it_are_listed_and_their_traces_redacted(forest, ines):
    row = budget(forest)
    trace(state(forest, "garden"), state(forest, "plan"), row)
    trace(state(forest, "later"), state(forest, "raise"))  # the turn itself, which stays
    preview = delete_item(row, ines, preview=True)
    assert [use["state"] for use in preview["used_by"]] == [state(forest, "garden").pk]
    delete_item(row, ines)
    shown = ContextTrace.objects.get(turn=state(forest, "garden").turn)
    assert [item["text"] for item in shown.blocks[0]["items"]] == ["I am planning our kitchen with two windows.", "(deleted)"]
    assert shown.messages == []
    kept = ContextTrace.objects.get(turn=state(forest, "later").turn)
    assert kept.messages != []


def test_what_was_given_before_its_turn_was_moved_is_redacted_too(ines):
    forest = create_forest(ines, "Home")
    given = [
        {"id": "garden", "user": "Let us plan the garden.", "new_root": True},
        {"id": "kitchen", "user": "I am planning our kitchen.", "new_root": True},
        {"id": "raise", "user": "The budget is now €21,500.", "parent": "kitchen"},
        {"id": "later", "user": "What is left?", "parent": "raise"},
    ]
    observe(forest, [{**turn, "assistant": "Good.", "time": f"2026-03-0{day}T10:00:00Z"} for day, turn in enumerate(given, 1)])
    drain(forest.pk)
    was = AtomicFact.objects.get(state=state(forest, "raise"), value="€21,500")
    shown = trace(state(forest, "later"), was)
    reroute(state(forest, "raise"), state(forest, "garden"), ines)
    drain(forest.pk)
    now = AtomicFact.objects.get(state=state(forest, "raise"), value="€21,500")
    assert now.pk != was.pk, "it reads otherwise under another matter, and is another row"
    assert [use["state"] for use in delete_item(now, ines, preview=True)["used_by"]] == [state(forest, "later").pk]
    delete_item(now, ines)
    shown.refresh_from_db()
    assert "21,500" not in json.dumps([shown.blocks, shown.messages])


def test_redaction_takes_the_quoting_passages_and_what_was_learned_of_them(forest, ines):
    delete_item(budget(forest), ines, redact_quotes=True)
    later = state(forest, "later")
    assert later.assistant_text == "(deleted)\nThe windows stay."
    drain(forest.pk)
    assert "21,500" not in told(forest)
    answer = recall(forest, "How much may the kitchen cost?")
    items = [item["text"] for block in answer["blocks"] for item in block["items"] if item["kind"] != "state"]
    assert not any("21,500" in text for text in items)


def test_its_mark_goes_with_its_turn(forest, ines):
    delete_item(budget(forest), ines)
    [mark] = Forgotten.objects.all()
    assert mark.state == state(forest, "raise")
    delete_state(state(forest, "raise"), "children_to_parent", ines)
    assert not Forgotten.objects.exists()
