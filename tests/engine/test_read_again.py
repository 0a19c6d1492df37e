"""Along a path a turn is read for every one after it: what it was read as before is used again only where it would be read as the same."""

from __future__ import annotations

import random

import pytest

from memory.engine.extract import facts
from memory.engine.extract.slots import Setting, Sought

SAID = [
    "The kitchen budget is now €{n},500.",
    "Make it €{n},250 then.",
    "It is €{n},100.",
    "Actually, {n} May.",
    "The delivery date is {n} May.",
    "The budget is €{n},000.",
    "We leave on {n} May.",
    "The oven must be under €{n}00.",
    "My sister Nora lives in Lyon.",
    "€{n},300.",
]


def settings(rng):
    """Settings as they arise along a path."""
    found = Setting("Kitchen")
    for _ in range(rng.randint(0, 6)):
        said = rng.choice(SAID).format(n=rng.randint(2, 28))
        filled = [fact.slotted for fact in facts.read(said, found) if fact.slotted is not None and fact.asserted]
        found = Setting(rng.choice(["Kitchen", "Garden"]), [*found.filled, *filled], rng.choice(["", "the oven"]))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_what_is_used_again_is_what_would_be_read(seed):
    rng = random.Random(seed)
    texts = [" ".join(rng.sample(SAID, rng.randint(1, 3))).format(n=rng.randint(2, 28)) for _ in range(6)]
    asked = [(rng.choice(texts), settings(rng)) for _ in range(60)]
    facts._readings.cache_clear()
    remembered = [facts.read(text, setting) for text, setting in asked]
    for (text, setting), found in zip(asked, remembered, strict=True):
        facts._readings.cache_clear()
        assert facts.read(text, setting) == found, (text, setting)
    assert len({str(found) for found in remembered}) > 6  # the settings do make a difference


def test_a_turn_that_leans_on_nothing_is_read_once_whatever_was_said_before(monkeypatch):
    facts._readings.cache_clear()
    read, times = facts._read, []
    monkeypatch.setattr(facts, "_read", lambda *args: times.append(args) or read(*args))
    [budget] = [fact.slotted for fact in facts.read("The kitchen budget is €20,000.", Setting("Kitchen"))]
    for number in range(10):
        facts.read("My sister Nora lives in Lyon.", Setting("Kitchen", [budget] * number))
    assert len(times) == 2
    values = [facts.read("Make it €2,000 then.", Setting("Kitchen", [budget] * number))[0].text for number in range(1, 4)]
    assert len(times) == 3 and set(values) == {values[0]}  # leans on the same each time


def test_of_the_slots_that_fit_the_last_is_found_of_those_at_hand_before_earlier_ones():
    [budget] = [fact.slotted for fact in facts.read("The kitchen budget is €20,000.", Setting("Kitchen"))]
    [oven] = [fact.slotted for fact in facts.read("The oven price is €900.", Setting("Kitchen"))]
    money = Sought(frozenset({"money"}))
    assert Setting("Kitchen", [budget, oven]).latest(money) == oven
    assert Setting("Kitchen", [budget], "", lambda sought: oven).latest(money) == budget
    assert Setting("Kitchen", [], "", lambda sought: oven).latest(money) == oven
    assert Setting("Kitchen", [budget]).latest(Sought(None, "delivery date")) is None
