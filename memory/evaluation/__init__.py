"""Benchmarks, baselines and measurements: what can be said about the memory in figures."""
