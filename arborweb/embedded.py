"""The embedded default: what DATABASE_URL and REDIS_URL don't name is attached to, or started for as long as someone uses it.

Each service has three locks, all released by the kernel when their holder dies, so none can be left behind:
  owner   exclusive, by the one process whose child the server is: `manage.py up`, or a keeper started by any other command
  ready   exclusive, by the owner while the server accepts connections
  users   shared, by everyone who uses it; a keeper that can take it exclusively for 3 s is alone and stops its server
Who attaches takes `users` first and looks at `ready` then, and a keeper stops its server only while it holds `users`: nobody is handed a server about to end.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from arborweb.home import PROJECT, ServiceError, home, make_home, secret_key
from arborweb.services import SERVICES, START_SECONDS, Service, plain, wait_for_all

IDLE_SECONDS = 3.0
OWNED_ELSEWHERE = 75  # a keeper's exit code when another one was quicker
_keepers: list[subprocess.Popen[bytes]] = []  # they outlive us; kept so that nobody warns about them


class Lock:
    """A file lock of this process. The file stays for ever: removing it would let two processes lock two files of one name."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, mode: int, patience: float = 0.0) -> bool:
        """Try for `patience` seconds (someone may be looking at it)."""
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self.descriptor, mode | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.01)

    def is_held(self) -> bool:
        """Whether another process holds it exclusively."""
        if not self.take(fcntl.LOCK_SH):
            return True
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        return False

    def release(self) -> None:
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self.descriptor)


class Locks:
    """The three locks of a service."""

    def __init__(self, home: Path, name: str) -> None:
        self.owner = Lock(home / "locks" / f"{name}.owner")
        self.ready = Lock(home / "locks" / f"{name}.ready")
        self.users = Lock(home / "locks" / f"{name}.users")

    def close(self) -> None:
        for lock in (self.ready, self.owner, self.users):
            lock.close()


class Owned:
    """A service that this process owns."""

    def __init__(self, service: Service, locks: Locks) -> None:
        self.service, self.locks = service, locks

    def start(self) -> Iterator[None]:
        yield from self.service.start()
        self.locks.ready.take(fcntl.LOCK_EX, patience=5.0)

    def stop(self) -> None:
        self.locks.ready.release()
        self.service.stop()
        self.locks.close()


def own(home: Path, name: str, patience: float = 0.5) -> Owned | None:
    """Become the owner of a service, or None when another process is."""
    locks = Locks(home, name)
    if locks.owner.take(fcntl.LOCK_EX, patience):
        return Owned(SERVICES[name](home), locks)
    locks.close()
    return None


def attach(home: Path, name: str) -> Locks:
    """Hold a service, started by a keeper if it isn't up; released by closing the locks or by ending."""
    locks = Locks(home, name)
    fcntl.flock(locks.users.descriptor, fcntl.LOCK_SH)  # waits while a keeper stops its server
    keeper: subprocess.Popen[bytes] | None = None
    deadline = time.monotonic() + START_SECONDS + 10
    while not locks.ready.is_held():
        if keeper is not None and keeper.poll() not in {None, OWNED_ELSEWHERE}:
            raise ServiceError(_keeper_log(home, name).read_text(errors="replace").strip() or f"{name} could not be started.")
        if time.monotonic() > deadline:
            raise ServiceError(f"{name} did not become ready. Its log is {home / 'logs' / f'{name}.log'}.")
        if (keeper is None or keeper.poll() is not None) and not locks.owner.is_held():
            keeper = _start_keeper(home, name)
        time.sleep(0.02)
    return locks


def _keeper_log(home: Path, name: str) -> Path:
    return home / "logs" / f"{name}-keeper.log"


def _start_keeper(home: Path, name: str) -> subprocess.Popen[bytes]:
    with _keeper_log(home, name).open("wb") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "arborweb.embedded", name],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=PROJECT,
            env={**os.environ, "ARBORWEB_HOME": str(home)},
            start_new_session=True,
        )
    _keepers.append(keeper)
    return keeper


def keep(name: str) -> int:
    """The keeper's life: own the service, run it while it is used, stop it after 3 idle seconds."""
    home = make_home()
    owned = own(home, name)
    if owned is None:
        return OWNED_ELSEWHERE
    ending: list[int] = []
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda number, _: ending.append(number))
    os.chdir("/")
    wait_for_all([owned.start()])
    idle_since = time.monotonic()
    while not ending:
        time.sleep(0.2)
        process = owned.service.process
        if process is None or process.poll() is not None:
            raise owned.service.failed(f"{name} ended unexpectedly.")
        if not owned.locks.users.take(fcntl.LOCK_EX):
            idle_since = time.monotonic()
        elif time.monotonic() - idle_since >= IDLE_SECONDS:
            break  # still holding `users`: who comes now waits until we are gone
        else:
            owned.locks.users.release()
    owned.stop()
    return 0


def needed(home: Path) -> list[str]:
    """The services nobody else provides. A URL that is our own was set by a parent process, which may end before us."""
    return [name for name, service in SERVICES.items() if os.environ.get(service.variable) in {None, "", service(home).url}]


def environment(home: Path, names: list[str]) -> dict[str, str]:
    """The variables that point settings at the services and the key of this home."""
    variables = {SERVICES[name].variable: SERVICES[name](home).url for name in names}
    if not os.environ.get("SECRET_KEY"):
        variables["ARBORWEB_SECRET_KEY"] = secret_key(home)
    return variables


@contextlib.contextmanager
def attach_or_start() -> Iterator[None]:
    """Within it the services are up and the environment points at them. Enter it before Django reads its settings."""
    try:
        held = _hold()
    except OSError as error:
        raise plain(error, PROJECT) from error
    try:
        yield
    finally:
        for locks in held:
            locks.close()


def _hold() -> list[Locks]:
    names = needed(home())
    if not names and os.environ.get("SECRET_KEY"):  # in production nothing is kept by us
        return []
    place = make_home()
    os.environ.update(environment(place, names))
    return [attach(place, name) for name in names]


if __name__ == "__main__":
    try:
        sys.exit(keep(sys.argv[1]))
    except ServiceError as error:
        sys.exit(str(error))
