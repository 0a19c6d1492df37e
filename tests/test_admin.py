"""Admin: every table can be looked at by a superuser, none can be edited past the rules, and nobody else sees anything."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.models import ApiKey, AtomicFact, AuditEntry, Forest, InteractionState, Outbox, Posting, Profile, Revision, StateVector, TermStat
from tests.forests import learn, plant, say, trace

pytestmark = pytest.mark.django_db
CANARY = "zyzzyva7391"
OURS = list(apps.get_app_config("memory").get_models())


def address(model, what, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{what}", args=args)


@pytest.fixture
def root(django_user_model):
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("root", password=None))
    return client


@pytest.fixture
def her(ines):
    """A forest with a row in most tables."""
    from memory.models import Change, ChangedItem, Import, Job, Lease, ModelCapability, NewVector, ParentChange, StateLink

    forest = plant(ines, f"Home {CANARY}")
    first = say(forest, f"Plan {CANARY}", topic=CANARY, words="plan")
    second = say(forest, f"Budget {CANARY}", parent=first, words="budget")
    old = learn(first, f"20,000 {CANARY}", slot="k|b", value="1")
    fact = learn(second, f"21,500 {CANARY}", slot="k|b", value="2", replaces=old)
    for kind in ("artifact", "event", "mutable_state"):
        learn(second, f"{kind} {CANARY}", kind)
    trace(second, first, fact)
    ParentChange.objects.create(forest=forest, state=second, new_parent=first, at_position=2)
    StateLink.objects.create(forest=forest, state=second, parent=first, weight=0.3)
    change = Change.objects.create(forest=forest, action="pin", by_user=ines, at_position=2)
    ChangedItem.objects.create(forest=forest, change=change, kind="fact", item=fact.pk, state=second)
    Job.objects.create(forest=forest, kind="sample")
    Import.objects.create(forest=forest, job=Job.objects.create(forest=forest, kind="import"))
    Lease.objects.create(forest=forest)
    Outbox.objects.create(forest=forest)
    NewVector.objects.create(forest=forest, replaces=StateVector.objects.filter(forest=forest).first(), pin="0" * 64, vector=[0.5] * 3)
    ModelCapability.objects.create(address="http://127.0.0.1:9/v1", model="m", probed_at=timezone.now())
    Profile.objects.create(owner=ines)
    ApiKey.objects.create(owner=ines, name="n", prefix="aw_x", key_hash="f" * 64)
    AuditEntry.objects.create(owner=ines, action="move", subject="state 1")
    return forest


def test_every_model_is_registered():
    assert [model for model in OURS if model not in admin.site._registry] == []


def fits_the_policy(response):
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in policy
    html = response.content.decode()
    # Django's own JSON blocks are data, not scripts.
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL)
    assert not [body for attributes, body in scripts if body.strip() and "application/json" not in attributes]
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=\"", html)


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_lists_and_rows_show_and_fit_the_content_security_policy(her, root, model):
    page = root.get(address(model, "changelist"))
    assert page.status_code == 200
    fits_the_policy(page)
    row = model._default_manager.first()
    assert row is not None, f"the forest of this test has no {model.__name__}"
    page = root.get(address(model, "change", row.pk))
    assert page.status_code == 200
    fits_the_policy(page)
    if hasattr(row, "forest_id"):
        assert address(Forest, "change", her.pk) in root.get(address(model, "changelist")).content.decode()


def test_djangos_own_pages_fit_it_too(her, root, ines, django_user_model):
    from django.contrib.auth.models import Group

    group = Group.objects.create(name="g")
    pages = [reverse("admin:index"), reverse("admin:app_list", args=["memory"]), reverse("admin:password_change"), address(LogEntry, "changelist")]
    for model, row in ((django_user_model, ines), (Group, group)):
        pages += [address(model, "changelist"), address(model, "add"), address(model, "change", row.pk)]
    for page in pages:
        answer = root.get(page)
        assert answer.status_code == 200, page
        fits_the_policy(answer)
    fits_the_policy(Client().get(reverse("admin:login")))


@pytest.mark.parametrize("model", [model for model in OURS if admin.site._registry[model].search_fields], ids=lambda model: model.__name__)
def test_search_and_filters_work(her, root, model):
    assert root.get(address(model, "changelist"), {"q": "zyzzyva"}).status_code == 200
    if hasattr(model, "forest"):
        assert root.get(address(model, "changelist"), {"forest__id__exact": her.pk}).status_code == 200


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_nothing_is_added_edited_or_deleted_directly(her, root, model):
    row = model._default_manager.first()
    before = list(model._default_manager.order_by("pk").values())
    assert root.get(address(model, "add")).status_code == 403
    assert root.post(address(model, "add"), {"name": "x"}).status_code == 403
    assert root.post(address(model, "change", row.pk), {"name": "x", "text": "x"}).status_code == 403
    assert root.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert "delete_selected" not in root.get(address(model, "changelist")).content.decode()
    assert list(model._default_manager.order_by("pk").values()) == before


@pytest.mark.parametrize("staff", [False, True])
def test_who_is_no_superuser_sees_nothing(her, omar, staff):
    from django.contrib.auth.models import Permission

    omar.is_staff = staff
    omar.save()
    omar.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(omar)
    for model in [*OURS, type(omar), LogEntry]:
        row = model._default_manager.first()
        pages = [address(model, "changelist")] + ([address(model, "change", row.pk)] if row else [])
        for page in pages:
            answer = client.get(page)
            assert answer.status_code in {302, 403} and CANARY not in answer.content.decode(), page
    assert CANARY not in client.get(reverse("admin:index")).content.decode()


def act(client, model, name, *rows, **more):
    return client.post(address(model, "changelist"), {"action": name, "_selected_action": [row.pk for row in rows], **more}, follow=True)


def test_deleting_a_forest_is_shown_first_and_goes_through_the_action(her, root, ines):
    page = act(root, Forest, "deleted", her)
    fits_the_policy(page)
    assert "2 states" in page.content.decode() and Forest.objects.exists()
    act(root, Forest, "deleted", her, confirmed="yes")
    assert not Forest.objects.exists()
    for model in (InteractionState, AtomicFact, StateVector, Posting, TermStat, Revision):
        assert not model._default_manager.exists(), model
    entry = AuditEntry.objects.get(action="delete_forest")
    assert (entry.forest_number, entry.owner, entry.actor.username) == (her.pk, ines, "root")


def test_deleting_a_state_gives_its_children_to_its_parent(her, root):
    first, second = InteractionState.objects.order_by("position")
    act(root, InteractionState, "deleted_alone", first, confirmed="yes")
    second.refresh_from_db()
    assert (second.parent_id, second.root_id) == (None, second.pk)
    assert AuditEntry.objects.filter(action="delete_state").exists()


def test_facts_are_revised_through_the_action(her, root):
    new = AtomicFact.objects.get(status="current")
    act(root, AtomicFact, "retract", new)
    assert sorted(AtomicFact.objects.values_list("status", flat=True)) == ["current", "retracted"]
    assert AuditEntry.objects.filter(action="retract", actor__username="root").exists()
    page = act(root, AtomicFact, "retract", new)
    assert "retracted already" in page.content.decode()


def test_extraction_can_be_asked_for_again(her, root):
    state = InteractionState.objects.first()
    act(root, InteractionState, "extract_again", state)
    state.refresh_from_db()
    assert state.refined_at is None and Outbox.objects.filter(kind="refine", subject=state.pk).exists()


def test_keys_are_revoked_and_their_hash_is_never_shown(her, root):
    key = ApiKey.objects.get()
    assert key.key_hash not in root.get(address(ApiKey, "change", key.pk)).content.decode()
    act(root, ApiKey, "revoke", key)
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_a_person_goes_with_their_forests_and_never_oneself(her, root, ines, django_user_model):
    page = act(root, django_user_model, "deleted", ines)
    assert "1 forests" in page.content.decode()
    act(root, django_user_model, "deleted", ines, confirmed="yes")
    assert not django_user_model.objects.filter(username="ines").exists() and not Forest.objects.exists()
    act(root, django_user_model, "deleted", django_user_model.objects.get(username="root"), confirmed="yes")
    assert django_user_model.objects.filter(username="root").exists()


def test_no_log_entry_or_audit_entry_holds_content(her, root):
    act(root, AtomicFact, "retract", AtomicFact.objects.get(status="current"))
    act(root, InteractionState, "deleted_alone", InteractionState.objects.first(), confirmed="yes")
    act(root, Forest, "deleted", her, confirmed="yes")
    assert CANARY not in str([*LogEntry.objects.values(), *AuditEntry.objects.values()])
