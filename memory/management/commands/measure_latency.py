"""manage.py measure_latency: how long localizing, assembling and committing take in a large forest, on the code path of chat."""

from __future__ import annotations

import argparse
import random
import time
import uuid
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import connection

from memory import steps
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.actions.refine import drain
from memory.evaluation import measurements, synthetic
from memory.evaluation.localization import quantile
from memory.llm.tokens import count
from memory.models import Forest, InteractionState, Turn


class Command(BaseCommand):
    help = "Grow a made-up forest and time localize + assemble and the rough commit in it; figures go to docs/measurements.md."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--states", type=int, default=2000)
        parser.add_argument("--trees", type=int, default=60)
        parser.add_argument("--queries", type=int, default=200)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--keep", action="store_true", help="don't delete the forest afterwards")

    def handle(self, **options: Any) -> None:
        owner, _ = get_user_model().objects.get_or_create(username="measurements", defaults={"is_active": False})
        forest = create_forest(owner, f"latency {uuid.uuid4().hex[:8]}")
        try:
            self._measure(forest, options)
        finally:
            if not options["keep"]:
                delete_forest(forest, by=owner)

    def _measure(self, forest: Forest, options: dict[str, Any]) -> None:
        turns = list(synthetic.history(options["states"], trees=options["trees"], seed=options["seed"]))
        commits, vectors = self._grow(forest, turns)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        rng = random.Random(f"queries/{options['seed']}")
        forest.refresh_from_db()
        both, localized, assembled = [], [], []
        for number in range(options["queries"] + 10):
            text = synthetic.question(rng, turns)
            started = time.perf_counter()
            place = steps.localize_text(forest, text, turns[-1].time)
            between = time.perf_counter()
            steps.assemble(forest, place, settings.EVIDENCE_BUDGET)
            done = time.perf_counter()
            if number >= 10:  # the first ones open files and plans
                localized.append(1000 * (between - started))
                assembled.append(1000 * (done - between))
                both.append(1000 * (done - started))
        tokens = sum(count(turn.user) + count(turn.assistant) for turn in turns[:100]) / 100
        last = commits[-500:]
        rows = [
            ("localize + assemble, p50 / p95", _pair(both)),
            ("localize alone, p50 / p95", _pair(localized)),
            ("assemble alone, p50 / p95", _pair(assembled)),
            (f"rough commit of a turn of {tokens:.0f} tokens, p50 / p95 of the last {len(last)}", _pair(last)),
            ("its vector, computed before the transaction, p50 / p95", _pair(vectors[-500:])),
        ]
        for what, figure in rows:
            self.stdout.write(f"{what}: {figure}")
        size = f"{options['states']:,} refined states in one forest, {options['trees']} trees, {options['queries']} queries"
        note = f"{size}, evidence budget {settings.EVIDENCE_BUDGET:,}, seed {options['seed']}; made-up text."
        measurements.record("latency", rows, title="Latency in a large forest", note=note)

    def _grow(self, forest: Forest, turns: list[synthetic.MadeTurn]) -> tuple[list[float], list[float]]:
        """Commit every turn through the rough commit, refine all of them; the milliseconds of each commit and of its vector."""
        commits: list[float] = []
        vectors: list[float] = []
        states: list[int] = []
        for number, made in enumerate(turns, 1):
            turn = Turn.objects.create(forest=forest, client_id=f"made-{number}", origin="observed", text=made.user, sent_at=made.time)
            parent = InteractionState.objects.get(pk=states[made.parent]) if made.parent is not None else None
            place = steps.placed(forest, made.user, made.time, parent)
            state = steps.commit(turn, place, made.assistant, generator="")
            states.append(state.pk)
            timings = Turn.objects.values_list("timings", flat=True).get(pk=turn.pk)
            commits.append(timings["commit_ms"])
            vectors.append(timings["vector_ms"])
            if number % 250 == 0:
                drain(forest.pk, tell=False)
                self.stderr.write(f"{number} states")
        drain(forest.pk, tell=False)
        return commits, vectors


def _pair(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{quantile(ordered, 0.5):.1f} / {quantile(ordered, 0.95):.1f} ms"
