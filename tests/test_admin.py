"""Admin: every table can be looked at by a superuser, none can be edited past the rules, and nobody else sees anything."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from memory.models import ApiKey, AtomicFact, AuditEntry, ContextTrace, Forest, InteractionState, Job, ModelCapability, ParentChange, RoutingDecision, Turn
from tests.access import CANARY, Everything, admin_addresses
from tests.forests import learn, plant, say, trace, wait

pytestmark = pytest.mark.django_db
TEXTS = (InteractionState, AtomicFact, RoutingDecision, ContextTrace, Turn)
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
    """A forest with a row in every table."""
    return Everything(ines).forest


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
    assert row is not None, f"tests/access.py has no row of {model.__name__}: make one in Everything"
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


def test_every_address_of_the_admin_has_the_strict_policy(ines, root):
    """Whatever page is added, of ours or of Django's."""
    found = 0
    for name, path in admin_addresses(Everything(ines)):
        if name == "admin:logout":
            continue
        answer = root.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy, name
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            fits_the_policy(answer)
            found += 1
    assert found > 60


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


def act(client, model, name, *rows, **more):
    return client.post(address(model, "changelist"), {"action": name, "_selected_action": [row.pk for row in rows], **more}, follow=True)


def test_keys_are_revoked_and_their_hash_is_never_shown(her, root):
    key = ApiKey.objects.get(owner=her.owner)
    assert key.key_hash not in root.get(address(ApiKey, "change", key.pk)).content.decode()
    act(root, ApiKey, "revoked", key)
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert AuditEntry.objects.get(action="revoke_key").subject == f"key {key.pk}"
    assert "revoked already" in act(root, ApiKey, "revoked", key).content.decode()


def shown(client, model, **asked):
    """Ids of the rows that a list shows."""
    page = client.get(address(model, "changelist"), asked)
    assert page.status_code == 200, page.content[:500]
    return [row.pk for row in page.context["cl"].result_list]


@pytest.fixture
def garden(ines):
    """A kitchen with a budget that changed, an unsure turn that was moved, one that waits, and another tree."""
    forest = plant(ines, "Garden")
    plan = say(forest, "Plan", topic="Kitchen", entities=["Bosch"])
    budget = say(forest, "Budget", parent=plan, entities=["Bosch", "Lisbon"])
    doubt = say(forest, "Doubt", parent=budget)
    waits = say(forest, "Waits", parent=doubt, refined_at=None)
    tent = say(forest, "Tent", topic="Camping")
    old = learn(plan, "Budget is 20,000", slot="k|b", value="1")
    learn(budget, "Budget is 21,500", slot="k|b", value="2", replaces=old)
    learn(tent, "Visited the shop", "event")
    RoutingDecision.objects.filter(turn=doubt.turn_id).update(unsure=True)
    ParentChange.objects.create(forest=forest, state=doubt, old_parent=plan, new_parent=budget, at_position=3)
    return {"forest": forest, "plan": plan, "budget": budget, "doubt": doubt, "waits": waits, "tent": tent, "old": old}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"facts": "1"}, {"plan", "budget"}),
        ({"facts": "0"}, {"doubt", "waits", "tent"}),
        ({"superseded": "1"}, {"plan"}),
        ({"unsure": "1"}, {"doubt"}),
        ({"corrected": "1"}, {"doubt"}),
        ({"pending": "1"}, {"waits"}),
        ({"entity": "Lisbon"}, {"budget"}),
        ({"entity": "Bosch", "facts": "1"}, {"plan", "budget"}),
        ({"pending": "0", "corrected": "0", "facts": "0"}, {"tent"}),
        ({"q": "doubt"}, {"doubt"}),
        ({"time__gte": "2026-03-02 13:30:00+00:00"}, {"tent"}),
        ({"topic": "-1"}, {"plan", "budget", "doubt", "waits", "tent"}),
    ],
)
def test_filters_of_states_mirror_the_page(garden, root, asked, expected):
    for forest in ({}, {"forest__id__exact": garden["forest"].pk}):
        assert set(shown(root, InteractionState, **forest, **asked)) == {garden[name].pk for name in expected}


def test_a_topic_is_chosen_among_the_trees_of_the_forest(garden, root, omar):
    say(plant(omar), "Elsewhere", topic="Elsewhere")
    asked = {"forest__id__exact": garden["forest"].pk}
    html = root.get(address(InteractionState, "changelist"), asked).content.decode()
    assert "Kitchen" in html and "Camping" in html and "Elsewhere" not in html and "Bosch (2)" in html
    assert shown(root, InteractionState, topic=garden["tent"].pk, **asked) == [garden["tent"].pk]
    assert shown(root, AtomicFact, topic=garden["tent"].pk, **asked) == []


def test_filters_of_facts_mirror_the_page(garden, root):
    from memory.actions.revise import revise

    assert shown(root, AtomicFact, status__exact="superseded") == [garden["old"].pk]
    assert shown(root, AtomicFact, corrected="1") == []
    revise(AtomicFact.objects.get(status="current"), "retract", None)
    assert len(shown(root, AtomicFact, corrected="1")) == 1 and len(shown(root, AtomicFact, pending="0")) == 2


@pytest.mark.parametrize("model", [InteractionState, AtomicFact, Turn], ids=lambda model: model.__name__)
def test_counts_beside_the_filters_work(garden, root, model):
    assert root.get(address(model, "changelist"), {"_facets": "True", "forest__id__exact": garden["forest"].pk}).status_code == 200


@pytest.mark.parametrize("asked", [{"topic": "9" * 30}, {"forest__id__exact": "9" * 30}, {"facts": "2"}, {"pending": "'"}])
def test_nonsense_in_a_filter_is_no_fault(garden, root, asked):
    assert root.get(address(InteractionState, "changelist"), asked).status_code in {200, 302, 400}


def test_every_row_leads_to_its_forest_and_ones_own_rows_to_the_page(garden, root, ines, django_user_model):
    state, fact, forest = garden["plan"], garden["old"], garden["forest"]
    html = root.get(address(InteractionState, "changelist")).content.decode()
    assert address(Forest, "change", forest.pk) in html and f"/forests/{forest.pk}/#" not in html, "the page shows an administrator nothing of others"
    django_user_model.objects.filter(pk=ines.pk).update(is_superuser=True, is_staff=True)
    client = Client()
    client.force_login(ines)
    for model, where in (
        (InteractionState, f"#state={state.pk}"),
        (AtomicFact, f"#state={state.pk}&amp;fact={fact.pk}"),
        (Turn, f"#turn={state.turn_id}"),
        (RoutingDecision, f"#turn={state.turn_id}"),
        (Forest, ""),
    ):
        assert f'href="/forests/{forest.pk}/{where}"' in client.get(address(model, "changelist")).content.decode(), model


def test_traces_are_read_as_text(her, root):
    page = root.get(address(RoutingDecision, "change", RoutingDecision.objects.filter(chosen__isnull=False).first().pk))
    html = page.content.decode()
    fits_the_policy(page)
    assert '<th scope="col">Meaning</th>' in html and "(chosen)" in html and "&quot;parts&quot;" not in html
    page = root.get(address(ContextTrace, "change", ContextTrace.objects.first().pk))
    html = page.content.decode()
    fits_the_policy(page)
    assert "of the budget" in html and '<pre dir="auto">' in html and "&quot;items&quot;" not in html


def test_what_is_remembered_is_shown_as_text(ines, root):
    forest = plant(ines)
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    state = say(forest, bad, bad, topic=bad, entities=[bad])
    later = say(forest, "Later", parent=state)
    fact = learn(state, bad)
    trace(later, state, fact)
    RoutingDecision.objects.filter(turn=later.turn_id).update(why=bad)
    decision = later.turn.decision
    decision.candidates[0] |= {"label": bad, "tree": bad}
    decision.save()
    asked = {"forest__id__exact": forest.pk, "entity": bad}
    for page in [
        *(root.get(address(model, "change", model._default_manager.last().pk)) for model in TEXTS),
        root.get(address(InteractionState, "changelist"), asked),
        act(root, AtomicFact, "retract", fact),
        act(root, InteractionState, "delete", state),
    ]:
        assert page.status_code == 200 and "<script>alert" not in page.content.decode() and "<img src=x" not in page.content.decode()
        fits_the_policy(page)


def test_a_fact_is_edited_as_the_page_does_it(her, root):
    fact = AtomicFact.objects.get(status="current")
    page = root.get(address(AtomicFact, "edit", fact.pk))
    fits_the_policy(page)
    assert address(AtomicFact, "edit", fact.pk) in root.get(address(AtomicFact, "change", fact.pk)).content.decode()
    root.post(address(AtomicFact, "edit", fact.pk), {"text": "Budget is 23,000", "value": "23000"})
    fact.refresh_from_db()
    assert (fact.status, fact.superseded_by.text, fact.superseded_by.made_by) == ("superseded", "Budget is 23,000", "user")


def moving(state):
    return reverse("admin:memory_interactionstate_move", args=[state.pk])


def test_a_turn_is_moved_by_the_action_of_the_page_once_its_consequences_were_shown(garden, root):
    doubt, tent = garden["doubt"], garden["tent"]
    trace(tent, doubt)
    assert moving(doubt) in root.get(address(InteractionState, "change", doubt.pk)).content.decode()
    form = root.get(moving(doubt))
    assert f"under state {garden['budget'].pk}" in form.content.decode()
    preview = root.post(moving(doubt), {"where": "under", "parent": garden["plan"].pk})
    for page in (form, preview):
        fits_the_policy(page)
    html = preview.content.decode()
    assert "Turns that move: 2." in html and "used what moves, and stay as they are: 1." in html and "nothing has changed yet" in html
    doubt.refresh_from_db()
    assert doubt.parent_id == garden["budget"].pk and not AuditEntry.objects.exists()
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html.partition("<fieldset")[0]))
    done = root.post(moving(doubt), hidden, follow=True)
    assert "Moved." in done.content.decode()
    doubt.refresh_from_db()
    assert doubt.parent_id == garden["plan"].pk
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.actor.username, entry.counts) == ("move", f"state {doubt.pk}", "root", {"states": 2, "used_by": 1})
    change = ParentChange.objects.order_by("pk").last()
    assert (change.old_parent_id, change.new_parent_id, change.by_user.username) == (garden["budget"].pk, garden["plan"].pk, "root")


def test_a_turn_is_made_a_root_there(garden, root):
    doubt = garden["doubt"]
    html = root.post(moving(doubt), {"where": "root"}).content.decode()
    assert "To a root of its own: nothing has changed yet" in html
    root.post(moving(doubt), {"where": "root", "confirmed": "yes"})
    doubt.refresh_from_db()
    assert (doubt.parent_id, doubt.root_id) == (None, doubt.pk)


@pytest.mark.parametrize("confirmed", [{}, {"confirmed": "yes"}])
def test_a_move_that_can_not_be_made_says_why_and_changes_nothing(garden, root, omar, confirmed):
    plan, waits = garden["plan"], garden["waits"]
    elsewhere = say(plant(omar), "Elsewhere")
    before = list(InteractionState.objects.order_by("pk").values("pk", "parent_id", "root_id"))
    for place, words in (
        ({"where": "under", "parent": waits.pk}, "continue itself"),
        ({"where": "under", "parent": plan.parent_id or ""}, "no such state in this forest"),
        ({"where": "under", "parent": elsewhere.pk}, "no such state in this forest"),
        ({"where": "under", "parent": "9" * 30}, "less than or equal"),
        ({"where": "root"}, "already there"),
        ({}, "required"),
    ):
        page = root.post(moving(plan), {**place, **confirmed})
        assert words in page.content.decode(), place
        assert page.context["shown"] is None
    assert list(InteractionState.objects.order_by("pk").values("pk", "parent_id", "root_id")) == before
    assert not AuditEntry.objects.exists()


def test_broken_turns_are_tried_again_stopped_kept_or_dropped(her, root):
    turn = Turn.objects.get(status="interrupted")
    act(root, Turn, "tried_again", turn)
    turn.refresh_from_db()
    assert (turn.status, turn.attempt) == ("received", 1)
    act(root, Turn, "stopped", turn)
    turn.refresh_from_db()
    assert turn.status == "cancelled"
    act(root, Turn, "dropped", turn)
    assert not Turn.objects.filter(pk=turn.pk).exists()
    page = act(root, Turn, "kept", wait(her, "No part", "failed"))
    assert "there is no part to keep" in page.content.decode()


def test_the_audit_log_is_searched_and_filtered(her, root):
    AuditEntry.objects.create(owner=her.owner, actor=her.owner, action="retract", subject="fact 7", forest_number=her.pk)
    assert len(shown(root, AuditEntry, action="retract")) == 1
    assert len(shown(root, AuditEntry, q="fact 7")) == 1 and len(shown(root, AuditEntry, q=her.owner.username)) == 2
    assert len(shown(root, AuditEntry, owner__id__exact=her.owner.pk, action="move")) == 1


# --- What the staff sees


@pytest.fixture
def sam(django_user_model):
    """Runs the service: of the staff, no superuser."""
    client = Client()
    client.force_login(django_user_model.objects.create_user("sam", is_staff=True))
    return client


def test_the_staff_sees_how_the_service_does_and_nothing_else(her, sam):
    html = sam.get(reverse("admin:index")).content.decode()
    assert address(ModelCapability, "changelist") in html and f'href="{address(Forest, "changelist")}"' not in html
    page = sam.get(reverse("admin:memory_health"))
    fits_the_policy(page)
    assert page.status_code == 200 and CANARY not in page.content.decode()
    assert sam.get(reverse("admin:memory_health"), {"forest": her.pk}).status_code == 404


def test_the_health_page_shows_one_forest_to_an_administrator(her, root):
    page = root.get(reverse("admin:memory_health"), {"forest": her.pk})
    fits_the_policy(page)
    assert f"Health of forest {her.pk}" in page.content.decode() and CANARY not in page.content.decode()
    for nothing in ("0", "x", "9" * 30):
        assert root.get(reverse("admin:memory_health"), {"forest": nothing}).status_code == 404


def test_work_under_way_is_seen_and_cancelled(her, root):
    job = Job.objects.create(forest=her, kind="import", status="running", done=3, total=9)
    page = root.get(address(Job, "change", job.pk))
    fits_the_policy(page)
    assert 'value="3" max="9"' in page.content.decode() and 'data-open="true"' in page.content.decode()
    root.post(address(Job, "cancel", job.pk))
    job.refresh_from_db()
    assert (job.status, job.message) == ("cancelled", "Cancelled at 3 of 9")
    assert "admin-progress.js" in root.get(address(Job, "change", job.pk)).content.decode()
