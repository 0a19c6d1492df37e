"""`manage.py export_forest NAME [--user U] [--markdown [--turn N]] [--out F]`: a forest as one JSON document, or as Markdown to be read."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.actions.export_forest import export_forest
from memory.actions.export_markdown import export_markdown
from memory.models import Forest, InteractionState


class Command(BaseCommand):
    help = "Write a forest as JSON (turns, states, evidence, revisions, decisions and traces), or as Markdown to be read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("forest", help="Its name, or its number.")
        parser.add_argument("--user", help="Its owner, when two people have a forest of that name.")
        parser.add_argument("--markdown", action="store_true", help="What was said and what is remembered, to be read; it can't be imported.")
        parser.add_argument("--turn", type=int, help="With --markdown: the path to the turn of this number alone.")
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
        with _document(found[0], options["markdown"], options["turn"]) as document:
            if options["out"]:
                with options["out"].open("wb") as file:
                    shutil.copyfileobj(document, file)
            else:
                shutil.copyfileobj(document, sys.stdout.buffer)


def _document(forest: Forest, markdown: bool, turn: int | None) -> IO[bytes]:
    if turn is not None and not markdown:
        raise CommandError("--turn goes with --markdown: an export to be imported is of the whole forest.")
    if not markdown:
        return export_forest(forest)
    state = InteractionState.objects.in_forest(forest).filter(position=turn).first() if turn is not None else None
    if turn is not None and state is None:
        raise CommandError(f"There is no turn {turn} in this forest.")
    return export_markdown(forest, state)
