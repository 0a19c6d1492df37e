"""A person's word on evidence: nothing is overwritten, and the slot's other values are decided anew."""

import pytest

from memory.actions import revise as module
from memory.actions.revise import revise
from memory.errors import Refused
from memory.models import AtomicFact, AuditEntry, Event, Revision, StateVector
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
