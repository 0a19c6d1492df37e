"""manage.py bench: measure systems on a benchmark, or all of them, and write docs/benchmarks.md."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memory.evaluation import reader, report, run, suite
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.benchmarks.files import WrongFileError
from memory.evaluation.rows import OtherRunError
from memory.evaluation.run import BUDGETS, Plan
from memory.evaluation.systems import SYSTEMS, USUAL
from memory.llm import endpoints


def numbers(text: str) -> tuple[int, ...]:
    """Token budgets, separated by commas; 2K is 2,048."""
    try:
        found = tuple(1024 * int(part[:-1]) if part[-1:].upper() == "K" else int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a list of budgets such as 512,2K,8K") from None
    if not all(number > 0 for number in found):
        raise argparse.ArgumentTypeError("a budget is above 0")
    return found


class Command(BaseCommand):
    help = "Measure systems on a benchmark. Rows go to --out, where an interrupted run goes on; the report to docs/benchmarks.md with --record."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("benchmark", choices=[*BENCHMARKS, "all"])
        parser.add_argument("--data", type=Path, metavar="PATH", help="the file or directory of the benchmark")
        parser.add_argument("--shared", type=Path, metavar="DIR", help="with `all`: where the data of all benchmarks are")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for rows and vectors")
        parser.add_argument("--vectors", type=Path, metavar="FILE", help="of vectors that several runs share; in --out when left out")
        parser.add_argument("--system", nargs="+", choices=SYSTEMS, metavar="NAME", help=f"of {', '.join(SYSTEMS)}; {', '.join(USUAL)} when left out")
        parser.add_argument("--budgets", type=numbers, default=BUDGETS, metavar="N,N", help="of evidence, in tokens")
        parser.add_argument("--prefix", choices=("online", "given"), default="online", help="where interactions are kept: as placed, or under gold parents")
        parser.add_argument("--name", default="", help="of the section and its rows, when one benchmark is measured on several sets")
        parser.add_argument("--split", default="", help="what the data are, in a word; the name of the file when left out")
        parser.add_argument("--limit", type=int, metavar="N", help="the first N cases")
        parser.add_argument("--sample", type=int, metavar="N", help="N cases drawn by --seed")
        parser.add_argument("--questions", type=int, metavar="N", help="at most N questions of each case, drawn by --seed")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--answer", action="store_true", help="have questions answered, by the endpoint or the offline engine")
        parser.add_argument("--answer-budgets", type=numbers, metavar="N,N", help="at these budgets; EVIDENCE_BUDGET when left out")
        parser.add_argument("--judge", action="store_true", help="have answers judged by JUDGE_MODEL; those judged before stay so")
        parser.add_argument("--processes", type=int, default=2)
        parser.add_argument("--minutes", type=float, metavar="N", help="begin no case after N minutes")
        parser.add_argument("--keep", action="store_true", help="leave the forests, of the user `measurements`, for a look")
        parser.add_argument("--again", action="store_true", help="drop the rows there are")
        parser.add_argument("--record", action="store_true", help="write the report into docs/benchmarks.md")
        size = parser.add_mutually_exclusive_group()
        for name, what in suite.SIZES.items():
            size.add_argument(f"--{name}", dest="size", action="store_const", const=name, help=what)

    def handle(self, **options: Any) -> None:
        judge = endpoints.judging() if options["judge"] else None
        if options["judge"] and judge is None:
            raise CommandError("No judge is set: JUDGE_MODEL, and JUDGE_BASE_URL unless it is at OPENAI_BASE_URL.")
        try:
            plans = self._plans(options)
            for plan in plans:
                ledgers = run.run(plan, self._tell)
                if judge is not None:
                    run.judge(plan, ledgers, reader.ask_judge, judge.model, self._tell)
        except (WrongFileError, OtherRunError, ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        for plan in {plan.label: plan for plan in plans}.values():
            section = report.section(options["out"], plan.label, BENCHMARKS[plan.benchmark])
            self.stdout.write(section.text)
            if options["record"]:
                report.record(section)

    def _plans(self, options: dict[str, Any]) -> list[Plan]:
        systems = tuple(options["system"] or USUAL)
        answer = (options["answer_budgets"] or (settings.EVIDENCE_BUDGET,)) if options["answer"] else ()
        common = {name: options[name] for name in ("out", "vectors", "seed", "processes", "keep", "again")}
        if options["benchmark"] == "all":
            return suite.plans(options["shared"], options["size"] or "standard", systems=options["system"], answer=answer, tell=self._tell, **common)
        if options["data"] is None:
            raise CommandError("Say where the data are: --data PATH.")
        names = ("name", "split", "budgets", "prefix", "limit", "sample", "questions", "minutes")
        return [Plan(options["benchmark"], options["data"], systems=systems, answer=answer, **{name: options[name] for name in names}, **common)]

    def _tell(self, line: str) -> None:
        self.stderr.write(line)
