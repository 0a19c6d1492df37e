"""An import is idempotent, resumable, says what it left out, and disturbs nobody (X1)."""

import json
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memory import messages, refining
from memory.actions import import_chat as importing
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.actions.refine import drain
from memory.errors import Refused
from memory.models import Forest, Import, InteractionState, Job, Outbox, Posting, RoutingDecision, StateVector, TermStat, Topic, Turn
from memory.store import bulk, uploads
from memory.tasks import sweep_outbox
from tests.imports.samples import gpt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("uploads_folder")]

CANARY = "zyzzyva7391"
POTS = gpt(
    {
        "s": (None, "system", ""),
        "u1": ("s", "user", "Which pot does basil need on the balcony?"),
        "a1": ("u1", "assistant", "A clay pot of 20 cm."),
        "a2": ("u1", "assistant", "Any pot with a hole."),
        "u2": ("a2", "user", "My budget for the balcony is €150."),
        "a3": ("u2", "assistant", "Noted."),
        "u3": ("a2", "user", "我的预算是一百欧元。"),
    }
)
BREAD = gpt({"u1": (None, "user", "How warm should a sourdough rest?"), "a1": ("u1", "assistant", "24 °C.")}, conversation_id="c2", create_time=1767500000.0)


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Old chats")


@pytest.fixture
def said(monkeypatch):
    """Messages to watching pages."""
    found = []
    monkeypatch.setattr(messages, "publish", lambda forest, turn, kind, payload: found.append(kind))
    monkeypatch.setattr(messages, "announce", lambda forest, kind, payload: found.append((kind, payload["why"])))
    return found


def take_in(forest, *conversations, **how):
    job = importing.receive(forest, [json.dumps(conversations).encode()], **how)
    importing.run(job.pk)
    job.refresh_from_db()
    return job


def states(forest):
    found = InteractionState.objects.in_forest(forest).select_related("turn", "parent__turn")
    return {state.turn.client_id: state.parent.turn.client_id if state.parent else None for state in found}


TREE = {"c2/a1": None, "c1/a1": None, "c1/a2": None, "c1/a3": "c1/a2", "c1/u3": "c1/a2"}


def test_branches_stay_and_everything_a_state_needs_is_there(forest, said, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = take_in(forest, POTS, BREAD)
    assert (job.status, job.message, job.done, job.total, job.error) == ("done", "5 turns taken in", 5, 5, None)
    assert states(forest) == TREE
    found = list(InteractionState.objects.in_forest(forest).order_by("position"))
    assert [state.turn.client_id for state in found] == ["c2/a1", "c1/a1", "c1/a2", "c1/a3", "c1/u3"]
    assert {(state.origin, state.trust, state.turn.origin, state.turn.status, state.turn.text) for state in found} == {
        ("imported", "imported", "imported", "answered", "")
    }
    assert [state.position for state in found] == [1, 2, 3, 4, 5] and [state.depth for state in found] == [0, 0, 0, 1, 1]
    assert [state.branch_id for state in found[2:]] == [found[2].pk, found[2].pk, found[4].pk]
    assert found[1].time.timestamp() == 1767600001.5
    assert sorted(Topic.objects.in_forest(forest).values_list("order", flat=True)) == [0, 1, 2]
    assert StateVector.objects.in_forest(forest).count() == RoutingDecision.objects.in_forest(forest).count() == 5
    assert TermStat.objects.get(forest=forest, kind=0, term="balconi").states == 3 or TermStat.objects.filter(forest=forest, term__startswith="balcon").exists()
    forest.refresh_from_db()
    assert (forest.last_position, forest.indexed_states, forest.active_state_id) == (5, 5, found[-1].pk)
    assert forest.indexed_terms == sum(state.length for state in found) > 0
    assert said == [("forest.changed", "import")]
    assert [row.kind for row in Outbox.objects.in_forest(forest)] == ["import", "refine"]
    assert not uploads.folder_of(job.pk).exists()


def test_one_by_one_gives_the_same_rows(forest, ines):
    """What the batch writes is what the commit of a single given interaction writes."""
    from memory.actions.observe import observe_one

    take_in(forest, BREAD)
    other = create_forest(ines, "One by one")
    observe_one(other, {"id": "c2/a1", "user": "How warm should a sourdough rest?", "assistant": "24 °C.", "time": "2026-01-05T08:00:00.5Z", "new_root": True})

    def rows(forest, model, *names):
        return sorted(model.objects.in_forest(forest).values_list(*names))

    for model, names in ((Posting, ("kind", "term", "count", "length")), (TermStat, ("kind", "term", "states")), (Topic, ("key", "order"))):
        assert rows(forest, model, *names) == rows(other, model, *names)
    columns = ("position", "depth", "user_text", "assistant_text", "entities", "tokens", "length", "time")
    assert rows(forest, InteractionState, *columns) == rows(other, InteractionState, *columns)


def test_again_it_adds_nothing_and_a_later_export_only_what_is_new(forest):
    take_in(forest, POTS, BREAD)
    job = take_in(forest, POTS, BREAD)
    assert job.message == "0 turns taken in, 5 were there already"
    later = json.loads(json.dumps(POTS))
    later["mapping"]["a4"] = {"id": "a4", "parent": "u3", "children": [], "message": {**POTS["mapping"]["a3"]["message"], "content": {"parts": ["好的。"]}}}
    later["mapping"]["u4"] = {"id": "u4", "parent": "a3", "children": [], "message": {**POTS["mapping"]["u3"]["message"], "content": {"parts": ["And soil?"]}}}
    take_in(forest, later)
    assert states(forest) == {**TREE, "c1/a4": "c1/a2", "c1/u4": "c1/a3"}


def test_killed_midway_it_goes_on_where_it_stopped(forest, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 2)
    job = importing.receive(forest, [json.dumps([POTS, BREAD]).encode()])
    commit = bulk.commit

    def killed(forest_id, batch):
        if InteractionState.objects.in_forest(forest_id).count() >= 2:
            raise KeyboardInterrupt
        return commit(forest_id, batch)

    monkeypatch.setattr(bulk, "commit", killed)
    with pytest.raises(KeyboardInterrupt):
        importing.run(job.pk)
    monkeypatch.setattr(bulk, "commit", commit)
    job.refresh_from_db()
    assert (job.status, job.done) == ("running", 2) and uploads.folder_of(job.pk).exists()
    importing.run(job.pk)  # somebody seems to be at it
    assert len(states(forest)) == 2
    Import.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    assert importing.unfinished() == [job.pk]
    assert importing.unfinished() == []
    importing.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.message) == ("done", "3 turns taken in, 2 were there already")
    assert states(forest) == TREE
    importing.run(job.pk)
    assert states(forest) == TREE


def test_who_has_lost_an_import_writes_nothing_more(forest, monkeypatch):
    job = importing.receive(forest, [json.dumps([POTS]).encode()])
    embed = importing.embedder().embed

    class Slow:
        def embed(self, texts):
            Import.objects.update(holder="someone else")
            return embed(texts)

    monkeypatch.setattr(importing, "embedder", Slow)
    importing.run(job.pk)
    assert states(forest) == {}
    assert Job.objects.get(pk=job.pk).status == "running" and uploads.folder_of(job.pk).exists()


def test_what_was_left_out_is_said_and_the_lines_are_bounded(forest, settings, monkeypatch):
    settings.MAX_TURN_BYTES = 100
    monkeypatch.setattr(importing, "LINES", 2)
    long = gpt({"u": (None, "user", "é" * 80), "t": ("u", "tool", "x"), "a": ("t", "assistant", "Fine.")}, conversation_id="c3")
    job = take_in(forest, {"title": "broken"}, long)
    report = Import.objects.get(job=job)
    assert report.counts == {"new": 1, "known": 0, "left_out": {"output of a tool": 1, "too long": 1, "unreadable": 1}}
    assert report.formats == ["chatgpt"]
    assert report.left_out == [
        "The file, conversation 1: left out: it has no mapping of messages",
        "Conversation of 2026-01-05 (c3): message t left out: output of a tool",
    ]
    state = InteractionState.objects.get()
    assert state.user_text == "é" * 50


def test_reports_and_logs_hold_nothing_of_what_was_said(forest, caplog, monkeypatch):
    def failing(forest_id, batch):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(bulk, "commit", failing)
    take_in(forest, gpt({"u": (None, "user", CANARY), "t": ("u", "tool", CANARY)}, title=CANARY))
    assert CANARY not in caplog.text + str(list(Import.objects.values())) + str(list(Job.objects.values()))
    assert Job.objects.get().status == "failed"


def test_refining_is_quiet_and_what_is_said_now_comes_first(forest, said, monkeypatch, django_capture_on_commit_callbacks):
    take_in(forest, POTS, BREAD)
    from memory.actions.observe import observe_one

    now = observe_one(forest, {"id": "now", "user": "I moved to Lyon.", "time": "2026-02-01T10:00:00Z", "new_root": True}, tell=False)
    said.clear()
    order = []
    plan = refining.plan
    monkeypatch.setattr(refining, "plan", lambda forest, states: order.extend(states) or plan(forest, states))
    with django_capture_on_commit_callbacks(execute=True):
        assert drain(forest.pk) == 6
    assert order[0] == now["state"] and order[1:] == sorted(order[1:])
    assert sorted(map(str, said)) == ["('forest.changed', 'refined')", "memory.refined"]
    assert not InteractionState.objects.filter(refined_at=None).exists()


def test_turns_that_find_their_own_place_are_told_of_once(forest, said, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = take_in(forest, POTS, BREAD, relocalize=True)
    assert (job.done, job.total) == (5, 5)
    assert not InteractionState.objects.filter(refined_at=None).exists(), "each is refined before the next is localized"
    assert said == [("forest.changed", "import")]


def test_the_active_state_of_a_forest_in_use_stays(forest):
    from memory.actions.observe import observe_one

    mine = observe_one(forest, {"id": "now", "user": "I moved to Lyon.", "time": "2026-02-01T10:00:00Z"}, tell=False)
    take_in(forest, POTS)
    forest.refresh_from_db()
    assert forest.active_state_id == mine["state"]


def test_relocalizing_gives_every_turn_a_place_of_its_own_and_keeps_regenerated_answers_together(forest):
    more = gpt(
        {"u1": (None, "user", "How warm should the sourdough rest overnight?"), "a1": ("u1", "assistant", "5 °C.")},
        conversation_id="c3",
        create_time=1767700000.0,
    )
    take_in(forest, BREAD, POTS, more, relocalize=True)
    placed = states(forest)
    assert set(placed) == {*TREE, "c3/a1"}
    assert placed["c1/a1"] == placed["c1/a2"]
    assert placed["c3/a1"] == "c2/a1"
    assert set(RoutingDecision.objects.in_forest(forest).values_list("method", flat=True)) > {"new_root"}
    assert set(InteractionState.objects.values_list("origin", flat=True)) == {"imported"}
    take_in(forest, BREAD, POTS, more, relocalize=True)
    assert states(forest) == placed


def test_lines_without_a_parent_find_their_own_place(forest):
    lines = [
        {"id": "k1", "user": "We plan a new kitchen with an oak worktop.", "time": "2026-01-01T10:00:00Z", "parent": None},
        {"id": "s1", "user": "How warm should a sourdough rest?", "parent": None},
        {"id": "k2", "user": "Which oil does the oak worktop of the kitchen need?", "time": "2026-01-02T10:00:00Z"},
        {"id": "k3", "user": "And the sink?", "parent": "k2"},
        {"id": "k4", "user": "Lost", "parent": "nowhere"},
    ]
    job = importing.receive(forest, ["\n".join(map(json.dumps, lines)).encode()])
    importing.run(job.pk)
    assert states(forest) == {"k1": None, "s1": None, "k2": "k1", "k3": "k2", "k4": None}
    times = dict(InteractionState.objects.values_list("turn__client_id", "time"))
    assert times["s1"] == times["k1"] and times["k4"] == times["k2"]
    assert Import.objects.get(job=job).counts["left_out"] == {"no time": 3, "unknown parent": 1}


def test_a_forest_deleted_meanwhile_takes_its_file_along(forest, ines, django_capture_on_commit_callbacks):
    job = importing.receive(forest, [json.dumps([POTS]).encode()])
    with django_capture_on_commit_callbacks(execute=True):
        delete_forest(forest, ines)
    assert not uploads.folder_of(job.pk).exists()
    importing.run(job.pk)
    assert not Turn.objects.exists()


def test_the_sweep_takes_up_lost_imports_and_drops_what_nobody_needs(forest, monkeypatch):
    sent = []
    monkeypatch.setattr("memory.tasks.import_chat.delay", sent.append)
    monkeypatch.setattr("memory.tasks.publish_outbox", lambda: 0)
    job = importing.receive(forest, [json.dumps([POTS]).encode()])
    gone = importing.receive(forest, [json.dumps([POTS]).encode()])
    Job.objects.filter(pk=gone.pk).update(status="failed")
    sweep_outbox()
    assert sent == [] and uploads.kept() == {job.pk}
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(minutes=2))
    sweep_outbox()
    assert sent == [job.pk]


@pytest.mark.parametrize(
    ("chunks", "code"),
    [([], "invalid"), ([b"\x89PNG\r\n"], "invalid"), ([b"[]"], "invalid"), ([b"{" * 70_000], "invalid"), ([b"[" + b" " * 700_000] * 2, "too_large")],
)
def test_what_can_be_no_import_is_refused_at_once_and_not_kept(forest, settings, uploads_folder, chunks, code):
    settings.MAX_IMPORT_MB = 1
    with pytest.raises(Refused) as refused:
        importing.receive(forest, chunks)
    assert refused.value.code == code and refused.value.action
    assert not Job.objects.exists() and list(uploads_folder.iterdir()) == []


def test_an_archive_without_conversations_fails_in_words(forest, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("user.json", "{}")
    job = importing.receive(forest, [(tmp_path / "a.zip").read_bytes()])
    importing.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.error["code"]) == ("failed", "invalid")


@contextmanager
def refused(words):
    with pytest.raises(CommandError, match=words):
        yield


def test_the_command_makes_the_forest_imports_and_refines(ines, tmp_path, capsys):
    file = tmp_path / "conversations"
    file.write_text(json.dumps([POTS, BREAD]))
    call_command("import_chat", str(file), "--forest", "History")
    assert states(Forest.objects.get(name="History")) == TREE
    assert capsys.readouterr().out == "5 turns taken in.\n5 turns refined.\n"
    call_command("import_chat", str(file), "--forest", "History", "--rough")
    assert capsys.readouterr().out == "0 turns taken in, 5 were there already.\n"
    assert file.exists() and uploads.kept() == set()
    with refused("is no file"):
        call_command("import_chat", str(tmp_path / "none"), "--forest", "History")
    with refused("no such user"):
        call_command("import_chat", str(file), "--forest", "History", "--user", "nobody")
    file.write_text("[]")
    with refused("no conversations of a format we know"):
        call_command("import_chat", str(file), "--forest", "History")
