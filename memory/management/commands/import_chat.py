"""`manage.py import_chat FILE --forest NAME`: another chat's export, or one of ours, into a forest; run again, it goes on where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.actions import import_chat as importing
from memory.actions.create_forest import create_forest
from memory.actions.refine import drain
from memory.errors import Refused
from memory.models import Forest, Import, Job


class Command(BaseCommand):
    help = "Import an export of ChatGPT, Claude, Open WebUI, LibreChat or ArborWeb, or lines as replay reads them; plain or in a ZIP archive."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--forest", required=True, metavar="NAME", help="made when it doesn't exist")
        parser.add_argument("--user", default=None, help="owner; the first user when left out")
        parser.add_argument("--relocalize", action="store_true", help="let every turn find its own place instead of keeping the one it had")
        parser.add_argument("--rough", action="store_true", help="leave refining to the worker")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["file"].is_file():
            raise CommandError(f"{options['file']} is no file.")
        try:
            forest = self._forest(options["user"], options["forest"])
            job = importing.begin(forest, options["file"], relocalize=options["relocalize"])
        except Refused as error:
            raise CommandError(f"{error} {error.action}") from error
        importing.run(job.pk)
        job.refresh_from_db()
        for line in Import.objects.get(job=job).left_out:
            self.stderr.write(line)
        if job.status != Job.Status.DONE:
            trouble = job.error or {"message": "The import didn't end.", "action": "Import the file again."}
            raise CommandError(f"{trouble['message']} {trouble['action']}")
        self.stdout.write(f"{job.message}.")
        if not options["rough"]:
            self.stdout.write(f"{drain(forest.pk):,} turns refined.")

    def _forest(self, username: str | None, name: str) -> Forest:
        users = get_user_model().objects.order_by("pk")
        owner = users.filter(username=username).first() if username else users.first()
        if owner is None:
            raise CommandError("There is no such user. `manage.py up` makes the first one; `manage.py createsuperuser` makes others.")
        return Forest.objects.visible_to(owner).filter(name=name).first() or create_forest(owner, name)
