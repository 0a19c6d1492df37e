"""The times a text names, as windows on the clock of who wrote it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine.when import Window, windows

NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)  # a Thursday


def only(text: str, at: datetime = NOON, zone: str = "UTC") -> Window:
    [window] = windows(text, at, zone)
    return window


def local(window: Window, zone: str) -> tuple[str, str]:
    area = ZoneInfo(zone)
    return window.start.astimezone(area).isoformat()[:16], window.end.astimezone(area).isoformat()[:16]


def test_yesterday_is_the_persons_yesterday() -> None:
    # 12 November, 12:00 in London is 02:00 of the 13th on Kiritimati and midnight of the 12th at −12.
    assert local(only("yesterday", NOON, "Pacific/Kiritimati"), "Pacific/Kiritimati") == ("2026-11-12T00:00", "2026-11-13T00:00")
    assert local(only("yesterday", NOON, "Etc/GMT+12"), "Etc/GMT+12") == ("2026-11-11T00:00", "2026-11-12T00:00")
    assert only("yesterday", NOON, "Pacific/Kiritimati").start == datetime(2026, 11, 11, 10, 0, tzinfo=UTC)


def test_a_day_of_the_clock_change_has_23_or_25_hours() -> None:
    spring = only("yesterday", datetime(2026, 3, 30, 9, tzinfo=UTC), "Europe/Paris")
    autumn = only("yesterday", datetime(2026, 10, 26, 9, tzinfo=UTC), "Europe/Paris")
    assert spring.end - spring.start == timedelta(hours=23)
    assert autumn.end - autumn.start == timedelta(hours=25)


def test_a_day_whose_midnight_was_skipped_begins_when_the_clocks_went_forward() -> None:
    window = only("yesterday", datetime(2024, 4, 27, 12, tzinfo=UTC), "Africa/Cairo")  # on 26 April 2024, 00:00 became 01:00
    assert window.start == datetime(2024, 4, 25, 22, tzinfo=UTC)
    assert window.end - window.start == timedelta(hours=23)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on Monday", "2026-11-09", "2026-11-10"),
        ("last Thursday", "2026-11-05", "2026-11-06"),  # it is Thursday: a week ago
        ("two days ago", "2026-11-10", "2026-11-11"),
        ("a couple of days ago", "2026-11-09", "2026-11-12"),
        ("last week", "2026-11-02", "2026-11-09"),
        ("last weekend", "2026-11-07", "2026-11-09"),
        ("the day before yesterday", "2026-11-10", "2026-11-11"),
        ("on 3 March", "2026-03-03", "2026-03-04"),
        ("on March 3rd, 2025", "2025-03-03", "2025-03-04"),
        ("on December 24", "2025-12-24", "2025-12-25"),
        ("on the 3rd", "2026-11-03", "2026-11-04"),
        ("on the 30th", "2026-10-30", "2026-10-31"),
        ("2026-02-28", "2026-02-28", "2026-03-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("in June", "2026-06-01", "2026-07-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("vor 3 Tagen", "2026-11-09", "2026-11-10"),
        ("hace 3 días", "2026-11-09", "2026-11-10"),
        ("3天前", "2026-11-09", "2026-11-10"),
        ("lundi dernier", "2026-11-09", "2026-11-10"),
        ("el 3 de marzo", "2026-03-03", "2026-03-04"),
    ],
)
def test_a_phrase_is_resolved_against_the_turn(text: str, start: str, end: str) -> None:
    window = only(text)
    assert (window.start.date().isoformat(), window.end.date().isoformat()) == (start, end)


def test_parts_of_a_day_are_hours_on_the_persons_clock() -> None:
    assert local(only("this morning", NOON, "America/New_York"), "America/New_York") == ("2026-11-12T05:00", "2026-11-12T12:00")
    assert local(only("yesterday evening", NOON, "Asia/Tokyo"), "Asia/Tokyo") == ("2026-11-11T17:00", "2026-11-12T00:00")


def test_a_verb_is_no_month() -> None:
    assert list(windows("Options 2 and 3 may help", NOON, "UTC")) == []


def test_a_phrase_counts_once() -> None:
    assert [window.phrase for window in windows("last weekend and the day before yesterday", NOON, "UTC")] == ["last weekend", "the day before yesterday"]


def test_a_time_without_a_zone_and_a_zone_that_does_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        list(windows("yesterday", datetime(2026, 11, 12), "UTC"))  # noqa: DTZ001
    with pytest.raises(ZoneInfoNotFoundError):
        list(windows("yesterday", NOON, "Mars/Olympus"))


@given(
    st.integers(0, 4_000_000_000),
    st.sampled_from(["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "Europe/Paris", "America/St_Johns", "Africa/Cairo"]),
)
def test_yesterday_ends_where_today_begins_in_every_zone(seconds: int, zone: str) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    yesterday, today = only("yesterday", moment, zone), only("today", moment, zone)
    assert yesterday.start < yesterday.end == today.start <= moment < today.end
