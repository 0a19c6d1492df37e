"""Settings: documented, strict about what they are given, clean for production."""

import os
import re
import subprocess
import sys

import pytest
from django.db import connection

from arborweb.home import PROJECT
from arborweb.settings import celery_broker_url

INTERNAL = {"ARBORWEB_TEST_DATABASE", "DJANGO_SETTINGS_MODULE", "HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}


def manage(*arguments, **variables):
    env = {"PATH": os.environ["PATH"], "DATABASE_URL": "postgres:///none", "REDIS_URL": "redis://none", **variables}
    return subprocess.run([sys.executable, "manage.py", *arguments], cwd=PROJECT, env=env, capture_output=True, text=True, timeout=60)


def test_every_variable_is_documented():
    read = set()
    for file in (PROJECT / "arborweb").glob("*.py"):
        text = file.read_text()
        read |= set(re.findall(r'(?:environ\.get\(|environ\[|env_\w+\(|number\()"([A-Z_]+)"', text))
    documented = set(re.findall(r"`([A-Z_]+)`", (PROJECT / "docs" / "settings.md").read_text()))
    assert read - INTERNAL <= documented


def test_it_is_clean_for_production():
    result = manage(
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        SECRET_KEY="k7-" + "quiet oaks grow slowly 0123456789 " * 2,
        HTTPS="1",
        ALLOWED_HOSTS="forest.example.org",
    )
    assert result.returncode == 0, result.stderr


def test_a_number_that_is_none_is_refused_by_name():
    result = manage("check", EVIDENCE_BUDGET="lots")
    assert "EVIDENCE_BUDGET must be a whole number, not 'lots'." in result.stderr


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("redis://valkey:6379/0", "redis://valkey:6379/0"),
        ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
        ("unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0"),
    ],
)
def test_celery_spells_a_socket_its_own_way(url, broker):
    assert celery_broker_url(url) == broker


@pytest.mark.django_db
def test_the_database_is_asked_without_parallel_workers_and_reads_pages_as_near():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('max_parallel_workers_per_gather'), current_setting('random_page_cost')")
        assert cursor.fetchone() == ("0", "1.1")


@pytest.mark.parametrize(
    ("asked", "options"), [("", "-c max_parallel_workers_per_gather=0 -c random_page_cost=1.1"), ("?options=-c%20work_mem%3D8MB", "-c work_mem=8MB")]
)
def test_a_url_may_ask_the_database_for_other_options(asked, options):
    result = manage(
        "shell",
        "-v",
        "0",
        "-c",
        "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS']['options'])",
        DATABASE_URL=f"postgres://a:b@c/d{asked}",
    )
    assert result.stdout.strip().endswith(options), result.stderr
