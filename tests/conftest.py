"""What every test can use: real services, a database and key prefix of this run's own, two people, and a real worker.

Services are attached to (or started) when this file is imported, which is before Django reads its settings.
A run never meets the running app or another run: the database is named after the process and every key in Valkey starts with a prefix of its own.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import django
import pytest
from django.db import connections

from arborweb.embedded import attach_or_start
from arborweb.home import PROJECT, ServiceError

os.environ["ARBORWEB_TEST_DATABASE"] = f"test_arborweb_{os.getpid()}"
os.environ["ARBORWEB_PREFIX"] = f"test{os.getpid()}"
os.environ["ARBORWEB_CONNECTION"] = str(Path(tempfile.gettempdir(), f"arborweb-test-{os.getpid()}", "connection.json"))  # never the app's own model
os.environ["OFFLINE_WORDS_PER_SECOND"] = "0"
for variable in [name for name in os.environ if name.startswith(("OPENAI_", "EMBEDDINGS_", "RERANK_"))]:
    del os.environ[variable]

services = contextlib.ExitStack()
try:
    services.enter_context(attach_or_start())
except ServiceError as error:
    raise pytest.UsageError(str(error)) from None
os.environ["DJANGO_SETTINGS_MODULE"] = "arborweb.settings"
django.setup()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The browser tests have a run of their own (`pytest tests/e2e -p no:asyncio`): their loop and pytest-asyncio's don't go together."""
    asked = any("e2e" in argument for argument in config.args)
    return True if collection_path.name == "e2e" and not asked else None


def pytest_unconfigure() -> None:
    """Leave nothing of this run in Valkey, then let go of the services."""
    from django.conf import settings
    from redis import Redis, RedisError

    if settings.configured:
        with contextlib.suppress(RedisError), Redis.from_url(settings.REDIS_URL, socket_timeout=2) as valkey:
            for key in valkey.scan_iter(match=f"{settings.REDIS_PREFIX}*", count=1000):
                valkey.delete(key)
    services.close()


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Before this run's database is made: those of runs that were killed are dropped."""
    import psycopg
    from django.conf import settings

    if "DATABASE_URL" not in os.environ:
        return
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        for (name,) in connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'test\\_arborweb\\_%'").fetchall():
            number = re.match(r"test_arborweb_(\d+)", name)
            if number and not _runs(int(number[1])):
                connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker) -> Iterator[None]:
    """The test database; before it is dropped, sessions that threads of asynchronous tests still hold are ended."""
    yield
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")


@pytest.fixture
def uploads_folder(settings: Any, tmp_path: Path) -> Path:
    """Where imports of this test wait."""
    settings.UPLOADS_DIR = tmp_path / "uploads"
    return Path(settings.UPLOADS_DIR)


@pytest.fixture
def ines(db, django_user_model):
    """Inês, who owns the forests of most tests."""
    return django_user_model.objects.create_user("ines")


@pytest.fixture
def omar(db, django_user_model):
    """Omar, who must see nothing of hers."""
    return django_user_model.objects.create_user("omar")


class Worker:
    """A real Celery worker in a process of its own, on the test database and this run's prefix."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it unless it runs, and wait until it takes tasks."""
        from django.db import connection

        from arborweb.health import forget_heartbeat, worker_is_up

        if self.process and self.process.poll() is None:
            return
        forget_heartbeat()
        url = urlsplit(os.environ["DATABASE_URL"])
        database = urlunsplit(url._replace(path="/" + connection.settings_dict["NAME"]))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "celery",
                    "-A",
                    "arborweb",
                    "worker",
                    "-P",
                    "threads",
                    "-c",
                    "2",
                    "--loglevel",
                    "INFO",
                    "--without-gossip",
                    "--without-mingle",
                ],
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": database},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + 30
        while not worker_is_up():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"The worker did not start:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Let it end what it does and stop it."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End it as a power failure would."""
        if self.process:
            self.process.kill()
            self.process.wait(10)


@pytest.fixture(scope="session")
def worker_process(django_db_setup, tmp_path_factory) -> Iterator[Worker]:
    """One worker for the run, started by the first test that asks for `worker`."""
    worker = Worker(tmp_path_factory.mktemp("worker") / "worker.log")
    yield worker
    worker.stop()


@pytest.fixture
def worker(transactional_db, worker_process: Worker) -> Iterator[Worker]:
    """A worker that is up. It sees committed rows only, hence the transactional database. A test may stop or kill it; the next one gets a new one.

    It is stopped before the database is emptied: a task under way and a TRUNCATE wait for each other's locks for ever."""
    worker_process.start()
    yield worker_process
    worker_process.stop()


@pytest.fixture
def beside():
    """Do something in another thread, with a connection of its own."""
    threads = ThreadPoolExecutor(8)

    def run(function: Callable[..., Any], *args: Any, **more: Any) -> Future[Any]:
        def call() -> Any:
            try:
                return function(*args, **more)
            finally:
                connections.close_all()

        return threads.submit(call)

    yield run
    threads.shutdown()
