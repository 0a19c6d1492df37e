"""What calls of a model took: tokens, money, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

Stage = Literal["answer", "extract", "embed", "rerank", "route"]

# A server that reports less than this share of what we sent has cut the prompt (tokenizers differ by far less), if the gap is no trifle.
CUT_SHARE = 0.5
CUT_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several calls. `reasoning` is part of `output`; `estimated`: counted here, since the server told nothing.

    `cost` is None where no price is set. `notes`: “prompt_cut” when the server read far less than it was sent (M6), “model_gone” when
    another model answered than the one chosen, which isn't offered any more, “asked_in_vain” when the place of the turn was asked for without an answer
    that could be used, “asked_too_long” when without one in time."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    calls: int = 0
    cost: float | None = None
    estimated: bool = False
    notes: tuple[str, ...] = ()

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            calls=self.calls + other.calls,
            cost=sum(costs) if costs else None,
            estimated=self.estimated or other.estimated,
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
        )

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Usage:
        return cls(**{**kept, "notes": tuple(kept.get("notes", ()))})

    def as_json(self) -> dict[str, Any]:
        """As a turn keeps it, and the trace shows it (docs/interfaces.md)."""
        return {
            "input": self.input,
            "output": self.output,
            "reasoning": self.reasoning,
            "calls": self.calls,
            "cost": None if self.cost is None else round(self.cost, 8),
            "estimated": self.estimated,
            "notes": list(self.notes),
        }


def prompt_cut(sent: int, reported: int) -> bool:
    """Whether a server that reports `reported` prompt tokens can't have read the `sent` ones (counted here)."""
    return sent - reported > CUT_TOKENS and reported < CUT_SHARE * sent


Spent = dict[Stage, Usage]
_spent: ContextVar[Spent | None] = ContextVar("spent", default=None)


@contextmanager
def counted(spent: Spent) -> Iterator[None]:
    """Every call of a model below this adds what it took to `spent`, also in threads and tasks begun here, and when it breaks midway."""
    token = _spent.set(spent)
    try:
        yield
    finally:
        _spent.reset(token)


def add(stage: Stage, usage: Usage) -> None:
    """A call took this."""
    spent = _spent.get()
    if spent is not None:
        spent[stage] = spent.get(stage, Usage()) + usage


def merged(kept: Mapping[str, Any], spent: Mapping[Stage, Usage]) -> dict[str, Any]:
    """What a turn has kept so far (as JSON), with what was spent since: a turn tried again has paid twice."""
    more = {stage: (Usage.from_json(kept[stage]) if stage in kept else Usage()) + usage for stage, usage in spent.items()}
    return {**kept, **{stage: usage.as_json() for stage, usage in more.items()}}
