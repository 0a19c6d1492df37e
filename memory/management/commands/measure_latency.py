"""manage.py measure_latency: how long localizing, assembling and committing take in forests of several sizes, on the code path of chat."""

from __future__ import annotations

import argparse
import os
import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import connection

from arborweb import web
from memory import steps
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.actions.refine import drain
from memory.evaluation import measurements, seeding, synthetic
from memory.evaluation.localization import quantile
from memory.evaluation.systems.peers import NotMeasuredError, Process
from memory.llm.embed import embedder
from memory.llm.tokens import count
from memory.models import Forest, InteractionState, StateVector, Turn
from memory.store import read

WARM = 10  # queries that open files and plans, not counted
Times = dict[str, list[float]]


class Command(BaseCommand):
    help = "Seed made-up forests and time what a turn takes in them; figures go to docs/measurements.md."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 2_000, 10_000], help="states of one forest each")
        parser.add_argument("--forests", type=int, default=0, help="besides: so many forests of 100 states, asked in turn")
        parser.add_argument("--trees", type=int, default=200, help="of each forest; those of 100 states have 10")
        parser.add_argument("--queries", type=int, default=200)
        parser.add_argument("--commits", type=int, default=100, help="further turns committed for the measurement, in each")
        parser.add_argument("--peer", action="store_true", help="besides: mem0’s search over the same texts and vectors, asked in turn with ours (make peers)")
        parser.add_argument("--peers", type=Path, help="the Python of the environment with the peers, by default that of make peers")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--no-record", action="store_true", help="don't write docs/measurements.md")

    def handle(self, **options: Any) -> None:
        load = os.getloadavg()[0]
        rows: list[tuple[str, str]] = []
        for size in options["sizes"]:
            with self._seeded([size], options["trees"], options["seed"]) as [(forest, turns)]:
                rows += self._rows(f"{size:,} states", [(forest, turns)], options)
        if options["forests"]:
            with self._seeded([100] * options["forests"], 10, options["seed"]) as seeded:
                rows += self._rows(f"{options['forests']:,} forests of 100 states", seeded, options)
        rows.append(("load average before and after", f"{load:.1f}, {os.getloadavg()[0]:.1f}"))
        if not options["no_record"]:
            each = f"{options['trees']} trees, {options['queries']} queries, {options['commits']} commits in each, evidence budget {settings.EVIDENCE_BUDGET:,}"
            note = f"Made-up text, seeded by COPY (seed {options['seed']}), {each}. A query’s embedding is measured between the others, as the yardstick."
            measurements.record("latency", rows, title="Latency by size of the forest", note=note)

    @contextmanager
    def _seeded(self, sizes: list[int], trees: int, seed: int) -> Iterator[list[tuple[Forest, list[synthetic.MadeTurn]]]]:
        owner, _ = get_user_model().objects.get_or_create(username="measurements", defaults={"is_active": False})
        made: list[tuple[Forest, list[synthetic.MadeTurn]]] = []
        try:
            with connection.cursor() as cursor:  # seeding isn't measured: it need not wait for the disk
                cursor.execute("SET synchronous_commit TO off")
            for number, size in enumerate(sizes):
                started = time.perf_counter()
                forest = create_forest(owner, f"latency {uuid.uuid4().hex[:8]}")
                turns = list(synthetic.history(size, trees=trees, seed=seed + number))
                made.append((forest, turns))
                seeding.seed(forest, turns, embedder().embed, numbers=seed + number)
                if size >= 1_000 or number % 100 == 99:
                    self.stderr.write(f"{number + 1} of {len(sizes)}: {size:,} states seeded in {time.perf_counter() - started:.0f} s")
            with connection.cursor() as cursor:
                cursor.execute("RESET synchronous_commit")
                cursor.execute("VACUUM ANALYZE")
            yield made
        finally:
            for forest, _ in made:
                delete_forest(forest, by=owner)

    def _rows(self, name: str, seeded: list[tuple[Forest, list[synthetic.MadeTurn]]], options: dict[str, Any]) -> list[tuple[str, str]]:
        web.settle()  # as the process that answers a chat
        with self._peer(seeded, options) as peer:
            times = self._ask(seeded, options, peer)
        times |= self._commit(seeded, options)
        both = [one + other for one, other in zip(times["localize"], times["assemble"], strict=True)]
        unit = quantile(sorted(times["embed"]), 0.5)
        rows = [
            ("localize + assemble, p50 / p95", _pair(both)),
            ("… in embeddings of a query", f"{quantile(sorted(both), 0.5) / unit:.1f} / {quantile(sorted(both), 0.95) / unit:.1f} of {unit:.1f} ms"),
            ("localize / assemble alone, p95", f"{quantile(sorted(times['localize']), 0.95):.1f} / {quantile(sorted(times['assemble']), 0.95):.1f} ms"),
            (f"rough commit of a turn of {times['tokens'][0]:.0f} tokens, p50 / p95", _pair(times["commit"])),
            ("its vector, computed before the transaction, p50 / p95", _pair(times["vector"])),
            ("refined commit by rule, p50 / p95", _pair(times["refine"])),
            (f"path of depth {times['depth'][0]:,.0f}, p50 / p95", _pair(times["path"])),
        ]
        if options["peer"]:
            rows.append(("mem0’s search (top 20), p50 / p95", _pair(times["peer"]) if times["peer"] else "not measured: make peers"))
        if times["peer"]:
            ours, theirs = sorted(both), sorted(times["peer"])
            ratios = (quantile(ours, q) / quantile(theirs, q) for q in (0.5, 0.95))
            rows.append(("localize + assemble to mem0’s search, p50 / p95", " / ".join(f"{ratio:.2f}" for ratio in ratios)))
        for what, figure in rows:
            self.stdout.write(f"{name}: {what}: {figure}")
        return [(f"{name}: {what}", figure) for what, figure in rows]

    @contextmanager
    def _peer(self, seeded: list[tuple[Forest, list[synthetic.MadeTurn]]], options: dict[str, Any]) -> Iterator[Process | None]:
        """mem0 with every turn of these forests, each forest a user of it, by the vectors of their states; None when it isn't asked for or isn't there."""
        if not options["peer"]:
            yield None
            return
        peer = Process("mem0", options["peers"])
        started = time.perf_counter()
        try:
            peer.ask("open")
        except NotMeasuredError as error:
            self.stderr.write(f"mem0 is not measured: {error}")
            yield None
            return
        for forest, turns in seeded:
            kept = StateVector.objects.in_forest(forest).filter(kind=StateVector.Kind.STATE).order_by("state_id").values_list("vector", flat=True)
            for number, (made, vector) in enumerate(zip(turns, kept.iterator(2_000), strict=True)):
                peer.ask("given", id=f"made-{number}", text=f"{made.user}\n{made.assistant}", who=f"forest-{forest.pk}", vector=list(vector))
        self.stderr.write(f"mem0 has the same {sum(len(turns) for _, turns in seeded):,} turns after {time.perf_counter() - started:.0f} s")
        yield peer
        peer.ask("close")
        peer.end()

    def _ask(self, seeded: list[tuple[Forest, list[synthetic.MadeTurn]]], options: dict[str, Any], peer: Process | None) -> Times:
        """Milliseconds of localizing, assembling, embedding the query, fetching a path of at most 1,000 states, and of the peer’s search: each query."""
        rng = random.Random(f"queries/{options['seed']}")
        times: Times = {"localize": [], "assemble": [], "embed": [], "path": [], "peer": []}
        deep = InteractionState.objects.in_forest(seeded[0][0]).filter(depth__lte=1_000).order_by("-depth").values_list("pk", "depth")[0]
        for number in range(options["queries"] + WARM):
            forest, turns = seeded[rng.randrange(len(seeded))]
            text = synthetic.question(rng, turns)
            marks = [time.perf_counter()]
            place = steps.localize_text(forest, text, turns[-1].time, assembling=True)
            marks.append(time.perf_counter())
            steps.assemble(forest, place, settings.EVIDENCE_BUDGET)
            marks.append(time.perf_counter())
            embedder().embed([text])
            marks.append(time.perf_counter())
            read.path(seeded[0][0].pk, deep[0])
            marks.append(time.perf_counter())
            if number >= WARM:
                for name, begin, end in zip(("localize", "assemble", "embed", "path"), marks, marks[1:], strict=False):
                    times[name].append(1000 * (end - begin))
            if peer is not None:
                answer = peer.ask("recall", text=text, time="", limit=20, who=f"forest-{forest.pk}")
                if number >= WARM:
                    times["peer"].append(answer["ms"])
        return times | {"depth": [float(deep[1])]}

    def _commit(self, seeded: list[tuple[Forest, list[synthetic.MadeTurn]]], options: dict[str, Any]) -> Times:
        """The milliseconds of rough commits, of their vectors, and of refining each state by rule; and the mean tokens of a turn."""
        rng = random.Random(f"commits/{options['seed']}")
        times: Times = {"commit": [], "vector": [], "refine": []}
        tokens = 0
        for number in range(options["commits"]):
            forest, turns = seeded[rng.randrange(len(seeded))]
            made = rng.choice(turns)
            parent = InteractionState.objects.in_forest(forest).select_related("turn").get(turn__client_id=f"made-{turns.index(made)}")
            turn = Turn.objects.create(forest=forest, client_id=f"again-{number}", origin="observed", text=made.user, sent_at=turns[-1].time)
            steps.commit(turn, steps.placed(forest, made.user, turns[-1].time, parent), made.assistant, generator="")
            timings = Turn.objects.values_list("timings", flat=True).get(pk=turn.pk)
            started = time.perf_counter()
            drain(forest.pk, tell=False)
            times["refine"].append(1000 * (time.perf_counter() - started))
            times["commit"].append(timings["commit_ms"])
            times["vector"].append(timings["vector_ms"])
            tokens += count(made.user) + count(made.assistant)
        return times | {"tokens": [tokens / max(1, options["commits"])]}


def _pair(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{quantile(ordered, 0.5):.1f} / {quantile(ordered, 0.95):.1f} ms"
