"""A process of a run. It imports nothing that needs Django before Django is set up, on the database of the process that began it."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.evaluation.rows import Ledger, Row
    from memory.evaluation.run import Bench, Unit

WATCH_SECONDS = 1.0

_bench: Bench | None = None


def begin(plan: bytes, database: str, parent: int) -> None:
    """Set up for units of a pickled Plan; the process ends when its parent ends, however that does."""
    global _bench

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    import django

    django.setup()
    from django.db import connections

    connections.settings["default"]["NAME"] = database
    from memory.evaluation import run

    _bench = run.Bench(pickle.loads(plan))  # noqa: S301 - our own bytes


def measure(unit: Unit, ledgers: Mapping[str, Ledger]) -> dict[str, list[Row]]:
    """The rows of a unit."""
    assert _bench is not None
    found: dict[str, list[dict[str, Any]]] = _bench.measure(unit, ledgers)
    return found
