"""`manage.py export_forest NAME [--user U] [--out F]`: a forest as one JSON document."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.actions.export_forest import export_forest
from memory.models import Forest


class Command(BaseCommand):
    help = "Write a forest as JSON: turns, states, evidence, revisions, decisions and traces."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("forest", help="Its name, or its number.")
        parser.add_argument("--user", help="Its owner, when two people have a forest of that name.")
        parser.add_argument("--out", type=Path, help="The file to write; without it, standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["forest"]
        found = Forest.objects.filter(name=name) or (Forest.objects.filter(pk=int(name)) if name.isdigit() else Forest.objects.none())
        if options["user"]:
            found = found.filter(owner__username=options["user"])
        if len(found) != 1:
            raise CommandError(
                f"{len(found)} forests are called {name!r}. Name the owner with --user, or give its number." if found else f"No forest is called {name!r}."
            )
        with export_forest(found[0]) as document:
            if options["out"]:
                with options["out"].open("wb") as file:
                    shutil.copyfileobj(document, file)
            else:
                shutil.copyfileobj(document, sys.stdout.buffer)
