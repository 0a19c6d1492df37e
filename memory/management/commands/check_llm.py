"""manage.py check_llm: a real model behind an endpoint, taken through a scripted conversation whose facts are known beforehand, or through turns that
teach nothing."""

from __future__ import annotations

import argparse
import uuid
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.evaluation import empty, measurements, planted
from memory.evaluation.empty import Empty
from memory.evaluation.planted import Outcome
from memory.llm.extraction import MODES
from memory.llm.interface import get_model


class Command(BaseCommand):
    help = "Talk with the model of OPENAI_BASE_URL over 30 scripted turns, read them, and say what of the planted facts is in memory."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--mode", action="append", choices=MODES, help="how turns are read; may be repeated; default: one-call and separate")
        parser.add_argument("--script", choices=planted.SCRIPTS, default="a", help="a: the one to report; b: the one prompts were developed on")
        parser.add_argument("--turns", type=int, help="only the first so many turns, without the questions")
        parser.add_argument("--empty", action="store_true", help="turns that teach nothing instead of the conversation: what share is invented")
        parser.add_argument("--given", action="store_true", help="the scripted answers instead of streamed ones: only the reading is measured")
        parser.add_argument("--no-questions", action="store_true")
        parser.add_argument("--keep", action="store_true", help="don't delete the forests afterwards")
        parser.add_argument("--record", action="store_true", help="write the figures to docs/measurements.md")
        parser.add_argument("--note", default="", help="a sentence to record with them, such as what else ran on the machine")

    def handle(self, **options: Any) -> None:
        if not settings.OPENAI_BASE_URL:
            raise CommandError("Set OPENAI_BASE_URL (and OPENAI_MODEL, OPENAI_API_KEY) to the model to check.")
        if options["empty"]:
            self._empty(options)
            return
        owner, _ = get_user_model().objects.get_or_create(username="measurements", defaults={"is_active": False})
        rows: list[tuple[str, str]] = []
        script = planted.script(options["script"])
        for mode in options["mode"] or ["one-call", "separate"]:
            settings.EXTRACTION = mode
            forest = create_forest(owner, f"check {mode} {uuid.uuid4().hex[:8]}", time_zone=script["zone"])
            try:
                outcome = planted.run(
                    forest,
                    script,
                    turns=options["turns"],
                    questions=not options["no_questions"],
                    stream=not options["given"],
                    tell=lambda line: self.stdout.write(line),
                )
            finally:
                if not options["keep"]:
                    delete_forest(forest, by=owner)
            found = figures(mode, outcome, given=options["given"])
            rows += found
            for what, figure in found:
                self.stdout.write(f"{what}: {figure}")
            for name in ("missed", "wrong_status", "unsupported", "failed"):
                for line in getattr(outcome, name):
                    self.stdout.write(f"  {name.replace('_', ' ')}: {line}")
            self.stdout.write(f"  dropped: {dict(outcome.dropped.most_common())}")
            if not options["record"]:
                continue
            # After each mode: it takes many minutes, and what was measured isn't lost when the next one is stopped.
            file = planted.SCRIPTS[options["script"]].relative_to(measurements.ROOT)
            note = f"Model: {get_model().name}. {outcome.turns} turns, three interleaved matters, facts listed beforehand (`{file}`). {options['note']}"
            section = "check-llm" if options["script"] == "a" else f"check-llm-{options['script']}"
            measurements.record(section, rows, title=f"A real model, end to end, script {options['script']}", note=note.strip())

    def _empty(self, options: dict[str, Any]) -> None:
        rows: list[tuple[str, str]] = []
        for mode in options["mode"] or ["rules", "one-call"]:
            settings.EXTRACTION = mode
            found = empty.measure(partial(get_model().extract, path=[], zone="UTC", topic=""), empty.turns()[: options["turns"]], self.stdout.write)
            rows += empty_figures(mode, found)
        for what, figure in rows:
            self.stdout.write(f"{what}: {figure}")
        if options["record"]:
            note = f"Model: {get_model().name}. Thanks, small talk, reactions, questions, requests (`memory/evaluation/empty_turns.json`). {options['note']}"
            measurements.record("check-llm-empty", rows, title="Turns with nothing to remember", note=note.strip())


def empty_figures(mode: str, found: Empty) -> list[tuple[str, str]]:
    """The rows of the table of empty turns, one mode."""
    return [
        (f"{mode}: turns of which something was invented", f"{len(found.invented)} of {found.turns} ({len(found.invented) / max(found.turns, 1):.1%})"),
        (f"{mode}: turns the model was asked about, failed calls", f"{found.asked}, {found.failed}"),
    ]


def figures(mode: str, outcome: Outcome, *, given: bool = False) -> list[tuple[str, str]]:
    """The rows of the table, one mode; with the scripted answers, which took no time, there is none for answering."""
    turns = max(outcome.turns, 1)
    rows = [
        (f"{mode}: planted facts stored", f"{len(outcome.stored)} of {outcome.planted} ({len(outcome.stored) / max(outcome.planted, 1):.0%})"),
        (f"{mode}: unsupported of all stored", f"{len(outcome.unsupported)} of {outcome.rows}"),
        (f"{mode}: replaced values still shown as current in their slot", str(len(outcome.wrong_status))),
        (
            f"{mode}: calls, input and output tokens, seconds to read a turn",
            f"{outcome.calls / turns:.1f}, {outcome.input_tokens / turns:.0f}, {outcome.output_tokens / turns:.0f}, {outcome.extract_seconds / turns:.1f}",
        ),
        *([] if given else [(f"{mode}: seconds to answer a turn, streamed", f"{outcome.answer_seconds / turns:.1f}")]),
        (f"{mode}: items dropped by the checks", ", ".join(f"{number} × {reason}" for reason, number in outcome.dropped.most_common()) or "none"),
        (f"{mode}: failed turns", str(len(outcome.failed))),
    ]
    if outcome.questions:
        rows.append(
            (f"{mode}: recall questions answered from memory", f"{outcome.answered} of {outcome.questions}; evidence held the answer for {outcome.shown}")
        )
    return rows
