"""The sample forest teaches what it is meant to show: revisions, lists, forks, things to count."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from memory import sample
from memory.engine import commit, revise
from memory.engine.forest import Extraction, Interaction, Proposal, SlotEntry, SlotOutcome

NOW = datetime(2026, 11, 15, 9, 31, tzinfo=UTC)
ZONE = "Europe/Vienna"


@dataclass
class Grown:
    """The sample, extracted turn by turn."""

    states: dict[str, Interaction] = field(default_factory=dict)
    learnt: dict[str, Extraction] = field(default_factory=dict)

    def proposals(self, kind: str) -> list[tuple[Interaction, Proposal]]:
        return [(self.states[name], proposal) for name, learnt in self.learnt.items() for proposal in learnt.proposals if proposal.kind == kind]

    def timeline(self, slot: str) -> list[tuple[str, SlotOutcome]]:
        told = [(state, proposal) for state, proposal in self.proposals("fact") if proposal.slot == slot]
        entries = [
            SlotEntry(number, proposal.value, proposal.event_time or state.time, state.position, proposal.asserted, "current")
            for number, (state, proposal) in enumerate(told, 1)
        ]
        return list(zip([entry.value for entry in entries], revise.resolve(entries), strict=True))


@lru_cache(maxsize=1)
def grown() -> Grown:
    forest = Grown()
    for position, told in enumerate(sample.interactions(NOW, ZONE), 1):
        path: list[Interaction] = []
        above = told["parent"]
        while above is not None:
            path.insert(0, forest.states[above])
            above = next(turn.parent for turn in sample.turns() if turn.id == above)
        root = path[0].id if path else position
        topic = path[-1].topic if path else ""
        state = Interaction(
            position, position, path[-1].id if path else None, root, root, len(path), told["time"], told["user"], told["assistant"], topic=topic
        )
        learnt = commit.extract(state, path, ZONE, topic)
        forest.learnt[told["id"]] = learnt
        forest.states[told["id"]] = replace(state, node_summary=learnt.node_summary, path_summary=learnt.path_summary, topic=learnt.topic)
    return forest


def test_the_budget_is_revised() -> None:
    (old, replaced), (new, holds) = grown().timeline("kitchen|budget")
    assert (old, replaced.status) == ("€18,000", "superseded")
    assert (new, holds.status) == ("€21,500", "current")
    assert replaced.superseded_by == holds.id


def test_the_departure_is_revised() -> None:
    (old, replaced), (new, holds) = grown().timeline("lyon exchange|departure date")
    assert (old, replaced.status, new, holds.status) == ("9 March", "superseded", "12 March", "current")


def test_nothing_else_is_replaced() -> None:
    slots = {proposal.slot for _, proposal in grown().proposals("fact") if proposal.slot}
    replaced = {slot for slot in slots for _, outcome in grown().timeline(slot) if outcome.status == "superseded"}
    assert replaced == {"kitchen|budget", "lyon exchange|departure date"}
    assert {"kitchen|worktop", "kitchen|appliance budget", "lyon exchange|luggage limit", "berg & sohn|quote", "casa nova|quote"} <= slots


def test_the_four_trees_are_named() -> None:
    roots = [turn.id for turn in sample.turns() if turn.parent is None]
    assert [grown().learnt[root].topic for root in roots] == ["Sourdough", "Kitchen", "Lisbon talk", "Lyon exchange"]


@pytest.mark.parametrize(
    ("turn", "items", "second"),
    [("k6", 3, "Casa Nova"), ("t3", 5, "Why small data is hard"), ("l6", 12, "The letter for emergencies"), ("t9", 3, "“I have less")],
)
def test_lists_can_be_pointed_into(turn: str, items: int, second: str) -> None:
    numbered = [proposal for proposal in grown().learnt[turn].proposals if proposal.kind == "artifact" and proposal.fields["ordinal"]]
    assert [proposal.fields["ordinal"] for proposal in numbered] == list(range(1, items + 1))
    assert numbered[1].text.startswith(second)


def test_the_loaves_can_be_counted() -> None:
    loaves = [proposal.fields["quantity"] for _, proposal in grown().proposals("event") if proposal.fields["canonical_action"] == "bake"]
    assert sum(loaves) == Decimal(6)


def test_the_story_forks_and_returns() -> None:
    turns = sample.turns()
    parents = [turn.parent for turn in turns if turn.parent]
    forked = {parent for parent in parents if parents.count(parent) > 1}
    assert len(forked) >= 4
    jumps = sum(turn.parent is not None and turn.parent != before.id for before, turn in pairwise(turns))
    assert 40 <= len(turns) <= 60 and jumps >= 20


@pytest.mark.parametrize("now", [NOW, datetime(2026, 3, 29, 0, 5, tzinfo=UTC), datetime(2027, 1, 1, 23, 59, tzinfo=UTC)])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles", ZONE])
def test_times_run_on_for_two_weeks_and_end_now(now: datetime, zone: str) -> None:
    times = [told["time"] for told in sample.interactions(now, zone)]
    assert times == sorted(set(times)) and all(time.tzinfo is not None for time in times)
    assert 0 < (now - times[-1]).total_seconds() <= 60
    assert (now.astimezone(ZoneInfo(zone)).date() - times[0].astimezone(ZoneInfo(zone)).date()).days == sample.DAYS - 1


def test_every_turn_names_an_earlier_parent() -> None:
    seen: set[str] = set()
    for turn in sample.turns():
        assert turn.id not in seen and (turn.parent is None or turn.parent in seen)
        assert turn.user and turn.assistant
        seen.add(turn.id)
