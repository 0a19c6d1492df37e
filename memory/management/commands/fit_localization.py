"""Fit the localization weights on gold streams and write them where the server reads them."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.engine.calibration import Calibration, laid_out
from memory.evaluation import fit, measurements, recipe, streams
from memory.evaluation.corrections import is_personal
from memory.llm.calibration import WEIGHTS
from memory.llm.embed import embedder


class Command(BaseCommand):
    help = "Fit the localization weights on the development data as the shipped ones are, or on directories of gold streams (lines as for replay, with parent)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directories", nargs="*", type=Path, metavar="NAME=DIR", help="a source: its name, as kept in the file, and its directory of streams"
        )
        parser.add_argument("--shared", type=Path, metavar="DIR", help="the development data, of which streams are made (evaluation/recipe.py)")
        parser.add_argument("--half", type=int, choices=(0, 1), help="with --shared: dialogues of this half alone; those of the other are tested on")
        parser.add_argument(
            "--test", nargs="*", type=Path, default=[], metavar="NAME=DIR", help="sources to measure on, of other dialogues than those fitted on"
        )
        parser.add_argument("--weight", nargs="*", default=[], metavar="NAME=WEIGHT", help="how much a source counts beside the others, 1 by default")
        parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="streams replayed at the same time")
        parser.add_argument("--record", action="store_true", help="write the figures of --test into docs/measurements.md")
        parser.add_argument("--out", type=Path, default=WEIGHTS, help="the JSON file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        embed = streams.CachedEmbedder(embedder().embed)
        try:
            if options["out"].resolve() == WEIGHTS.resolve() and any(is_personal(self._split(given)[1]) for given in options["directories"]):
                raise CommandError("These are a person's own corrections, and the shipped weights are everybody's: write the file elsewhere with --out.")
            sources, tests = self._sources(options["directories"]), self._sources(options["test"])
            weights = {name: float(weight) for name, _, weight in (given.partition("=") for given in options["weight"])}
            folds: dict[str, list[int]] = {}
            if shared := options["shared"]:
                weights = {**recipe.WEIGHTS, **weights}
                half = options["half"]
                with TemporaryDirectory() as folder:
                    made, folds = recipe.sources(shared, (0, 1) if half is None else (half,), Path(folder) / "fit", self.stdout.write)
                    folds = {name: fold for name, fold in folds.items() if name not in sources}
                    sources = {**made, **sources}
                    if half is not None:
                        tests = {**recipe.sources(shared, (1 - half,), Path(folder) / "test")[0], **tests}
                        tests.pop(recipe.GENERATED)  # of the same seeds
            calibration = fit.fit(sources, embed, self.stdout.write, weights, options["processes"], folds=folds)
        except (OSError, ValueError, KeyError) as error:
            raise CommandError(f"These streams can't be fitted on: {error}") from error
        options["out"].parent.mkdir(parents=True, exist_ok=True)
        options["out"].write_text(written(calibration), encoding="utf-8")
        self.stdout.write(f"Wrote {options['out'].name}.")
        rows = []
        for name, test in tests.items():
            measured = str(fit.measure(test, embed, calibration, options["processes"]))
            self.stdout.write(f"{name}: {measured}")
            rows.append((name, measured))
        if options["record"] and rows:
            fitted = " and ".join(calibration.fitted_on)
            note = (
                f"Online replay in memory (its own errors kept), on other dialogues than those fitted on ({fitted}); the first turn of a stream isn't counted."
            )
            measurements.record("localization-fit", rows, title="Localization, other dialogues than fitted on", note=note)

    @staticmethod
    def _sources(given: list[Path]) -> dict[str, list[list[streams.GoldTurn]]]:
        """Streams by the name of their source; a name may have several directories."""
        sources: dict[str, list[list[streams.GoldTurn]]] = {}
        for name, directory in map(Command._split, given):
            sources.setdefault(name, []).extend(streams.load(directory))
        return sources

    @staticmethod
    def _split(given: Path) -> tuple[str, Path]:
        name, equals, directory = str(given).partition("=")
        if not equals:
            raise CommandError(f"{given} isn't NAME=DIR.")
        return name, Path(directory)


def written(calibration: Calibration) -> str:
    """The JSON of fitted weights, a feature a line."""
    return laid_out(calibration.to_json()) + "\n"
