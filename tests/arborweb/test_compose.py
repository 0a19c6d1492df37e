"""docker-compose.yml, read by a real compose implementation."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from arborweb.home import PROJECT
from arborweb.services import Postgres

SECRETS = {"SECRET_KEY": "k", "POSTGRES_PASSWORD": "p", "SITE_HOST": "forest.example.org"}


def config(**variables):
    command = [str(Path(sys.executable).with_name("podman-compose")), "--dry-run", "-f", "docker-compose.yml", "config"]
    return subprocess.run(command, cwd=PROJECT, env={"PATH": os.environ["PATH"], **variables}, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def services():
    result = config(**SECRETS)
    assert result.returncode == 0, result.stderr
    return yaml.safe_load(result.stdout)["services"]


def test_every_service_needs_only_what_there_is(services):
    assert set(services) == {"database", "valkey", "migrate", "web", "worker", "beat", "proxy"}
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)


def test_the_database_is_made_as_the_embedded_one(services):
    arguments = services["database"]["environment"]["POSTGRES_INITDB_ARGS"].split()
    assert arguments == ["-E", "UTF8", *Postgres.LOCALE]
    assert services["database"]["image"].endswith("-pg18")
    assert services["database"]["volumes"] == ["database:/var/lib/postgresql"]


def test_the_site_waits_for_its_migrations_and_everything_is_watched(services):
    for name in ("web", "worker", "beat"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert {name for name, service in services.items() if "healthcheck" not in service} == {"migrate", "proxy"}


def test_what_is_set_of_models_reaches_who_calls_them(services):
    names = set(re.findall(r'"((?:OPENAI|EMBEDDINGS|RERANK)_[A-Z_]+|LOCALIZER|EXTRACTION)"', (PROJECT / "arborweb" / "settings.py").read_text()))
    assert len(names) > 12
    for name in ("web", "worker"):
        assert names <= set(services[name]["environment"])


def test_web_and_worker_share_the_state_folder(services):
    for name in ("web", "worker"):
        assert services[name]["environment"]["ARBORWEB_HOME"] in [volume.split(":")[1] for volume in services[name]["volumes"]]
    assert services["web"]["volumes"] == services["worker"]["volumes"]


def test_images_are_pinned(services):
    for service in services.values():
        assert "build" in service or not service["image"].endswith(":latest")


@pytest.mark.parametrize("missing", sorted(SECRETS))
def test_a_missing_secret_is_refused(missing):
    result = config(**{name: value for name, value in SECRETS.items() if name != missing})
    assert result.returncode != 0
