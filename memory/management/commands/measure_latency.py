"""manage.py measure_latency: how long localizing, assembling and committing take in a large forest, on the code path of chat."""

from __future__ import annotations

import argparse
import os
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
from memory.llm.embed import embedder
from memory.llm.tokens import count
from memory.models import Forest, InteractionState, Turn


class Command(BaseCommand):
    help = "Grow a made-up forest and time localize + assemble and the rough commit in it; figures go to docs/measurements.md."
    load = 0.0

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--states", type=int, default=2000)
        parser.add_argument("--trees", type=int, default=60)
        parser.add_argument("--queries", type=int, default=200)
        parser.add_argument("--commits", type=int, default=200, help="further turns committed for the measurement")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument(
            "--keep", metavar="NAME", default="", help="keep the forest under this name, and use it again when it is there: growing takes minutes"
        )

    def handle(self, **options: Any) -> None:
        owner, _ = get_user_model().objects.get_or_create(username="measurements", defaults={"is_active": False})
        name = options["keep"] or f"latency {uuid.uuid4().hex[:8]}"
        forest = Forest.objects.filter(owner=owner, name=name).first() or create_forest(owner, name)
        try:
            self._measure(forest, options)
        finally:
            if not options["keep"]:
                delete_forest(forest, by=owner)

    def _measure(self, forest: Forest, options: dict[str, Any]) -> None:
        turns = list(synthetic.history(options["states"] + options["commits"], trees=options["trees"], seed=options["seed"]))
        grown = turns[: options["states"]]
        with connection.cursor() as cursor:  # growing isn't measured: it need not wait for the disk
            cursor.execute("SET synchronous_commit TO off")
        for start in range(forest.last_position, len(grown), 250):
            self._grow(forest, turns, start, min(start + 250, len(grown)))
            drain(forest.pk, tell=False)
            self.stderr.write(f"{min(start + 250, len(grown))} states")
        with connection.cursor() as cursor:
            cursor.execute("RESET synchronous_commit")
            cursor.execute("ANALYZE")
        forest.refresh_from_db()
        size = forest.last_position
        localized, assembled, embedded = self._ask(forest, grown, options)
        both = [one + other for one, other in zip(localized, assembled, strict=True)]
        unit = quantile(sorted(embedded), 0.5)
        done = range(size, size + options["commits"])
        commits, vectors = self._grow(forest, turns, done.start - size + len(grown), done.stop - size + len(grown), ids=done)
        tokens = sum(count(turn.user) + count(turn.assistant) for turn in turns[-options["commits"] :]) / options["commits"]
        rows = [
            ("localize + assemble, p50 / p95", _pair(both)),
            ("embedding the query alone, measured in between, p50 (5 ms on the same two cores at rest)", f"{unit:.1f} ms"),
            (
                "localize + assemble in embeddings of a query, p50 / p95",
                f"{quantile(sorted(both), 0.5) / unit:.1f} / {quantile(sorted(both), 0.95) / unit:.1f}",
            ),
            ("localize alone, p50 / p95", _pair(localized)),
            ("assemble alone, p50 / p95", _pair(assembled)),
            (f"rough commit of a turn of {tokens:.0f} tokens, p50 / p95", _pair(commits)),
            ("its vector, computed before the transaction, p50 / p95", _pair(vectors)),
            ("load average before and after", f"{self.load:.1f}, {os.getloadavg()[0]:.1f}"),
        ]
        for what, figure in rows:
            self.stdout.write(f"{what}: {figure}")
        counts = f"{size:,} states in one forest, {options['trees']} trees, {options['queries']} queries, {options['commits']} commits"
        note = f"{counts}, evidence budget {settings.EVIDENCE_BUDGET:,}, seed {options['seed']}; made-up text."
        measurements.record("latency", rows, title="Latency in a large forest", note=note)

    def _ask(self, forest: Forest, turns: list[synthetic.MadeTurn], options: dict[str, Any]) -> tuple[list[float], list[float], list[float]]:
        """The milliseconds of localizing, of assembling, and of embedding the query alone, a query each.

        The last is the yardstick: a machine that others use too may be several times slower one minute than the next."""
        self.load = os.getloadavg()[0]
        rng = random.Random(f"queries/{options['seed']}")
        localized, assembled, embedded = [], [], []
        for number in range(options["queries"] + 10):
            text = synthetic.question(rng, turns)
            started = time.perf_counter()
            place = steps.localize_text(forest, text, turns[-1].time)
            between = time.perf_counter()
            steps.assemble(forest, place, settings.EVIDENCE_BUDGET)
            done = time.perf_counter()
            embedder().embed([text])
            vector = time.perf_counter()
            if number >= 10:  # the first ones open files and plans
                localized.append(1000 * (between - started))
                assembled.append(1000 * (done - between))
                embedded.append(1000 * (vector - done))
        return localized, assembled, embedded

    def _grow(self, forest: Forest, turns: list[synthetic.MadeTurn], start: int, stop: int, ids: range | None = None) -> tuple[list[float], list[float]]:
        """Commit these turns through the rough commit; the milliseconds of each commit and of its vector. `ids` numbers turns that come again."""
        commits: list[float] = []
        vectors: list[float] = []
        for number in range(start, stop):
            made = turns[number]
            name = f"made-{number if ids is None else ids[number - start]}"
            turn = Turn.objects.create(forest=forest, client_id=name, origin="observed", text=made.user, sent_at=made.time)
            parents = InteractionState.objects.in_forest(forest)
            parent = parents.get(turn__client_id=f"made-{made.parent}") if made.parent is not None and (ids is None or made.parent < start) else None
            place = steps.placed(forest, made.user, made.time, parent)
            steps.commit(turn, place, made.assistant, generator="")
            timings = Turn.objects.values_list("timings", flat=True).get(pk=turn.pk)
            commits.append(timings["commit_ms"])
            vectors.append(timings["vector_ms"])
        return commits, vectors


def _pair(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{quantile(ordered, 0.5):.1f} / {quantile(ordered, 0.95):.1f} ms"
