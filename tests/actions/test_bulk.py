"""Bulk work: shown first, done row by row through the page's actions, each once, whoever is killed; cancelled, what was done stays."""

from __future__ import annotations

import json
import threading
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db import OperationalError, connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.actions import bulk
from memory.actions.cancel_bulk import cancel_bulk
from memory.errors import Refused
from memory.models import AtomicFact, AuditEntry, Bulk, Forest, InteractionState, Outbox, Posting, Revision, StateVector, TermStat
from memory.tasks import sweep_outbox
from tests.actions.conftest import Home
from tests.arborweb.site import until
from tests.forests import learn, plant, say, trace

pytestmark = pytest.mark.django_db
CANARY = "quetzal4417"  # of this file: what it publishes stays in Valkey for an hour, where others look for theirs


@pytest.fixture
def root(django_user_model):
    return django_user_model.objects.create_superuser("root")


@pytest.fixture
def facts(ines):
    """Six facts of one state."""
    state = say(plant(ines), f"Plan {CANARY}", f"Yes {CANARY}")
    return [learn(state, f"Fact {number} {CANARY}") for number in range(6)]


def begun(action, target, rows, by):
    job = bulk.begin(action, target, [row.pk for row in rows], by)
    bulk.run(job.pk)
    job.refresh_from_db()
    return job


def statuses():
    return list(AtomicFact.objects.order_by("pk").values_list("status", flat=True))


def test_every_row_goes_through_the_pages_action(facts, root):
    job = begun("retract", "fact", facts[:4], root)
    assert (job.status, job.done, job.counts, job.message) == ("done", 4, {"done": 4}, "Done: 4 of 4")
    assert statuses() == ["retracted"] * 4 + ["current"] * 2
    assert AuditEntry.objects.filter(action="retract", actor=root).count() == 4
    assert AuditEntry.objects.get(action="bulk_retract").counts == {"fact": 4}
    assert begun("restore", "fact", facts, root).counts == {"done": 4, "refused": 2}
    assert statuses() == ["current"] * 6


def test_what_is_refused_is_said_and_the_others_go_on(facts, root):
    begun("retract", "fact", facts[1:2], root)
    AtomicFact.objects.filter(pk=facts[2].pk).delete()
    job = begun("retract", "fact", facts[:4], root)
    assert (job.counts, job.message) == ({"done": 2, "refused": 1, "gone": 1}, "Done: 2 of 4, 1 refused, 1 gone before")
    assert job.refused == [{"id": facts[1].pk, "code": "conflict", "message": "This is retracted already."}]


def test_delivered_twice_it_is_done_once(facts, root):
    job = begun("retract", "fact", facts, root)
    bulk.run(job.pk)
    job.refresh_from_db()
    assert job.counts == {"done": 6} and AuditEntry.objects.filter(action="retract").count() == 6


def test_asked_twice_it_begins_once(facts, root):
    ids = [fact.pk for fact in facts]
    assert bulk.begin("retract", "fact", ids, root, "key") == bulk.begin("retract", "fact", ids, root, "key")
    assert AuditEntry.objects.filter(action="bulk_retract").count() == 1


def test_killed_between_two_rows_another_worker_goes_on(facts, root, monkeypatch):
    real, seen = bulk.revise, []

    def killed(row, do, by):
        if len(seen) == 3:
            raise KeyboardInterrupt  # what isn't caught anywhere: the process ends here
        seen.append(row.pk)
        return real(row, do, by)

    monkeypatch.setattr(bulk, "revise", killed)
    job = bulk.begin("retract", "fact", [fact.pk for fact in facts], root)
    with pytest.raises(KeyboardInterrupt):
        bulk.run(job.pk)
    monkeypatch.setattr(bulk, "revise", real)
    job.refresh_from_db()
    assert (job.status, job.done) == ("running", 3)
    bulk.run(job.pk)
    job.refresh_from_db()
    assert job.done == 3, "its holder may be alive"
    Bulk.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=bulk.STALE_SECONDS + 1))
    assert bulk.unfinished() == [job.pk] and bulk.unfinished() == []
    bulk.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.counts) == ("done", {"done": 6}) and AuditEntry.objects.filter(action="retract").count() == 6


def test_a_row_and_its_count_are_written_together(facts, root, monkeypatch):
    """Killed after the action and before the count, the row is as it was; begun again it is done, and not refused."""

    def killed(*_):
        raise KeyboardInterrupt

    job = bulk.begin("retract", "fact", [fact.pk for fact in facts], root)
    with monkeypatch.context() as patched:
        patched.setattr(bulk, "_advance", killed)
        with pytest.raises(KeyboardInterrupt):
            bulk.run(job.pk)
    assert statuses() == ["current"] * 6 and not AuditEntry.objects.filter(action="retract").exists()
    Bulk.objects.update(holder="")
    bulk.run(job.pk)
    job.refresh_from_db()
    assert job.counts == {"done": 6}


def test_cancelled_it_stops_before_the_next_row_and_says_how_far_it_got(facts, root, monkeypatch):
    real, job = bulk._next, bulk.begin("retract", "fact", [fact.pk for fact in facts], root)

    def then_cancel(work, step):
        real(work, step)
        if work.done == 2:
            cancel_bulk(job, root)

    monkeypatch.setattr(bulk, "_next", then_cancel)
    bulk.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.counts, job.message, job.holder) == ("cancelled", 2, {"done": 2}, "Cancelled: 2 of 6", "")
    assert statuses() == ["retracted"] * 2 + ["current"] * 4
    bulk.run(job.pk)
    assert statuses() == ["retracted"] * 2 + ["current"] * 4 and bulk.unfinished() == []


def test_cancelled_before_it_began_nothing_is_done(facts, root):
    job = bulk.begin("retract", "fact", [fact.pk for fact in facts], root)
    cancel_bulk(job, root)
    cancel_bulk(job, root)
    bulk.run(job.pk)
    assert set(statuses()) == {"current"} and AuditEntry.objects.filter(action="cancel_bulk").count() == 1
    with pytest.raises(Refused, match="is over"):
        cancel_bulk(begun("retract", "fact", facts, root), root)


def test_a_database_that_is_away_leaves_the_row_for_later(facts, root, monkeypatch):
    def away(row, do, by):
        raise OperationalError("gone")

    job = bulk.begin("retract", "fact", [fact.pk for fact in facts], root)
    with monkeypatch.context() as patched:
        patched.setattr(bulk, "revise", away)
        bulk.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.counts) == ("running", 0, {})


def test_a_fault_of_ours_is_told_without_content_and_the_others_go_on(facts, root, monkeypatch, caplog):
    real = bulk.revise

    def broken(row, do, by):
        if row.pk == facts[1].pk:
            raise RuntimeError(row.text)
        return real(row, do, by)

    monkeypatch.setattr(bulk, "revise", broken)
    job = begun("retract", "fact", facts, root)
    assert job.counts == {"done": 5, "failed": 1} and "RuntimeError" in job.refused[0]["message"]
    assert CANARY not in caplog.text + json.dumps(job.refused)


def test_nothing_of_what_rows_say_is_kept_in_jobs_logs_or_audit(facts, root, caplog):
    trace(say(facts[0].forest, "Later"), facts[0])
    bulk.preview("retract", "fact", [fact.pk for fact in facts], root)
    begun("retract", "fact", [*facts, facts[0]], root)
    begun("delete", "forest", [facts[0].forest], root)
    kept = str([*Bulk.objects.values(), *AuditEntry.objects.values(), *LogEntry.objects.values()])
    assert CANARY not in kept + caplog.text


def test_who_is_no_administrator_any_more_does_nothing_more(facts, root, omar):
    with pytest.raises(Refused):
        bulk.begin("retract", "fact", [facts[0].pk], omar)
    job = bulk.begin("retract", "fact", [facts[0].pk], root)
    type(root).objects.filter(pk=root.pk).update(is_superuser=False)
    bulk.run(job.pk)
    job.refresh_from_db()
    assert job.status == "failed" and statuses()[0] == "current"


def test_states_go_alone_or_with_what_follows(ines, root):
    home = Home(ines)
    found = {row.pk: answer for row, answer in bulk.preview("delete-below", "state", [home.quotes.pk], root)}
    assert found[home.quotes.pk]["counts"]["states"] == 4 and InteractionState.objects.count() == 6
    job = begun("delete-below", "state", [home.quotes, home.hood], root)
    assert job.counts == {"done": 1, "gone": 1} and InteractionState.objects.count() == 2
    other = Home(type(ines).objects.create_user("ana"))
    assert begun("delete", "state", [other.quotes, other.hood], root).counts == {"done": 2}
    other.filters.refresh_from_db()
    assert other.filters.parent_id == other.kitchen.pk


def test_forests_and_people_go_with_everything(ines, omar, root):
    for person in (ines, omar):
        Home(person)
    begun("delete", "forest", Forest.objects.filter(owner=ines), root)
    assert set(Forest.objects.values_list("owner__username", flat=True)) == {"omar"}
    job = begun("delete", "person", [omar, root], root)
    assert job.counts == {"done": 1, "refused": 1} and not Forest.objects.exists()
    for model in (InteractionState, AtomicFact, StateVector, Posting, TermStat, Revision):
        assert not model._default_manager.exists(), model
    assert type(root).objects.filter(username__in=["omar", "root"]).count() == 1


def test_facts_and_records_are_deleted_for_good_and_what_they_replaced_holds_again(ines, root):
    state = say(plant(ines), "Budget 20,000, then 21,500")
    old = learn(state, "Budget is 20,000", slot="k|b", value="1")
    new = learn(state, "Budget is 21,500", slot="k|b", value="2", replaces=old)
    event = learn(state, "Visited the mill", "event")
    [(row, found)] = bulk.preview("delete", "fact", [new.pk], root)
    assert row == new and found["counts"]["facts"] == 1 and AtomicFact.objects.count() == 2
    assert begun("delete", "fact", [new], root).counts == {"done": 1} and begun("delete", "event", [event], root).counts == {"done": 1}
    old.refresh_from_db()
    assert (AtomicFact.objects.count(), old.status) == (1, "current") and not type(event).objects.exists()


def test_states_are_extracted_again(ines, root):
    home = Home(ines)
    assert begun("re-extract", "state", [home.kitchen, home.garden], root).counts == {"done": 2}
    assert InteractionState.objects.filter(refined_at=None).count() == 2 == Outbox.objects.filter(kind="refine").count()


def test_forests_are_embedded_anew(ines, root):
    from memory.actions.create_forest import create_forest
    from memory.actions.observe import observe
    from memory.llm.embed import embedder

    forest = create_forest(ines, "Home")
    observe(forest, [{"user": "The budget is 5.", "time": "2026-03-01T10:00:00Z", "new_root": True}])
    assert begun("reembed", "forest", [forest], root).counts == {"refused": 1}
    Forest.objects.update(embedder="another", weights_hash="1" * 64)
    job = begun("reembed", "forest", [forest], root)
    forest.refresh_from_db()
    assert job.counts == {"done": 1} and forest.weights_hash == embedder().weights_hash


def test_too_many_rows_or_none_are_refused(root):
    for ids in ([], list(range(bulk.MOST + 1))):
        with pytest.raises(Refused, match="takes 1 to 10,000"):
            bulk.begin("retract", "fact", ids, root)
    with pytest.raises(Refused):
        bulk.begin("delete", "person-of-no-kind", [1], root)


@pytest.mark.django_db(transaction=True)
def test_a_cancellation_waits_for_the_row_under_way(facts, root, monkeypatch):
    """Two connections: the row is being done, somebody cancels, the row and its count stay, the next isn't begun."""
    real, job, waiting = bulk._advance, bulk.begin("retract", "fact", [fact.pk for fact in facts], root), threading.Event()

    def cancelled_meanwhile(work, *outcome):
        real(work, *outcome)
        if work.done == 2:
            threading.Thread(target=cancel).start()
            assert not waiting.wait(0.3), "the cancellation didn't wait for the row"

    def cancel():
        cancel_bulk(job, root)
        waiting.set()
        connections.close_all()

    monkeypatch.setattr(bulk, "_advance", cancelled_meanwhile)
    bulk.run(job.pk)
    assert waiting.wait(5)
    job.refresh_from_db()
    assert job.status == "cancelled" and job.counts == {"done": job.done} and 2 <= job.done <= 3
    assert statuses().count("retracted") == job.done


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_amid_a_bulk_job_is_replaced_and_each_row_is_done_once(worker, ines, root):
    state = say(plant(ines), "Plan")
    AtomicFact.objects.bulk_create(
        AtomicFact(forest=state.forest, state=state, sources=[state.pk], number=number, text="x", event_time=state.time, known_from=1) for number in range(400)
    )
    job = bulk.begin("retract", "fact", list(AtomicFact.objects.values_list("pk", flat=True)), root)
    assert until(lambda: Bulk.objects.get(pk=job.pk).done >= 20, 30)
    worker.kill()
    left = Bulk.objects.get(pk=job.pk)
    assert left.status == "running" and left.done < 400
    assert statuses().count("retracted") == left.done
    Bulk.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=bulk.STALE_SECONDS + 1))
    sweep_outbox()
    worker.start()
    assert until(lambda: Bulk.objects.get(pk=job.pk).status == "done", 60)
    assert Bulk.objects.get(pk=job.pk).counts == {"done": 400} and AuditEntry.objects.filter(action="retract").count() == 400


# --- In the admin


@pytest.fixture
def client(root):
    client = Client()
    client.force_login(root)
    return client


def chosen(client, rows, action, model="atomicfact", **more):
    return client.post(reverse(f"admin:memory_{model}_changelist"), {"action": action, "_selected_action": [row.pk for row in rows], **more})


def signed(page):
    return page.context["chosen"]


def test_a_preview_says_what_would_become_of_each_row_and_changes_nothing(client, facts):
    later = say(facts[0].forest, "How much was it?")
    trace(later, facts[0])
    page = chosen(client, facts, "retract")
    html = page.content.decode()
    assert "6 rows" in html and "How much was it?" in html and html.count("none</td>") + html.count("none\n") == 5
    assert set(statuses()) == {"current"} and not Bulk.objects.exists()


def test_of_many_rows_the_first_are_shown_and_all_are_counted(client, facts, monkeypatch):
    monkeypatch.setattr(bulk, "PREVIEWED", 2)
    html = chosen(client, facts, "retract").content.decode()
    assert "The first 2 of 6 rows" in html and "Fact 1" in html and "Fact 2" not in html


def test_a_preview_that_takes_long_is_cut_short_and_says_so(client, facts, monkeypatch):
    monkeypatch.setattr(bulk, "PREVIEW_SECONDS", -1.0)
    html = chosen(client, facts, "retract").content.decode()
    assert "The first 0 of 6 rows" in html


def test_what_was_shown_is_what_is_done(client, facts, root):
    page = chosen(client, facts[:2], "retract")
    answer = client.post(reverse("admin:memory_bulk_begin"), {"chosen": signed(page)})
    job = Bulk.objects.get()
    assert answer["location"] == reverse("admin:memory_bulk_change", args=[job.pk]) and job.ids == [facts[0].pk, facts[1].pk] and job.owner == root
    client.post(reverse("admin:memory_bulk_begin"), {"chosen": signed(page)})
    assert Bulk.objects.count() == 1
    bulk.run(job.pk)
    html = client.get(answer["location"]).content.decode()
    assert "Done: 2 of 2" in html and 'data-open="false"' in html


def test_everything_that_matches_can_be_chosen_across_pages(client, facts):
    page = chosen(client, facts[:1], "retract", select_across="1")
    assert page.context["total"] == 6


@pytest.mark.parametrize("given", ["", "nonsense", "tampered"])
def test_only_a_preview_of_ones_own_is_confirmed(client, facts, given, django_user_model):
    token = signed(chosen(client, facts, "retract"))
    client.post(reverse("admin:memory_bulk_begin"), {"chosen": token[:-3] + "aaa" if given == "tampered" else given})
    other = Client(raise_request_exception=False)
    other.force_login(django_user_model.objects.create_superuser("other"))
    assert other.post(reverse("admin:memory_bulk_begin"), {"chosen": token}).status_code == 400
    assert other.get(reverse("admin:memory_bulk_begin")).status_code == 405
    assert not Bulk.objects.exists()


def test_a_job_is_cancelled_in_the_admin(client, facts, root):
    job = bulk.begin("retract", "fact", [fact.pk for fact in facts], root)
    url = reverse("admin:memory_bulk_cancel", args=[job.pk])
    assert url in client.get(reverse("admin:memory_bulk_change", args=[job.pk])).content.decode()
    assert client.get(url).status_code == 405
    client.post(url)
    job.refresh_from_db()
    assert job.status == "cancelled"
    assert "This work is over" not in client.post(url, follow=True).content.decode()
