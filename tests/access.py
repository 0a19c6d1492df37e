"""Who may reach what: every operation of the generated OpenAPI document, every socket message of docs/interfaces.md, every page and admin address,
each with what it takes to try it on somebody else's rows. What isn't known here fails the test that meets it, until a line here says how to fill it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from arborweb.home import PROJECT
from memory.llm.embed import embedder
from memory.models import ApiKey, AuditEntry, Bulk, Forest, Forgotten, Import, Job, Lease, ModelCapability, NewVector, Outbox, PieceVector, Profile, StateVector
from memory.models.scoping import InForest
from tests.api.conftest import CANARY, Planted
from tests.forests import learn

METHODS = ("get", "post", "put", "patch", "delete")
DOCUMENT = PROJECT / "docs" / "interfaces.md"


class Everything(Planted):
    """Her forest with the canary in it, and a row in every table."""

    def __init__(self, ines: Any) -> None:
        super().__init__(ines)
        self.owner = ines
        here = embedder()  # so that nothing is refused for another's sake
        Forest.objects.filter(pk=self.forest.pk).update(embedder=here.identity, dimensions=here.dimensions, weights_hash=here.weights_hash)
        self.forest.refresh_from_db()
        for kind in ("artifact", "mutable_state"):
            learn(self.state, f"{kind} {CANARY}", kind)
        Import.objects.create(forest=self.forest, job=Job.objects.create(forest=self.forest, kind="import", message=CANARY), left_out=[CANARY])
        Lease.objects.create(forest=self.forest)
        Outbox.objects.create(forest=self.forest)
        NewVector.objects.create(forest=self.forest, replaces=StateVector.objects.filter(forest=self.forest).first(), pin="0" * 64, vector=[0.5] * 3)
        PieceVector.objects.create(forest=self.forest, state=self.state, number=0, vector=[0.5] * self.forest.dimensions)
        ModelCapability.objects.create(address="http://127.0.0.1:9/v1", model="m", probed_at=timezone.now())
        Profile.objects.create(owner=ines)
        ApiKey.objects.create(owner=ines, name=CANARY, prefix="aw_x", key_hash="f" * 64)
        self.audited = AuditEntry.objects.create(owner=ines, forest_number=self.forest.pk, action="move", subject=f"state {self.state.pk}")
        Forgotten.objects.create(forest=self.forest, state=self.state, salt="0" * 32, marks=["0" * 64])
        self.bulk = Bulk.objects.create(owner=ines, key=f"k{ines.pk}", action="retract", target="fact", ids=[self.fact.pk], message=CANARY)

    def value(self, name: str) -> Any:
        """What a parameter of this name takes."""
        values = {
            "forest": self.forest.pk,
            "turn": self.turn.pk,
            "state": self.state.pk,
            "parent": self.root.pk,
            "edit_of": self.turn.pk,
            "kind": "fact",
            "item": self.fact.pk,
            "job": self.job.pk,
            "change": self.change.pk,
            "id": self.state.pk,
            "client_id": f"access-{CANARY[-4:]}",
            "text": "Forget that.",
            "what": "that",
            "q": CANARY,
            "after": 0,
            "new_root": True,
            "moves": [{"state": self.later.pk, "parent": self.root.pk}],
            "as_turn": True,
            "time": "2026-03-01T10:00:00Z",
            "user": "Hi",
            "name": "Mine now",
            "username": "omar",
            "do": "retract",
            "base_url": "http://127.0.0.1:9/v1",
        }
        if name not in values:
            raise AssertionError(f"tests/access.py doesn't know how to fill “{name}”: say what it takes in Everything.value")
        return values[name]


# --- Rows


def rows_of(everything: Everything) -> dict[str, str]:
    """A hash of her rows in every table: of her forest, of hers as a person, and of the installation's own."""
    forest, person = everything.forest.pk, everything.owner.pk
    parts = []
    for model in apps.get_app_config("memory").get_models():
        names = {field.column for field in model._meta.fields}
        where = f"forest_id = {forest}" if issubclass(model, InForest) else f"owner_id = {person}" if "owner_id" in names else "true"
        table = model._meta.db_table
        # What is noted of a key's use changes with every request of its own.
        parts.append(f"SELECT '{table}', md5(coalesce(string_agg((to_jsonb(r) - 'last_used_at')::text, '|' ORDER BY r.id), '')) FROM {table} r WHERE {where}")
    parts.append(f"SELECT 'auth_user', md5((to_jsonb(u) - 'last_login')::text) FROM auth_user u WHERE id = {person}")
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return dict(cursor.fetchall())


# --- The API


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one documented address."""

    method: str
    path: str
    parameters: tuple[tuple[str, str, bool], ...]  # (name, where, required)
    body: Mapping[str, Any] | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def names(self) -> list[str]:
        """The ids in its path."""
        return re.findall(r"{(\w+)}", self.path)

    def address(self, hers: Everything, **instead: Any) -> str:
        query = {name: hers.value(name) for name, where, required in self.parameters if where == "query" and required}
        path = self.path.format(**{name: instead.get(name, hers.value(name)) for name in self.names})
        return path + ("?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else "")

    def crossed(self, hers: Everything) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Query and body with an id of hers in one place where the address takes one, to be sent to somebody's own forest."""
        for name, where, _ in self.parameters:
            if where == "query" and name in IDS:
                yield {name: hers.value(name)}, {}
        for name in (self.body or {}).get("properties", {}):
            if name in IDS:
                yield {}, {name: hers.value(name)}


# Parameters and fields that name a row.
IDS = frozenset({"forest", "turn", "state", "parent", "edit_of", "item", "job", "change"})
# Bodies that the document's types alone don't tell.
BODIES: dict[str, Any] = {
    "POST /api/forests/{forest}/import/": {},
    "POST /api/states/{state}/move/": {"new_root": True},
}
# What an owner reads there are numbers, or nothing yet.
WITHOUT_TEXT = frozenset({"GET /api/forests/{forest}/health/"})
# In the URL conf and not in the document.
UNDOCUMENTED = frozenset({"schema", "api-docs", "unknown"})


@cache
def document() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


@cache
def operations() -> tuple[Operation, ...]:
    """Every documented one."""
    found = []
    for path, methods in document()["paths"].items():
        for method in METHODS:
            if method in methods:
                asked = methods[method]
                parameters = tuple((one["name"], one["in"], one.get("required", False)) for one in asked.get("parameters", []))
                content = asked.get("requestBody", {}).get("content", {})
                body = resolved(next(iter(content.values()))["schema"]) if content else None
                found.append(Operation(method.upper(), path, parameters, body))
    return tuple(found)


def resolved(shape: Any) -> Any:
    if "$ref" in shape:
        return resolved(document()["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]])
    return shape


def body_of(operation: Operation, hers: Everything) -> Any:
    """A body that a view takes: the required fields of the document, filled by their names."""
    if str(operation) in BODIES:
        return BODIES[str(operation)]
    return None if operation.body is None else _filled("", operation.body, hers)


def _filled(name: str, shape: Any, hers: Everything) -> Any:
    shape = resolved(shape["allOf"][0] if "allOf" in shape else shape)
    if shape.get("type") == "object" or "properties" in shape:
        return {field: _filled(field, shape["properties"][field], hers) for field in shape.get("required", [])}
    if shape.get("type") == "array":
        return [_filled(name, shape["items"], hers)]
    return hers.value(name)


# --- The socket


def client_messages() -> dict[str, list[str]]:
    """Kinds of messages that a page may send, with their fields, from the document."""
    [line] = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("Client: ")]
    return {kind: re.findall(r'"(\w+)"\??', fields) for kind, fields in re.findall(r'{"type": "([\w.]+)"([^}]*)}', line)}


def handled_messages() -> set[str]:
    """Those that the code knows."""
    return set(re.findall(r'case "([\w.]+)"', (PROJECT / "memory" / "consumers.py").read_text(encoding="utf-8")))


def server_messages() -> set[str]:
    """Kinds that a page may hear, from the message table."""
    text = DOCUMENT.read_text(encoding="utf-8").split("## Socket")[1].split("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return {kind for row in rows for kind in re.findall(r"`((?:turn|state|memory|forest|change|forget)\.[\w.]+)`", row)}


# --- Pages


def named_patterns(patterns: Any, prefix: str = "", before: str = "/") -> Iterator[tuple[str, str, URLPattern]]:
    """(namespaced name, whole route, pattern) of a URL conf, all the way down."""
    for entry in patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from named_patterns(entry.url_patterns, f"{prefix}{entry.namespace}:" if entry.namespace else prefix, route)
        else:
            yield f"{prefix}{entry.name}", route, entry


def api_names() -> set[str]:
    [api] = [entry for entry in get_resolver().url_patterns if isinstance(entry, URLResolver) and str(entry.pattern) == "api/"]
    return {name for name, _, _ in named_patterns(api.url_patterns)}


def documented_names() -> set[str]:
    """The names of the URL conf's entries that the document's paths lead to."""
    fill = {"kind": "fact"}
    return {resolve(re.sub(r"{(\w+)}", lambda match: fill.get(match[1], "1"), path)).url_name for path in document()["paths"]}


def admin_addresses(everything: Everything) -> Iterator[tuple[str, str]]:
    """(name, address) of every page of the admin, with a row of each table in it."""
    tables = {f"admin:{model._meta.app_label}_{model._meta.model_name}_": model for model in admin.site._registry}
    by_route = {f"/admin/{model._meta.app_label}/{model._meta.model_name}/": model for model in admin.site._registry}
    for name, route, pattern in named_patterns(admin.site.urls[0], "admin:", "/admin/"):
        model = next((tables[prefix] for prefix in tables if name.startswith(prefix)), None) or next(
            (by_route[prefix] for prefix in by_route if route.startswith(prefix)), None
        )
        row = model._default_manager.order_by("-pk").first() if model else None
        own = row.pk if row else 1
        fills = {
            **dict.fromkeys(("object_id", "pk", "id"), own),
            "app_label": "memory",
            "content_type_id": ContentType.objects.get_for_model(type(everything.forest)).pk,
            "url": "memory/nothing/here/",
        }
        names = [*pattern.pattern.converters, *pattern.pattern.regex.groupindex]
        if unknown := [one for one in names if one not in fills]:
            raise AssertionError(f"tests/access.py doesn't know how to fill {unknown} of {name}: say it in admin_addresses")
        if not name.endswith(":None"):
            yield name, reverse(name, kwargs={one: fills[one] for one in names})
        elif "(?P<url>" in route:
            yield "admin:anything else", f"/admin/{fills['url']}"
        else:
            yield f"admin:{route}", re.sub(r"<(?:\w+:)?(\w+)>", lambda match, fills=fills: str(fills[match[1]]), route)
