"""A whole ArborWeb of its own (its own state, port and processes), for tests that kill and break it."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arborweb.home import PROJECT


@contextlib.contextmanager
def fresh_home() -> Iterator[Path]:
    """A state folder that the servers' user can reach (pytest's own temporary folders are closed to others)."""
    home = Path(tempfile.mkdtemp(prefix="arborweb-"))
    home.chmod(0o755)
    try:
        yield home
    finally:
        for pid in processes(home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not processes(home))
        shutil.rmtree(home, ignore_errors=True)


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of someone who set nothing but the state folder."""
    ours = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE"}
    ours |= {f"ARBORWEB_{name}" for name in ("SECRET_KEY", "PREFIX", "TEST_DATABASE", "CONNECTION")}
    return {**{name: value for name, value in os.environ.items() if name not in ours}, "ARBORWEB_HOME": str(home), **more}


def processes(home: Path) -> list[int]:
    """Everything that runs for this home: by its environment, its command line or its working directory. Zombies don't run."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                place = Path("/proc", entry.name)
                if place.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z":
                    continue
                words = place.joinpath("environ").read_bytes() + place.joinpath("cmdline").read_bytes()
                if os.fsencode(home) in words or str(place.joinpath("cwd").readlink()).startswith(str(home)):
                    found.append(int(entry.name))
    return found


def processes_with(home: Path, words: str) -> list[int]:
    """Those whose command line has these words."""
    found = []
    for pid in processes(home):
        with contextlib.suppress(OSError):
            if words in Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append(pid)
    return found


def until(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Site:
    """`manage.py up` on a home, and what it printed."""

    def __init__(self, home: Path, **more: str) -> None:
        self.home = home
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115 (lives as long as the site)
        command = [sys.executable, "manage.py", "up"]
        self.process = subprocess.Popen(
            command, cwd=PROJECT, env=environment(home, PORT="0", **more), stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True
        )

    def printed(self) -> str:
        self.output.seek(0)
        return self.output.read()

    def wait_until_ready(self) -> "Site":
        ready = until(lambda: "Ctrl-C" in self.printed() or self.process.poll() is not None, 60)
        assert ready and self.process.poll() is None, self.printed()
        return self

    def get(self, path: str) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers."""
        port = re.search(r"http://127\.0\.0\.1:(\d+)/", self.printed())
        assert port, self.printed()
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode(errors="replace"), dict(response.getheaders())
        finally:
            connection.close()

    def health(self, path: str = "/healthz?all=1") -> tuple[int, dict]:
        status, body, _ = self.get(path)
        return status, json.loads(body)

    def child(self, words: str) -> int | None:
        """The process id of a child whose command line has these words, None when there is none."""
        return next(iter(processes_with(self.home, words)), None)

    def stop(self, sign: int = signal.SIGTERM) -> int:
        """Its exit code after a signal."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        return self.process.wait(40)
