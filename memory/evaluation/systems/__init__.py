"""The systems under test, by name: ours with its ablations, baselines of our own, routers, and peers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from memory.evaluation.systems import ours, peers, plain, routers, speakers
from memory.evaluation.systems.base import System
from memory.evaluation.systems.reading import Setting

Factory = Callable[[Setting], System]

SYSTEMS: Final[Mapping[str, Factory]] = {
    **{name: ours.make(name) for name in ours.VARIANTS},
    **{kind.name: kind for kind in (plain.Bm25, plain.Dense, plain.Hybrid, plain.Recent, plain.Full)},
    **{kind.name: kind for kind in (routers.Previous, routers.Tfidf, routers.MiniLm)},
    speakers.Speakers.name: speakers.Speakers,
    **{name: peers.make(name) for name in peers.PEERS},
}
# Those of a run that names none.
USUAL: Final = tuple(name for name in SYSTEMS if name not in ours.NAMED)
# What has to be known of a row to judge it.
NOTES: Final[Mapping[str, str]] = {**ours.NOTES, **plain.NOTES, **routers.NOTES, **speakers.NOTES, **peers.NOTES}

_ROUTERS: Final = frozenset({"previous", "tfidf", "minilm"})
_LINKING: Final = frozenset({speakers.Speakers.name})
_PLACING: Final = _ROUTERS | {name for name, variant in ours.VARIANTS.items() if not variant.pathless and name not in ours.READ_ONLY}


def measured(name: str, measures: Collection[str]) -> bool:
    """Whether anything of what a benchmark measures is a system's business: routers only place, one only links, most others only recall."""
    if shows_shuffled_times(name):
        return "localization" in measures
    places = (name in _PLACING and not {"localization", "links"}.isdisjoint(measures)) or (name in _LINKING and "links" in measures)
    return places or (recalls(name) and not {"evidence", "answers"}.isdisjoint(measures))


def recalls(name: str) -> bool:
    """Whether a system is asked: what only places or links has nothing to answer with, and answers about times mean nothing where those are shuffled."""
    return name not in _ROUTERS | _LINKING and not shows_shuffled_times(name)


def shows_shuffled_times(name: str) -> bool:
    """Whether a system is shown the times of a case in another order."""
    return name == ours.SHUFFLED


def group_of(name: str) -> str:
    """The system whose memory this one reads: its own, but for ablations that keep the same and read less."""
    return "ours" if name in ours.READ_ONLY else name


def viewed(system: System, name: str) -> System:
    """A system that reads the memory of `system`."""
    assert isinstance(system, ours.Ours)
    return ours.view(system, name)
