"""A person's word on evidence: nothing is overwritten, and the slot's other values are decided anew."""

import pytest

from memory import present
from memory.actions import revise as module
from memory.actions.revise import revise
from memory.actions.undo import undo
from memory.engine.revise import value_after_edit
from memory.errors import Refused
from memory.models import AtomicFact, AuditEntry, Change, Event, Revision, StateVector
from tests.forests import learn

pytestmark = pytest.mark.django_db
BUDGET = {"slot": "kitchen|budget", "subject": "kitchen"}


@pytest.fixture(autouse=True)
def quick_vectors(monkeypatch):
    """The real embedder has its own tests; here it only has to be asked."""
    import numpy as np

    class Embedder:
        def embed(self, texts):
            return np.full((len(texts), 384), 0.05, dtype=np.float32)

    monkeypatch.setattr(module, "embedder", Embedder)


@pytest.fixture
def budget(home):
    old = learn(home.kitchen, "Budget is 20,000", value="20000", **BUDGET)
    new = learn(home.hood, "Budget is 21,500", value="21500", replaces=old, **BUDGET)
    return old, new


def statuses(*rows):
    return [AtomicFact.objects.get(pk=row.pk).status for row in rows]


def test_retracting_the_newer_value_brings_the_older_back_and_restoring_undoes_it(budget, ines):
    old, new = budget
    assert revise(new, "retract", ines)["status"] == "retracted"
    assert statuses(old, new) == ["current", "retracted"]
    assert revise(new, "restore", ines)["status"] == "current"
    assert statuses(old, new) == ["superseded", "current"]
    revise(new, "retract", ines)
    verdicts = list(Revision.objects.filter(old_item=new.pk, by="user").order_by("at").values_list("verdict", flat=True))
    assert verdicts == ["restored", "retracted"]
    assert AuditEntry.objects.count() == 3


def test_a_replaced_value_is_brought_back_in_the_place_of_the_one_that_holds(budget, ines):
    old, new = budget
    held = revise(old, "restore", ines)
    assert (held["text"], held["status"], held["revisions"][-1]["verdict"]) == ("Budget is 20,000", "current", "edited")
    assert AtomicFact.objects.get(pk=held["id"]).value == "20000"
    assert statuses(old, new) == ["current", "superseded"], "the same value, said twice"
    assert StateVector.objects.filter(kind="fact", item=held["id"]).exists()
    assert present.change_json(Change.objects.get(), undoable=True)["words"] == "Brought back “Budget is 20,000”."
    undo(Change.objects.get(), ines)
    assert statuses(old, new) == ["superseded", "current"]
    assert AtomicFact.objects.count() == 2


def test_a_replaced_value_is_not_brought_back_where_nothing_holds(budget, ines):
    old, new = budget
    AtomicFact.objects.filter(pk=new.pk).update(status="quarantined")
    old.refresh_from_db()
    with pytest.raises(Refused, match="Nothing holds"):
        revise(old, "restore", ines)


def test_an_edit_says_what_its_slot_says_then(budget, ines):
    _, new = budget
    AtomicFact.objects.filter(pk=new.pk).update(text="Budget is 21,500.", value="21,500")
    new.refresh_from_db()
    held = revise(new, "edit", ines, text="Budget is 22,000 now.")
    assert AtomicFact.objects.get(pk=held["id"]).value == "22,000 now"


@pytest.mark.parametrize(
    ("text", "value", "edited", "said"),
    [
        ("Ines lives in Vienna.", "Vienna", "Ines lives in Graz.", "Graz"),
        ("Ines lives in Vienna.", "Vienna", "Ines has lived in Vienna for years.", "Vienna"),
        ("The trip to Lyon is on 9 March.", "9 March", "The trip to Lyon is on 12 March, by coach.", "12 March, by coach"),
        ("Lyon is where Nora goes.", "Lyon", "Nora stays at home.", ""),
        ("Nora goes.", "Lyon", "Nora stays.", ""),
        ("It was said.", "", "It was written.", ""),
    ],
)
def test_the_value_of_an_edit_is_read_off_its_words(text, value, edited, said):
    assert value_after_edit(text, value, edited) == said


def test_quarantine_sets_a_value_aside(budget, ines):
    old, new = budget
    revise(new, "quarantine", ines)
    assert statuses(old, new) == ["current", "quarantined"]


def test_a_pinned_value_is_not_replaced(budget, ines):
    old, new = budget
    revise(old, "pin", ines)
    assert statuses(old, new) == ["current", "current"]
    revise(old, "unpin", ines)
    assert statuses(old, new) == ["superseded", "current"]


def test_an_edit_is_a_new_row_and_the_old_one_stays_readable(budget, ines):
    old, new = budget
    shown = revise(new, "edit", ines, text="Budget is 22,000", value="22000")
    edited = AtomicFact.objects.get(pk=shown["id"])
    new.refresh_from_db()
    assert (edited.text, edited.made_by, edited.status, edited.evidence) == ("Budget is 22,000", "user", "current", new.evidence)
    assert (new.status, new.superseded_by_id, new.text) == ("superseded", edited.pk, "Budget is 21,500")
    assert statuses(old) == ["superseded"]
    words = [revision["words"] for revision in shown["revisions"]]
    assert words == ["You changed “Budget is 21,500” to “Budget is 22,000”.", "“Budget is 20,000” was replaced by “Budget is 22,000”."]
    assert StateVector.objects.filter(kind="fact", item=edited.pk).exists()


def test_an_edit_of_the_wording_alone_leaves_one_current_row(budget, ines):
    old, new = budget
    edited = revise(new, "edit", ines, text="The budget is €21,500")
    assert statuses(old, new) == ["superseded", "superseded"]
    later = revise(AtomicFact.objects.get(pk=edited["id"]), "edit", ines, text="Our budget is €21,500")
    assert AtomicFact.objects.filter(status="current").values_list("pk", flat=True).get() == later["id"]
    # Retracting the last wording doesn't bring back wordings that were corrected, but the value before them.
    revise(AtomicFact.objects.get(pk=later["id"]), "retract", ines)
    assert statuses(old, new) == ["current", "superseded"]


def test_a_wording_is_edited_once_then_the_new_one_is(home, ines):
    fact = learn(home.hood, "The hood is white")
    revise(fact, "edit", ines, text="The hood is black")
    fact.refresh_from_db()
    with pytest.raises(Refused, match="edited already"):
        revise(fact, "edit", ines, text="The hood is red")
    assert AtomicFact.objects.count() == 2


def test_a_records_typed_columns_are_kept_by_an_edit(home, ines):
    event = learn(home.hood, "Ran 5 km", "event", quantity="5", unit="km")
    shown = revise(event, "edit", ines, text="Ran 5 km in the park")
    assert shown["fields"]["unit"] == "km" and Event.objects.count() == 2


@pytest.mark.parametrize(("first", "then"), [("retract", "retract"), ("retract", "edit"), (None, "restore"), ("quarantine", "quarantine")])
def test_what_the_status_does_not_allow_is_refused(budget, ines, first, then):
    _, new = budget
    if first:
        revise(new, first, ines)
    with pytest.raises(Refused) as refused:
        revise(new, then, ines, text="x")
    assert refused.value.status == 409


def test_the_audit_entry_holds_no_content(budget, ines):
    revise(budget[1], "edit", ines, text="Budget is zyzzyva")
    assert "zyzzyva" not in str(list(AuditEntry.objects.values()))
