"""D1: a canary planted in every column of every table, in Valkey, in an import's folder and in the admin log is found nowhere after deletion with redaction.

The columns are taken from the models: a table, text, JSON or array column, or kind of Valkey key that is new is in no row below, and the tests fail until it
is seeded here and a deletion reaches it.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.models import Session
from django.db import connection, models
from django.test import Client
from pgvector.django import HalfVectorField
from redis import Redis

from arborweb.home import home, valkey_binary
from memory import messages
from memory.actions.create_forest import create_forest
from memory.actions.delete_person import delete_oneself
from memory.actions.export_forest import export_forest
from memory.actions.export_markdown import export_markdown
from memory.actions.forget import delete_forest, delete_state
from memory.actions.forget_item import delete_item
from memory.actions.refine import drain
from memory.api.authentication import make_key
from memory.models import (
    EVIDENCE_MODELS,
    AtomicFact,
    AuditEntry,
    Bulk,
    Change,
    ChangedItem,
    ContextTrace,
    Forest,
    Forgotten,
    Import,
    InteractionState,
    Job,
    Lease,
    ModelCapability,
    NewVector,
    Outbox,
    ParentChange,
    PieceVector,
    Posting,
    Profile,
    Revision,
    RoutingDecision,
    StateLink,
    StateVector,
    TermStat,
    Topic,
    Turn,
)
from memory.store import uploads
from tests.forests import learn, say, trace, wait

pytestmark = pytest.mark.django_db
CANARY = "zyzzyva7391"
# A vector that only what goes has: eleven numbers no other row begins with.
SUNG = [0.5, -0.5, 0.25] + [0.0] * 381

# Columns without a word of a memory: names that the code gives, versions, hashes, zones, reasons. Everything else must be sung in.
CODED = {
    "Forest": {"embedder", "weights_hash", "time_zone", "answer_model"},
    "Turn": {"origin", "status", "generator", "answered_by", "usage", "timings", "error"},
    "InteractionState": {"origin", "trust", "refined_by", "refine_error", "extraction_report", "taught"},
    "Change": {"action"},
    "ChangedItem": {"kind", "status"},
    "ParentChange": {"method"},
    "RoutingDecision": {"method", "ranker"},
    "ContextTrace": {"messages_hash", "cut"},
    "StateVector": {"kind"},
    "NewVector": {"pin"},
    "Revision": {"kind", "verdict", "by"},
    "Outbox": {"kind"},
    "Lease": {"holder", "last_holder"},
    "Job": {"kind", "status", "error", "result"},
    "Bulk": {"key", "action", "target", "ids", "counts", "refused", "status", "message", "holder"},
    "Import": {"holder", "formats", "counts"},
    "Forgotten": {"salt", "marks"},
    "AuditEntry": {"action", "subject", "counts"},
    "ApiKey": {"prefix", "key_hash", "scopes"},
    "Profile": {"time_zone"},
    "ModelCapability": {"address", "model", "structured", "rejected"},
    **{model.__name__: {"attribute_tag", "status", "made_by"} for model in EVIDENCE_MODELS.values()},
}
# What a person, not a turn, holds: gone with their account, not with a turn or a forest of theirs.
OF_THE_PERSON = {("ApiKey", "name")}
OF_THE_FOREST = {("Forest", "name"), ("Job", "message"), ("Import", "path")}


def holds_words(field: models.Field) -> bool:
    return isinstance(field, models.TextField | models.CharField | models.JSONField) or (
        isinstance(field, ArrayField) and isinstance(field.base_field, models.TextField | models.CharField)
    )


def columns() -> set[tuple[str, str]]:
    """Every column of the memory app that can hold words, but those only the code writes."""
    found = set()
    for model in apps.get_app_config("memory").get_models():
        for field in model._meta.concrete_fields:
            if holds_words(field) and field.name not in CODED.get(model.__name__, set()):
                found.add((model.__name__, field.name))
    return found


def vectors() -> set[tuple[str, str]]:
    return {
        (model.__name__, field.name)
        for model in apps.get_app_config("memory").get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, HalfVectorField)
    }


def sung_in() -> set[tuple[str, str]]:
    """The columns in which the canary sings now."""
    found = set()
    with connection.cursor() as cursor:
        for model in apps.get_app_config("memory").get_models():
            for field in model._meta.concrete_fields:
                if isinstance(field, HalfVectorField):
                    cursor.execute(f'SELECT count(*) FROM "{model._meta.db_table}" WHERE "{field.column}"::text LIKE %s', ["[0.5,-0.5,0.25,%"])
                elif holds_words(field):
                    cursor.execute(f'SELECT count(*) FROM "{model._meta.db_table}" t WHERE t."{field.column}"::text ILIKE %s', [f"%{CANARY}%"])
                else:
                    continue
                if cursor.fetchone()[0]:
                    found.add((model.__name__, field.name))
    return found


def elsewhere() -> set[str]:
    """Tables of other apps, Valkey keys, and files in the import folder in which it sings."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if not table.startswith("memory_"):
                cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text ILIKE %s', [f"%{CANARY}%"])
                if cursor.fetchone()[0]:
                    found.add(table)
    client = messages.client()
    for key in client.scan_iter(match=f"*{messages._prefix()}*", count=1000):
        if CANARY in content(client, key):
            found.add(kind_of(key.decode()))
    for path in Path(uploads.folder_of(0)).parent.rglob("*"):
        if path.is_file() and CANARY in path.read_text():
            found.add("uploads")
    return found


def content(client: Redis, key: bytes) -> str:
    """A Valkey key with its value, whatever its type."""
    match client.type(key):
        case b"string":
            return f"{key!r} {client.get(key)!r}"
        case b"stream":
            return f"{key!r} {client.xrange(key)}"
        case b"hash":
            return f"{key!r} {client.hgetall(key)}"
        case b"list":
            return f"{key!r} {client.lrange(key, 0, -1)}"
        case b"set":
            return f"{key!r} {client.smembers(key)}"
        case b"zset":
            return f"{key!r} {client.zrange(key, 0, -1)}"
    raise AssertionError(f"Valkey has a type of value this test can't read: {key!r}")


# Every kind of key we write, by what follows our prefix: with words of memories, or without.
KEYS_WITH_WORDS = {"turn:messages"}
KEYS_WITHOUT = {"turn:seq", "celery", "_kombu", "unacked", "throttle", "worker", "models", "sign-in", "heartbeat", "health"}


def kind_of(key: str) -> str:
    rest = key.split(messages._prefix(), 1)[1].lstrip(":")
    parts = [part for part in rest.split(":") if part and not part.isdigit()]
    return ":".join(parts[:2]) if parts[:1] == ["turn"] else parts[0] if parts else rest


class Sung:
    """Inês's forest. `secret` is said in one turn; everything later that can hold it does."""

    def __init__(self, ines: Any, uploads_folder: Path) -> None:
        self.owner = ines
        self.forest = create_forest(ines, f"Home {CANARY}")
        self.root = say(self.forest, "Hello there", "Hi", topic=f"Kitchen {CANARY}", words="hello there kitchen", refined_by="rules-2")
        self.secret = self._secret()
        self.child = say(self.forest, "And then?", f"As you said, the code is {CANARY}.", self.secret, words=f"as you said the code is {CANARY}",
                         path_summary=f"about {CANARY}", node_summary=f"after {CANARY}", entities=[CANARY], keywords=[CANARY])  # fmt: skip
        self.far = say(self.forest, "Garden", f"Fine. Your code {CANARY} is safe. Trees grow.", words=f"garden fine your code {CANARY} safe tree grow",
                       topic="Garden", node_summary=f"garden {CANARY}")  # fmt: skip
        self._learned()
        self._told()
        self._around(uploads_folder)
        self.forest.refresh_from_db()

    def _secret(self) -> InteractionState:
        state = say(self.forest, f"The alarm code is {CANARY}.", f"Noted: {CANARY}.", self.root, words=f"alarm code {CANARY} noted {CANARY}",
                    node_summary=CANARY, path_summary=CANARY, entities=[CANARY], keywords=[CANARY])  # fmt: skip
        Turn.objects.filter(pk=state.turn_id).update(client_id=f"c/{CANARY}", text=CANARY, partial=CANARY, origin="imported")
        StateVector.objects.filter(state=state).update(vector=SUNG)
        PieceVector.objects.create(forest=self.forest, state=state, number=0, vector=SUNG)
        Posting.objects.create(forest=self.forest, kind=1, term=CANARY, state=state, count=1, length=1)
        TermStat.objects.create(forest=self.forest, kind=1, term=CANARY, states=1)
        Topic.objects.filter(root=self.root).update(variants=[f"kitchen {CANARY}"], stems=[CANARY])
        Posting.objects.create(forest=self.forest, kind=2, term=CANARY, state=self.root, count=1, length=1)
        TermStat.objects.create(forest=self.forest, kind=2, term=CANARY, states=1)
        StateLink.objects.create(forest=self.forest, state=state, parent=self.root, weight=0.4)
        ParentChange.objects.create(forest=self.forest, state=state, at_position=2)
        return state

    def _learned(self) -> None:
        """Of every kind a row of the secret turn with the canary in every column; and one of a later answer that quotes it, judged by a person."""
        for kind, model in EVIDENCE_MODELS.items():
            words = {}
            for field in model._meta.concrete_fields:
                if (model.__name__, field.name) in columns():
                    words[field.name] = [CANARY] if isinstance(field, ArrayField) else CANARY[: field.max_length or None]
            row = learn(self.secret, words.pop("text"), kind, **words)
            StateVector.objects.filter(kind=kind, item=row.pk).update(vector=SUNG)
            NewVector.objects.create(forest=self.forest, replaces=StateVector.objects.get(kind=kind, item=row.pk), pin="p", vector=SUNG)
            learn(self.far, f"The code {CANARY} is safe", kind, pinned=True, value=CANARY)
            setattr(self, kind, row)
        old = learn(self.root, "Alarm code is 1234", slot=f"{CANARY}", value="1234")
        AtomicFact.objects.filter(pk=old.pk).update(status="superseded", superseded_by=self.fact)
        Revision.objects.create(forest=self.forest, kind="fact", old_item=old.pk, new_item=self.fact.pk, slot=CANARY, verdict="superseded", state=self.secret)
        self.old = old

    def _told(self) -> None:
        """Traces, decisions and kept messages of later turns."""
        trace(self.child, self.secret, self.fact)
        trace(self.far, self.root, self.child)
        for context in ContextTrace.objects.all():
            context.blocks[0] |= {"note": f"Kitchen {CANARY}, 2 turns", "label": "Facts"}
            summary = {"kind": "summary", "id": self.child.pk, "text": f"after {CANARY}", "tokens": 3, "sources": [self.child.pk], "status": None}
            computed = {"kind": "computed", "id": None, "text": f"1 {CANARY}", "tokens": 3, "sources": [self.secret.pk], "status": None}
            context.blocks[0]["items"] += [summary, computed]
            context.cut = [{"block": "DataContext", "count": 1, "reason": "no room left in the budget"}]
            context.messages = [{"role": "system", "content": CANARY}]
            context.save()
        for state in (self.far, self.child):
            decision = state.turn.decision
            named = {"state": self.secret.pk, "root": self.root.pk, "label": f"Alarm {CANARY}", "tree": f"Kitchen {CANARY}", "active": False,
                     "score": 1.0, "probability": 0.1, "parts": {}, "channels": {}}  # fmt: skip
            decision.candidates = [
                *decision.candidates,
                named,
                {**named, "state": self.child.pk, "label": f"after {CANARY}"},
                {
                    **named,
                    "state": self.root.pk,
                    "label": "Hello there",
                    "signs": {"reply": {"kind": "answers", "quotes": [f"{CANARY}?"], "state": self.secret.pk}},
                },
            ]
            decision.why = f"Continues Alarm {CANARY}."
            decision.save()
        for state in (self.secret, self.child, self.far):
            messages.publish(self.forest.pk, state.turn_id, "turn.delta", {"text": CANARY, "offset": 0})

    def _around(self, uploads_folder: Path) -> None:
        """Work under way, and what is kept of a person."""
        self.broken = wait(self.forest, "Is it safe?", "interrupted", partial=f"Your code {CANARY} is safe")
        self.job = Job.objects.create(forest=self.forest, kind="import", status="running", message=f"Reading {CANARY}")
        Import.objects.create(forest=self.forest, job=self.job, path=f"/tmp/{CANARY}.json", left_out=[f"c/{CANARY}: cut", "another: cut"])
        folder = uploads.new_folder()
        (folder / uploads.NAME).write_text(CANARY)
        uploads.keep(folder, self.job.pk)
        Lease.objects.create(forest=self.forest, token=5, holder="worker")
        Outbox.objects.create(forest=self.forest, subject=self.secret.pk)
        Profile.objects.get_or_create(owner=self.owner)
        make_key(self.owner, f"key {CANARY}")
        ModelCapability.objects.get_or_create(address="http://127.0.0.1", defaults={"probed_at": self.secret.time})
        AuditEntry.objects.create(owner=self.owner, action="pin", subject="fact 1")
        Bulk.objects.create(owner=self.owner, key=f"k{self.owner.pk}", action="retract", target="fact", ids=[self.fact.pk])
        change = Change.objects.create(forest=self.forest, action="pin", by_user=self.owner, at_position=3)
        ChangedItem.objects.create(forest=self.forest, change=change, kind="fact", item=self.fact.pk, state=self.secret)


@pytest.fixture
def sung(ines, uploads_folder):
    made = Sung(ines, uploads_folder)
    turns = list(Turn.objects.values_list("pk", flat=True))
    yield made
    messages.forget(turns)


@pytest.fixture(autouse=True)
def committed(committing):
    committing("delete_state", "delete_item", "delete_forest", "delete_oneself")


def test_every_column_that_can_hold_words_and_every_vector_is_sung_in(sung):
    assert (columns() | vectors()) - sung_in() == set()
    assert elsewhere() == {"turn:messages", "uploads"}
    for model in apps.get_app_config("memory").get_models():
        assert model is Forgotten or model._default_manager.exists(), f"{model.__name__} has no row here"


def test_every_kind_of_valkey_key_is_known(sung):
    kinds = {kind_of(key.decode()) for key in messages.client().scan_iter(match=f"*{messages._prefix()}*", count=1000)}
    unknown = {kind for kind in kinds if not any(kind.startswith(known) for known in KEYS_WITH_WORDS | KEYS_WITHOUT)}
    assert not unknown, f"keys of a kind that this test doesn't know: {unknown}"


def test_a_deleted_turn_is_nowhere_after_redaction(sung, ines):
    delete_state(sung.secret, "children_to_parent", ines, redact_quotes=True)
    assert sung_in() <= OF_THE_FOREST | OF_THE_PERSON
    assert elsewhere() == {"uploads"}  # the file of an import under way, which belongs to the forest
    drain(sung.forest.pk)
    assert sung_in() <= OF_THE_FOREST | OF_THE_PERSON
    with export_forest(sung.forest) as file:
        exported = json.load(file)
    assert CANARY not in json.dumps({**exported, "forest": None})
    with export_markdown(sung.forest) as file:
        assert CANARY not in file.read().decode().replace(sung.forest.name, "")


def test_later_answers_keep_their_other_words(sung, ines):
    delete_state(sung.secret, "children_to_parent", ines, redact_quotes=True)
    sung.far.refresh_from_db()
    sung.broken.refresh_from_db()
    assert sung.far.assistant_text == "Fine. (deleted) Trees grow."
    assert sung.broken.partial == "(deleted)"
    assert set(Posting.objects.filter(state=sung.far, kind=0).values_list("term", flat=True)) >= {"tree", "grow"}
    drain(sung.forest.pk)
    assert StateVector.objects.filter(state=sung.far, kind="state").exists()  # of the words that are left


def test_without_redaction_later_answers_alone_still_say_it(sung, ines):
    preview = delete_state(sung.secret, "children_to_parent", ines, preview=True)
    assert {(row["state"], row["quote"]) for row in preview["quoted_by"]} == {
        (sung.child.pk, f"As you said, the code is {CANARY}."),
        (sung.far.pk, f"Your code {CANARY} is safe."),
        (None, f"Your code {CANARY} is safe"),
    }
    assert preview["counts"]["quoted_by"] == 3
    delete_state(sung.secret, "children_to_parent", ines)
    said = set(InteractionState.objects.filter(assistant_text__contains=CANARY).values_list("pk", flat=True))
    assert said == {sung.child.pk, sung.far.pk}
    assert not InteractionState.objects.filter(user_text__contains=CANARY).exists()
    assert not ContextTrace.objects.filter(messages__icontains=CANARY).exists()
    assert not RoutingDecision.objects.filter(why__contains=CANARY).exists()


def test_a_deleted_forest_is_nowhere(sung, ines):
    delete_forest(sung.forest, ines)
    assert sung_in() <= OF_THE_PERSON
    assert elsewhere() == set()


def test_a_deleted_account_is_nowhere_and_signed_out(sung, ines, django_user_model):
    django_user_model.objects.create_superuser("admin")
    django_user_model.objects.filter(pk=ines.pk).update(username=f"ines-{CANARY}", first_name=CANARY, email=f"{CANARY}@example.org")
    ines.refresh_from_db()
    LogEntry.objects.create(
        user=django_user_model.objects.get(username="admin"),
        content_type=ContentType.objects.get_for_model(django_user_model),
        object_id=str(ines.pk),
        object_repr=str(ines),
        action_flag=CHANGE,
        change_message=CANARY,
    )
    client = Client()
    client.force_login(ines)
    number = Session.objects.count()
    assert elsewhere() >= {"auth_user", "django_admin_log"}
    delete_oneself(ines, ines.username)
    assert sung_in() == set() and elsewhere() == set()
    assert Session.objects.count() == number - 1
    assert not Forest.objects.exists() and not Profile.objects.exists()
    assert {entry.action for entry in AuditEntry.objects.all()} >= {"delete_person", "delete_forest"}


def hashes(person: Any) -> dict[str, str]:
    """A hash of everything in the tables that is this person's."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_app_config("memory").get_models():
            names = {field.name for field in model._meta.concrete_fields}
            of = "forest_id IN (SELECT id FROM memory_forest WHERE owner_id = %s)" if "forest" in names else "owner_id = %s" if "owner" in names else None
            if of:
                cursor.execute(f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY id), '')) FROM \"{model._meta.db_table}\" t WHERE {of}", [person.pk])
                found[model.__name__] = cursor.fetchone()[0]
        cursor.execute("SELECT md5(t::text) FROM auth_user t WHERE id = %s", [person.pk])
        found["User"] = cursor.fetchone()[0]
    return found


def test_nothing_of_another_person_changes_though_they_said_the_same(sung, ines, omar, uploads_folder):
    his = Sung(omar, uploads_folder)
    before = hashes(omar)
    assert len(set(before.values())) > 15
    delete_item(sung.fact, ines, redact_quotes=True)
    delete_state(sung.secret, "children_to_parent", ines, redact_quotes=True)
    drain(sung.forest.pk)
    delete_state(sung.far, "with_children", ines)
    delete_forest(sung.forest, ines)
    delete_oneself(ines, ines.username)
    assert hashes(omar) == before
    kept = messages.replay(his.secret.turn_id, 0)
    messages.forget(list(Turn.objects.values_list("pk", flat=True)))
    assert [message["text"] for message in kept] == [CANARY]


def test_the_rewritten_append_file_of_valkey_holds_nothing_of_it(sung, ines, tmp_path, monkeypatch):
    """With a Valkey of its own, as the embedded one is started: what was dropped is in its log until the deletion has it rewritten."""
    folder = tmp_path / "valkey"
    folder.mkdir()
    place = ("--port", "0", "--unixsocket", str(folder / "v.sock"), "--dir", str(folder))
    durability = ("--appendonly", "yes", "--appendfsync", "always", "--save", "", "--loglevel", "warning")
    process = subprocess.Popen([valkey_binary(home(), None), *place, *durability], stdout=subprocess.DEVNULL)
    try:
        own = Redis.from_url(f"unix://{folder / 'v.sock'}?db=0", socket_timeout=5)
        until(lambda: answers(own))
        with monkeypatch.context() as patch:
            patch.setattr(messages, "client", lambda: own)
            for state in (sung.secret, sung.child):
                messages._append(state.turn_id, {"type": "turn.delta", "turn": state.turn_id, "text": CANARY, "offset": 0})

            def logged() -> bool:
                return any(CANARY.encode() in path.read_bytes() for path in folder.rglob("*.aof"))

            assert logged()
            delete_state(sung.secret, "with_children", ines)
            until(lambda: not logged(), 20)
    finally:
        process.terminate()
        process.wait(10)


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except Exception:
        return False


def until(condition: Any, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)
