"""What a session of BranchMemEval is, before a word of it is said: branches, turns, values, questions with gold and confounder (ARBORMEM §5).

`composition` says how many sessions of which family and how long; schedule.py plans one session; verbalize.py gives it words.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from memory.evaluation.branchmemeval.bank import Split

Family = Literal["backjump", "artifact", "twin", "bridge"]
Dimension = Literal["B1", "B2", "B3", "B4", "B5"]

# The paper's composition: sessions of each family, and the questions one of them has.
FAMILIES: Final[Mapping[Family, int]] = {"backjump": 8, "artifact": 8, "twin": 10, "bridge": 7}
QUESTIONS: Final[Mapping[Family, tuple[Dimension, ...]]] = {
    "backjump": ("B1", "B2", "B1", "B2"),
    "artifact": ("B3", "B3", "B3"),
    "twin": ("B5", "B1", "B5"),
    "bridge": ("B4", "B4"),
}
SESSIONS: Final = 33
TURNS: Final = 1542  # of the 33: 100 questions and 1,442 others
SHORTEST, LONGEST = 42, 52

# How a turn says where it belongs. `go on` needs to say nothing; all others may stand at the beginning of a resumption.
Pointer = Literal[
    "new",
    "aside",
    "go on",
    "consequence",
    "pending answer",
    "person in other words",
    "contrast",
    "season",
    "earlier option",
    "choice",
    "old value",
    "detail",
    "cue",
    "name",
    "question",
]
Act = Literal["open", "trait", "set", "change", "list", "choose", "rechoose", "hint", "answer", "tell", "follow", "short", "chat", "both", "aside"]
Lead = Literal["", "cue", "role", "contrast", "season", "detail", "fresh", "beside"]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a turn does. `key`: the slot, or the place of a trait, hint, question … in its bank; `fields` fill the form that words it."""

    act: Act
    key: tuple[int | str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    items: tuple[tuple[str, int], ...] = ()  # of a list: name, place of its property in the bank


@dataclass(frozen=True, slots=True)
class Asking:
    """A question with its gold, before it is worded. `anchor`: how its branch is named (`who` a trait of the person is described, `later` the role in other
    words, `name`); `old`: the value replaced (B2); `link`: the value that joins two trajectories (B4); `nth`, `by`: place or property in a list (B3)."""

    dimension: Dimension
    slot: str
    gold: str
    confounder: str
    evidence: tuple[int, ...]
    anchor: tuple[Literal["who", "later", "name"], int]
    old: str = ""
    link: str = ""
    nth: int = 0
    by: int | None = None
    bridge: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A planned turn: its branch (None: an aside of its own), gold parent and a second one, how it points, what it does, what the assistant asks back."""

    branch: int | None
    parent: int | None
    pointer: Pointer
    parts: tuple[Part, ...] = ()
    lead: Lead = ""
    lead_fields: Mapping[str, str] = field(default_factory=dict)
    also: int | None = None
    asks: int | None = None
    question: Asking | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose matter a branch is: `role` is the place in the voice's roles."""

    name: str
    role: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A trajectory of the plan: field of life and kind of its matter, and its owner. Two branches of a kind are twins."""

    domain: str
    kind: str
    owner: Owner
    traits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A planned session. `domain` is that of its twins; `start` is when its first turn is said."""

    id: str
    family: Family
    split: Split
    domain: str
    start: datetime
    branches: tuple[Branch, ...]
    turns: tuple[Turn, ...]


class PlanError(ValueError):
    """No session could be planned from what was asked for."""


def composition(sessions: int, rng: random.Random) -> list[tuple[Family, int]]:
    """(family, turns) of each session, in a random order: the paper's for 33, else in its proportions. Raises PlanError for less than one session."""
    if sessions < 1:
        raise PlanError("A set has at least one session.")
    shares = {family: sessions * count / SESSIONS for family, count in FAMILIES.items()}
    counts = {family: int(share) for family, share in shares.items()}
    for family in sorted(shares, key=lambda family: counts[family] - shares[family])[: sessions - sum(counts.values())]:
        counts[family] += 1
    lengths = _lengths(sessions, round(sessions * TURNS / SESSIONS), rng)
    families = [family for family, count in counts.items() for _ in range(count)]
    rng.shuffle(families)
    return list(zip(families, lengths, strict=True))


def _lengths(sessions: int, total: int, rng: random.Random) -> list[int]:
    """Lengths within SHORTEST…LONGEST that add up to `total`."""
    lengths = [rng.randint(SHORTEST, LONGEST) for _ in range(sessions)]
    while (missing := total - sum(lengths)) != 0:
        at = rng.randrange(sessions)
        lengths[at] = min(LONGEST, max(SHORTEST, lengths[at] + (1 if missing > 0 else -1)))
    return lengths
