"""Services for as long as someone uses them, without a supervisor."""

import os
import signal
import stat
import subprocess
import sys
from urllib.parse import quote

import pytest

from arborweb.home import PROJECT
from tests.arborweb.site import environment, fresh_home, processes, processes_with, until

USE = """
import sys
from arborweb.embedded import attach_or_start
from arborweb.home import ServiceError
try:
    with attach_or_start():
        print("attached", flush=True)
        sys.stdin.read()
except ServiceError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def home():
    with fresh_home() as home:
        yield home


def user(home):
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", USE], cwd=PROJECT, env=environment(home), stdin=pipe, stdout=pipe, stderr=pipe)


def refusal(home):
    process = user(home)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 1
    return error.decode()


def test_two_at_once_share_the_services_which_end_when_the_last_is_killed(home):
    first, second = user(home), user(home)
    assert [first.stdout.readline(), second.stdout.readline()] == [b"attached\n", b"attached\n"]
    first.kill()
    first.wait()
    assert not until(lambda: not processes(home), 4), "they stay while the second uses them"
    assert [(home / "run" / name).is_socket() for name in (".s.PGSQL.5432", "valkey.sock")] == [True, True]
    assert stat.S_IMODE((home / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "secret-key").stat().st_mode) == 0o600
    second.kill()
    second.wait()
    assert until(lambda: not processes(home), 10), "3 idle seconds, then they stop"
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_data_of_another_version_is_refused_and_left_alone(home):
    (home / "postgres").mkdir()
    (home / "postgres" / "PG_VERSION").write_text("17\n")
    assert "was written by PostgreSQL 17; this ArborWeb carries 18" in refusal(home)
    assert sorted(os.listdir(home / "postgres")) == ["PG_VERSION"]


def test_a_full_disk_is_said_plainly(home):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m,mode=755", "tmpfs", str(home)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("only who may mount can make a small disk")
    try:
        assert f"The disk that holds {home} is full" in refusal(home)
        assert until(lambda: not processes(home), 10)
    finally:
        subprocess.run(["umount", str(home)], check=True)


def test_a_keeper_that_is_killed_takes_its_server_along(home):
    first = user(home)
    assert first.stdout.readline() == b"attached\n"
    for keeper in processes_with(home, "-m arborweb.embedded"):
        os.kill(keeper, signal.SIGKILL)
    assert until(lambda: processes(home) == [first.pid], 5)
    second = user(home)
    assert second.stdout.readline() == b"attached\n", "and the next one starts it again"
    for process in (first, second):
        process.kill()
        process.wait()


def command(home, *arguments, **variables):
    """A command of ours in a process of its own, without the services of this test run."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=PROJECT, env={**environment(home), **variables}, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stderr.strip().splitlines()[-1]


def test_the_first_command_finds_its_tables(home):
    assert command(home, "export_forest", "Garden") == (1, "CommandError: No forest is called 'Garden'.")
    address = f"postgres://app@{quote(str(home / 'run'), safe='')}:5432/postgres"
    keeper = user(home)
    keeper.stdout.readline()
    try:
        code, told = command(home, "export_forest", "Garden", DATABASE_URL=address)
    finally:
        keeper.kill()
        keeper.wait()
    assert code == 1 and "Run `manage.py migrate`, then again." in told
