"""What was known at a position: facts, records and revisions as they stood then, whatever was learned, said or taken back since."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.actions.revise import revise
from memory.errors import Refused
from memory.models import EVIDENCE_MODELS, Forest, Revision
from memory.present.evidence import evidence_list, revision_list
from memory.store.as_of import revisions_then
from tests.random_forests import add, apart, embedding_once, empty, forests, quick, rows  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedding_once")]


def known(forest: Forest, as_of: int | None = None) -> Any:
    """Every fact, record and revision as the API answers them."""
    found: list[Any] = []
    for model in EVIDENCE_MODELS.values():
        mine = model.objects.filter(forest=forest).order_by("pk")
        found += evidence_list(mine if as_of is None else mine.filter(known_from__lte=as_of), as_of)
    told = Revision.objects.filter(forest=forest)
    return found, revision_list(told if as_of is None else revisions_then(told, forest.pk, as_of))


@quick
@given(grown=forests(), data=st.data())
def test_at_every_position_it_is_what_the_forest_said_then(ines, grown, data):
    with apart():
        forest = empty(ines)
        said: dict[int, Any] = {}
        for place, (turn, parent) in enumerate(grown):
            add(forest, place, turn, parent)
            for _ in range(data.draw(st.integers(0, 2))):
                _say_of_something(data, forest, ines)
            said[place + 1] = known(forest)
        for position, (items, revisions) in said.items():
            then, told = known(forest, position)
            assert then == items
            assert told == revisions


def _say_of_something(data: Any, forest: Forest, by: Any) -> None:
    there = rows(forest)
    if not there:
        return
    row, do = data.draw(st.sampled_from(there)), data.draw(st.sampled_from(["retract", "restore", "pin", "unpin", "quarantine", "edit"]))
    try:
        revise(row, do, by, **({"text": "It is €5,555 after all.", "value": "€5,555"} if do == "edit" else {}))
    except Refused as refused:
        assert refused.status == 409
