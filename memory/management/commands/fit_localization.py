"""Fit the localization weights on gold streams and write them where the server reads them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.evaluation import fit, measurements, streams
from memory.evaluation.corrections import is_personal
from memory.llm.calibration import WEIGHTS
from memory.llm.embed import embedder


class Command(BaseCommand):
    help = "Fit the localization weights on directories of gold streams (lines as for replay, with parent); --test measures on others by online replay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directories", nargs="+", type=Path, metavar="NAME=DIR", help="a source: its name, as kept in the file, and its directory of streams"
        )
        parser.add_argument(
            "--test", nargs="*", type=Path, default=[], metavar="NAME=DIR", help="sources to measure on, of other dialogues than those fitted on"
        )
        parser.add_argument("--record", action="store_true", help="write the figures of --test into docs/measurements.md")
        parser.add_argument("--out", type=Path, default=WEIGHTS, help="the JSON file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        embed = streams.CachedEmbedder(embedder().embed)
        try:
            if options["out"].resolve() == WEIGHTS.resolve() and any(is_personal(self._split(given)[1]) for given in options["directories"]):
                raise CommandError("These are a person's own corrections, and the shipped weights are everybody's: write the file elsewhere with --out.")
            sources = dict(self._source(given) for given in options["directories"])
            tests = dict(self._source(given) for given in options["test"])
            calibration = fit.fit(sources, embed, self.stdout.write)
        except (OSError, ValueError, KeyError) as error:
            raise CommandError(f"These streams can't be fitted on: {error}") from error
        options["out"].parent.mkdir(parents=True, exist_ok=True)
        options["out"].write_text(json.dumps(calibration.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        self.stdout.write(f"Wrote {options['out'].name}.")
        rows = []
        for name, test in tests.items():
            measured = str(fit.measure(test, embed, calibration))
            self.stdout.write(f"{name}: {measured}")
            rows.append((name, measured))
        if options["record"] and rows:
            fitted = " and ".join(calibration.fitted_on)
            note = (
                f"Online replay in memory (its own errors kept), on other dialogues than those fitted on ({fitted}); the first turn of a stream isn't counted."
            )
            measurements.record("localization-fit", rows, title="Localization, other dialogues than fitted on", note=note)

    @staticmethod
    def _source(given: Path) -> tuple[str, list[list[streams.GoldTurn]]]:
        name, directory = Command._split(given)
        return name, streams.load(directory)

    @staticmethod
    def _split(given: Path) -> tuple[str, Path]:
        name, equals, directory = str(given).partition("=")
        if not equals:
            raise CommandError(f"{given} isn't NAME=DIR.")
        return name, Path(directory)
