"""A system that remembers nothing but what it was shown: put it in the place of any system, and see whether gold reaches it.

It asserts that it is given `Given` and `Asked`, exactly these types, keeps every value, and finds strings in them. As a memory it is as dull as can be: it
puts everything under the turn before and recalls the latest turns, so that a runner has something to judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from memory.evaluation.cases import Asked, Given
from memory.evaluation.systems.base import LEADERS, Context, Placed, Recalled, Shown


class Tripwire:
    """A System. `shown`: every value any call was given, in order, with the name of the call."""

    name = "tripwire"
    routes = True

    def __init__(self) -> None:
        self.shown: list[tuple[str, Any]] = []
        self.kept: list[Given] = []

    def open(self, case: str, zone: str) -> None:
        assert type(case) is str and type(zone) is str
        self.shown += [("open", case), ("open", zone)]
        self.kept = []

    def place(self, given: Given) -> Placed:
        self._see("place", given, Given)
        return Placed(self.kept[-1].id if self.kept else None, 0.5, 0.0)

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        self._see("observe", given, Given)
        assert placed is None or type(placed) is Placed
        self.shown.append(("observe", placed))
        self.kept.append(given)

    def settle(self) -> None:
        pass

    def recall(self, asked: Asked, budgets: Sequence[int]) -> Recalled:
        self._see("recall", asked, Asked)
        assert all(type(budget) is int for budget in budgets)
        latest = self.kept[::-1][:LEADERS]
        items = tuple(Shown("turn", f"{given.user}\n{given.assistant}", (given.id,)) for given in latest)
        text = "\n".join(item.text for item in items)
        tokens = len(text) // 4
        contexts = {budget: Context(text, tokens, items) if tokens <= budget else Context("", 0, ()) for budget in budgets}
        return Recalled(tuple(given.id for given in latest), contexts, None, 0.0)

    def close(self) -> None:
        pass

    def _see(self, call: str, value: object, kind: type) -> None:
        assert type(value) is kind, f"{call} was given a {type(value).__name__}, not a {kind.__name__}"
        self.shown.append((call, value))

    def strings(self) -> Iterator[tuple[str, str]]:
        """(call, text) of everything it was shown, however deep."""
        for call, value in self.shown:
            for text in _strings(value):
                yield call, text

    def caught(self, *sentinels: str) -> list[str]:
        """What it should never have seen: a line for each string with one of `sentinels` in it, whatever its case."""
        return [f"{call}: {text}" for call, text in self.strings() for sentinel in sentinels if sentinel.casefold() in text.casefold()]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _strings(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _strings(key)
            yield from _strings(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _strings(one)
