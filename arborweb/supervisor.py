"""`manage.py up`: the whole of ArborWeb on one machine, as one process with children that never outlive it.

Services that the environment doesn't name, the database's migrations, web processes on one socket, a worker and the beat. A child that
dies is started again; the fourth death of one within a minute ends everything with the end of its log.
"""

import collections
import contextlib
import fcntl
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from arborweb import gate
from arborweb.embedded import Lock, Locks, Owned, attach, environment, needed, own
from arborweb.home import PROJECT, ServiceError, make_folder, make_home
from arborweb.services import finish, open_log, plain, spawn, tail, wait_for_all

DEATHS, WITHIN_SECONDS = 4, 60.0
STOP_SECONDS = 30.0
READY_SECONDS = 60.0
TICK_SECONDS = 0.1


def number(name: str, default: int) -> int:
    """A whole number of at least 1 from the environment."""
    raw = os.environ.get(name) or str(default)
    if not raw.isdigit() or int(raw) < 1:
        raise ServiceError(f"{name} must be a whole number from 1 up, not {raw!r}.")
    return int(raw)


def say(text: str) -> None:
    print(text, flush=True)


class Child:
    """A process of ours, started again when it dies."""

    def __init__(self, name: str, command: list[str], home: Path, fds: tuple[int, ...] = ()) -> None:
        self.name, self.command, self.fds = name, command, fds
        self.log = home / "logs" / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.written = 0

    def start(self) -> None:
        with open_log(self.log) as log:
            self.written = log.tell()
            self.process = spawn([sys.executable, "-m", *self.command], log, death=signal.SIGKILL, cwd=PROJECT, env=os.environ, pass_fds=self.fds)

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def end_of_log(self) -> str:
        return tail(self.log, self.written)


class Provided:
    """A service this supervisor owns, or shares with the keeper that some other command started before."""

    def __init__(self, home: Path, name: str) -> None:
        self.home, self.name = home, name
        self.owned: Owned | None = None
        self.shared: Locks | None = None
        self.log = home / "logs" / f"{name}.log"

    def start(self) -> Iterator[None]:
        """Yields while waiting."""
        if self.owned:
            self.owned.locks.ready.release()
        else:
            self.owned = own(self.home, self.name)
        if self.owned:
            yield from self.owned.start()
        else:
            if self.shared:
                self.shared.close()
            self.shared = attach(self.home, self.name)

    def is_alive(self) -> bool:
        if self.owned:
            return self.owned.service.process is not None and self.owned.service.process.poll() is None
        return self.shared is not None and self.shared.ready.is_held()

    def end_of_log(self) -> str:
        return tail(self.log)

    def stop(self) -> None:
        if self.owned:
            self.owned.stop()
        if self.shared:
            self.shared.close()
        self.owned = self.shared = None


class Supervisor:
    """Built before Django reads its settings (`prepare`), run by the command `up`."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.ending = 0
        self.children: list[Child] = []
        self.deaths: dict[str, collections.deque[float]] = collections.defaultdict(collections.deque)
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sign, self._end)
        self.home = make_home()
        self.lock = self._lock()
        self.listener = self._bind()
        names = needed(self.home)
        os.environ.update(environment(self.home, names))
        self.services = [Provided(self.home, name) for name in names]
        self.starts = [self._unless_ending(service.start()) for service in self.services]
        for start in self.starts:
            next(start, None)
        # The servers start while everybody loads; the lock holds web and worker back until the database is migrated.
        gate_path = self.home / "locks" / "migrated"
        self.gate = Lock(gate_path)
        self.gate.take(fcntl.LOCK_EX, patience=5.0)
        os.environ[gate.VARIABLE] = str(gate_path)
        first, self.others = self._children()
        self._start(first)

    def _end(self, number: int, frame: object) -> None:
        self.ending += 1

    def _lock(self) -> Lock:
        lock = Lock(self.home / "locks" / "supervisor")
        if not lock.take(fcntl.LOCK_EX, patience=0.5):
            raise ServiceError(
                f"It is already running on the data in {self.home}. Stop that one first, or set ARBORWEB_HOME to another folder to run a second."
            )
        return lock

    def _bind(self) -> socket.socket:
        host, raw = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
        if not raw.isdigit() or int(raw) > 65535:
            raise ServiceError(f"PORT must be a number from 0 to 65535, not {raw!r}.")
        listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, int(raw)))
            listener.listen(2048)
        except PermissionError:
            raise ServiceError(f"Port {raw} needs rights this user doesn't have. Choose another: PORT=8000 make run.") from None
        except OSError as error:
            raise ServiceError(f"Port {raw} of {host} can't be used ({error.strerror}). Choose another: PORT=8001 make run.") from None
        return listener

    @property
    def address(self) -> str:
        host, port = self.listener.getsockname()[:2]
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}.get(host, host)  # noqa: S104 (compared, not bound)
        return f"http://{shown}:{port}"

    def run(self, migrate: Callable[[], None], sign_in_link: Callable[[str], str]) -> None:
        """Start everything, say where it is, watch it until a signal comes, stop everything. Raises ServiceError in plain words."""
        try:
            wait_for_all(self.starts)
            if not self.ending:
                migrate()
            self.gate.release()
            self._wait_until_ready()
            self._start(self.others)
            if not self.ending:
                seconds = time.monotonic() - self.began
                say(f"ArborWeb is ready after {seconds:.1f} s: {self.address}/")
                say(f"Sign in (works once, within 15 minutes): {sign_in_link(self.address)}")
                say(f"Ctrl-C stops it. Logs: {self.home / 'logs'}")
            while not self.ending:
                time.sleep(TICK_SECONDS)
                self._watch()
        except OSError as error:
            raise plain(error, self.home) from error
        finally:
            self._stop()

    def _unless_ending(self, steps: Iterator[None]) -> Iterator[None]:
        for _ in steps:
            if self.ending:
                return
            yield

    def _children(self) -> tuple[list[Child], list[Child]]:
        """What must be there before it is up, and what can follow: loading all of it at once would make everybody wait for the last."""
        web = ["arborweb.web", "--fd", str(self.listener.fileno())]
        celery = ["celery", "-A", "arborweb"]
        worker = [*celery, "worker", "-P", "threads", "-c", str(number("WORKER_THREADS", 4)), "--without-gossip", "--without-mingle", "-l", "INFO"]
        beat = [*celery, "beat", "-s", str(make_folder(self.home / "beat") / "schedule"), "--pidfile=", "-l", "WARNING"]
        webs = [Child(f"web-{index + 1}", web, self.home, (self.listener.fileno(),)) for index in range(number("WEB_PROCESSES", 2))]
        return [Child("worker", worker, self.home), webs[0]], [*webs[1:], Child("beat", beat, self.home)]

    def _start(self, children: list[Child]) -> None:
        for child in children:
            if not self.ending:
                child.start()
                self.children.append(child)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.ending:
            self._watch()
            parts = self._health()
            if parts is not None and "down" not in {parts.get("database"), parts.get("redis"), parts.get("worker")}:
                return
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"Not everything came up within {READY_SECONDS:.0f} seconds: {parts or 'no web process answers'}. The logs are in {self.home / 'logs'}."
                )
            time.sleep(TICK_SECONDS)

    def _health(self) -> dict[str, str] | None:
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=3)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            body = json.loads(connection.getresponse().read())
            return body.get("parts") if isinstance(body, dict) else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def _watch(self) -> None:
        """Start again what has died. Services first: the children need them."""
        for service in self.services:
            if not self.ending and not service.is_alive():
                self._count_death(service.name, service.end_of_log())
                wait_for_all([service.start()])
        for child in self.children:
            if not self.ending and not child.is_alive():
                self._count_death(child.name, child.end_of_log())
                child.start()

    def _count_death(self, name: str, log: str) -> None:
        now, deaths = time.monotonic(), self.deaths[name]
        deaths.append(now)
        while deaths[0] < now - WITHIN_SECONDS:
            deaths.popleft()
        if len(deaths) >= DEATHS:
            raise ServiceError(
                f"{name} died {DEATHS} times within {WITHIN_SECONDS:.0f} seconds. The end of its log, {self.home / 'logs' / f'{name}.log'}:\n{log}"
            )
        say(f"{name} ended unexpectedly and is started again.")

    def _stop(self) -> None:
        """Web processes drain and the worker ends its tasks while the services still run; a second signal cuts that short."""
        asked = self.ending
        if self.children:
            say("Stopping …")
        running = [child.process for child in self.children if child.process is not None and child.process.poll() is None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while any(process.poll() is None for process in running) and time.monotonic() < deadline and self.ending <= max(asked, 1):
            time.sleep(0.02)
        for process in running:
            finish(process, [])
        for service in self.services:
            with contextlib.suppress(OSError):
                service.stop()
        self.listener.close()


_prepared: Supervisor | None = None


def prepare() -> Supervisor:
    """Take the lock and the port and point the environment at the services; to be called before Django reads its settings."""
    global _prepared
    if _prepared is None:
        try:
            _prepared = Supervisor()
        except OSError as error:
            raise plain(error, PROJECT) from error
    return _prepared
