"""manage.py branchmemeval: make a set by seed, validate it, measure how hard it is, show the card, and keep the reader's check."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.evaluation import measurements, streams
from memory.evaluation.branchmemeval import bank, card, dataset, difficulty, plan, reader, rephrase, validate
from memory.evaluation.branchmemeval.dataset import Row
from memory.llm import endpoints
from memory.llm.client import EndpointClient
from memory.llm.embed import embedder
from memory.llm.interface import ModelError


class Command(BaseCommand):
    help = "BranchMemEval: generate, validate, difficulty, card, sample-reader, score-reader."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        generate = actions.add_parser("generate", help="plan, word, validate and write a set")
        generate.add_argument("--seed", type=int, default=dataset.SEED)
        generate.add_argument("--sessions", type=int, default=plan.SESSIONS, help="the paper's composition at %(default)s, else in its proportions")
        generate.add_argument("--split", choices=bank.SPLITS, default="test", help="whose domains, names and wording")
        generate.add_argument("--out", type=Path, required=True, metavar="FILE")
        generate.add_argument("--streams", type=Path, metavar="DIR", help="also as streams with gold parents, for replay and fit_localization")
        generate.add_argument("--verbalize", action="store_true", help="have the model of OPENAI_BASE_URL reword the turns")
        for name, help in (
            ("validate", "look for faults"),
            ("difficulty", "how hard it is for similarity alone"),
            ("sample-reader", "draw the reader's items"),
        ):
            action = actions.add_parser(name, help=help)
            action.add_argument("file", type=Path, metavar="FILE")
            if name == "difficulty":
                action.add_argument("--record", action="store_true", help="write the figures into docs/branchmemeval.md")
        shown = actions.add_parser("card", help="the frozen testing set, made again: its figures and its hash")
        shown.add_argument("--freeze", action="store_true", help="keep this hash and write the figures into docs/branchmemeval.md")
        score = actions.add_parser("score-reader", help="score a reader's answers")
        score.add_argument("file", type=Path, metavar="ANSWERS")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['action'].replace('-', '_')}")(options)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        except ModelError as error:
            raise CommandError(f"{error} {error.action}") from error

    def _generate(self, options: dict[str, Any]) -> None:
        rows = list(dataset.generate(options["seed"], options["sessions"], options["split"]))
        if options["verbalize"]:
            rows = self._reworded(rows)
        self._hold(rows)
        dataset.write(rows, options["out"])
        if options["streams"]:
            dataset.write_streams(rows[1:], options["streams"])
        for what, figure in card.figures(rows):
            self.stdout.write(f"{what}: {figure}")
        self.stdout.write(f"Wrote {options['out'].name}, SHA-256 {dataset.digest(rows)}.")

    def _reworded(self, rows: list[Row]) -> list[Row]:
        endpoint = endpoints.answering()
        if endpoint is None:
            raise CommandError("There is no model to reword the turns. Set OPENAI_BASE_URL.")
        client = EndpointClient(endpoint)
        made = [{**rows[0], "worded_by": repr(endpoint)}]
        for number, session in enumerate(rows[1:], 1):
            reworded, kept = rephrase.rephrase(session, client)
            made.append(reworded)
            self.stderr.write(f"{number}/{len(rows) - 1}: {kept} of {len(session['turns'])} turns keep the banks' wording")
        return made

    def _hold(self, rows: list[Row]) -> None:
        found = validate.faults(rows[1:])
        for fault in found:
            self.stderr.write(str(fault))
        if found:
            raise CommandError(f"{len(found)} faults.")

    def _validate(self, options: dict[str, Any]) -> None:
        rows = dataset.read(options["file"])
        self._hold(rows)
        self.stdout.write(f"{len(rows) - 1} sessions without a fault.")

    def _difficulty(self, options: dict[str, Any]) -> None:
        rows = dataset.read(options["file"])
        measured = difficulty.measure(rows[1:], streams.CachedEmbedder(embedder().embed))
        figures = card.hardness(measured)
        for what, figure in figures:
            self.stdout.write(f"{what}: {figure}")
        if options["record"]:
            note = f"Seed {rows[0]['seed']}. Each turn is judged with the right prefix before it; thresholds are the best for this very set."
            measurements.record(f"difficulty-{rows[0]['split']}", figures, title=f"How hard: split {rows[0]['split']}", note=note, page=card.PAGE)
        if not measured.hard:
            raise CommandError(f"Similarity alone places {difficulty.BAR:.0%} of the resumptions or more: this set is too easy.")

    def _card(self, options: dict[str, Any]) -> None:
        rows = list(dataset.generate())
        made = card.of(rows)
        for what, figure in card.figures(rows):
            self.stdout.write(f"{what}: {figure}")
        if options["freeze"]:
            card.FROZEN.write_text(dataset.line(made) + "\n", encoding="utf-8")
            figures = [*card.figures(rows), ("SHA-256", made["sha256"])]
            measurements.record("card", figures, title="The testing set", note=f"Seed {made['seed']}.", page=card.PAGE)
        if made != card.frozen():
            raise CommandError(f"This is not the frozen set: SHA-256 {made['sha256']} instead of {card.frozen()['sha256']}.")
        self.stdout.write(f"SHA-256 {made['sha256']}, as frozen.")

    def _sample_reader(self, options: dict[str, Any]) -> None:
        rows = dataset.read(options["file"])
        items, key = reader.sample(rows[1:], rows[0]["seed"])
        dataset.write(items, reader.ITEMS)
        dataset.write(key, reader.KEY)
        self.stdout.write(f"{len(key)} items, the longest of {max(len(item['transcript'].split()) for item in items[1:])} words.")

    def _score_reader(self, options: dict[str, Any]) -> None:
        read = reader.score(dataset.lines(options["file"]), dataset.lines(reader.KEY))
        self.stdout.write(f"resumptions: {_share(read.resumptions)}")
        for pointer, share in read.by_pointer.items():
            self.stdout.write(f"  {pointer}: {_share(share)}")
        self.stdout.write(f"controls: {_share(read.controls)}")
        self.stdout.write(f"wrong: {', '.join(read.wrong) or 'none'}")
        if read.missing:
            self.stdout.write(f"not answered: {', '.join(read.missing)}")


def _share(share: tuple[int, int]) -> str:
    right, of = share
    return f"{right} of {of}" + (f" ({right / of:.3f})" if of else "")
