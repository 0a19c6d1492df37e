"""How long ArborWeb takes to come up: a whole one of its own, in a new state folder, until every part is."""

import http.client
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_SECONDS = 120.0
NOT_INHERITED = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ARBORWEB_SECRET_KEY", "ARBORWEB_PREFIX", "DJANGO_SETTINGS_MODULE"}


@dataclass
class Boot:
    """Seconds from the command until each point, from SIGTERM until the end, and of processor time in all: the last doesn't depend on what else runs."""

    healthy: float
    linked: float
    stopped: float
    processor: float


def measure(runs: int) -> tuple[list[Boot], list[Boot]]:
    """Cold boots (an empty state folder each) and the warm one after each. Raises RuntimeError when one fails."""
    cold, warm = [], []
    for _ in range(runs):
        with _new_home() as home:
            cold.append(_boot(home))
            warm.append(_boot(home))
    return cold, warm


def words(seconds: list[float]) -> str:
    """Median and largest."""
    return f"{statistics.median(seconds):.1f} s (at most {max(seconds):.1f} s of {len(seconds)})"


@contextmanager
def _new_home() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="arborweb-boot-"))
    home.chmod(0o755)  # the servers' user must pass through it
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _boot(home: Path) -> Boot:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    began, used = time.monotonic(), _processor()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env={**env, "ARBORWEB_HOME": str(home), "PORT": str(port)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            healthy = _until(process, began, lambda: _is_healthy(port))
            linked = _until(process, began, lambda: "?sesame=" in _read(output))
            if healthy is None or linked is None:
                raise RuntimeError(f"ArborWeb did not come up:\n{_read(output)}")
        finally:
            asked = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        return Boot(healthy, linked, time.monotonic() - asked, _processor() - used)


def _processor() -> float:
    """Of all ended children and theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _until(process: subprocess.Popen[bytes], began: float, condition: Callable[[], bool]) -> float | None:
    while process.poll() is None and time.monotonic() - began < LIMIT_SECONDS:
        if condition():
            return time.monotonic() - began
        time.sleep(0.05)
    return None


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", "/healthz?all=1")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
