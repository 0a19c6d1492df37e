"""Values of slots, drawn so that no two of a session are alike and none of a split can be of the other's.

Numbers of the testing split are odd, those of the fitting split even; dates of twins fall into different seasons.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final

from memory.evaluation.answers import contains
from memory.evaluation.branchmemeval.bank import BankError, Slot, Voice

SEASONS: Final = ("winter", "spring", "summer", "autumn")
MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
AHEAD: Final = (60, 390)  # days between a session's start and the dates it talks of
TRIES: Final = 200


def season(value: str) -> str:
    """The season of a date as drawn here (“14 March”)."""
    return SEASONS[(MONTHS.index(value.split()[-1]) + 1) % 12 // 3]


@dataclass
class Values:
    """Draws the values of one session. `taken` are those in use: no later one contains or is contained in one of them."""

    voice: Voice
    rng: random.Random
    start: datetime
    taken: list[str] = field(default_factory=list)

    def draw(self, type: str, own: tuple[str, ...] = (), *, seasons: tuple[str, ...] = SEASONS) -> str:
        """A new value. Raises BankError when the bank has none left or doesn't know the type."""
        for value in self._candidates(type, own, seasons):
            if not any(contains(value, other) or contains(other, value) for other in self.taken):
                self.taken.append(value)
                return value
        raise BankError(f"No value of type {type!r} is left.")

    def of(self, slot: Slot, *, seasons: tuple[str, ...] = SEASONS) -> str:
        return self.draw(slot.type, slot.values, seasons=seasons)

    def _candidates(self, type: str, own: tuple[str, ...], seasons: tuple[str, ...]) -> Iterator[str]:
        match type.split(":"):
            case ["bank", name] if name in self.voice.banks:
                yield from self.rng.sample(self.voice.banks[name], len(self.voice.banks[name]))
            case ["list"] if own:
                yield from self.rng.sample(own, len(own))
            case ["date"]:
                yield from (f"{day.day} {MONTHS[day.month - 1]}" for day in self._days() if season(f"1 {MONTHS[day.month - 1]}") in seasons)
            case ["time", low, high]:
                yield from (f"{self.rng.randrange(int(low), int(high))}:{self._number(0, 11) * 5:02d}" for _ in range(TRIES))
            case ["money", low, high]:
                yield from (self.voice.currency.format(self._number(int(low) // 5, int(high) // 5) * 5) for _ in range(TRIES))
            case ["count", low, high, unit]:
                yield from (f"{self._number(int(low), int(high))}{unit}" for _ in range(TRIES))
            case _:
                raise BankError(f"There is no type {type!r}.")

    def _days(self) -> Iterator[date]:
        for _ in range(TRIES):
            day = (self.start + timedelta(days=self.rng.randrange(*AHEAD))).date()
            if day.day % 2 == self.voice.odd and day.day < 31:
                yield day

    def _number(self, low: int, high: int) -> int:
        """A number in low…high of the split's parity."""
        number = self.rng.randrange(low, high)
        return number if number % 2 == self.voice.odd else number + 1
