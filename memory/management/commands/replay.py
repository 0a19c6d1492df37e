"""manage.py replay: run a file of interactions through localization and commit, in its order, one line out for each."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from memory.actions.create_forest import create_forest
from memory.actions.observe import observe_one
from memory.actions.refine import drain
from memory.errors import Refused
from memory.evaluation import localization
from memory.models import Forest

# What the engine may see of a line; gold (`branch`, and `parent` unless --given) stays here.
SEEN = ("id", "user", "assistant", "time")


class Command(BaseCommand):
    help = "Replay a JSONL file of interactions into a forest; with --gold, score where each one went."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help='lines {"id","user","assistant"?,"time","branch"?,"parent"?}')
        parser.add_argument("--forest", required=True, metavar="NAME", help="made when it doesn't exist")
        parser.add_argument("--user", default=None, help="owner; the first user when left out")
        parser.add_argument("--gold", action="store_true", help="score against the parents in the file, which the engine doesn't see")
        parser.add_argument("--out", type=Path, default=None, help="one JSON line a turn; standard output when left out")
        parser.add_argument("--rough", action="store_true", help="don't refine between turns")

    def handle(self, **options: Any) -> None:
        forest = self._forest(options["forest"], options["user"])
        gold: list[localization.Gold] = []
        given: list[localization.Placed] = []
        skipped = 0
        with options["out"].open("w", encoding="utf-8") if options["out"] else nullcontext(sys.stdout) as out:
            for number, line in self._lines(options["file"]):
                try:
                    interaction = read_line(line)
                    result = observe_one(forest, {key: interaction[key] for key in SEEN if key in interaction}, tell=False)
                except (ValueError, Refused) as error:
                    skipped += 1
                    self.stderr.write(f"line {number} left out: {error}")
                    continue
                if not options["rough"]:
                    drain(forest.pk)
                row = {key: result[key] for key in ("id", "parent", "root", "method", "probability", "ms")}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                given.append(localization.Placed(row["id"], row["parent"], row["root"], row["probability"], row["ms"]))
                gold.append(localization.Gold(str(interaction["id"]), interaction.get("parent")))
                if number % 25 == 0:
                    self.stderr.write(f"{number} turns")
        self.stderr.write(f"{len(given)} turns replayed into forest {forest.pk} “{forest.name}”, {skipped} left out")
        if options["gold"] and given:
            self.stderr.write(localization.table([localization.score(gold, given)]))

    def _forest(self, name: str, username: str | None) -> Forest:
        users = get_user_model().objects.order_by("pk")
        owner = users.filter(username=username).first() if username else users.first()
        if owner is None:
            raise CommandError("There is no such user. `manage.py up` makes the first one; `manage.py createsuperuser` makes others.")
        known = Forest.objects.visible_to(owner).filter(name=name).first()
        try:
            return known or create_forest(owner, name)
        except Refused as error:
            raise CommandError(f"{error} {error.action}") from error

    def _lines(self, path: Path) -> Iterator[tuple[int, str]]:
        try:
            with path.open(encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield number, line
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{path} can't be read: {error}") from error


def read_line(line: str) -> dict[str, Any]:
    """One interaction of a JSONL line. Raises ValueError saying what is wrong with it."""
    try:
        interaction = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at character {error.pos})") from error
    if not isinstance(interaction, dict):
        raise ValueError("not a JSON object")
    missing = [key for key in ("id", "user", "time") if not interaction.get(key)]
    if missing:
        raise ValueError(f"without {', '.join(missing)}")
    return interaction
