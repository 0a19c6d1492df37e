"""Lets processes load while the database is still being made or migrated, and holds them before they use it."""

import fcntl
import os

VARIABLE = "ARBORWEB_AFTER"


def wait() -> None:
    """Wait while the supervisor holds the lock that ARBORWEB_AFTER names; nothing to wait for without one."""
    if path := os.environ.get(VARIABLE):
        with open(path, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
