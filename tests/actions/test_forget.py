"""Deleting: what only the deleted supported is gone from every table and from Valkey, what another source supports stays (RELIABILITY D1–D5)."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

from memory import messages
from memory.actions import forget
from memory.actions.forget import delete_forest, delete_state
from memory.engine.forest import Candidate
from memory.engine.localize import place_words
from memory.errors import Refused
from memory.models import (
    AtomicFact,
    AuditEntry,
    ContextTrace,
    Forest,
    InteractionState,
    Lease,
    Outbox,
    Posting,
    Revision,
    RoutingDecision,
    TermStat,
    Topic,
    Turn,
)
from tests.actions.test_reroute import check_standings
from tests.forests import learn, plant, say, trace, wait

pytestmark = pytest.mark.django_db
CANARY = "zyzzyva7391"


@pytest.fixture(autouse=True)
def committed(committing):
    committing("delete_state", "delete_forest")


def canaries() -> list[str]:
    """Tables and Valkey keys in which the canary still sings."""
    found = []
    with connection.cursor() as cursor:
        for model in apps.get_app_config("memory").get_models():
            table = model._meta.db_table
            cursor.execute(f'SELECT count(*) FROM "{table}" row WHERE row::text ILIKE %s', [f"%{CANARY}%"])
            if cursor.fetchone()[0]:
                found.append(table)
    client = messages.client()
    for key in client.scan_iter(match=f"{messages._prefix()}*", count=1000):
        if client.type(key) == b"stream" and CANARY in str(client.xrange(key)):
            found.append(key.decode())
    return found


@pytest.fixture
def sung(home):
    """The hood state sings in every table, and in the traces, decisions and messages of later turns."""
    home.deleted = say(home.forest, f"Secret {CANARY}", f"Kept {CANARY}", home.hood, words=f"secret {CANARY} hood", node_summary=CANARY, entities=[CANARY])
    home.after = say(home.forest, "And then?", "This.", home.deleted, words="then", path_summary=f"about {CANARY}", node_summary=f"after {CANARY}")
    home.elsewhere = say(home.forest, "Elsewhere", "Yes", home.garden, words="elsewhere")
    home.old = learn(home.kitchen, "Budget is 20,000", slot="kitchen|budget", value="20000")
    home.fact = learn(home.deleted, f"Budget is 21,500 {CANARY}", slot="kitchen|budget", value=CANARY, replaces=home.old, evidence=CANARY)
    home.event = learn(home.deleted, f"Went there {CANARY}", "event")
    home.shared = learn(home.kitchen, "Ceiling is 2.4 m")
    AtomicFact.objects.filter(pk=home.shared.pk).update(sources=[home.kitchen.pk, home.deleted.pk])
    trace(home.elsewhere, home.garden, home.deleted, home.fact)
    ContextTrace.objects.filter(turn=home.elsewhere.turn).update(messages=[{"role": "system", "content": CANARY}])
    decision = home.elsewhere.turn.decision
    rejected = {**decision.candidates[0], "state": home.deleted.pk, "root": home.kitchen.pk, "label": f"Secret {CANARY}", "tree": "Kitchen"}
    decision.candidates = [*decision.candidates, rejected]
    decision.why = f"Continues Garden rather than Secret {CANARY}."
    decision.save()
    after = home.after.turn.decision
    after.why = f"Continues Secret {CANARY}."
    after.save()
    Topic.objects.filter(root=home.kitchen).update(variants=[CANARY], stems=[CANARY])
    Posting.objects.create(forest=home.forest, kind=2, term=CANARY, state=home.kitchen, count=1, length=1)
    TermStat.objects.create(forest=home.forest, kind=2, term=CANARY, states=1)
    for state in (home.deleted, home.elsewhere):
        messages.publish(home.forest.pk, state.turn_id, "turn.delta", {"text": CANARY, "offset": 0})
    Lease.objects.create(forest=home.forest, token=5, holder="worker")
    home.forest.refresh_from_db()
    yield home
    messages.forget([home.deleted.turn_id, home.elsewhere.turn_id])


def test_a_deleted_state_is_gone_from_every_table_and_every_message(sung, ines):
    assert len(canaries()) >= 9
    delete_state(sung.deleted, "children_to_parent", ines)
    assert canaries() == []
    assert not Turn.objects.filter(pk=sung.deleted.turn_id).exists()


def test_children_move_to_the_parent_and_stand_right(sung, ines):
    delete_state(sung.deleted, "children_to_parent", ines)
    sung.after.refresh_from_db()
    assert (sung.after.parent_id, sung.after.root_id) == (sung.hood.pk, sung.kitchen.pk)
    decision = RoutingDecision.objects.get(turn=sung.after.turn)
    assert (decision.why, decision.chosen_id) == ("The turn it continued was deleted.", sung.hood.pk)
    check_standings(sung.forest)


@pytest.mark.parametrize("label", [f"Is {CANARY} a secret?", f"Secret {CANARY} of the long drawer under the window of the kitchen"])
def test_a_deleted_place_goes_from_sentences_that_call_it_in_short(sung, ines, label):
    """Within a sentence a place is called by the beginning of its label, without the mark at its end."""
    decision = sung.elsewhere.turn.decision
    decision.candidates[-1]["label"] = label
    decision.why = f"The language model was asked and chose it over {place_words(Candidate(1, 1, label, 'Kitchen', False, 0.0, 0.0, {}))}, it was."
    decision.save()
    assert CANARY in decision.why and label not in decision.why
    delete_state(sung.deleted, "children_to_parent", ines)
    assert canaries() == []


def test_what_spoke_for_a_place_that_stays_goes_with_the_turn_it_quotes(sung, ines):
    """A decision that names neither the turn nor its tree, but quotes a question of its answer; and the sentence that says so."""
    decision = sung.elsewhere.turn.decision
    asks = {"kind": "answers", "quotes": [f"Is {CANARY} high?"], "state": sung.deleted.pk}
    garden = {**decision.candidates[0], "state": sung.garden.pk, "root": sung.garden.pk, "label": "Garden", "tree": "Garden"}
    decision.candidates = [{**garden, "signs": {"reply": asks, "recency": {"kind": "last", "quotes": [], "state": None}}}]
    decision.why = f"Continues Garden. It answers “Is {CANARY} high?”."
    decision.save()
    delete_state(sung.deleted, "children_to_parent", ines)
    assert canaries() == []
    decision.refresh_from_db()
    assert decision.candidates[0]["signs"] == {"recency": {"kind": "last", "quotes": [], "state": None}}
    assert decision.why == "What this rested on was deleted in part."


def test_deleting_the_newer_value_brings_the_older_back(sung, ines):
    delete_state(sung.deleted, "children_to_parent", ines)
    sung.old.refresh_from_db()
    assert (sung.old.status, sung.old.superseded_by_id, sung.old.valid_to, sung.old.known_until) == ("current", None, None, None)
    assert not Revision.objects.exists()


def test_what_another_source_supports_stays(sung, ines):
    delete_state(sung.deleted, "children_to_parent", ines)
    sung.shared.refresh_from_db()
    assert (sung.shared.sources, sung.shared.state_id) == ([sung.kitchen.pk], sung.kitchen.pk)


def test_evidence_moves_to_the_source_that_is_left(sung, ines):
    delete_state(sung.kitchen, "children_to_parent", ines)
    sung.shared.refresh_from_db()
    assert (sung.shared.sources, sung.shared.state_id, sung.shared.known_from) == ([sung.deleted.pk], sung.deleted.pk, sung.deleted.position)


def index_of(forest):
    postings = {(p.kind, p.term): n for n, p in enumerate(Posting.objects.in_forest(forest))}
    stats = {(s.kind, s.term): s.states for s in TermStat.objects.in_forest(forest)}
    counted: dict = {}
    for kind, term in Posting.objects.in_forest(forest).values_list("kind", "term"):
        counted[kind, term] = counted.get((kind, term), 0) + 1
    return counted, stats, postings


def test_the_index_equals_that_of_a_forest_without_it(sung, ines):
    delete_state(sung.deleted, "children_to_parent", ines)
    counted, stats, _ = index_of(sung.forest)
    assert counted == stats
    sung.forest.refresh_from_db()
    rows = InteractionState.objects.in_forest(sung.forest)
    assert sung.forest.indexed_states == rows.count()
    assert sung.forest.indexed_terms == sum(rows.values_list("length", flat=True))


def test_a_subtree_goes_whole(sung, ines):
    answer = delete_state(sung.hood, "with_children", ines)
    assert answer["counts"]["states"] == 4  # hood, filters, the secret, what came after it
    assert canaries() == []
    left = set(InteractionState.objects.values_list("pk", flat=True))
    assert left == {state.pk for state in (sung.kitchen, sung.quotes, sung.garden, sung.tiles, sung.elsewhere)}
    check_standings(sung.forest)
    sung.forest.refresh_from_db()
    assert sung.forest.active_state_id == sung.elsewhere.pk


def test_deleting_a_root_makes_its_children_roots(home, ines):
    delete_state(home.quotes, "children_to_parent", ines)
    delete_state(home.kitchen, "children_to_parent", ines)
    assert set(Topic.objects.values_list("root_id", flat=True)) == {home.hood.pk, home.tiles.pk, home.garden.pk}
    assert len(set(Topic.objects.values_list("order", flat=True))) == 3
    check_standings(home.forest)


def test_the_active_pointer_goes_to_the_newest_that_is_left(home, ines):
    delete_state(home.filters, "with_children", ines)
    home.forest.refresh_from_db()
    assert home.forest.active_state_id == home.tiles.pk


def test_what_is_left_is_told_anew_and_a_worker_under_way_is_fenced(sung, ines, monkeypatch):
    handed_over = []
    monkeypatch.setattr("memory.actions.structure.publish_outbox", handed_over.append)
    delete_state(sung.deleted, "children_to_parent", ines)
    sung.after.refresh_from_db()
    assert (sung.after.refined_at, sung.after.path_summary, sung.after.node_summary) == (None, "", "")
    assert Outbox.objects.filter(forest=sung.forest, kind="refine").exists() and handed_over == [sung.forest.pk]
    assert Lease.objects.get().token == 6
    sung.garden.refresh_from_db()
    assert sung.garden.refined_at is not None  # another tree: untouched


def test_what_a_person_said_of_evidence_further_down_stays(sung, ines):
    extracted, retracted, pinned = (learn(sung.after, text) for text in ("Extracted", "Retracted", "Pinned"))
    AtomicFact.objects.filter(pk=retracted.pk).update(status="retracted")
    AtomicFact.objects.filter(pk=pinned.pk).update(pinned=True)
    delete_state(sung.deleted, "children_to_parent", ines)
    assert set(AtomicFact.objects.filter(state=sung.after).values_list("pk", flat=True)) == {retracted.pk, pinned.pk}
    assert not AtomicFact.objects.filter(pk=extracted.pk).exists()  # read again by the worker, from the path that is left


def test_a_preview_lists_the_consequences_and_changes_nothing(sung, ines):
    before = canaries()
    answer = delete_state(sung.deleted, "children_to_parent", ines, preview=True)
    assert answer["counts"] == {"states": 1, "facts": 1, "records": 1, "kept": 1, "children_moved": 1, "used_by": 1, "quoted_by": 0}
    assert answer["rebuilt"] == {"summaries": 6, "topics": 1}  # its topic has a word that only this turn says, so the whole tree is told anew
    assert [(one["kind"], one["id"], one["because"]) for one in answer["stays"]] == [("fact", sung.shared.pk, "“Plan the kitchen” says it too.")]
    assert [(one["kind"], one["id"]) for one in answer["restored"]] == [("fact", sung.old.pk)]
    assert [use["state"] for use in answer["used_by"]] == [sung.elsewhere.pk]
    assert canaries() == before and not AuditEntry.objects.exists()


def test_the_audit_entry_says_how_much_and_never_what(sung, ines):
    delete_state(sung.deleted, "children_to_parent", ines)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.actor_id) == ("delete_state", f"state {sung.deleted.pk}", ines.pk)
    assert entry.counts["states"] == 1


def test_deletion_is_scoped_exactly(sung, ines, omar):
    other = plant(omar, "His")
    mine = say(other, "Mine", words="plan kitchen hood")
    learn(mine, "Budget is 1", slot="kitchen|budget", value="1")
    second = plant(ines, "Second")
    say(second, "Mine too", words="plan kitchen hood")

    def rest():
        return {
            model._meta.label: list(model._default_manager.filter(forest__in=[other, second]).order_by("pk").values())
            for model in apps.get_app_config("memory").get_models()
            if hasattr(model, "forest") and model is not Forest
        }

    before = rest()
    delete_state(sung.deleted, "with_children", ines)
    delete_forest(sung.forest, ines)
    assert rest() == before
    assert set(Forest.objects.values_list("pk", flat=True)) == {other.pk, second.pk}


def test_a_deleted_forest_leaves_only_its_audit_entry(sung, ines):
    wait(sung.forest, f"Waiting {CANARY}")
    preview = delete_forest(sung.forest, ines, preview=True)
    assert preview["counts"]["states"] == 9 and canaries()
    delete_forest(sung.forest, ines)
    assert canaries() == []
    for model in apps.get_app_config("memory").get_models():
        assert model._default_manager.count() == (1 if model is AuditEntry else 0), model
    assert AuditEntry.objects.get().forest_number == sung.forest.pk


def test_nothing_is_deleted_while_a_turn_is_answered(sung, ines):
    wait(sung.forest, "Now", Turn.Status.ANSWERING, generator="web-1")
    for attempt in (lambda: delete_forest(sung.forest, ines), lambda: delete_state(sung.deleted, "with_children", ines)):
        with pytest.raises(Refused) as refused:
            attempt()
        assert refused.value.status == 409
    assert InteractionState.objects.filter(pk=sung.deleted.pk).exists()


def test_nothing_is_deleted_while_valkey_is_down(sung, ines, monkeypatch):
    import redis

    class Down:
        def ping(self):
            raise redis.ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(forget.messages, "client", Down)
        for attempt in (lambda: delete_forest(sung.forest, ines), lambda: delete_state(sung.deleted, "with_children", ines)):
            with pytest.raises(Refused) as refused:
                attempt()
            assert refused.value.status == 503
    assert InteractionState.objects.filter(pk=sung.deleted.pk).exists()
