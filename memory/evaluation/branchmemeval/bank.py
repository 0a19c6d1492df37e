"""The wording banks of BranchMemEval: what can be said, by split and domain (`banks/<split>/*.toml`; `voice.toml` holds what all domains of a split share).

A bank knows nothing of sessions. Forms are templates with `{fields}`; what fills them is the plan's (plan.py) and is done by verbalize.py.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

Split = Literal["fit", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
BANKS: Final = Path(__file__).parent / "banks"
VOICE: Final = "voice"
Forms = tuple[str, ...]
Said = tuple[str, str]  # what the person says, what is answered


class BankError(ValueError):
    """A bank lacks something or has something unknown; the message names file, part and field."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Something a matter has one value of. `type`: bank:NAME, list, date, time:FROM:UNTIL, money:LOW:HIGH, count:LOW:HIGH:UNIT. `ask` are questions for it."""

    name: str
    noun: str
    type: str
    say: Forms
    change: Forms
    ask: Forms
    values: Forms = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A list the assistant makes: names, each with a property (as listed, as it may be pointed at later in other words). `slot`: what choosing one settles."""

    noun: str
    names: str
    request: Forms
    intro: Forms
    props: tuple[Said, ...]
    ask: Forms
    asked_by: Forms
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of matter: two matters of one kind are twins. `thing`: its nouns; `list`: what the assistant lists in it."""

    name: str
    thing: Forms
    open: Forms
    opened: Forms
    slots: tuple[Slot, ...]
    list: Listing

    def slot(self, name: str) -> Slot:
        return next(slot for slot in self.slots if slot.name == name)


@dataclass(frozen=True, slots=True)
class Trait:
    """A circumstance of one person. `word`: what it is called; `hint`: what only makes sense for that person, in other words than `say`; `who`: “the one …”."""

    word: str
    say: Forms
    reply: Forms
    who: Forms
    hint: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """A question the assistant asks at the end of an answer, and what may be answered turns later, bare. `kind`: which kind it is for, empty for any."""

    ask: str
    answer: Forms
    reply: Forms
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Bridge:
    """What a matter of another kind teaches about the values of `slot`: two of them, each with a value of `type`. The slot's value is the hidden link."""

    slot: str
    noun: str
    type: str
    tell: Forms
    reply: Forms
    ask: Forms


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question of general interest with its answer: within a matter (of a kind, or any), or beside all of them."""

    user: str
    assistant: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """A field of life with its kinds of matter, twins and neighbours, which share their vocabulary."""

    name: str
    kinds: tuple[Kind, ...]
    traits: tuple[Trait, ...]
    pending: tuple[Pending, ...]
    bridges: tuple[Bridge, ...]
    follows: tuple[Exchange, ...]
    asides: tuple[Exchange, ...]
    advice: Forms

    def kind(self, name: str) -> Kind:
        return next(kind for kind in self.kinds if kind.name == name)


@dataclass(frozen=True, slots=True)
class Role:
    """Who somebody is to the person: as said first, and as may be said later."""

    role: str
    sex: Literal["f", "m"]
    later: Forms


@dataclass(frozen=True, slots=True)
class Voice:
    """What all domains of a split share: people, names of firms and streets, frames around a matter, turns without one, what makes answers longer.

    odd: its numbers are odd."""

    currency: str
    odd: bool
    names: Mapping[str, Forms]
    banks: Mapping[str, Forms]
    roles: tuple[Role, ...]
    frames: Mapping[str, Any]
    turns: Mapping[str, Any]
    additions: Mapping[str, Forms]


@dataclass(frozen=True, slots=True)
class Bank:
    """All wording of a split."""

    split: Split
    voice: Voice
    domains: tuple[Domain, ...]

    def domain(self, name: str) -> Domain:
        return next(domain for domain in self.domains if domain.name == name)


_PARTS: Final[Mapping[tuple[type, str], type]] = {
    (Kind, "slots"): Slot,
    (Domain, "kinds"): Kind,
    (Domain, "traits"): Trait,
    (Domain, "pending"): Pending,
    (Domain, "bridges"): Bridge,
    (Domain, "follows"): Exchange,
    (Domain, "asides"): Exchange,
    (Voice, "roles"): Role,
}


@cache
def load(split: Split) -> Bank:
    """The bank of a split. Raises BankError."""
    folder = BANKS / split
    files = sorted(path for path in folder.glob("*.toml") if path.stem != VOICE)
    if not files:
        raise BankError(f"There is no bank for the split {split!r}.")
    return Bank(
        split, _made(Voice, _read(folder / f"{VOICE}.toml"), VOICE), tuple(_made(Domain, {"name": path.stem, **_read(path)}, path.stem) for path in files)
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BankError(f"{path.parent.name}/{path.name}: {error}") from error


def _made(cls: type, given: Mapping[str, Any], where: str) -> Any:
    known = {field.name for field in fields(cls)}
    if unknown := set(given) - known:
        raise BankError(f"{where}: {cls.__name__} has no {', '.join(sorted(unknown))}.")
    ready = {}
    for name, value in given.items():
        part = _PARTS.get((cls, name))
        if cls is Kind and name == "list":
            ready[name] = _made(Listing, value, f"{where}.list")
            continue
        ready[name] = tuple(_made(part, one, f"{where}.{name}[{at}]") for at, one in enumerate(value)) if part else _frozen(value)
    try:
        return cls(**ready)
    except TypeError as error:
        raise BankError(f"{where}: {error}") from error


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _frozen(inner) for name, inner in value.items()}
    return tuple(_frozen(inner) for inner in value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def templates(bank: Bank) -> set[str]:
    """Every form of a bank, as written: for comparing splits and for looking for fields without a filling."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, Mapping):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, tuple):
            for inner in value:
                walk(inner)
        elif hasattr(value, "__dataclass_fields__"):
            for field in fields(value):
                walk(getattr(value, field.name))

    walk(bank.voice)
    walk(bank.domains)
    return found
