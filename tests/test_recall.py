"""Recall: what an answer would be given, read only, within its budget, at any time of the forest."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import InternalError, connection

from memory import steps
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.engine.recall import LANE_LIMIT
from memory.llm.embed import embedder
from memory.llm.interface import ModelError
from memory.llm.tokens import count
from memory.models import AtomicFact, Forest, InteractionState
from memory.turn import recall
from tests.forests import plant, say
from tests.llm.hostile import Answer, hostile_server

TALK = [
    {"id": "k1", "user": "The kitchen budget is €18,000, appliances included.", "assistant": "Noted.", "time": "2026-11-02T09:00:00+01:00"},
    {"id": "s1", "user": "How warm should a sourdough rest?", "assistant": "Around 24 °C.", "time": "2026-11-03T09:00:00+01:00"},
    {"id": "k2", "user": "The kitchen budget is €21,500 now.", "assistant": "Noted: €21,500.", "time": "2026-11-09T09:00:00+01:00"},
]


@pytest.fixture
def forest(ines):
    forest = create_forest(ines, "Home", time_zone="Europe/Berlin")
    observe(forest, TALK)
    drain(forest.pk)
    return Forest.objects.get(pk=forest.pk)


def shown(answer) -> str:
    return "\n".join(item["text"] for block in answer["blocks"] for item in block["items"])


@pytest.mark.django_db(transaction=True)
def test_recall_runs_in_a_read_only_transaction(forest, monkeypatch):
    localize = steps.localize_text

    def writes(*args, **kwargs):
        AtomicFact.objects.update(pinned=True)
        return localize(*args, **kwargs)

    monkeypatch.setattr(steps, "localize_text", writes)
    with pytest.raises(InternalError, match="read-only"):
        recall(forest, "What is the kitchen budget?")
    monkeypatch.undo()
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_xact_user_tables")
    recall(forest, "What is the kitchen budget?")
    assert not AtomicFact.objects.filter(pinned=True).exists()


@pytest.mark.django_db
def test_an_answer_names_the_place_and_the_evidence_with_the_ids_a_replay_brought(forest):
    answer = recall(forest, "What is the kitchen budget?")
    assert answer["localization"]["parent"] == "k2"
    assert answer["localization"]["root"] == "k1"
    assert sum(candidate["probability"] for candidate in answer["localization"]["candidates"]) == pytest.approx(1, abs=0.01)
    sources = {source for block in answer["blocks"] for item in block["items"] for source in item["sources"]}
    assert {"k1", "k2"} <= sources <= {"k1", "k2", "s1"}


@pytest.mark.django_db
@pytest.mark.parametrize("budget", [0, 40, 120, 400, 16_384])
def test_the_tokens_are_exact_and_within_the_budget(forest, budget):
    answer = recall(forest, "What is the kitchen budget?", budget=budget)
    assert answer["tokens"] == sum(block["tokens"] for block in answer["blocks"]) <= budget
    for block in answer["blocks"]:
        for item in block["items"]:
            assert item["tokens"] == count(item["text"]) > 0


@pytest.mark.django_db
def test_the_past_is_what_was_known_then(forest):
    then = recall(forest, "What is the kitchen budget?", as_of=1)
    assert "€18,000" in shown(then)
    assert "21,500" not in shown(then)
    assert then["localization"]["parent"] == "k1"


@pytest.mark.django_db
def test_another_embedder_is_refused_with_what_to_do(forest):
    from memory.errors import Refused

    Forest.objects.filter(pk=forest.pk).update(weights_hash="other")
    with pytest.raises(Refused) as refused:
        recall(Forest.objects.get(pk=forest.pk), "What is the kitchen budget?")
    assert refused.value.status == 409
    assert "embedder" in refused.value.action


@pytest.mark.django_db
def test_the_command_prints_what_the_endpoint_answers(forest, capsys):
    call_command("recall", "Home", "What is the kitchen budget?", "--budget", "300", "--json", "--time", "2026-11-10T09:00:00+01:00")
    printed = json.loads(capsys.readouterr().out)
    from memory.actions.observe import parse_time

    assert printed == recall(forest, "What is the kitchen budget?", budget=300, time=parse_time("2026-11-10T09:00:00+01:00"))


@pytest.mark.django_db
def test_the_command_says_when_there_is_no_such_forest(db):
    with pytest.raises(CommandError, match="no forest of that name"):
        call_command("recall", "Nowhere", "anything")


@pytest.mark.django_db(transaction=True)
def test_the_paper_s_sum_runs_on_a_cross_encoder_s_scores(forest, settings):
    """LOCALIZER=additive-ce: one /rerank request with the branch-aware texts of what recall found; its best branch wins if it beats τ = 8."""

    def reply(body):
        return Answer([json.dumps({"results": [{"index": i, "relevance_score": 9.0 if "sourdough" in text.lower() else -9.0} for i, text in rows(body)]})])

    def rows(body):
        return enumerate(body["documents"])

    settings.LOCALIZER, settings.RERANK_MODEL = "additive-ce", "bge-reranker-v2-m3"
    with hostile_server() as server:
        settings.RERANK_BASE_URL, server.always = server.url, reply
        answer = recall(forest, "How long does it rest?")
        assert (answer["localization"]["method"], answer["localization"]["parent"]) == ("recall", "s1")
        assert server.bodies[0]["query"] == "How long does it rest?" and len(server.bodies) == 1
        server.always = lambda body: Answer([json.dumps({"results": [{"index": i, "relevance_score": -9.0} for i, _ in rows(body)]})])
        assert recall(forest, "How long does it rest?")["localization"]["method"] == "new_root"


@pytest.mark.django_db(transaction=True)
def test_without_its_cross_encoder_it_says_what_to_set(forest, settings):
    settings.LOCALIZER = "additive-ce"
    with pytest.raises(ModelError) as raised:
        recall(forest, "How long does it rest?")
    assert "RERANK_BASE_URL" in raised.value.action


@pytest.mark.django_db
def test_a_time_at_which_much_was_spoken_of_costs_no_more_than_any_other(ines):
    here = embedder()
    forest = plant(ines)
    for number in range(40):
        say(forest, f"Matter {number}", words="hood" if number == 3 else "")
    Forest.objects.filter(pk=forest.pk).update(embedder=here.identity, dimensions=here.dimensions, weights_hash=here.weights_hash)
    forest.refresh_from_db()
    latest = InteractionState.objects.in_forest(forest).latest("position")
    InteractionState.objects.in_forest(forest).update(time=latest.time)
    place = steps.localize_text(forest, "Where did we stop yesterday?", latest.time + timedelta(days=1))
    assert len(place.then) == 40 and place.decision.method == "temporal"
    assert place.decision.parent == latest.pk
    assert len(place.recall.lanes) <= LANE_LIMIT + 1  # … and the branch used last
