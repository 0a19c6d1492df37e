"""manage.py measure_forgetting: how long a deletion takes in a large forest, from its preview until everything it touched is told anew."""

from __future__ import annotations

import argparse
import os
import random
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.models import Count, F

from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest, delete_state
from memory.actions.forget_item import delete_item
from memory.actions.refine import drain
from memory.evaluation import measurements, seeding, synthetic
from memory.evaluation.localization import quantile
from memory.llm.embed import embedder
from memory.models import AtomicFact, Forest, InteractionState

WARM = 2  # deletions that open files and plans, not counted
Delete = Callable[..., dict[str, Any]]


class Command(BaseCommand):
    help = (
        "Seed a made-up forest with decisions and traces, delete turns and facts of it, and time preview, deletion and rebuilding; into docs/measurements.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--size", type=int, default=10_000, help="states")
        parser.add_argument("--trees", type=int, default=200)
        parser.add_argument("--deletions", type=int, default=40, help="of turns; a quarter as many of the other kinds")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--no-record", action="store_true", help="don't write docs/measurements.md")

    def handle(self, **options: Any) -> None:
        load = os.getloadavg()[0]
        owner, _ = get_user_model().objects.get_or_create(username="measurements", defaults={"is_active": False})
        forest = create_forest(owner, f"forgetting {uuid.uuid4().hex[:8]}")
        try:
            self._seed(forest, options)
            rows = self._measure(forest, owner, options)
        finally:
            started = time.perf_counter()
            delete_forest(forest, by=owner)
        rows += [("the whole forest, deleted", f"{time.perf_counter() - started:.1f} s")]
        rows += [("load average before and after", f"{load:.1f}, {os.getloadavg()[0]:.1f}")]
        for what, figure in rows:
            self.stdout.write(f"{what}: {figure}")
        if not options["no_record"]:
            made = f"{options['size']:,} states in {options['trees']} trees, made-up text, seeded by COPY (seed {options['seed']})"
            kept = "each turn with a decision of nine candidates and a trace of eight raw turns"
            note = f"{made}, {kept}. p50 / p95 / largest of random ones; the worker’s code runs at once."
            measurements.record("forgetting", rows, title="Forgetting in a large forest", note=note)

    def _seed(self, forest: Forest, options: dict[str, Any]) -> None:
        started = time.perf_counter()
        turns = list(synthetic.history(options["size"], trees=options["trees"], seed=options["seed"]))
        with connection.cursor() as cursor:  # seeding isn't measured: it need not wait for the disk
            cursor.execute("SET synchronous_commit TO off")
            seeding.seed(forest, turns, embedder().embed, numbers=options["seed"])
            seeding.seed_traces(forest, turns, numbers=options["seed"])
            cursor.execute("RESET synchronous_commit")
            cursor.execute("VACUUM ANALYZE")
        self.stderr.write(f"{options['size']:,} states seeded in {time.perf_counter() - started:.0f} s")

    def _measure(self, forest: Forest, owner: Any, options: dict[str, Any]) -> list[tuple[str, str]]:
        rng = random.Random(f"forgetting/{options['seed']}")
        few = max(1, options["deletions"] // 4)
        states = InteractionState.objects.in_forest(forest)

        def turn(**where: Any) -> InteractionState:
            ids = list(states.filter(**where).values_list("pk", flat=True))
            return states.get(pk=rng.choice(ids))

        def largest() -> InteractionState:
            [tree] = states.values("root_id").annotate(size=Count("pk")).order_by("-size", "root_id").values_list("root_id", flat=True)[:1]
            return states.get(pk=tree)

        def state(**more: Any) -> Delete:
            return lambda row, **how: delete_state(row, "children_to_parent", owner, **more, **how)

        rows = self._rows(forest, "a turn", [turn] * options["deletions"], state())
        rows += self._rows(forest, "a turn, quotes redacted", [turn] * few, state(redact_quotes=True))
        rows += self._rows(forest, "a subtree", [turn] * few, lambda row, **how: delete_state(row, "with_children", owner, **how))
        rows += self._rows(forest, "a fact", [lambda: rng.choice(AtomicFact.objects.in_forest(forest).order_by("pk")[:4_000])] * few, delete_item_by(owner))
        rows += self._rows(forest, "the first turn of a tree", [lambda: turn(parent__isnull=True)] * few, state())
        rows += self._rows(forest, "the first turn of the largest tree", [largest] * 2, state())
        return rows

    def _refine(self, forest: Forest, row: Any) -> None:
        """What stands around it is made by the extractors first, not by the seeding: otherwise everything would differ when it is read anew."""
        state = row if isinstance(row, InteractionState) else row.state
        near = InteractionState.objects.in_forest(forest).filter(root_id=state.root_id)
        if state.parent_id is not None:  # else the whole tree is told anew
            near = near.filter(depth__gte=state.depth - 6, depth__lte=state.depth + 40)
        near.filter(refined_at__lte=F("time")).update(refined_at=None, refined_by="")
        drain(forest.pk, tell=False)

    def _rows(self, forest: Forest, what: str, choose: list[Callable[[], Any]], delete: Delete) -> list[tuple[str, str]]:
        times: dict[str, list[float]] = {"preview": [], "done": [], "both": [], "anew": []}
        warm = choose[:WARM]
        for number, chosen in enumerate([*warm, *choose]):
            row = chosen()
            self._refine(forest, row)
            marks = [time.perf_counter()]
            told = delete(row, preview=True)
            marks.append(time.perf_counter())
            delete(row)
            marks.append(time.perf_counter())
            drain(forest.pk)
            marks.append(time.perf_counter())
            if number >= len(warm):
                times["preview"].append(1000 * (marks[1] - marks[0]))
                times["done"].append(marks[2] - marks[1])
                times["both"].append(marks[3] - marks[1])
                times["anew"].append(told["rebuilt"]["summaries"])
        rows = [
            (f"{what}: preview", _three(times["preview"], "ms", 0)),
            (f"{what}: deleted", _three(times["done"], "s", 2)),
            (f"{what}: deleted and rebuilt", _three(times["both"], "s", 2)),
            (f"{what}: states read anew", _three(times["anew"], "states", 0)),
        ]
        self.stderr.write("\n".join(f"{name}: {figure}" for name, figure in rows))
        return rows


def delete_item_by(owner: Any) -> Delete:
    return lambda row, **how: delete_item(row, owner, **how)


def _three(values: list[float], unit: str, digits: int) -> str:
    ordered = sorted(values)
    return " / ".join(f"{value:.{digits}f}" for value in (quantile(ordered, 0.5), quantile(ordered, 0.95), ordered[-1])) + f" {unit}"
