"""The OpenAPI document: complete, valid, committed, and what the API really answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from tests.api.conftest import CANARY

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def schema() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


def test_it_is_generated_without_a_warning(capsys):
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS


def test_the_committed_document_is_up_to_date(tmp_path):
    call_command("openapi", "--check")
    with pytest.raises(CommandError, match="isn't what the code says"):
        call_command("openapi", "--check", "--file", str(tmp_path / "old.yml"))
    call_command("openapi", "--file", str(tmp_path / "new.yml"))
    call_command("openapi", "--check", "--file", str(tmp_path / "new.yml"))


ANSWERS = [
    ("me/", "/api/me/"),
    ("model/", "/api/model/"),
    ("forests/", "/api/forests/"),
    ("forests/{forest.pk}/", "/api/forests/{forest}/"),
    ("forests/{forest.pk}/turns/", "/api/forests/{forest}/turns/"),
    ("forests/{forest.pk}/states/", "/api/forests/{forest}/states/"),
    ("forests/{forest.pk}/health/", "/api/forests/{forest}/health/"),
    ("forests/{forest.pk}/facts/?status=all", "/api/forests/{forest}/facts/"),
    ("forests/{forest.pk}/records/", "/api/forests/{forest}/records/"),
    ("forests/{forest.pk}/revisions/", "/api/forests/{forest}/revisions/"),
    (f"forests/{{forest.pk}}/search/?q={CANARY}", "/api/forests/{forest}/search/"),
    ("turns/{turn.pk}/", "/api/turns/{turn}/"),
    ("turns/{broken.pk}/", "/api/turns/{turn}/"),
    ("turns/{turn.pk}/trace/", "/api/turns/{turn}/trace/"),
    ("states/{state.pk}/", "/api/states/{state}/"),
    ("items/fact/{fact.pk}/", "/api/items/{kind}/{item}/"),
    ("items/event/{record.pk}/", "/api/items/{kind}/{item}/"),
    ("states/{later.pk}/moves/", "/api/states/{state}/moves/"),
    ("forests/{forest.pk}/changes/", "/api/forests/{forest}/changes/"),
    ("forests/{forest.pk}/facts/?as_of=2", "/api/forests/{forest}/facts/"),
    ("jobs/", "/api/jobs/"),
    ("jobs/{job.pk}/", "/api/jobs/{job}/"),
]


@pytest.mark.parametrize(("path", "documented"), ANSWERS)
def test_answers_have_the_documented_shape(planted, as_ines, schema, path, documented):
    answer = as_ines.ask("GET", path.format(**vars(planted)))
    assert answer.status_code == 200
    shape = schema["paths"][documented]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    problems = list(differences(answer.json(), shape, schema))
    assert problems == []


def test_the_shape_check_finds_a_wrong_answer(schema):
    shape = {"$ref": "#/components/schemas/Job"}
    right = {"id": 1, "kind": "k", "status": "done", "done": 0, "total": 0, "message": "", "forest": None, "error": None, "result": None, "import": None}
    assert not list(differences(right, shape, schema))
    for wrong in (
        {**right, "extra": 1},
        {**right, "id": "1"},
        {**right, "status": "odd"},
        {k: v for k, v in right.items() if k != "total"},
        {**right, "kind": None},
    ):
        assert list(differences(wrong, shape, schema))


JSON_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}


def differences(value: Any, shape: Any, schema: Any, where: str = "answer"):
    """Where a value isn't what the schema says: missing, extra, wrong type, null, not among the choices."""
    if "$ref" in shape:
        yield from differences(value, schema["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]], schema, where)
        return
    if value is None:
        if not shape.get("nullable") and shape.get("type"):
            yield f"{where} is null"
        return
    for part in shape.get("allOf", []):
        yield from differences(value, part, schema, where)
    kind = shape.get("type")
    if kind and (not isinstance(value, JSON_TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{where} is {type(value).__name__}, not {kind}"
        return
    if "enum" in shape and value not in shape["enum"]:
        yield f"{where} is {value!r}"
    if kind == "array":
        for number, item in enumerate(value):
            yield from differences(item, shape["items"], schema, f"{where}[{number}]")
    if kind == "object" and "properties" in shape:
        yield from (f"{where}.{name} is missing" for name in shape.get("required", []) if name not in value)
        yield from (f"{where}.{name} is not documented" for name in value if name not in shape["properties"])
        for name, inner in shape["properties"].items():
            if name in value:
                yield from differences(value[name], inner, schema, f"{where}.{name}")


def test_the_page_to_try_it_runs_under_the_content_security_policy(as_ines):
    page = as_ines.ask("GET", "docs/")
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in policy and "script-src 'self'" in policy
    html = page.content.decode()
    for tag in re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL):
        assert not tag.strip(), "a script in the page"
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)
    assert all(source.startswith("/") for source in re.findall(r'(?:src|href)="([^"]+)"', html))
