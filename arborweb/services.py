"""PostgreSQL and Valkey as child processes: prepared, started, watched and stopped. Standard library only.

A service is started by a generator that yields while there is something to wait for, so that several start at once and the caller
can do its own work meanwhile. Every start expects to be called under the service's lock (arborweb.embedded), so leftovers may be removed.
"""

import contextlib
import ctypes
import errno
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO
from urllib.parse import quote

from arborweb.home import ServiceError, make_folder, postgres_binaries, service_user, sockets, valkey_binary

POSTGRES_MAJOR = "18"
DATABASE = "arborweb"
START_SECONDS = 60.0
LOG_BYTES = 5_000_000

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def spawn(
    command: Sequence[str | Path],
    log: IO[bytes],
    *,
    death: signal.Signals,
    user: pwd.struct_passwd | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | Path = "/",
    pass_fds: Sequence[int] = (),
    stdin: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """A child in its own session that gets the signal `death` as soon as this process is gone, however it went (Linux; from the main thread only)."""
    parent = os.getpid()

    def follow_parent() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, int(death))
            if os.getppid() != parent:  # it died before the line above
                os._exit(1)

    # Another user's child must not keep the groups of root.
    return subprocess.Popen(
        [str(part) for part in command],
        stdin=stdin,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=None if env is None else dict(env),
        pass_fds=tuple(pass_fds),
        start_new_session=True,
        preexec_fn=follow_parent,
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
    )


def finish(process: subprocess.Popen[bytes], steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """Ask a process to end with each signal in turn, waiting that many seconds for it, and kill it when none helped."""
    for sign, seconds in (*steps, (signal.SIGKILL, 5.0)):
        if process.poll() is not None:
            return
        process.send_signal(sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)


def open_log(path: Path) -> IO[bytes]:
    """A log to append to; the old one is put aside when it has grown large."""
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_suffix(".old.log"))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "ab", buffering=0)


def tail(path: Path, start: int = 0, lines: int = 15) -> str:
    """The last lines of a log, not going back before the byte `start`."""
    try:
        with path.open("rb") as file:
            file.seek(max(start, path.stat().st_size - 20_000))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def plain(error: OSError, place: Path) -> ServiceError:
    """An operating system's error in plain words."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ServiceError(disk_full(place))
    if error.errno in {errno.EACCES, errno.EPERM}:
        return ServiceError(f"{error.filename or place} can't be used by this user ({error.strerror}). Set ARBORWEB_HOME to a folder of your own.")
    return ServiceError(f"{error.filename or place}: {error.strerror}.")


def disk_full(place: Path) -> str:
    return f"The disk that holds {place} is full. Free some space and start again; what was stored is still there."


class Service:
    """One server of a home: `start` yields until it accepts connections, `stop` ends it in order."""

    name = ""
    variable = ""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.user = service_user()
        self.sockets = sockets(home, self.user)
        self.data = home / self.name
        self.log = home / "logs" / f"{self.name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        raise NotImplementedError

    def launch(self) -> Iterator[None]:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def start(self) -> Iterator[None]:
        """Yields while waiting; returns when connections are accepted; raises ServiceError in plain words."""
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        deadline = time.monotonic() + START_SECONDS
        try:
            make_folder(self.sockets, user=self.user)
            self._end_orphans()
            for _ in self.launch():
                if time.monotonic() > deadline:
                    raise ServiceError(f"{self.name} did not start within {START_SECONDS:.0f} seconds. The end of its log, {self.log}:\n{self._tail()}")
                yield
        except OSError as error:
            self.stop()
            raise plain(error, self.home) from error
        except BaseException:
            self.stop()
            raise

    def _tail(self) -> str:
        return tail(self.log, self._log_start)

    def failed(self, what: str) -> ServiceError:
        """Why it failed, read from its log."""
        text = self._tail()
        if "No space left on device" in text:
            return ServiceError(disk_full(self.home))
        return ServiceError(f"{what} The end of its log, {self.log}:\n{text}")

    def _spawn(self, command: Sequence[str | Path], death: signal.Signals, stdin: int | IO[bytes] = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        env = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LD_LIBRARY_PATH", "TZ", "TMPDIR"}}
        with open_log(self.log) as log:
            return spawn(command, log, death=death, user=self.user, env={**env, "LC_ALL": "C"}, stdin=stdin)

    def _wait(self, process: subprocess.Popen[bytes], ready: Callable[[], bool]) -> Iterator[None]:
        while not ready():
            if process.poll() is not None:
                raise self.failed(f"{self.name} ended while starting.")
            yield

    def _end_orphans(self) -> None:
        """After kill -9 of everything around them, server processes may still be working in our data: they get the time to end, then must."""
        for sign, seconds in ((None, 5.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 2.0)):
            deadline = time.monotonic() + seconds
            while (left := list(_working_in(self.data))) and time.monotonic() < deadline:
                if sign is not None:
                    for pid in left:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, sign)
                time.sleep(0.05)
            if not left:
                return
        raise ServiceError(f"Processes {left} still work in {self.data} and can't be ended. End them, then start again.")


def _working_in(folder: Path) -> Iterator[int]:
    """Processes whose working directory is the folder (a server's is its data directory)."""
    if sys.platform != "linux" or not folder.exists():
        return
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{entry.name}/cwd") == str(folder):
                    yield int(entry.name)


class Postgres(Service):
    """PostgreSQL with pgvector; its socket is the only way in, and only the owner can open it."""

    name = "postgres"
    variable = "DATABASE_URL"
    LOCALE = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")  # the same order on every machine, every script's letters known

    @property
    def url(self) -> str:
        # As the host, not as ?host=: Django's dbshell reads only that. No letter of it may be lost, so everything is escaped.
        return f"postgres://app@{quote(str(self.sockets), safe='')}:5432/{DATABASE}"

    def launch(self) -> Iterator[None]:
        binaries = postgres_binaries(self.home, self.user)
        if not self.data.exists():
            yield from self._create(binaries)
        version = (self.data / "PG_VERSION").read_text().strip() if (self.data / "PG_VERSION").exists() else "unknown"
        if version != POSTGRES_MAJOR:
            raise ServiceError(
                f"The data in {self.data} was written by PostgreSQL {version}; this ArborWeb carries {POSTGRES_MAJOR}. Nothing was changed. "
                f"Export your forests with the ArborWeb that wrote them and import them here, or set ARBORWEB_HOME to another folder."
            )
        if sys.platform == "linux":  # _end_orphans has shown that nobody works here, so these name a dead process or a stranger with its number
            for leftover in (self.data / "postmaster.pid", self.sockets / ".s.PGSQL.5432", self.sockets / ".s.PGSQL.5432.lock"):
                leftover.unlink(missing_ok=True)
        settings = {
            "listen_addresses": "",
            "port": "5432",
            "unix_socket_permissions": "0700",
            "max_parallel_maintenance_workers": "0",
            "max_connections": "200",
            # The vectors of 100,000 states are 220 MB, of which every turn reads all. Memory that isn't used isn't taken.
            "shared_buffers": "512MB",
            # What people wrote stays out of the log.
            "log_error_verbosity": "terse",
            "log_min_error_statement": "panic",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self.process = self._spawn([binaries / "postgres", "-D", self.data, "-k", self.sockets, *options], signal.SIGINT)
        yield from self._wait(self.process, self._accepts)

    def _create(self, binaries: Path) -> Iterator[None]:
        """initdb and an empty database, aside; renamed into place when whole."""
        aside = self.home / "postgres.new"
        shutil.rmtree(aside, ignore_errors=True)
        make_folder(aside, user=self.user)
        access = ("-U", "app", "--auth-local=trust", "--auth-host=reject")
        initdb = self._spawn([binaries / "initdb", "-D", aside, *access, "-E", "UTF8", *self.LOCALE, "--no-instructions"], signal.SIGKILL)
        try:
            while initdb.poll() is None:
                yield
            if initdb.returncode != 0:
                raise self.failed("The database could not be created.")
            self._create_database(binaries, aside)
        except BaseException:
            finish(initdb, [])
            shutil.rmtree(aside, ignore_errors=True)
            raise
        aside.rename(self.data)

    def _create_database(self, binaries: Path, data: Path) -> None:
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as stdin, os.fdopen(writer, "wb") as out:
            out.write(f"CREATE DATABASE {DATABASE}\n".encode())
            out.close()
            single = self._spawn([binaries / "postgres", "--single", "-D", data, "postgres"], signal.SIGKILL, stdin)
        if single.wait(START_SECONDS) != 0 or "ERROR" in self._tail():
            raise self.failed("The database could not be created.")

    def _accepts(self) -> bool:
        """The server writes its state into the eighth line of its pid file, for pg_ctl and for us."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and self.process is not None and lines[0] == str(self.process.pid) and lines[7].strip() == "ready"

    def stop(self) -> None:
        if self.process:
            finish(self.process, [(signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0)])  # fast: open transactions are rolled back


class Valkey(Service):
    """Valkey for messages, queues and the streams of running answers."""

    name = "valkey"
    variable = "REDIS_URL"

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    def launch(self) -> Iterator[None]:
        binary = valkey_binary(self.home, self.user)
        make_folder(self.data, user=self.user)
        self.socket.unlink(missing_ok=True)
        place = ("--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700", "--dir", self.data)
        durability = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "")
        self.process = self._spawn([binary, *place, *durability, "--loglevel", "warning"], signal.SIGTERM)
        yield from self._wait(self.process, self._accepts)

    def _accepts(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1.0)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(64).startswith(b"+PONG")
            except OSError:
                return False

    def stop(self) -> None:
        if self.process:
            finish(self.process, [(signal.SIGTERM, 10.0)])


SERVICES: dict[str, type[Service]] = {service.name: service for service in (Postgres, Valkey)}


def wait_for_all(starts: Iterable[Iterator[None]]) -> None:
    """Drive several starts at once until each is done; the first failure stops the waiting."""
    waiting = list(starts)
    while waiting:
        waiting = [start for start in waiting if next(start, _DONE) is not _DONE]
        if waiting:
            time.sleep(0.01)


_DONE = object()
