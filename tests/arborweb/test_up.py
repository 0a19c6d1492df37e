"""`manage.py up` with real servers: what it starts, survives and leaves behind."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from arborweb.home import PROJECT
from tests.arborweb.site import Site, environment, fresh_home, processes, processes_with, until

ALL_UP = {"database": "up", "redis": "up", "worker": "up", "model": "offline"}


@pytest.fixture(scope="module")
def home():
    with fresh_home() as home:
        yield home


@pytest.fixture(scope="module")
def site(home):
    site = Site(home).wait_until_ready()
    yield site
    site.stop(signal.SIGKILL)


def run(home, *command, **more):
    return subprocess.run([sys.executable, *command], cwd=PROJECT, env=environment(home, **more), capture_output=True, text=True, timeout=60)


def test_everything_is_up_once_it_says_so(site):
    assert site.health() == (200, {"status": "ok", "parts": ALL_UP})


def test_it_listens_on_loopback_only(site):
    port = int(re.search(r":(\d+)/", site.printed())[1])
    listening = subprocess.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True).stdout
    addresses = re.findall(rf"\d+: ([0-9A-F]+):{port:04X} [0-9A-F:]+ 0A", listening)
    assert addresses == ["0100007F"]


def test_the_printed_link_signs_in_once_and_leaves_no_token_behind(site):
    path = re.search(r"127\.0\.0\.1:\d+(/sign-in/link/\S+)", site.printed())[1]
    status, _, headers = site.get(path)
    assert (status, headers["location"]) == (302, "/")
    assert "sessionid" in headers["set-cookie"]
    status, body, _ = site.get(path)
    assert status == 403
    assert "manage.py sign_in_link" in body


def test_another_command_attaches_and_prints_a_new_link(site, home):
    result = run(home, "manage.py", "sign_in_link", "--address", "http://127.0.0.1:1")
    assert result.stdout.startswith("http://127.0.0.1:1/sign-in/link/?sesame="), result.stderr
    assert site.get(result.stdout.strip().removeprefix("http://127.0.0.1:1"))[0] == 302


def test_a_second_supervisor_is_refused(site, home):
    result = run(home, "manage.py", "up", PORT="0")
    assert result.returncode == 1
    assert f"It is already running on the data in {home}" in result.stderr


def test_a_port_in_use_is_said_plainly():
    with fresh_home() as other, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run(other, "manage.py", "up", PORT=str(port))
        assert result.returncode == 1
        assert f"Port {port} of 127.0.0.1 can't be used" in result.stderr
        assert not processes(other)


def test_without_a_worker_health_says_so_and_the_site_stays_up(site):
    worker = site.child("celery -A arborweb worker")
    os.kill(worker, signal.SIGSTOP)  # it hangs; killed, it would be back too soon to be missed
    try:
        assert until(lambda: site.health()[0] == 503)
        status, body = site.health("/healthz")
        assert (status, body) == (200, {"status": "degraded", "parts": {**ALL_UP, "worker": "down"}})
    finally:
        os.kill(worker, signal.SIGCONT)
    assert until(lambda: site.health()[0] == 200)


def test_a_database_that_hangs_is_down_and_the_answer_still_comes(site, home):
    servers = processes_with(home, "postgres")
    for pid in servers:
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        status, body = site.health("/healthz")
        assert (status, body["status"], body["parts"]["database"]) == (503, "down", "down")
        assert time.monotonic() - began < 12
    finally:
        for pid in servers:
            os.kill(pid, signal.SIGCONT)
    assert until(lambda: site.health()[0] == 200)


@pytest.mark.parametrize(("name", "words"), [("web-", "arborweb.web"), ("postgres", "bin/postgres -D"), ("valkey", "valkey-server")])
def test_a_child_that_dies_is_started_again(site, name, words):
    killed = site.child(words)
    os.kill(killed, signal.SIGKILL)
    assert until(lambda: killed not in processes(site.home))

    def answers():
        try:
            return site.health()[0] == 200 and site.child(words) not in {None, killed}
        except (OSError, http.client.HTTPException):
            return False

    assert until(lambda: re.search(rf"^{name}\d? ended unexpectedly and is started again", site.printed(), re.MULTILINE), 5)
    assert until(answers, 30), site.printed()


def test_killed_it_leaves_no_process_and_starts_again_on_the_same_data(site, home):
    site.process.kill()
    site.process.wait(5)
    assert until(lambda: not processes(home), 5), processes(home)
    (home / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{home / 'postgres'}\n")  # a stranger has the number of the dead
    again = Site(home, WEB_PROCESSES="1").wait_until_ready()
    try:
        assert until(lambda: again.health()[0] == 200, 30), again.printed()  # its worker may come a moment after it
        for _ in range(4):
            assert until(lambda: again.child("celery -A arborweb beat"))
            os.kill(again.child("celery -A arborweb beat"), signal.SIGKILL)
            until(lambda: again.child("celery -A arborweb beat") is None, 1)
        assert again.process.wait(40) == 1
        assert "beat died 4 times within 60 seconds" in again.printed()
        assert not processes(home)
    finally:
        again.stop(signal.SIGKILL)


def test_a_signal_stops_everything_in_order(home):
    site = Site(home, WEB_PROCESSES="1").wait_until_ready()
    assert site.stop(signal.SIGTERM) == 0
    assert "Stopping" in site.printed()
    assert not processes(home)
    assert not (home / "postgres" / "postmaster.pid").exists()
