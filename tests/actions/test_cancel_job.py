"""Long work that was cancelled stops at its next step, says what was done, and isn't taken up again."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from memory.actions import grow_sample as growing
from memory.actions import import_chat as importing
from memory.actions import reembed
from memory.actions.cancel_job import cancel_job
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.actions.observe import observe
from memory.errors import Refused
from memory.models import AuditEntry, Forest, Import, InteractionState, Job, NewVector, Outbox, StateVector
from memory.store import jobs, uploads
from tests.api.conftest import Caller
from tests.e2e.chats import lines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("uploads_folder")]


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Home")


def received(forest, count=100):
    return importing.receive(forest, [lines(count, free=False).encode()])


def cancelled_after(monkeypatch, module, name, job, calls):
    """Have the job cancelled once this function was called so often."""
    real, seen = getattr(module, name), []

    def then_cancel(*given, **more):
        answer = real(*given, **more)
        seen.append(1)
        if len(seen) == calls:
            cancel_job(Job.objects.get(pk=job.pk), None)
        return answer

    monkeypatch.setattr(module, name, then_cancel)


def test_an_import_stops_at_its_next_batch_and_says_what_was_taken_in(forest, monkeypatch):
    job = received(forest)
    cancelled_after(monkeypatch, importing.bulk, "commit", job, 2)
    importing.run(job.pk)
    job.refresh_from_db()
    done = 2 * importing.BATCH
    assert (job.status, job.done, job.message, job.error) == ("cancelled", done, f"Cancelled: {done} turns taken in", None)
    assert InteractionState.objects.in_forest(forest).count() == done
    given = Import.objects.get(job=job)
    assert (given.counts["new"], given.holder) == (done, "")
    assert Outbox.objects.filter(kind="refine").exists(), "what was taken in is refined"
    assert not uploads.folder_of(job.pk).exists()


def test_an_import_cancelled_before_it_began_is_never_taken_up(forest):
    job = received(forest)
    cancel_job(job, forest.owner)
    assert not Outbox.objects.filter(kind="import").exists()
    importing.run(job.pk)
    Job.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert importing.unfinished() == [] and not uploads.folder_of(job.pk).exists()
    job.refresh_from_db()
    assert (job.status, job.message) == ("cancelled", "Cancelled before it began") and not InteractionState.objects.exists()


def test_the_files_of_a_cancelled_import_stay_while_it_is_read(forest):
    job = received(forest)
    Import.objects.update(holder="somebody", heartbeat_at=timezone.now())
    Job.objects.update(status="running")
    cancel_job(Job.objects.get(), forest.owner)
    importing.unfinished()
    assert uploads.folder_of(job.pk).exists()
    Import.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    importing.unfinished()
    assert not uploads.folder_of(job.pk).exists()


def test_an_import_that_fails_once_cancelled_stays_cancelled(forest, monkeypatch):
    job = received(forest)

    def fails(*_):
        cancel_job(Job.objects.get(), None)
        raise RuntimeError("broken")

    monkeypatch.setattr(importing.bulk, "commit", fails)
    importing.run(job.pk)
    # Within the transaction that broke the cancellation is undone too; what is said is the failure.
    job.refresh_from_db()
    assert job.status in {"failed", "cancelled"} and Import.objects.get().holder == ""


@pytest.fixture
def elsewhere(forest):
    """A forest of another embedder, with more vectors than a batch."""
    observe(forest, [{"user": f"Note {number}.", "time": f"2026-03-01T10:{number:02d}:00Z", "new_root": True} for number in range(40)])
    Forest.objects.update(embedder="another", weights_hash="1" * 64)
    return Forest.objects.get(pk=forest.pk)


def test_reembedding_stops_at_its_next_batch_and_the_forest_is_as_it_was(elsewhere, monkeypatch):
    before = list(StateVector.objects.order_by("pk").values_list("pk", "vector"))
    job = reembed.begin(elsewhere)
    told = []

    def cancel(done, total):
        told.append(done)
        cancel_job(Job.objects.get(pk=job.pk), None)

    after = reembed.run(job.pk, cancel)
    assert after.status == "cancelled" and told == [reembed.BATCH]
    assert after.message == f"Cancelled: {reembed.BATCH} of {len(before)} embedded and kept aside; the forest is as it was"
    elsewhere.refresh_from_db()
    assert elsewhere.embedder == "another" and NewVector.objects.count() == reembed.BATCH
    assert [pk for pk, _ in before] == list(StateVector.objects.order_by("pk").values_list("pk", flat=True))
    assert reembed.run(job.pk) is None
    again = reembed.begin(elsewhere)
    assert again.pk != job.pk and reembed.run(again.pk).status == "done"


def test_the_sample_stops_growing(ines, monkeypatch):
    forest, job = growing.grow_sample(ines)
    cancelled_after(monkeypatch, growing, "_plant", job, 3)
    growing.grow(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done) == ("cancelled", 3) and job.message.startswith("Cancelled: 3 of ")
    assert InteractionState.objects.in_forest(forest).count() == 3
    growing.grow(job.pk)
    assert InteractionState.objects.in_forest(forest).count() == 3


def test_what_is_over_is_not_cancelled_and_twice_is_once(forest):
    for status in ("done", "failed"):
        with pytest.raises(Refused, match="is over") as refused:
            cancel_job(Job.objects.create(forest=forest, kind="import", status=status), None)
        assert refused.value.status == 409
    job = Job.objects.create(forest=forest, kind="import", status="running", done=3, total=9)
    assert cancel_job(job, forest.owner).message == cancel_job(job, forest.owner).message == "Cancelled at 3 of 9"
    entry = AuditEntry.objects.get(action="cancel_job")
    assert (entry.subject, entry.counts, entry.actor) == (f"job {job.pk}", {"done": 3, "total": 9}, forest.owner)


def test_a_report_of_a_job_whose_forest_is_gone_says_so(forest):
    job = Job.objects.create(forest=forest, kind="import")
    jobs.report(job.pk, done=1)
    delete_forest(forest, forest.owner)
    with pytest.raises(Job.DoesNotExist):
        jobs.report(job.pk, done=2)
    with pytest.raises(Refused):
        cancel_job(job, None)


def test_its_owner_cancels_it_over_the_api(forest, ines):
    job = received(forest)
    answer = Caller(ines).ask("POST", f"jobs/{job.pk}/cancel/")
    assert answer.status_code == 200 and answer.json()["status"] == "cancelled" and answer.json()["result"] is None
    assert [row["id"] for row in Caller(ines).ask("GET", "jobs/?status=cancelled").json()["results"]] == [job.pk]
    assert Caller(ines).ask("GET", "jobs/?status=open").json()["results"] == []
    Job.objects.update(status="done")
    assert Caller(ines).ask("POST", f"jobs/{job.pk}/cancel/").json()["error"]["code"] == "conflict"
    assert json.loads(answer.content)["message"] == "Cancelled before it began"
