"""What the project promises about itself: its stack is declared and used, its top level stands, its documents tell the truth."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STACK = {
    "django": "django",
    "djangorestframework": "rest_framework",
    "channels": "channels",
    "celery": "celery",
    "psycopg": "psycopg",
    "pgvector": "pgvector",
    "openai": "openai",
    "pytest-django": "pytest_django",
}
SOURCES = [*(ROOT / "arborweb").rglob("*.py"), *(ROOT / "memory").rglob("*.py")]


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    return {re.match(r"[\w.-]+", line)[0].lower() for line in lines}


def imported(path: Path) -> set[str]:
    """First names of the modules a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize(("package", "module"), STACK.items())
def test_the_stack_is_declared_and_used(package, module, pytestconfig):
    assert package in declared()
    if package == "pytest-django":
        assert pytestconfig.pluginmanager.has_plugin("django")
        return
    users = [path for path in SOURCES if module in imported(path)]
    assert users, f"nothing imports {module}"


@pytest.mark.parametrize("name", ["manage.py", "pyproject.toml", "arborweb", "memory", "frontend", "templates", "static", "tests", "docker-compose.yml"])
def test_the_top_level_stands(name):
    path = ROOT / name
    assert path.is_file() if "." in name else any(path.iterdir())


def test_the_engine_is_pure():
    """import-linter holds this too; here it fails with the tests of whoever breaks it."""
    for path in (ROOT / "memory" / "engine").rglob("*.py"):
        banned = imported(path) & {"django", "rest_framework", "channels", "celery", "redis", "psycopg", "openai", "httpx", "socket", "time", "random", "os"}
        assert not banned, f"{path.relative_to(ROOT)} imports {', '.join(banned)}"


@pytest.mark.parametrize(
    "document", ["README.md", "memory/README.md", "docs/interfaces.md", "docs/settings.md", "docs/limits.md", "docs/deployment.md", "docs/forgetting.md"]
)
def test_links_and_paths_of_a_document_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    folder = (ROOT / document).parent
    for target in re.findall(r"\]\((?!https?:|#|/)([^)#]+)", text):
        assert (folder / target).exists(), f"{document} links to {target}"
    for named in re.findall(r"`((?:memory|arborweb|engine|store|llm|actions|models|present|api|docs|tests|templates|static|frontend)/[\w./]*\.?\w*/?)`", text):
        places = (ROOT / named, ROOT / "memory" / named)
        assert any(place.exists() for place in places) or named.startswith("static/build"), f"{document} names {named}"
