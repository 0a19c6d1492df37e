"""manage.py fit_routers: fit what the routing baselines of the benchmarks need, on streams that nothing is tested on."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand

from memory.evaluation import streams
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.localization import Judged, summarize
from memory.evaluation.systems import ours, routers
from memory.evaluation.systems.cache import CachedEmbedder
from memory.evaluation.systems.reading import Setting
from memory.evaluation.systems.routers import Fitted, MiniLm, Router, Tfidf
from memory.llm.embed import embedder

BONUSES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
THRESHOLDS = tuple(round(float(one), 2) for one in np.arange(0.04, 0.62, 0.03))
ADDITIVE = tuple(round(float(one), 2) for one in np.arange(2.0, 8.1, 0.5))


class Command(BaseCommand):
    help = "Fit bonus and threshold of the routers tfidf and minilm, and τ of the additive formula without a cross-encoder, by online replay."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("streams", type=Path, help="a directory of streams to fit on")
        parser.add_argument("--named", required=True, metavar="NAME", help="what they are, kept beside the numbers")

    def handle(self, **options: Any) -> None:
        cases = list(BENCHMARKS["streams"].load(options["streams"]))
        found: dict[str, tuple[Fitted, float]] = {}
        with TemporaryDirectory() as directory:
            cached = CachedEmbedder(embedder(), Path(directory) / "embeddings.sqlite")
            for kind in (Tfidf, MiniLm):

                def accuracy(numbers: Fitted, kind: type[Router] = kind) -> float:
                    return summarize(judged for case in cases for judged in routers.replay(kind(Setting(cached), numbers), case)).branch

                found[kind.name] = routers.best(accuracy, BONUSES, THRESHOLDS)
                self.stdout.write(f"{kind.name}: {found[kind.name]}")
            loaded = streams.load(options["streams"])

            def additive(numbers: Fitted) -> float:
                decide = ours.additive_at(numbers.threshold)
                placed = [streams.replay(stream, cached.embed, lambda asked, recalled: decide(asked, recalled, ())) for stream in loaded]
                judged: list[Judged] = [row.judged for stream in placed for row in stream[1:]]
                return summarize(judged).branch

            found["additive"] = routers.best(additive, (0.0,), ADDITIVE)
            self.stdout.write(f"additive: {found['additive']}")
        routers.keep(found, options["named"])
