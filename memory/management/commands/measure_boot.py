"""`manage.py measure_boot`: from `manage.py up` until every part is up, into docs/measurements.md."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memory.evaluation.boot import measure, words
from memory.evaluation.measurements import record


class Command(BaseCommand):
    help = "Measure how long a first and a later start take, and write the figures into docs/measurements.md."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--runs", type=int, default=3, help="first starts, and as many later ones (default %(default)s)")

    def handle(self, *args: Any, runs: int, **options: Any) -> None:
        load = os.getloadavg()[0]
        cold, warm = measure(runs)
        rows = [
            ("first start (new database), until `/healthz?all=1` answers 200", words([boot.healthy for boot in cold])),
            ("first start, until the sign-in link is printed", words([boot.linked for boot in cold])),
            ("later start, until `/healthz?all=1` answers 200", words([boot.healthy for boot in warm])),
            ("later start, until the sign-in link is printed", words([boot.linked for boot in warm])),
            ("processor time of a first start and stop, all processes", words([boot.processor for boot in cold])),
            ("processor time of a later start and stop, all processes", words([boot.processor for boot in warm])),
            ("SIGTERM until everything has stopped", words([boot.stopped for boot in (*cold, *warm)])),
            ("what else kept the machine busy: load average before", f"{load:.1f}"),
        ]
        record("boot", rows, title="Starting", note="Median and largest, with two web processes, a worker and the beat; after `make setup`.")
        for what, figure in rows:
            self.stdout.write(f"{what}: {figure}")
