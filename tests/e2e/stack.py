"""The real ArborWeb that the browser tests look at: `manage.py up` in a state folder of its own, and a look into its database."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg

from arborweb.embedded import environment as services_of
from arborweb.home import PROJECT
from tests.arborweb.site import Site, environment, processes_with

# Slow enough that a page can be reloaded amid an answer, fast enough that nobody waits long for one.
WORDS_PER_SECOND = 10

MAKE_PEOPLE = """
import json, sys
from django.contrib.auth import get_user_model
from memory.actions.sign_in_link import sign_in_link
people = get_user_model().objects
print(json.dumps([sign_in_link(address, people.create_user(f"person{number}")) for number in range(start, start + count)]))
"""


class Stack(Site):
    """Two web processes, a worker, a beat, both services."""

    def __init__(self, home: Path, **more: str) -> None:
        super().__init__(home, WEB_PROCESSES="2", **{"OFFLINE_WORDS_PER_SECOND": str(WORDS_PER_SECOND), **more})
        self._links: list[str] = []
        self._people = 0

    @cached_property
    def address(self) -> str:
        return re.search(r"http://127\.0\.0\.1:\d+", self.printed())[0]  # type: ignore[index]

    @cached_property
    def printed_link(self) -> str:
        """The sign-in link that `up` printed; it works once."""
        return re.search(r"http://\S+/sign-in/link/\S+", self.printed())[0]  # type: ignore[index]

    def link(self) -> str:
        """A link that signs a new person in."""
        if not self._links:
            start, count = self._people + 1, 24
            code = f"address, start, count = {self.address!r}, {start}, {count}\n{MAKE_PEOPLE}"
            made = subprocess.run(
                [sys.executable, "manage.py", "shell", "-v0", "-c", code], cwd=PROJECT, env=environment(self.home), capture_output=True, text=True, timeout=60
            )
            assert made.returncode == 0, made.stderr
            self._links, self._people = json.loads(made.stdout.splitlines()[-1]), self._people + count
        return self._links.pop(0)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What its database answers."""
        with self._connected() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def holding(self, forest: int) -> Iterator[None]:
        """Nothing is committed to the forest meanwhile; whoever wants to waits. What a page is to show amid work doesn't depend on the machine's pace."""
        with self._connected() as connection:
            connection.execute("SELECT 1 FROM memory_forest WHERE id = %s FOR NO KEY UPDATE", (forest,))
            yield

    def _connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(services_of(self.home, ["postgres"])["DATABASE_URL"], connect_timeout=5)

    def generating(self) -> list[tuple[int, int]]:
        """(turn, process id) of every turn that is being answered."""
        found = self.rows("SELECT id, generator FROM memory_turn WHERE generator <> '' AND status = 'answering'")
        return [(turn, int(generator.split(":")[-2])) for turn, generator in found]

    def web_processes(self) -> set[int]:
        return set(processes_with(self.home, "arborweb.web"))

    def logs(self) -> dict[str, str]:
        return {log.name: log.read_text(errors="replace") for log in sorted((self.home / "logs").glob("*.log"))}

    def is_still_there(self) -> bool:
        return self.process.poll() is None and os.path.isdir(self.home)
