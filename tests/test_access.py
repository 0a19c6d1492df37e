"""Store as Inês, read as anybody else: nothing (RELIABILITY P1). What is tried comes from the OpenAPI document, the message table and the URL conf."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import get_resolver, reverse

from memory import messages
from memory.api.authentication import make_key
from memory.models import Turn
from memory.threads import in_thread
from tests import access
from tests.access import CANARY, Everything
from tests.api.conftest import Caller
from tests.forests import plant, say
from tests.test_consumers import Page

HERS = [operation for operation in access.operations() if operation.names]
OWN = [operation for operation in access.operations() if not operation.names]


@pytest.fixture
def everything(ines):
    made = Everything(ines)
    turns = [made.turn.pk, made.waiting.pk, made.broken.pk]
    yield made
    messages.forget(turns)  # they say the canary, for which other tests look in Valkey


@pytest.fixture
def staff(django_user_model):
    """Runs the service, and owns nothing."""
    return django_user_model.objects.create_user("sam", is_staff=True)


@pytest.fixture
def connections_elsewhere(settings, tmp_path):
    """What the staff connects here connects nobody else."""
    settings.CONNECTION_FILE = tmp_path / "connection.json"


def key_of(person: Any, *scopes: str) -> Caller:
    _, key = make_key(person, f"key {'-'.join(scopes) or 'none'}", scopes)
    caller = Caller()
    caller.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return caller


def strangers(omar: Any, staff: Any) -> dict[str, tuple[Caller, set[int]]]:
    """Everybody but the owner, with the statuses they may get where an id of hers is in the address."""
    revoked = key_of(omar, "read", "write")
    from memory.models import ApiKey

    ApiKey.objects.filter(owner=omar).update(revoked_at="2026-01-01T00:00:00Z", name="revoked")
    return {
        "another person": (Caller(omar), {404}),
        "the staff": (Caller(staff), {404}),
        "another person's key": (key_of(omar, "read", "write"), {404}),
        "another person's key to read": (key_of(omar, "read"), {403, 404}),
        "another person's key to write": (key_of(omar, "write"), {403, 404}),
        "another person's key for nothing": (key_of(omar), {403}),
        "the staff's key": (key_of(staff, "read", "write"), {404}),
        "a revoked key": (revoked, {401}),
        "nobody": (Caller(), {401}),
    }


def content(answer: Any) -> str:
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def asked(caller: Caller, operation: access.Operation, hers: Everything, address: str | None = None, body: Any = None) -> Any:
    path = (address or operation.address(hers)).removeprefix("/api/")
    sent = access.body_of(operation, hers) if body is None else body
    return caller.ask(operation.method, path, sent)


# --- REST


def test_every_route_is_in_the_document():
    assert access.api_names() - access.documented_names() == access.UNDOCUMENTED


@pytest.mark.django_db
@pytest.mark.parametrize("operation", HERS, ids=str)
def test_nobody_but_the_owner_reads_or_changes_anything(everything, omar, staff, operation):
    before, wrong = access.rows_of(everything), []
    for who, (caller, allowed) in strangers(omar, staff).items():
        answer = asked(caller, operation, everything)
        text = content(answer)
        if answer.status_code not in allowed or CANARY in text or set(answer.json()) != {"error"}:
            wrong.append(f"{who}: {answer.status_code} {text[:200]}")
        if access.rows_of(everything) != before:
            pytest.fail(f"{who} changed rows of hers")
    assert not wrong, wrong


@pytest.mark.django_db
@pytest.mark.parametrize("operation", OWN, ids=str)
def test_what_names_nobody_says_nothing_of_hers(everything, omar, staff, connections_elsewhere, operation):
    before = access.rows_of(everything)
    for who, (caller, _) in strangers(omar, staff).items():
        answer = asked(caller, operation, everything)
        assert answer.status_code < 500 and CANARY not in content(answer).replace("Mine now", ""), who
        assert access.rows_of(everything) == before, who


@pytest.mark.django_db
@pytest.mark.parametrize("operation", access.operations(), ids=str)
def test_an_id_of_hers_in_a_query_or_a_body_leads_nowhere(everything, omar, connections_elsewhere, operation):
    own = plant(omar)
    mine = say(own, "Mine")
    here = {"forest": own.pk, "state": mine.pk, "turn": mine.turn_id}
    if not set(operation.names) <= set(here):
        return  # what is reached by an id alone is tried above
    before = access.rows_of(everything)
    for query, body in operation.crossed(everything):
        address = operation.address(everything, **here)
        address += ("&" if "?" in address else "?") + "&".join(f"{name}={value}" for name, value in query.items())
        sent = {**(access.body_of(operation, everything) or {}), **body} if operation.body else None
        if sent and "parent" in body:
            sent.pop("new_root", None)
        answer = asked(Caller(omar), operation, everything, address, sent)
        assert answer.status_code < 500 and CANARY not in content(answer), (query, body, answer.status_code)
        assert not Turn.objects.filter(forest=own, asked_parent=everything.root).exists()
        assert access.rows_of(everything) == before, (query, body)


@pytest.mark.django_db
@pytest.mark.parametrize("operation", [one for one in HERS if one.method == "GET"], ids=str)
def test_the_owner_reads_it_there(everything, ines, operation):
    answer = asked(Caller(ines), operation, everything)
    text = content(answer)
    assert answer.status_code == 200, text[:300]
    assert str(operation) in access.WITHOUT_TEXT or CANARY in text


@pytest.mark.django_db
@pytest.mark.parametrize("operation", HERS, ids=str)
def test_a_key_of_the_owner_does_what_its_scopes_say(everything, ines, operation):
    before = access.rows_of(everything)
    keys = {scopes: key_of(ines, *scopes) for scopes in ((), ("read",), ("write",))}
    access_before = {**before, "memory_apikey": access.rows_of(everything)["memory_apikey"]}
    answer = asked(keys[()], operation, everything)
    assert answer.status_code == 403 and CANARY not in content(answer)
    answer = asked(keys["read",], operation, everything)
    assert answer.status_code in ({200} if operation.method == "GET" else {200, 403}), content(answer)[:200]
    if operation.method == "GET":
        answer = asked(keys["write",], operation, everything)
        assert answer.status_code == 403 and CANARY not in content(answer)
    assert access.rows_of(everything) == access_before


@pytest.mark.django_db
def test_the_hash_sees_a_change_in_every_table(everything):
    before = access.rows_of(everything)
    assert set(before) == {model._meta.db_table for model in admin.site._registry if model._meta.app_label == "memory"} | {"auth_user"}
    Turn.objects.filter(pk=everything.turn.pk).update(attempt=7)
    after = access.rows_of(everything)
    assert [table for table in before if before[table] != after[table]] == ["memory_turn"]


# --- The socket


def test_every_message_is_in_the_document():
    assert set(access.client_messages()) == access.handled_messages()


def test_every_kind_that_is_published_is_in_the_table():
    import re

    from arborweb.home import PROJECT

    called = re.compile(r'(?:publish|announce|told|_say)\([^)\n]*"((?:turn|state|memory|forest|change|forget)\.[a-z_]+)"')
    sources = [path.read_text(encoding="utf-8") for path in (PROJECT / "memory").rglob("*.py")]
    published = {kind for text in sources for kind in called.findall(text)}
    assert {"turn.queued", "state.removed", "forest.changed"} <= published <= access.server_messages()


async def the_next(page: Page) -> dict[str, Any]:
    """What comes to a page that has asked for something unknown: the error, unless it hears of something else first."""
    await page.send_json_to({"type": "hello"})
    return dict(await page.receive_json_from())


@pytest.mark.django_db(transaction=True)
async def test_the_socket_of_her_forest_is_closed_to_others(everything, omar, staff, ines):
    def cookies(person):
        client = Client()
        client.force_login(person)
        return client

    for person in (omar, staff):
        assert await Page(everything.forest.pk, await in_thread(cookies, person)).closes() == 4404
        _, key = await in_thread(make_key, person, "both")
        assert await Page(everything.forest.pk, key=key, origin=None).closes() == 4404
    assert await Page(everything.forest.pk, Client()).closes() == 4401
    for scopes in ((), ("write",)):
        _, key = await in_thread(make_key, ines, f"only {scopes}", scopes)
        assert await Page(everything.forest.pk, key=key, origin=None).closes() == 4403


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", sorted(access.client_messages()))
async def test_a_message_that_names_hers_says_and_changes_nothing(everything, omar, kind):
    def prepared():
        own = plant(omar)
        client = Client()
        client.force_login(omar)
        messages.publish(everything.forest.pk, everything.turn.pk, "turn.delta", {"text": CANARY, "offset": 0})
        required = [name for name in access.client_messages()[kind] if name not in {"parent", "new_root", "edit_of", "as_turn"}]
        optional = [name for name in access.client_messages()[kind] if name in access.IDS and name not in required]
        base = {"type": kind, **{name: everything.value(name) for name in required}}
        frames = [base] if access.IDS & set(required) else []
        return own, client, frames + [{**base, "client_id": f"{kind}-{name}", name: everything.value(name)} for name in optional], access.rows_of(everything)

    own, client, frames, before = await in_thread(prepared)
    assert frames, f"{kind} names no row: say in tests/test_access.py how it could reach hers"
    page = await Page(own.pk, client).open()
    for frame in frames:
        answer = await page.ask(**frame)
        assert answer["type"] == "error" and answer["code"].startswith("unknown_"), answer
        assert CANARY not in str(answer)
    assert await in_thread(access.rows_of, everything) == before
    await page.disconnect()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", sorted(access.client_messages()))
async def test_a_key_to_read_sends_nothing(everything, ines, kind):
    def prepared():
        _, key = make_key(ines, "read", ("read",))
        return key, access.rows_of(everything)

    key, before = await in_thread(prepared)
    page = await Page(everything.forest.pk, key=key, origin=None).open()
    fields = [name for name in access.client_messages()[kind] if name not in {"parent", "new_root", "edit_of", "as_turn"}]
    await page.send_json_to({"type": kind, **{name: everything.value(name) for name in fields}})
    answer = await the_next(page)
    assert answer["type"] == "error" and answer["code"] in {"forbidden", "invalid"}
    assert await in_thread(access.rows_of, everything) == before
    await page.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_what_happens_in_her_forest_is_heard_there_alone(everything, omar, ines):
    def prepared():
        own = plant(omar)
        his, hers = Client(), Client()
        his.force_login(omar)
        hers.force_login(ines)
        return own, his, hers

    own, his, hers = await in_thread(prepared)
    page, her_page = await Page(own.pk, his).open(), await Page(everything.forest.pk, hers).open()
    kinds = sorted(access.server_messages())
    for kind in kinds:
        await messages.apublish(everything.forest.pk, everything.turn.pk, kind, {"text": CANARY})
    await in_thread(messages.announce, everything.forest.pk, "forest.changed", {"why": CANARY})
    heard = [await her_page.receive_json_from() for _ in range(len(kinds) + 1)]
    assert [one["type"] for one in heard] == [*kinds, "forest.changed"] and all(CANARY in str(one) for one in heard)
    assert (await the_next(page))["code"] == "invalid", "he heard something of hers"
    await page.disconnect()
    await her_page.disconnect()


# --- Pages and the admin


@pytest.mark.django_db
def test_no_page_shows_anything_of_hers_to_others(everything, omar, staff):
    before, tried = access.rows_of(everything), 0
    for name, route, pattern in access.named_patterns([entry for entry in get_resolver().url_patterns if str(entry.pattern) not in {"api/", "admin/"}]):
        path = route if name == "None" else reverse(name, kwargs={one: everything.value(one) for one in pattern.pattern.converters})
        for person in (omar, staff, None):
            for method in ("get", "post"):
                client = Client()
                if person is not None:
                    client.force_login(person)
                answer = getattr(client, method)(path)
                assert answer.status_code < 500 and CANARY not in answer.content.decode(), (name, person, method)
                assert person is None or "forest" not in pattern.pattern.converters or answer.status_code == 404
                tried += 1
    assert tried >= 40 and access.rows_of(everything) == before


# What the staff sees of the admin: its own account, the model servers, and numbers.
STAFFS = frozenset({
    "admin:index", "admin:login", "admin:logout", "admin:password_change", "admin:password_change_done", "admin:jsi18n", "admin:app_list",
    "admin:memory_health", "admin:memory_modelcapability_changelist", "admin:memory_modelcapability_change", "admin:memory_modelcapability_history",
})  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["omar", "staff", "staff with every permission", "nobody"])
def test_the_admin_shows_nothing_of_hers_to_who_is_no_administrator(everything, omar, staff, who):
    from django.contrib.auth.models import Permission

    person = {"omar": omar, "nobody": None}.get(who, staff)
    if who == "staff with every permission":
        person.user_permissions.set(Permission.objects.all())
    before, wrong, names = access.rows_of(everything), [], set()
    for name, address in access.admin_addresses(everything):
        names.add(name)
        for method, sent in (("get", None), ("post", {"action": "retract", "_selected_action": everything.fact.pk, "text": "x", "name": "x", "post": "yes"})):
            client = Client(raise_request_exception=False)
            if person is not None:
                client.force_login(person)
            answer = getattr(client, method)(address, sent)
            allowed = {302, 403, 404, 405} | ({200} if name in STAFFS and person is staff else {200} if name in {"admin:login", "admin:jsi18n"} else set())
            if answer.status_code not in allowed or CANARY in answer.content.decode():
                wrong.append((name, method, answer.status_code))
    assert not wrong, wrong
    assert names >= STAFFS and access.rows_of(everything) == before


@pytest.mark.django_db
def test_an_administrator_sees_it_there(everything, django_user_model):
    """Otherwise the test above would find nothing whatever happened."""
    client = Client(raise_request_exception=False)
    client.force_login(django_user_model.objects.create_superuser("root"))
    seen = {name for name, address in access.admin_addresses(everything) if CANARY in client.get(address).content.decode()}
    assert {f"admin:memory_{model}_change" for model in ("atomicfact", "interactionstate", "turn", "contexttrace", "job", "bulk", "forest")} <= seen
