"""The systems under test, by name: ours with its ablations, baselines of our own, routers, and peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from memory.evaluation.systems import ours, peers, plain, routers
from memory.evaluation.systems.base import System
from memory.evaluation.systems.reading import Setting

Factory = Callable[[Setting], System]

SYSTEMS: Final[Mapping[str, Factory]] = {
    **{name: ours.make(name) for name in ours.VARIANTS},
    **{kind.name: kind for kind in (plain.Bm25, plain.Dense, plain.Hybrid, plain.Recent, plain.Full)},
    **{kind.name: kind for kind in (routers.Previous, routers.Tfidf, routers.MiniLm)},
    **{name: peers.make(name) for name in peers.PEERS},
}
# What has to be known of a row to judge it.
NOTES: Final[Mapping[str, str]] = {**ours.NOTES, **plain.NOTES, **routers.NOTES, **peers.NOTES}
