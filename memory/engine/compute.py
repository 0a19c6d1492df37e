"""Deterministic answers over what was stored: count, sum, latest, earliest, compare, date difference (ARBORMEM §3, EventComputationEvidence).

Code counts, no model does. What isn't matched by the words of the question isn't counted, and nothing matched means no answer, never zero.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from memory.engine import revise, terms
from memory.engine.extract import events as acts
from memory.engine.extract import values
from memory.engine.forest import Computed, Evidence, Found
from memory.engine.query import Query
from memory.engine.text import one_line

ROWS_TOLD = 12

# Words of a question that say how it is asked, not what of.
_ASKING = frozenset(
    terms.stem(word)
    for word in """many much total altogether overall often time times number count sum long ago since between day days week weeks month months
    year years last latest recent recently first earliest most more less before after
    until left spend spent cost happen happened did far ever compare compared cheaper cheapest expensive earlier later longer shorter higher
    lower difference date when which what go went come came january february march april
    may june july august september october november december monday tuesday wednesday thursday friday saturday sunday morning afternoon evening
    yesterday today tomorrow""".split()
)
LONGEST = 500  # characters that are read as a question: what is pasted behind it isn't asked
_MONEY_QUESTION = re.compile(r"\bhow much\b.*\b(?:spen[dt]|pa(?:y|id)|cost|money)\b|\b(?:spen[dt]|paid)\b.*\b(?:total|altogether)\b", re.IGNORECASE)
_TIMES_QUESTION = re.compile(r"\bhow often\b|\bhow many times\b", re.IGNORECASE)
_UNIT_QUESTION = re.compile(
    r"\bhow many\s+(?P<unit>km|kilomet(?:re|er)s?|miles?|hours?|minutes?|pages?|kg|kilos?|lit(?:re|er)s?|nights?|laps?|euros?|dollars?|pounds?|steps)\b",
    re.IGNORECASE,
)
_UNITS = {"kilometre": "km", "kilometer": "km", "kilo": "kg", "litre": "l", "liter": "l", "euro": "EUR", "dollar": "USD"}
_CURRENCIES = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "CHF": "CHF "}
_YEAR = re.compile(r"\b(?:in|during|of|for|since|year)\s+((?:19|20)\d{2})\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|before we|before i|to go|away|left)\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:ago|since|passed)\b", re.IGNORECASE)
_SIDES = re.compile(
    r"\b(?:between|from)\s+(?P<a>.+?)\s+(?:and|to|until)\s+(?P<b>.+)$|\b(?:passed|were there|are there|is it|"
    r"did it take)?\s*(?:days|weeks|months)?\s*(?:before|after)\s+(?P<b2>.+)$",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"(?:first|earlier|later|last|sooner)\b[\s,:]*(?P<a>.+?),?\s+or\s+(?P<b>.+)$|\b(?P<a2>[^,:]+?)\s+or\s+(?P<b2>[^,:]+?),?\s+(?:which|what)\b", re.IGNORECASE
)
_CHEAPER = re.compile(r"\b(?:cheap(?:er|est)|lower|lowest|less|more expensive|dearer|higher|highest|most expensive|compare|difference)\b", re.IGNORECASE)


# Acts that one may ask for by each other's name: a visit to the dentist is told as “I went”.
_NEAR = {
    terms.stem(one): {terms.stem(other) for other in group.split()}
    for group in ("go visit travel", "buy order", "bake make cook", "run jog", "see watch")
    for one in group.split()
}


@dataclass(frozen=True, slots=True)
class _Dated:
    """Something with a day: an event, or a fact whose value is a date."""

    evidence: Evidence
    day: date


def compute(query: Query, found: Sequence[Found], now: datetime, zone: str) -> list[Computed]:
    """The answers that follow from `found` without any guessing, each with the rows it rests on; empty when nothing matches the question.

    `now` is when the question is asked, `zone` the IANA zone in which days are told apart.
    """
    query = replace(query, text=one_line(query.text)[:LONGEST])
    evidence = [each.evidence for each in found if each.evidence.status == "current" or each.evidence.pinned]
    events = [item for item in evidence if item.kind == "event"]
    counted = _within(query, _distinct([item for item in events if item.asserted and item.fields.get("countable", True) and _matches(query, item)]))
    answers: list[Computed] = []
    asks_unit = _unit_asked(query)
    if query.asks("sum") or asks_unit or _MONEY_QUESTION.search(query.text):
        answers += _sums(query, counted, asks_unit)
    if query.asks("count") and not answers and not asks_unit and not query.asks("difference"):
        answers += _count(query, counted)
    if query.asks("latest", "earliest") and not query.asks("compare"):
        answers += _ends(query, counted, zone)
    dated = [*_days(events, zone), *_fact_days(evidence, zone)]
    if query.asks("difference") or (_UNTIL.search(query.text) and query.asks("count")):
        answers += _difference(query, dated, now.astimezone(ZoneInfo(zone)).date())
    if query.asks("compare") or _CHEAPER.search(query.text):
        answers += _amounts(query, evidence) or _order(query, dated)
    return answers


# --- Matching ----------------------------------------------------------------------------------------------------------------


def _stems(text: str) -> set[str]:
    return set(terms.terms(text)) | acts.canonical(terms.words(text))


def _matches(query: Query, event: Evidence) -> bool:
    """The question's action is the event's, and what it asks about is in the event's words; one of the two at least is named."""
    asked = _stems(query.text)
    actions = {action for action in asked if acts.is_action(action)}
    action, told = str(event.fields.get("canonical_action", "")), _stems(f"{event.fields.get('object', '')} {' '.join(event.entities)}")
    told.add(str(event.fields.get("canonical_object", "")))
    spending = bool(_MONEY_QUESTION.search(query.text)) and event.fields.get("unit") in _CURRENCIES
    fits = action in actions or not actions.isdisjoint(_NEAR.get(action, ()))
    if actions and not fits and not spending:
        return False
    things = {term for term in query.content if term not in _ASKING and term not in actions and terms.stem(term) not in _ASKING and not term.isdigit()}
    things -= {terms.stem(unit) for unit in (_unit_asked(query), "kilometre", "kilometer", "euro", "dollar") if unit}
    if things:
        return bool(things & (told | _stems(event.text)))
    return fits or spending


def _within(query: Query, events: Iterable[Evidence]) -> list[Evidence]:
    """Those in the times the question names, all of them when it names none."""
    past = [window for window in query.dates if window.start <= query.time]
    years = {int(year) for year in _YEAR.findall(query.text)} if not past else set()
    return [
        event
        for event in events
        if (not past or any(window.start <= event.event_time < window.end for window in past)) and (not years or event.event_time.year in years)
    ]


def _distinct(events: Iterable[Evidence]) -> list[Evidence]:
    """Each event once: the same act on the same day told twice is one; without a day, two tellings are two."""
    kept: dict[tuple[object, ...], Evidence] = {}
    for event in sorted(events, key=lambda item: (item.position, item.id)):
        fields = event.fields
        day = fields.get("normalized_date")
        key = (fields.get("canonical_action"), fields.get("canonical_object"), fields.get("quantity"), fields.get("unit"), day or event.id)
        kept.setdefault(key, event)
    return sorted(kept.values(), key=lambda item: (item.event_time, item.position, item.id))


def _unit_asked(query: Query) -> str:
    match = _UNIT_QUESTION.search(query.text)
    if not match:
        return ""
    unit = match["unit"].lower().removesuffix("s")
    return _UNITS.get(unit, unit)


# --- Count and sum -------------------------------------------------------------------------------------------------------------


def _count(query: Query, events: Sequence[Evidence]) -> list[Computed]:
    """How many: things where their number was told (“two books”), else times."""
    if not events:
        return []
    times = bool(_TIMES_QUESTION.search(query.text))
    total = sum((Decimal(1) if times else _things(event) for event in events), Decimal(0))
    return [_computed("count", f"{_plain(total)} in {_number(len(events), 'entry', 'entries')}", total, events)]


def _things(event: Evidence) -> Decimal:
    quantity = event.fields.get("quantity")
    whole = isinstance(quantity, Decimal) and not event.fields.get("unit") and quantity == quantity.to_integral_value() and quantity > 0
    return quantity if whole and isinstance(quantity, Decimal) else Decimal(1)


def _sums(query: Query, events: Sequence[Evidence], unit_asked: str) -> list[Computed]:
    """One sum for each unit: kilometres and euros don't add up."""
    by_unit: dict[str, list[Evidence]] = {}
    for event in events:
        unit = str(event.fields.get("unit") or "")
        if isinstance(event.fields.get("quantity"), Decimal) and unit and (not unit_asked or unit == unit_asked):
            by_unit.setdefault(unit, []).append(event)
    if _MONEY_QUESTION.search(query.text):
        by_unit = {unit: rows for unit, rows in by_unit.items() if unit in _CURRENCIES}
    answers = []
    for unit, rows in sorted(by_unit.items()):
        total = sum((row.fields["quantity"] for row in rows), Decimal(0))
        answers.append(_computed("sum", f"{_amount(total, unit)} in {_number(len(rows), 'entry', 'entries')}", total, rows))
    return answers


def _ends(query: Query, events: Sequence[Evidence], zone: str) -> list[Computed]:
    if not events:
        return []
    operation = "latest" if query.asks("latest") else "earliest"
    chosen = events[-1] if operation == "latest" else events[0]
    day = _day_of(chosen, zone)
    return [_computed(operation, f"{_told(day)}: {chosen.text}", day.isoformat(), [chosen])]


# --- Days ----------------------------------------------------------------------------------------------------------------------


def _day_of(event: Evidence, zone: str) -> date:
    day = event.fields.get("normalized_date")
    return day if isinstance(day, date) else event.event_time.astimezone(ZoneInfo(zone)).date()


def _days(events: Iterable[Evidence], zone: str) -> list[_Dated]:
    return [
        _Dated(event, _day_of(event, zone))
        for event in events
        if not event.fields.get("is_negated") and (event.asserted or event.fields.get("normalized_date"))
    ]


def _fact_days(evidence: Iterable[Evidence], zone: str) -> list[_Dated]:
    dated = []
    for item in evidence:
        typed = values.typed(item.value) if item.kind == "fact" and item.slot and item.asserted else None
        when = acts.upcoming(typed.text, item.event_time, zone) if typed is not None and typed.type == "date" else None
        if when is not None:
            dated.append(_Dated(item, when.date()))
    return dated


def _best(dated: Sequence[_Dated], words: str, *, nearest: date | None = None) -> _Dated | None:
    """The one that shares most words with a phrase; None when none does. Of several days that do equally the one nearest to `nearest`, else none."""
    asked = {term for term in _stems(words) if term not in _ASKING}
    scored = [(len(asked & (_stems(each.evidence.text) | _also(each.evidence))), each) for each in dated]
    most = max((score for score, _ in scored), default=0)
    best = [each for score, each in scored if score == most]
    if most > 0 and nearest is not None:
        return min(best, key=lambda each: (abs((each.day - nearest).days), each.evidence.id))
    return best[0] if most > 0 and len({each.day for each in best}) == 1 else None


def _also(evidence: Evidence) -> set[str]:
    """Other words for a slot: who asks when they leave means the departure."""
    slot = evidence.slot.partition(revise.SEPARATOR)[2]
    other = {"departure": "leave leaving depart fly", "arrival": "arrive", "return": "return back home"}
    return set(terms.terms(" ".join(words for name, words in other.items() if name in slot)))


def _difference(query: Query, dated: Sequence[_Dated], today: date) -> list[Computed]:
    sides = _SIDES.search(query.text.rstrip("?!. "))
    if sides and sides["a"]:
        return _between(_best(dated, sides["a"]), _best(dated, sides["b"]))
    if sides and sides["b2"] and not (_UNTIL.search(query.text) or _SINCE.search(query.text)):
        return _between(_best(dated, query.text[: sides.start("b2")]), _best(dated, sides["b2"]))
    if not (_UNTIL.search(query.text) or _SINCE.search(query.text)):
        return []
    ahead = bool(_UNTIL.search(query.text)) and not _SINCE.search(query.text)
    one = _best([each for each in dated if (each.day >= today) == ahead or each.day == today], query.text, nearest=today)
    if one is None:
        return []
    days = abs((one.day - today).days)
    words = f"{_number(days, 'day', 'days')} {'from today, ' if ahead else 'ago, '}{_told(one.day)}: {one.evidence.text}"
    return [_computed("difference", words, Decimal(days), [one.evidence])]


def _between(one: _Dated | None, other: _Dated | None) -> list[Computed]:
    if one is None or other is None or one.evidence.id == other.evidence.id:
        return []
    days = abs((other.day - one.day).days)
    words = f"{_number(days, 'day', 'days')} between {_told(min(one.day, other.day))} and {_told(max(one.day, other.day))}"
    return [_computed("difference", words, Decimal(days), [one.evidence, other.evidence])]


def _order(query: Query, dated: Sequence[_Dated]) -> list[Computed]:
    sides = _EITHER.search(query.text.rstrip("?!. "))
    if sides is None:
        return []
    one, other = _best(dated, sides["a"] or sides["a2"]), _best(dated, sides["b"] or sides["b2"])
    if one is None or other is None or one.day == other.day:
        return []
    first, second = (one, other) if one.day < other.day else (other, one)
    words = f"first {first.evidence.text.rstrip('.')} ({_told(first.day)}), then {second.evidence.text.rstrip('.')} ({_told(second.day)})"
    return [_computed("compare", words, first.evidence.text, [first.evidence, second.evidence])]


# --- Amounts side by side --------------------------------------------------------------------------------------------------------


def _amounts(query: Query, evidence: Sequence[Evidence]) -> list[Computed]:
    """Current values of one attribute of several things, such as two fitters' quotes, from the lowest to the highest."""
    asked = _stems(query.text)
    by_attribute: dict[tuple[str, str], dict[str, tuple[Decimal, Evidence]]] = {}
    for item in evidence:
        subject, _, attribute = item.slot.partition(revise.SEPARATOR)
        number, _, unit = revise.normalize(item.value).partition(" ")
        if item.kind == "fact" and item.asserted and attribute and _stems(attribute) & asked and re.fullmatch(r"\d+(?:\.\d+)?", number):
            by_attribute.setdefault((attribute, unit), {})[subject] = (Decimal(number), item)
    answers = []
    for rows in by_attribute.values():
        named = {subject: row for subject, row in rows.items() if _stems(subject) & asked}
        chosen = sorted((named if len(named) > 1 else rows).values(), key=lambda row: row[0])
        if len(chosen) < 2:
            continue
        gap = chosen[-1][0] - chosen[0][0]
        words = " < ".join(f"{item.value} ({item.subject})" for _, item in chosen)
        answers.append(_computed("compare", f"{words}; the gap is {_plain(gap)}", chosen[0][1].subject, [item for _, item in chosen]))
    return answers


# --- Words -----------------------------------------------------------------------------------------------------------------------


def _computed(operation: str, words: str, value: Decimal | str | None, rows: Sequence[Evidence]) -> Computed:
    told = "; ".join(row.text.rstrip(".") for row in rows[:ROWS_TOLD]) + (f"; and {len(rows) - ROWS_TOLD} more" if len(rows) > ROWS_TOLD else "")
    text = words + (f" ({told})" if operation in ("count", "sum", "difference") and len(rows) > 0 and told not in words else "")
    sources = dict.fromkeys(source for row in rows for source in row.sources)
    return Computed(operation, text, value, tuple(row.id for row in rows), tuple(sources))


def _amount(total: Decimal, unit: str) -> str:
    grouped = f"{total:,.2f}".removesuffix(".00") if unit in _CURRENCIES else _plain(total)
    return f"{_CURRENCIES[unit]}{grouped}" if unit in _CURRENCIES else f"{grouped} {unit}"


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _number(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _told(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"
