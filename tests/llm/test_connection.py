"""The model connected in the page: kept in a file, seen by every process, after the environment."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from arborweb.home import PROJECT
from memory.llm import connection, endpoints
from memory.llm.connection import Connection
from memory.llm.interface import ModelError, get_model
from tests.llm import hostile as scripts
from tests.llm.hostile import KEY, Hostile

HERE = Connection("http://127.0.0.1:9/v1", "llama3.2", "", KEY)


@pytest.fixture
def file(settings: Settings, tmp_path: Path) -> Path:
    settings.OPENAI_BASE_URL = ""
    settings.CONNECTION_FILE = tmp_path / "state" / "connection.json"
    return settings.CONNECTION_FILE


def test_it_is_kept_for_its_owner_only_and_whole(file: Path) -> None:
    before = os.umask(0)
    try:
        connection.keep(HERE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert connection.kept() == HERE and KEY not in repr(HERE)
    connection.keep(Connection("http://127.0.0.1:10/v1"))
    assert [found.name for found in file.parent.iterdir()] == ["connection.json"]
    connection.forget()
    connection.forget()
    assert connection.kept() is None and not list(file.parent.iterdir())


def test_a_write_that_fails_leaves_what_was_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.keep(HERE)

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        connection.keep(Connection("http://127.0.0.1:10/v1", api_key=KEY))
    assert connection.kept() == HERE and len(list(file.parent.iterdir())) == 1


def test_another_process_sees_every_change(file: Path) -> None:
    code = "import django, sys; django.setup()\nfrom memory.llm.interface import get_model\nfor line in sys.stdin: print(get_model().name, flush=True)\n"
    env = {**os.environ, "ARBORWEB_CONNECTION": str(file), "DJANGO_SETTINGS_MODULE": "arborweb.settings"}
    with subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin and other.stdout

        def name() -> str:
            assert other.stdin and other.stdout
            other.stdin.write("?\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        assert name() == "offline"
        connection.keep(HERE)
        assert name() == "llama3.2"
        connection.keep(Connection(HERE.base_url, "llama3.3", "", KEY))  # the same size, perhaps in the same moment
        assert name() == "llama3.3"
        connection.forget()
        assert name() == "offline"
        other.stdin.close()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"base_url": ""}', '{"base_url": 3}', '{"base_url": "http://a/v1", "more": "sk-secret-7391"}'])
def test_a_broken_file_is_no_connection_and_is_said(file: Path, caplog: pytest.LogCaptureFixture, content: str) -> None:
    file.parent.mkdir()
    file.write_text(content)
    assert connection.kept() is None and get_model().name == "offline"
    assert "can't be used" in caplog.text and KEY not in caplog.text and len(caplog.records) == 1


def test_the_environment_goes_before_the_page(file: Path, settings: Settings) -> None:
    settings.OPENAI_API_KEY, settings.OPENAI_PRICE_INPUT = "sk-of-the-environment", 2.0
    connection.keep(Connection("http://127.0.0.1:9/v1", "page", "reader", ""))
    answers, extracts = endpoints.answering(), endpoints.extracting()
    assert answers and extracts
    # Neither key nor price of the environment is for an address from the page.
    assert (answers.model, answers.api_key, answers.price_input, extracts.model, endpoints.source()) == ("page", "", None, "reader", "page")
    settings.OPENAI_BASE_URL, settings.OPENAI_MODEL = "http://127.0.0.1:11/v1", "environment"
    answers, extracts = endpoints.answering(), endpoints.extracting()
    assert answers and extracts
    assert (answers.model, answers.base_url, extracts.model, endpoints.source()) == ("environment", "http://127.0.0.1:11/v1", "environment", "environment")


def test_what_another_model_costs_is_not_known(settings: Settings) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, settings.OPENAI_PRICE_INPUT = "http://127.0.0.1:9/v1", "large", 2.0
    own, other = endpoints.answering("large"), endpoints.answering("small")
    assert own and other
    assert (own.price_input, other.model, other.price_input) == (2.0, "small", None)


async def test_what_to_do_is_said_in_the_words_of_the_page(hostile: Hostile, file: Path) -> None:
    from memory.llm.capabilities import Kept
    from memory.llm.client import EndpointClient

    hostile.always = scripts.failure(401)
    connection.keep(Connection(hostile.url, "m", "", KEY))
    answers = endpoints.answering()
    assert answers
    with pytest.raises(ModelError) as failed:
        async for _ in EndpointClient(answers, Kept()).stream([{"role": "user", "content": "Hi"}]):
            pass
    assert failed.value.action == "Check the key under Models."


def test_the_file_is_what_it_says(file: Path) -> None:
    connection.keep(HERE)
    assert json.loads(file.read_text()) == {"base_url": HERE.base_url, "model": "llama3.2", "extract_model": "", "api_key": KEY}
