"""manage.py fit_speakers: fit the ranker of many-party chat on the train files of Ubuntu IRC."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.engine.calibration import digest, laid_out
from memory.evaluation import learn
from memory.evaluation.benchmarks import irc
from memory.evaluation.benchmarks.files import WrongFileError
from memory.evaluation.cases import Case
from memory.evaluation.disentanglement import fit
from memory.evaluation.systems.speakers import FITTED


class Command(BaseCommand):
    help = "Fit the system “speakers” on the train files of Ubuntu IRC, never on dev or test; links of files not learnt from are scored on the way."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("data", type=Path, metavar="PATH", help="the directory or archive with the folder train")
        parser.add_argument("--steps", type=int, default=learn.STEPS, help="of learning")
        parser.add_argument("--limit", type=int, metavar="N", help="the first N files")
        parser.add_argument("--out", type=Path, default=FITTED, help="the JSON file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            cases, bare = (list(irc.load(options["data"], parts=("train",), speakers=speakers))[: options["limit"]] for speakers in (True, False))
            if others := [case.id for case in cases if "train" not in Path(case.id).parts]:
                raise ValueError(f"{', '.join(others)}: not in a folder named train. Name the directory above it.")
            fitted = fit.fit(cases, bare, self._named(cases), self.stdout.write, steps=options["steps"])
        except (WrongFileError, ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        options["out"].write_text(laid_out(fitted.to_json()) + "\n", encoding="utf-8")
        self.stdout.write(f"Wrote {options['out'].name}.")

    @staticmethod
    def _named(cases: list[Case]) -> str:
        """What the weights are fitted on, with a hash of its texts and links."""
        read = {case.id: [[step.given.user, sorted(fit.links(step)) if step.gold else None] for step in case.steps] for case in cases}
        return f"Ubuntu IRC, {len(cases)} train files (SHA-256 of texts and links {digest(read)[:16]})"
