"""How memory keeps up, in figures: of one forest in its own days, of all together, and drawn without a style or a script."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from memory import present
from memory.actions.create_forest import create_forest
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.refine_again import refine_again
from memory.admin.plots import Series, plot
from memory.models import InteractionState, ParentChange, RoutingDecision, Turn
from memory.present.health import LAG_POINTS
from tests.forests import plant, say

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def at(state, moment, **decision):
    Turn.objects.filter(pk=state.turn_id).update(answered_at=moment)
    RoutingDecision.objects.filter(turn=state.turn_id).update(created_at=moment, **decision)
    return state


def test_the_lag_is_from_the_answer_to_its_memory_and_is_measured_once(ines):
    forest = create_forest(ines, "Home")
    observe(forest, [{"user": "The budget is 5.", "time": "2020-03-01T10:00:00Z", "new_root": True}])
    Turn.objects.update(answered_at=timezone.now() - timedelta(seconds=90))
    drain(forest.pk)
    [point] = present.health_json(forest)["lag"]
    assert 90 <= point["seconds"] < 120
    refine_again(InteractionState.objects.get(), ines)
    drain(forest.pk)
    assert present.health_json(forest)["lag"] == [point], "read again, nobody waited for it"


def test_what_was_imported_was_not_waited_for(ines):
    forest = create_forest(ines, "Home")
    observe(forest, [{"user": "The budget is 5.", "time": "2020-03-01T10:00:00Z", "new_root": True}])
    InteractionState.objects.update(origin="imported")
    drain(forest.pk)
    assert present.health_json(forest)["lag"] == []


def test_tokens_are_those_of_all_stages_by_day(ines):
    forest = plant(ines)
    first, second, third = (at(say(forest, f"T{number}"), NOW - timedelta(days=back)) for number, back in enumerate((0, 0, 100)))
    usage = {"answer": {"input": 100, "output": 10, "cost": 0.5}, "extract": {"input": 7, "output": 1, "cost": None}}
    Turn.objects.filter(pk__in=[first.turn_id, third.turn_id]).update(usage=usage)
    Turn.objects.filter(pk=second.turn_id).update(input_tokens=1000, output_tokens=5)
    [day] = present.health_json(forest)["tokens"]
    assert day == {"day": NOW.astimezone(UTC).date().isoformat(), "input": 1107, "output": 16, "cost": 0.5}
    Turn.objects.update(usage={}, input_tokens=3)
    assert present.health_json(forest)["tokens"][0]["cost"] is None


def test_confidence_is_that_of_places_found_not_of_those_given(ines):
    forest = plant(ines)
    at(say(forest, "Root"), NOW, method="new_root", probability=0.6)
    at(say(forest, "Sure"), NOW, method="recall", probability=1.0)
    at(say(forest, "Unsure"), NOW, method="continuation", probability=0.5, unsure=True)
    at(say(forest, "Given"), NOW, method="given", probability=0.0)
    at(say(forest, "Corrected"), NOW, method="corrected", probability=0.0)
    [day] = present.health_json(forest)["confidence"]
    assert {**day, "day": None} == {"day": None, "mean": 0.7, "unsure": 1, "turns": 3}


def test_days_are_those_of_the_forests_zone(ines):
    east, west = plant(ines, "East", time_zone="Pacific/Kiritimati"), plant(ines, "West", time_zone="Pacific/Pago_Pago")
    moment = (NOW - timedelta(days=3)).astimezone(UTC).replace(hour=10, minute=30)
    days = {}
    for forest in (east, west):
        state = say(forest, "T")
        change = ParentChange.objects.create(forest=forest, state=state, at_position=1)
        ParentChange.objects.filter(pk=change.pk).update(created_at=moment)
        [corrected] = present.health_json(forest)["corrections"]
        assert corrected["count"] == 1
        days[forest.name] = date.fromisoformat(corrected["day"])
    assert days["East"] - days["West"] == timedelta(days=2)


def test_what_is_pending_and_since_when(ines, omar):
    forest, other = plant(ines), plant(omar)
    at(say(forest, "Done"), NOW - timedelta(days=9))
    at(say(forest, "Waits", refined_at=None), NOW - timedelta(hours=2))
    at(say(forest, "Waits too", refined_at=None), NOW)
    at(say(other, "Hers isn't his", refined_at=None), NOW - timedelta(days=1))
    figures = present.health_json(forest)
    assert figures["pending"] == 2
    assert abs(datetime.fromisoformat(figures["oldest_pending"]) - (NOW - timedelta(hours=2))) < timedelta(seconds=1)
    assert present.health_json()["pending"] == 3 and present.health_json(plant(ines, "Empty"))["oldest_pending"] is None


def test_it_is_the_owners_over_the_api(ines, omar):
    from tests.api.conftest import Caller

    forest = plant(ines)
    assert Caller(ines).ask("GET", f"forests/{forest.pk}/health/").json() == present.health_json(forest)
    assert Caller(omar).ask("GET", f"forests/{forest.pk}/health/").status_code == 404


def test_it_takes_as_many_queries_however_many_turns(ines, django_assert_max_num_queries):
    forest = plant(ines)
    for number in range(12):
        at(say(forest, f"T{number}", refined_at=None), NOW - timedelta(days=number))
    with django_assert_max_num_queries(6):
        figures = present.health_json(forest)
    assert len(figures["confidence"]) == 12 and len(figures["lag"]) <= LAG_POINTS


DAYS = [date(2026, 3, 1) + timedelta(days=number) for number in range(10)]


def test_a_plot_is_drawn_to_scale_and_told_in_words():
    svg = plot("Tokens", [Series("input", [(DAYS[0], 100.0), (DAYS[9], 50.0)], "bars")], days=DAYS, unit="tokens")
    heights = [float(height) for height in re.findall(r'<rect[^>]* height="([\d.]+)"', svg)]
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.01) and heights[0] == pytest.approx(184, abs=0.1)
    assert "<title>2026-03-01: 100 input</title>" in svg and 'aria-label="Tokens, in tokens: input, 2026-03-01 to 2026-03-10"' in svg
    assert not re.search(r"style|<script|\son\w+=", svg)


def test_a_plot_shows_names_as_text_and_nothing_as_an_empty_frame():
    svg = plot("<b>", [Series("<script>", [(DAYS[1], 1.0)])], days=DAYS)
    assert "<script>" not in svg and "&lt;script&gt;" in svg
    assert "polyline" not in svg and "<circle" in svg
    assert "<circle" not in plot("Empty", [Series("none", [])], days=DAYS)


@pytest.mark.parametrize(("value", "top"), [(0.3, "0.50"), (1, "1"), (1.01, "2"), (99, "100"), (4321, "5,000"), (43210, "50k")])
def test_the_scale_ends_at_a_round_number(value, top):
    assert f">{top}</text>" in plot("T", [Series("s", [(DAYS[0], value)])], days=DAYS)
