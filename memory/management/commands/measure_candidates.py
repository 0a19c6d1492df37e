"""`manage.py measure_candidates`: whether the true branch is among the candidates with very many open, into docs/measurements.md."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.evaluation import candidates, measurements, streams
from memory.llm.calibration import calibration
from memory.llm.embed import embedder


class Command(BaseCommand):
    help = "Measure how often the true branch is among those ranked when very many are open, on dialogues of all sources together."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shared", type=Path, required=True, metavar="DIR", help="where the development data are")
        parser.add_argument("--branches", type=int, nargs="+", default=[50, 200], metavar="N", help="dialogues open at once (default %(default)s)")
        parser.add_argument("--half", type=int, choices=(0, 1), default=1)
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *args: Any, **options: Any) -> None:
        embed, rows = streams.CachedEmbedder(embedder().embed), []
        for branches in options["branches"]:
            try:
                turns = candidates.stream(options["shared"], options["half"], branches, options["seed"])
            except (OSError, ValueError) as error:
                raise CommandError(str(error)) from error
            found = candidates.measure(turns, branches, embed, calibration())
            figure = (
                f"among the at most {found.ranked} candidates in {found.among} of {found.resumed} resumptions ({found.among / found.resumed:.2%});"
                f" put there in {found.right} ({found.right / found.resumed:.1%})"
            )
            rows.append((f"{branches} branches open, {len(turns)} turns", figure))
            self.stdout.write(f"{rows[-1][0]}: {figure}")
        note = (
            f"OASST, CAsT and LongMemEval dialogues of half {options['half']} together, each begun before the first is resumed; right prefix given, seed"
            f" {options['seed']}; localization weights {calibration().hash[:8]}."
        )
        measurements.record("candidates", rows, title="The true branch among the candidates", note=note)
