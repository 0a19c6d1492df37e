"""manage.py replay: run files of interactions through localization and commit, in their order, one line out for each."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from memory.actions.create_forest import create_forest
from memory.actions.observe import observe_one
from memory.actions.refine import drain
from memory.errors import Refused
from memory.evaluation import interactions, localization, measurements
from memory.models import Forest

# What the engine may see of a line; gold (`branch` and `parent`) stays here.
SEEN = ("id", "user", "assistant", "time")
FORMATS: dict[str, Callable[[Path], Iterator[tuple[int, dict[str, Any] | ValueError]]]] = {"jsonl": interactions.jsonl, "locomo": interactions.locomo}


class Command(BaseCommand):
    help = "Replay files of interactions, each into a forest; with --gold, score where each turn went."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help='lines {"id","user","assistant"?,"time","branch"?,"parent"?}')
        parser.add_argument("--forest", required=True, metavar="NAME", help="made when it doesn't exist; of several files, each gets one: NAME 1, NAME 2 …")
        parser.add_argument("--user", default=None, help="owner; the first user when left out")
        parser.add_argument("--format", choices=FORMATS, default="jsonl", help="locomo: the first conversation of such a file")
        parser.add_argument("--gold", action="store_true", help="score against the parents in the file, which the engine doesn't see")
        parser.add_argument("--out", type=Path, default=None, help="one JSON line a turn; standard output when left out")
        parser.add_argument("--rough", action="store_true", help="don't refine between turns")
        parser.add_argument("--record", metavar="SECTION", default=None, help="write the figures into this section of docs/measurements.md")

    def handle(self, **options: Any) -> None:
        owner = self._owner(options["user"])
        judged: list[localization.Judged] = []
        times: list[float] = []
        turns, skipped, started = 0, 0, time.perf_counter()
        with options["out"].open("w", encoding="utf-8") if options["out"] else nullcontext(sys.stdout) as out:
            for number, path in enumerate(options["files"], 1):
                name = options["forest"] if len(options["files"]) == 1 else f"{options['forest']} {number}"
                forest = self._forest(owner, name)
                gold, placed, left_out = self._replay(forest, path, options, out)
                turns, skipped = turns + len(placed), skipped + left_out
                times += [row.ms for row in placed]
                if options["gold"]:
                    try:
                        judged += localization.judge(gold, placed)
                    except ValueError as error:
                        raise CommandError(f"{path}: {error}") from error
        whole = 1000 * (time.perf_counter() - started) / max(turns, 1)
        self.stderr.write(f"{turns} turns of {len(options['files'])} files replayed, {skipped} lines left out, {whole:.1f} ms a turn in all")
        rows = localization.rows(localization.summarize(judged)) if judged else localization.latency(times)
        rows.append(("ms a turn, refinement included" if not options["rough"] else "ms a turn", f"{whole:.1f}"))
        for what, figure in rows:
            self.stderr.write(f"{what}: {figure}")
        if options["record"]:
            measurements.record(options["record"], rows, note=f"{turns} turns of {len(options['files'])} files, online (its own errors kept).")

    def _replay(self, forest: Forest, path: Path, options: dict[str, Any], out: IO[str]) -> tuple[list[localization.Gold], list[localization.Placed], int]:
        gold: list[localization.Gold] = []
        placed: list[localization.Placed] = []
        skipped = 0
        for number, interaction in self._lines(path, options["format"]):
            try:
                if isinstance(interaction, ValueError):
                    raise interaction
                result = observe_one(forest, {key: interaction[key] for key in SEEN if key in interaction}, tell=False)
            except (ValueError, Refused) as error:
                skipped += 1
                self.stderr.write(f"{path.name}, line {number} left out: {error}")
                continue
            if not options["rough"]:
                drain(forest.pk, tell=False)
            row = {key: result[key] for key in ("id", "parent", "root", "method", "probability", "ms")}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            placed.append(localization.Placed(row["id"], row["parent"], row["root"], row["probability"], row["ms"]))
            gold.append(localization.Gold(str(interaction["id"]), interaction.get("parent")))
            if len(placed) % 100 == 0:
                self.stderr.write(f"{path.name}: {len(placed)} turns")
        return gold, placed, skipped

    def _owner(self, username: str | None) -> Any:
        users = get_user_model().objects.order_by("pk")
        owner = users.filter(username=username).first() if username else users.first()
        if owner is None:
            raise CommandError("There is no such user. `manage.py up` makes the first one; `manage.py createsuperuser` makes others.")
        return owner

    def _forest(self, owner: Any, name: str) -> Forest:
        known = Forest.objects.visible_to(owner).filter(name=name).first()
        try:
            return known or create_forest(owner, name)
        except Refused as error:
            raise CommandError(f"{error} {error.action}") from error

    def _lines(self, path: Path, format: str) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
        try:
            yield from FORMATS[format](path)
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise CommandError(f"{path} can't be read as {format}: {error}") from error
