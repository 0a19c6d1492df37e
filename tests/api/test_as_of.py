"""`?as_of=POSITION`: what was known then, with the status it had then."""

from __future__ import annotations

import pytest

from memory.actions.revise import revise
from tests.forests import learn, plant, say

pytestmark = pytest.mark.django_db
BUDGET = {"slot": "kitchen|budget", "subject": "kitchen"}


@pytest.fixture
def budget(ines):
    """€20,000 at position 1, €21,500 at 3, taken back after 4."""
    forest = plant(ines)
    first = say(forest, "The budget is 20,000")
    say(forest, "Hm", parent=first)
    later = say(forest, "Now 21,500", parent=first)
    old = learn(first, "Budget is 20,000", value="20000", **BUDGET)
    new = learn(later, "Budget is 21,500", value="21500", replaces=old, **BUDGET)
    say(forest, "Well", parent=later)
    revise(new, "retract", ines)
    say(forest, "So be it", parent=later)
    return forest, old, new


@pytest.mark.parametrize(("position", "texts"), [(1, ["Budget is 20,000"]), (2, ["Budget is 20,000"]), (3, ["Budget is 21,500"]), (4, ["Budget is 20,000"])])
def test_the_list_of_facts_holds_the_value_of_that_time(budget, as_ines, position, texts):
    answer = as_ines.ask("GET", f"forests/{budget[0].pk}/facts/?as_of={position}").json()
    assert [fact["text"] for fact in answer["results"]] == texts
    assert all(fact["status"] == "current" and fact["superseded_by"] is None for fact in answer["results"])


def test_what_was_replaced_then_is_asked_for_by_its_status_then(budget, as_ines):
    forest, old, new = budget
    [fact] = as_ines.ask("GET", f"forests/{forest.pk}/facts/?as_of=3&status=superseded").json()["results"]
    assert (fact["id"], fact["superseded_by"], fact["known_until"]) == (old.pk, new.pk, 3)
    assert as_ines.ask("GET", f"forests/{forest.pk}/facts/?as_of=3&status=retracted").json()["results"] == []
    assert [fact["id"] for fact in as_ines.ask("GET", f"forests/{forest.pk}/facts/?as_of=4&status=retracted").json()["results"]] == [new.pk]


def test_revisions_that_came_later_are_not_told(budget, as_ines):
    def verdicts(position):
        return [revision["verdict"] for revision in as_ines.ask("GET", f"forests/{budget[0].pk}/revisions/?as_of={position}").json()["results"]]

    assert [verdicts(position) for position in (2, 3, 4)] == [[], ["superseded"], ["superseded", "retracted"]]


def test_pages_follow_each_other_by_status_then(ines, as_ines):
    forest = plant(ines)
    first = say(forest, "Values")
    old = [learn(first, f"Old {number}", slot=f"thing {number}|is", value="1") for number in range(5)]
    later = say(forest, "Other values", parent=first)
    for number, row in enumerate(old):
        learn(later, f"New {number}", slot=f"thing {number}|is", value="2", replaces=row)
    seen, after = [], 0
    while after is not None:
        page = as_ines.ask("GET", f"forests/{forest.pk}/facts/?as_of=1&limit=2&after={after}").json()
        seen += [fact["text"] for fact in page["results"]]
        after = page["next"]
    assert seen == [f"Old {number}" for number in range(5)]
    assert as_ines.ask("GET", f"forests/{forest.pk}/facts/?as_of=1&status=superseded").json() == {"results": [], "next": None}
