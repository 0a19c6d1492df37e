"""The times a text names, resolved in code (RELIABILITY R2).

Windows are half open and in UTC; days begin and end at midnight of the given zone, so they have 23 or 25 hours when clocks change.
"""

# ruff: noqa: SIM905 - lists of words read best as text

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import dateparser

from memory.engine.terms import fold


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time that a text names: from `start` up to but not including `end`, aware, UTC; `phrase` as written (folded)."""

    start: datetime
    end: datetime
    phrase: str


_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "couple of": 2,
    "a couple of": 2,
    "few": 3,
    "a few": 3,
    "several": 4,
}
_N = r"(?P<n>\d{1,3}|an?(?: couple of| few)?|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few|several)"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_NAMES = {
    **{name: i for i, name in enumerate(_DAYS)},
    **{name: i for i, name in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())},
    **{name: i for i, name in enumerate("lunes martes miercoles jueves viernes sabado domingo".split())},
    **{name: i for i, name in enumerate("lundi mardi mercredi jeudi vendredi samedi dimanche".split())},
}
_WEEKDAY = "|".join(_DAY_NAMES)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_MONTH_ELSEWHERE = (
    "januar|februar|marz|juni|juli|dezember|oktober|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    "|janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre"
)
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 28)}
_YESTERDAY = "yesterday|gestern|ayer|hier|ieri|ontem|вчера|昨天|昨日|きのう|어제|امس|אתמול"
_BEFORE_YESTERDAY = "(?:the )?day before yesterday|vorgestern|anteayer|avant-hier|l'altro ieri|anteontem|позавчера|前天|おととい|一昨日|그저께|اول امس|שלשום"
_TODAY = "earlier today|today|heute|hoy|aujourd'hui|oggi|hoje|сегодня|今天|今日|오늘|اليوم|היום"
_LAST_WEEK = (
    "last week(?!end)|letzte woche|la semana pasada|la semaine derniere|la settimana scorsa"
    "|semana passada|на прошлой неделе|上周|上星期|上週|先週|지난주|지난 주|الاسبوع الماضي|בשבוע שעבר"
)
_LAST_MONTH = "last month|letzten monat|el mes pasado|le mois dernier|上个月|上個月|先月|지난달|지난 달"
_AGO_ELSEWHERE = (
    r"vor (?P<n1>\d{1,3}) tagen|hace (?P<n2>\d{1,3}) dias|il y a (?P<n3>\d{1,3}) jours|(?P<n4>\d{1,3}) ?(?:天前|日前|일 전)|(?P<n5>\d{1,3}) (?:дня|дней) назад"
)
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}

_LONG = 4_000  # characters that are looked through for times: a whole almanac is nobody's return
Resolver = Callable[[re.Match[str], datetime, ZoneInfo], tuple[datetime, datetime] | None]


def _instant(day: date, zone: ZoneInfo, hour: int = 0) -> datetime:
    """The wall-clock hour of a local day as an instant. Where clocks skip it, the moment they were set forward."""
    return datetime.combine(day + timedelta(days=hour // 24), time(hour % 24), tzinfo=zone).astimezone(UTC)


def _days(first: date, count: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return _instant(first, zone), _instant(first + timedelta(days=count), zone)


def _part(day: date, part: str | None, zone: ZoneInfo) -> tuple[datetime, datetime]:
    if not part:
        return _days(day, 1, zone)
    first, last = _PARTS[part]
    return _instant(day, zone, first), _instant(day, zone, last)


def _month(day: date, back: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    index = day.year * 12 + day.month - 1 - back
    first, after = date(index // 12, index % 12 + 1, 1), date((index + 1) // 12, (index + 1) % 12 + 1, 1)
    return _instant(first, zone), _instant(after, zone)


def _today(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return _part(local.date(), match.groupdict().get("part"), zone)


def _tonight(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    day = local.date() if match.group() == "tonight" else local.date() - timedelta(days=1)
    return _part(day, "night", zone)


_GERMAN = re.compile(r"\b(?:ist|und|ich|wir|das|die|der|haben|hast)\b")


def _yesterday(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    if match.group() == "hier" and _GERMAN.search(match.string):  # yesterday in French, here in German
        return None
    return _part(local.date() - timedelta(days=1), match.groupdict().get("part"), zone)


def _days_back(back: int, count: int = 1) -> Resolver:
    return lambda match, local, zone: _days(local.date() - timedelta(days=back), count, zone)


def _weekday(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The most recent such day before today: what was said “on Monday” on a Monday was said a week ago."""
    back = (local.weekday() - _DAY_NAMES[match["day"] or match["day2"]] - 1) % 7 + 1
    return _part(local.date() - timedelta(days=back), match.groupdict().get("part"), zone)


def _week(back: int) -> Resolver:
    return lambda match, local, zone: _days(local.date() - timedelta(days=local.weekday() + 7 * back), 7, zone)


def _weekend(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    back = local.weekday() + 2 if local.weekday() < 5 or "last" in match.group() else local.weekday() - 5
    return _days(local.date() - timedelta(days=back), 2, zone)


def _ago(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    written = match["n"]
    n = int(written) if written.isdigit() else _NUMBERS[written]
    unit = match["unit"]
    vague = any(word in written for word in ("few", "couple", "several"))
    if unit in _UNITS:
        moment = (local.astimezone(UTC)) - n * _UNITS[unit]
        slack = max(n * _UNITS[unit] / 4, _UNITS[unit] / 2)
        return moment - slack, moment + slack
    if unit == "day":
        return _days(local.date() - timedelta(days=n + vague), 1 + 2 * vague, zone)
    if unit == "week":
        return _days(local.date() - timedelta(days=7 * n + 3), 7, zone)
    if n * (12 if unit == "year" else 1) > 12 * (local.year - 1):
        return None
    return _month(local.date(), n * (12 if unit == "year" else 1), zone)


def _ago_elsewhere(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    n = int(next(group for group in match.groups() if group))
    return _days(local.date() - timedelta(days=n), 1, zone)


def _year(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return _instant(date(local.year - 1, 1, 1), zone), _instant(date(local.year, 1, 1), zone)


def _day_of_month(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    """“On the 3rd”: the most recent third that isn't ahead."""
    number, year, month = int(match["dom"]), local.year, local.month
    for _ in range(12):
        try:
            day = date(year, month, number)
        except ValueError:
            day = date.max
        if day <= local.date():
            return _days(day, 1, zone)
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return None


_VERB_MAY = re.compile(r" (?:be|have|not|also|help|work|need|cause|take|seem|look|vary|differ|well|still|only|\w+ly)\b")


def _explicit(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    if match.group().endswith(" may") and _VERB_MAY.match(match.string, match.end()):
        return None
    base = local.replace(tzinfo=None)
    # Past is preferred: what one returns to has been. Day before month where both could be, as most of the world writes.
    parsed = dateparser.parse(
        re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|\bthe |\bof ", "", match.group()),
        languages=["en", "de", "es", "fr", "it", "pt"],
        settings={"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "DATE_ORDER": "DMY", "PREFER_DAY_OF_MONTH": "first"},
    )
    return None if parsed is None or not 1 < parsed.year < 9999 else _days(parsed.date(), 1, zone)


def _iso(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    try:
        return _days(date.fromisoformat(match.group()), 1, zone)
    except (ValueError, OverflowError):
        return None


def _in_month(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    month = next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(match["month"][:3]))
    year = int(match["year"]) if match["year"] else local.year - (month > local.month)
    return _month(date(year, month, 1), 0, zone)


_RULES: tuple[tuple[re.Pattern[str], Resolver], ...] = tuple(
    (re.compile(pattern), resolve)
    for pattern, resolve in (
        (rf"(?:{_BEFORE_YESTERDAY})", _days_back(2)),
        (r"\b(?:last night|tonight)\b", _tonight),
        (rf"(?<!\w)(?:{_YESTERDAY})(?:(?: |'s )(?P<part>morning|afternoon|evening|night))?", _yesterday),
        (r"\bthis (?P<part>morning|afternoon|evening)\b", _today),
        (rf"(?<!\w)(?:{_TODAY})(?!\w)", _today),
        (rf"\b{_N} (?P<unit>minute|hour|day|week|month|year)s? (?:ago|back|earlier|before)\b", _ago),
        (rf"(?<!\w)(?:{_AGO_ELSEWHERE})", _ago_elsewhere),
        (r"\bthe other day\b", _days_back(7, 7)),
        (rf"(?<!\w)(?:{_LAST_WEEK})", _week(1)),
        (r"\b(?:this|earlier this) week\b", _week(0)),
        (r"\b(?:last|over the|on the|at the|this) weekend\b", _weekend),
        (rf"(?<!\w)(?:{_LAST_MONTH})", lambda match, local, zone: _month(local.date(), 1, zone)),
        (r"\b(?:this|earlier this) month\b", lambda match, local, zone: _month(local.date(), 0, zone)),
        (r"\blast year\b", _year),
        (r"\b\d{4}-\d{2}-\d{2}\b", _iso),
        (
            rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of |de )?(?:{_MONTH}|{_MONTH_ELSEWHERE})\b\.?(?:,? (?:de )?\d{{4}}\b)?"
            rf"|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}\b",
            _explicit,
        ),
        (
            rf"\b(?:on|last|am|letzten|el|le|this past|since|from) (?:the )?(?P<day>{_WEEKDAY})(?:(?: |'s )(?P<part>morning|afternoon|evening"
            rf"|night))?\b|\b(?P<day2>{_WEEKDAY}) (?:dernier|pasado)\b",
            _weekday,
        ),
        (r"\bon the (?P<dom>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of |floor|page|day|time|one|line))", _day_of_month),
        (rf"\b(?:in|during|back in|last|since) (?P<month>{_MONTH})\b(?: (?P<year>\d{{4}}))?", _in_month),
    )
)


def windows(text: str, at: datetime, zone: str) -> Iterator[Window]:
    """The times a text names, in the order they stand in it, as windows relative to `at` in the IANA `zone`; overlapping mentions once.

    Names of days and months without a year mean the latest past ones. Raises ValueError for a naive `at`."""
    if at.tzinfo is None:
        raise ValueError("A time without a zone can't be related to a day; pass an aware datetime.")
    area = ZoneInfo(zone)
    local = at.astimezone(area)
    folded = " ".join(fold(text[:_LONG]).split())
    found: dict[int, Window] = {}
    taken = bytearray(len(folded))  # 1 where a mention stands already
    for pattern, resolve in _RULES:
        for match in pattern.finditer(folded):
            start, end = match.span()
            if 1 in taken[start:end]:
                continue
            try:
                span = resolve(match, local, area)
            except (ValueError, OverflowError):  # beyond the calendar: “March 0000”, “in December 9999”, the day before the first
                continue
            if span is not None:
                found[start] = Window(*span, match.group())
                taken[start:end] = b"\1" * (end - start)
    yield from (window for _, window in sorted(found.items()))
