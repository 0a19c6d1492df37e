"""The benchmarks by name. Each file here reads one set; a sample of its format stands in its docstring."""

from __future__ import annotations

from typing import Final

from memory.evaluation.benchmarks import beam, branchmemeval, irc, locomo, longmemeval, streams
from memory.evaluation.cases import Benchmark

BENCHMARKS: Final[dict[str, Benchmark]] = {
    benchmark.name: benchmark
    for benchmark in (
        locomo.BENCHMARK,
        longmemeval.BENCHMARK,
        beam.BENCHMARK,
        branchmemeval.BENCHMARK,
        streams.BENCHMARK,
        irc.BENCHMARK,
        irc.TEXT_ONLY,
    )
}
