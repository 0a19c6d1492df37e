"""What every system under test does, ours and its peers: it takes interactions one by one and is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory.evaluation.cases import Asked as Question
from memory.evaluation.cases import Given

LEADERS = 50  # ids of a ranking that are looked at: five sessions are among them


@dataclass(frozen=True, slots=True)
class Asked:
    """A language model was asked about a place. parent, probability: where ranking alone would have put the input, and how sure.

    places: what was considered, with the probability by ranking; offered: their indexes, as the model was offered them; chosen: the index it chose, None for
    an `error`. ms, tokens: of the call.
    """

    parent: str | None
    probability: float
    places: tuple[tuple[str | None, float], ...]
    offered: tuple[int, ...]
    chosen: int | None
    error: str
    ms: float
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a system puts an input: the id of the interaction it resumes (None: a new root), how sure it is, what it took in ms.

    candidates: the other places it considered, best first. asked: of a system that asks a model, where it did.
    """

    parent: str | None
    probability: float
    ms: float
    candidates: tuple[str | None, ...] = ()
    second: str | None = None
    asked: Asked | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """One item of a context: its exact text, and the ids of the interactions it comes from. `kind` is `turn` for a raw interaction, else what it is."""

    kind: str
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What a model would be shown at one budget: the exact text of the evidence blocks and its tokens (o200k_base, headings and dates included)."""

    text: str
    tokens: int
    items: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A system's answer to a question: interactions in rank order (at most LEADERS), a context per budget, where the question went, and times in ms."""

    ranked: tuple[str, ...]
    contexts: Mapping[int, Context]
    placed: Placed | None
    ms: float
    details: Mapping[str, float] = field(default_factory=dict)


class System(Protocol):
    """One memory under test. A case is opened, observed, settled, asked and closed; two cases never share anything but the embedding cache."""

    name: str
    routes: bool  # whether it places inputs at all

    def open(self, case: str, zone: str) -> None: ...

    def place(self, given: Given) -> Placed | None:
        """Where it would put this input, without keeping anything (the answer isn't shown to it)."""
        ...

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        """Keep an interaction under the place decided for it (online replay), or under a given one (given prefix)."""
        ...

    def settle(self) -> None:
        """Everything observed can be recalled from now on."""
        ...

    def recall(self, asked: Question, budgets: Sequence[int]) -> Recalled: ...

    def close(self) -> None: ...


class PlacesOnly(ABC):
    """What a system shares that only says where inputs go: it has nothing to recall."""

    @abstractmethod
    def open(self, case: str, zone: str) -> None: ...

    @abstractmethod
    def place(self, given: Given) -> Placed | None: ...

    def settle(self) -> None:  # noqa: B027 - nothing to do is what they share
        """Nothing waits."""

    def recall(self, asked: Question, budgets: Sequence[int]) -> Recalled:
        """Where a question goes; nothing is remembered to answer it with."""
        placed = self.place(Given("", asked.text, "", asked.time))
        return Recalled((), {}, placed, placed.ms if placed else 0.0)

    def close(self) -> None:
        self.open("", "UTC")
