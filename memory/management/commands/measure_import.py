"""manage.py measure_import: import a large made-up export, killed in its midst and taken up again; figures go to docs/measurements.md."""

from __future__ import annotations

import argparse
import tempfile
import uuid
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.models import Count

from memory import imports
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.evaluation import importing, measurements
from memory.models import Forest, InteractionState, Topic, Turn


class Command(BaseCommand):
    help = "Make a ChatGPT export by seed, import it, kill -9 it midway, resume, and look for duplicates."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--megabytes", type=int, default=50)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--no-record", action="store_true", help="don't write docs/measurements.md")

    def handle(self, **options: Any) -> None:
        owner, _ = get_user_model().objects.get_or_create(username="measurements", defaults={"is_active": False})
        forest = create_forest(owner, f"import {uuid.uuid4().hex[:8]}")
        try:
            with tempfile.TemporaryDirectory(prefix="arborweb-import-") as folder:
                rows = self._measure(forest, Path(folder) / "conversations.json", options)
        finally:
            delete_forest(forest, by=owner)
        for what, figure in rows:
            self.stdout.write(f"{what}: {figure}")
        if not options["no_record"]:
            note = "A made-up ChatGPT export with edits, regenerations and tool calls, imported by `import_chat --rough` in a process of its own."
            measurements.record("import", rows, title="Importing", note=note)

    def _measure(self, forest: Forest, file: Path, options: dict[str, Any]) -> list[tuple[str, str]]:
        conversations = importing.write_export(file, options["megabytes"], options["seed"])
        total = imports.survey([(file, file.name)]).total
        states = InteractionState.objects.in_forest(forest)
        first = importing.run_import(file, forest.name, "measurements", lambda: states.count() >= total // 2)
        left = states.count()
        second = importing.run_import(file, forest.name, "measurements")
        again = importing.run_import(file, forest.name, "measurements")
        twice = Turn.objects.in_forest(forest).values("client_id").annotate(n=Count("id")).filter(n__gt=1).count()
        kept = states.count()
        if not first.killed or kept != total or twice or left >= total:
            raise CommandError(f"{kept} states of {total} turns, {twice} of them twice; {left} at the kill.")
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM memory_interactionstate s LEFT JOIN memory_statevector v ON v.state_id = s.id WHERE s.forest_id = %s AND v.id IS NULL",
                [forest.pk],
            )
            [bare] = cursor.fetchone()
        trees = Topic.objects.in_forest(forest).count()
        took = first.seconds + second.seconds
        return [
            ("the export", f"{file.stat().st_size / 2**20:.0f} MiB, {conversations:,} conversations, {total:,} turns"),
            ("resident memory above idle, at the peak", f"{max(first.above, second.above):.0f} MiB (idle {first.idle:.0f} MiB)"),
            ("time to import, both runs", f"{took:.0f} s, {1000 * took / total:.1f} ms a turn"),
            ("killed (SIGKILL) after", f"{left:,} turns; the second run took in the other {kept - left:,}"),
            ("states afterwards; duplicates; states without a vector", f"{kept:,} in {trees:,} trees; {twice}; {bare}"),
            ("the same file once more", f"{again.seconds:.0f} s, nothing added"),
        ]
