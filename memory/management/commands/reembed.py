"""`manage.py reembed NAME [--user U]`: move a forest to the embedder this server is set to."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.actions import reembed
from memory.errors import Refused
from memory.llm.interface import ModelError
from memory.models import Forest, Job


class Command(BaseCommand):
    help = "Embed everything of a forest anew, with the embedder of this server. Broken off, it goes on where it was."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("forest", help="Its name, or its number.")
        parser.add_argument("--user", help="Its owner, when two people have a forest of that name.")

    def handle(self, **options: Any) -> None:
        name = options["forest"]
        found = Forest.objects.filter(name=name) or (Forest.objects.filter(pk=int(name)) if name.isdigit() else Forest.objects.none())
        if options["user"]:
            found = found.filter(owner__username=options["user"])
        if len(found) != 1:
            raise CommandError("There is no such forest." if not found else "Several people have a forest of that name: say whose with --user.")
        try:
            job = reembed.run(reembed.begin(found[0], queue=False).pk, self._tell)
        except (Refused, ModelError) as error:
            raise CommandError(f"{error.message} {error.action}") from None
        if job is None:
            raise CommandError("Another process works on this forest. Wait until it is done: its job says how far it is.")
        if job.status == Job.Status.CANCELLED:
            raise CommandError(f"{job.message}.")
        if job.error:
            raise CommandError(f"{job.error['message']} {job.error['action']}")
        self.stdout.write(f"{job.message}: {job.done} vectors")

    def _tell(self, done: int, total: int) -> None:
        self.stdout.write(f"{done} of {total}")
        self.stdout.flush()
