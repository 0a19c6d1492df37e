"""Mutable states (ARBORMEM §4): values under canonical keys that change over a life, such as home_city."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from memory.engine import revise, terms
from memory.engine.extract import facts, language, tags
from memory.engine.extract.facts import Fact
from memory.engine.forest import Interaction, Proposal

MAX_STATES = 6
MAX_VALUE = 180

_KEYS = {
    "home_city": "home city",
    "hometown": "hometown",
    "workplace": "workplace",
    "dietary_pref": "dietary preference",
    "job": "job",
    "favorite_drink": "favourite drink",
    "favorite_food": "favourite food",
    "favorite_dish": "favourite food",
    "favorite_movie": "favourite movie",
    "favorite_film": "favourite movie",
    "favorite_book": "favourite book",
    "favorite_season": "favourite season",
}
_ALIASES = {"favorite_film": "favorite_movie", "favorite_dish": "favorite_food"}
_PETS = frozenset("dog cat puppy kitten parrot hamster rabbit horse tortoise budgie pony bunny".split())
_PET = re.compile(r"(?i:\b(?:my|our) (?P<x>dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|tortoise|budgie|pony|bunny),? )(?P<v>[A-ZÀ-Þ][\w'’-]+)")
_HOBBY = re.compile(r"(?i:\bi(?:'ve| have)? (?:recently |just |also |still )?(?:took up|taken up|started|play|do|go) )(?P<v>(?i:pottery|"
r"climbing|bouldering|knitting|chess|piano|(?:the )?(?:guitar|violin|cello|drums)|painting|gardening|birdwatching|"
r"photography|tennis|"
                    r"football|badminton|fencing|sailing|surfing|skiing|fishing|dancing|baking|woodworking|calligraphy|origami|judo|karate))\b|"
r"(?i:\bmy hobby is )(?P<v2>[\w ]{3,40})")  # fmt: skip
_WORKOUT = re.compile(
    r"(?i:\bi (?:usually |always |now |still )?)(?P<v>(?i:run|swim|cycle|row|lift weights|do yoga|do pilates|go to the gym|"
    r"go running|go swimming|go cycling|train)\b(?: [^,.;!]{2,40})?(?:(?:every|each|on|twice|three times|"
    r"once) [^,.;!]{2,30}))"
)
_MONTHS = "January February March April May June July August September October November December".split()


def propose(interaction: Interaction, found: Sequence[Fact], zone: str) -> list[Proposal]:
    """The states that the facts of a turn, or the words of its statements, give a value to."""
    states: dict[tuple[str, str], Proposal] = {}
    for fact in found:
        slotted = fact.slotted
        when = facts.since(fact.clause, interaction.time, zone)
        if slotted is not None and (slotted.attribute in _KEYS and slotted.subject == "user"):
            key = _ALIASES.get(slotted.attribute, slotted.attribute)
            _add(states, key, slotted.value, f"The user's {_KEYS[slotted.attribute]} is {slotted.value}.", fact, when, single=True)
        elif slotted is not None and slotted.attribute == "name" and slotted.subject in _PETS:
            _add(states, "pet_name", slotted.value, f"The user's {slotted.subject} is called {slotted.value}.", fact, None, single=False)
        elif slotted is not None and slotted.attribute == "birthday" and slotted.subject == "user":
            month = next((name for name in _MONTHS if name[:3].lower() in slotted.value.lower()), "")
            if month:
                _add(states, "birthday_month", month, f"The user's birthday is in {month}.", fact, None, single=True)
        elif fact.asserted:
            _from_words(states, fact)
    return list(states.values())[:MAX_STATES]


def _from_words(states: dict[tuple[str, str], Proposal], fact: Fact) -> None:
    if match := _PET.search(fact.clause):
        _add(states, "pet_name", match["v"], f"The user's {match['x'].lower()} is called {match['v']}.", fact, None, single=False)
    if match := _HOBBY.search(fact.clause):
        hobby = (match["v"] or match["v2"]).strip()
        _add(states, "hobby", hobby, f"The user's hobby is {hobby}.", fact, None, single=False)
    if match := _WORKOUT.search(fact.clause):
        _add(states, "workout", match["v"].strip(), fact.text, fact, None, single=False)


def _add(states: dict[tuple[str, str], Proposal], key: str, value: str, text: str, fact: Fact, when: datetime | None, *, single: bool) -> None:
    if len(value) >= MAX_VALUE:
        return
    if not language.english(fact.clause):
        text = fact.text  # a fact keeps the language of its source (R3)
    states[key, revise.normalize(value)] = Proposal(
        kind="mutable_state",
        text=text[: MAX_VALUE - 1],
        slot=revise.slot("user", key) if single else "",
        subject="user",
        value=value,
        asserted=fact.asserted,
        attribute_tag=tags.tag(text, key),
        entities=tuple(terms.entity_spans(text)),
        evidence=fact.clause[:80],
        event_time=when,
        fields={"key": key},
    )
