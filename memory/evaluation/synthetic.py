"""Made-up histories for measuring speed: many trees, each with words of its own among common ones, in Zipf-like proportions.

They say nothing about quality. Everything follows from the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_SYLLABLES = [
    "ba",
    "co",
    "di",
    "fu",
    "ga",
    "hel",
    "in",
    "jor",
    "ka",
    "lun",
    "mi",
    "nor",
    "ost",
    "pra",
    "qui",
    "ras",
    "sol",
    "tur",
    "ven",
    "wil",
    "xan",
    "yor",
    "zet",
    "bri",
    "cla",
    "dro",
]
_COMMON = [
    "the",
    "a",
    "of",
    "and",
    "to",
    "in",
    "for",
    "with",
    "on",
    "that",
    "this",
    "is",
    "are",
    "was",
    "it",
    "we",
    "you",
    "they",
    "have",
    "has",
    "will",
    "would",
    "could",
    "should",
    "about",
    "from",
    "into",
    "over",
    "under",
    "before",
    "after",
    "because",
    "while",
    "plan",
    "price",
    "week",
    "month",
    "house",
    "table",
    "color",
    "water",
    "light",
    "paper",
    "phone",
    "letter",
    "answer",
    "question",
    "number",
    "place",
    "people",
    "friend",
    "work",
    "travel",
    "food",
    "garden",
    "music",
    "book",
    "story",
]

SHARED_WORDS = 8_000


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """One interaction of a made-up history; `parent` is the index of an earlier one, None for a new root."""

    user: str
    assistant: str
    time: datetime
    parent: int | None


def _word(rng: random.Random) -> str:
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 4)))


def _sentence(rng: random.Random, own: list[str], shared: list[str], words: int) -> str:
    # A third of the words are the matter's own, its first ones most often; a third everyone's few, a third of everyone's many, in Zipf's proportions.
    def word() -> str:
        kind = rng.randrange(3)
        if kind == 0:
            return own[min(len(own) - 1, int(rng.expovariate(0.15)))]
        return rng.choice(_COMMON) if kind == 1 else shared[min(len(shared), int(rng.paretovariate(0.6))) - 1]

    return " ".join(word() for _ in range(words)).capitalize() + "."


def history(turns: int, *, trees: int, seed: int, tokens: int = 300) -> Iterator[MadeTurn]:
    """`turns` interactions over `trees` matters, of about `tokens` tokens each, an hour apart; every ninth goes back to an earlier state of its tree."""
    rng = random.Random(f"history/{seed}")
    shared = [_word(rng) for _ in range(SHARED_WORDS)]
    vocabulary = [[_word(rng) for _ in range(60)] for _ in range(trees)]
    members: list[list[int]] = [[] for _ in range(trees)]
    start = datetime(2026, 1, 5, 8, tzinfo=UTC)
    for index in range(turns):
        tree = index if index < trees else int(trees * rng.random() ** 2)  # some matters are spoken of far more than others
        own, past = vocabulary[tree], members[tree]
        parent = None if not past else rng.choice(past) if rng.random() < 0.11 else past[-1]
        user = " ".join(_sentence(rng, own, shared, rng.randint(6, 14)) for _ in range(2))
        said = " ".join(_sentence(rng, own, shared, 12) for _ in range(max(1, (tokens - 40) // 22)))
        past.append(index)
        yield MadeTurn(user, said, start + timedelta(hours=index), parent)


def question(rng: random.Random, turns: list[MadeTurn]) -> str:
    """An input about one of the turns: some of its words, and some of everyone's."""
    words = rng.choice(turns).user.split()
    return " ".join(rng.sample(words, min(5, len(words))) + rng.sample(_COMMON, 4)) + "?"
