"""Events (ARBORMEM §4): what the user did or will do, with amounts and dates, so that code can count and sum them later.

Only the user's own acts count, said in the past tense. A dated plan is kept as a plan: neither asserted nor countable.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo

from memory.engine import terms, when
from memory.engine.extract import language, tags, values
from memory.engine.forest import Interaction, Proposal
from memory.engine.terms import number, stem

MAX_EVENTS = 8
MAX_CLAUSE = 400  # characters: longer ones are pasted, not told

# Forms of verbs worth counting → infinitive and type. Regular past tenses are derived.
_VERBS: dict[str, tuple[str, str]] = {}
for _kind, _listed in {
    "purchase": "buy:bought order: pay:paid spend:spent sell:sold rent: donate: save: earn: return: book: subscribe:",
    "exercise": "run:ran walk: hike: cycle: swim:swam jog: climb: row: ride:rode train: lift: ski:",
    "travel": "visit: travel: fly:flew drive:drove go:went tour: stay: move:",
    "media": "watch: read: finish: listen: play: stream: see:saw",
    "cooking": "bake: cook: make:made eat:ate drink:drank brew: roast: feed:fed knead: ferment:",
    "social": "attend: meet:met host: call: invite: celebrate: join: marry:",
    "work": "write:wrote submit: present: give:gave complete: publish: start: begin:began learn: study:studied practise: practice: "
    "rehearse: apply:applied translate: send:sent",
    "home": "clean: repair: fix: paint: plant: build:built install: assemble: hang:hung wash:",
    "health": "sleep:slept weigh: measure: lose:lost gain: win:won break:broke",
}.items():
    for _entry in _listed.split():
        _verb, _, _past = _entry.partition(":")
        if not _past:
            if _verb in ("plan", "jog", "ski"):
                _past = {"jog": "jogged", "ski": "skied"}[_verb]
            else:
                _past = _verb + "d" if _verb.endswith("e") else _verb[:-1] + "ied" if _verb.endswith("y") and _verb[-2] not in "aeiou" else _verb + "ed"
        _VERBS[_past] = (_verb, _kind)
        _VERBS.setdefault(_verb, (_verb, _kind))
_VERBS["travelled"] = _VERBS["traveled"]
_AMBIGUOUS = frozenset("read put".split())

_PAST = "|".join(sorted((form for form, (verb, _) in _VERBS.items() if form != verb or form in _AMBIGUOUS), key=len, reverse=True))
_BASE = "|".join(sorted({verb for verb, _ in _VERBS.values()}, key=len, reverse=True))
_ADVERBS = r"(?:(?:just|also|already|finally|only|recently|even|then|both|all|once|actually|\w+ly)\s+)*"
_DONE = re.compile(
    rf"^(?:(?:.{{0,60}}?,?\s)??(?:i|we)(?:'ve|\s+have|\s+had)?\s+(?P<not>did(?:n't| not)\s+|never\s+|haven't\s+|"
    rf"have not\s+)?{_ADVERBS}|(?=(?-i:[A-Z])))(?P<verb>{_PAST}|(?<=did not )(?:{_BASE})|"
    rf"(?<=didn't )(?:{_BASE}))\b(?P<object>.*)$",
    re.IGNORECASE,
)
_PLAN = re.compile(
    rf"\b(?:i|we)(?:'m|'re|'ll|\s+am|\s+are|\s+will)?\s+(?:going to|plan(?:ning)? to|want to|will|hope to|about to|have to|"
    rf"need to|must|should)?\s*{_ADVERBS}(?P<verb>{_BASE}|(?:{_BASE})ing)\b(?P<object>.*)$",
    re.IGNORECASE,
)
_WORDS = {name: Decimal(n) for n, name in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)}
_WORDS |= {"a": Decimal(1), "an": Decimal(1), "both": Decimal(2), "dozen": Decimal(12)}
_COUNTED = re.compile(
    r"^\s*(?:up\s+)?(?:about\s+|around\s+|another\s+|the\s+|my\s+|our\s+)?(?P<n>\d+(?:[.,]\d+)?|a|an|one|two|three|four|five|"
    r"six|seven|eight|nine|ten|eleven|twelve|both)\s+(?:more\s+|new\s+|"
    r"different\s+)?(?P<what>[a-zà-þ][\w-]*(?:\s+[a-zà-þ][\w-]*)?)",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r"(?P<n>\d+(?:[.,]\d+)*)\s?(?P<unit>kg|mg|g|km|m|cm|ml|l|miles?|hours?|hrs?|h|minutes?|min|days?|weeks?|nights?|pages?|"
    r"laps?|%|steps|litres?|liters?|loaves|lbs?|pounds)(?!\w)",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\s+(?:as|on|at|in|with|for|from|last|this|yesterday|today|because|and|when|while|after|before|during|to|by|which|that|"
    r"again|already|using|here|there|now|tonight|tomorrow|every|each|over|about)\b|\s+(?:a\s+)?(?:\w+\s+)?\w+\s+ago\b|[,.;!(]",
    re.IGNORECASE,
)
_CURRENCY = {
    "€": "EUR",
    "$": "USD",
    "£": "GBP",
    "¥": "JPY",
    "euro": "EUR",
    "euros": "EUR",
    "dollar": "USD",
    "dollars": "USD",
    "eur": "EUR",
    "usd": "USD",
    "gbp": "GBP",
    "chf": "CHF",
    "francs": "CHF",
}
_UNITS = {
    "hrs": "hour",
    "hr": "hour",
    "h": "hour",
    "hours": "hour",
    "minutes": "minute",
    "min": "minute",
    "miles": "mile",
    "days": "day",
    "weeks": "week",
    "nights": "night",
    "pages": "page",
    "laps": "lap",
    "litres": "l",
    "liters": "l",
    "litre": "l",
    "liter": "l",
    "lbs": "lb",
    "pounds": "lb",
    "loaves": "loaf",
}
_HABIT = re.compile(r"\b(?:usually|always|often|normally|regularly|every (?:day|week|month|year|morning|evening|night)|used to)\b", re.IGNORECASE)
# Acts that are worth keeping only with an amount or a day: “I made it last” is none.
_VAGUE = frozenset("make go see give start begin finish play move call send break win lose listen stay join save return feed weigh measure fix hang".split())
_TIMES = frozenset("morning afternoon evening night week weekend month year time day today lot bit".split())
_EACH = re.compile(rf"^\s*(?P<n>\d+|{'|'.join(_WORDS)})\s+[^,.;]*?\bfor\s+(?P<price>{values.MONEY})\s+(?:each|apiece|a piece|per \w+)\b", re.IGNORECASE)
_DETERMINERS = re.compile(r"^(?:a|an|the|my|our|some|another|this|that|about|around|his|her|up|to|for|out|on|off|it)\s+", re.IGNORECASE)


def propose(interaction: Interaction, zone: str) -> list[Proposal]:
    """The events of a user's turn, at most 8."""
    proposals: list[Proposal] = []
    for clause in language.clauses(interaction.user):
        proposal = _event(clause, interaction.time, zone) if len(clause) <= MAX_CLAUSE and language.english(clause) else None
        if proposal is not None and all(proposal.text != other.text for other in proposals):
            proposals.append(proposal)
    return proposals[:MAX_EVENTS]


def _event(clause: str, at: datetime, zone: str) -> Proposal | None:
    sentence, mood = language.strip_lead(clause), language.mood(clause)
    if _HABIT.search(sentence):
        return None
    if mood == "stated" and (match := _DONE.match(sentence)) and len(sentence.split()) <= 40:
        return _proposal(sentence, match["verb"], match["object"], at, zone, negated=bool(match["not"]), plan=False)
    if mood == "planned" and (match := _PLAN.search(sentence)) and upcoming(sentence, at, zone) is not None:
        return _proposal(sentence, match["verb"], match["object"], at, zone, negated=False, plan=True)
    return None


def _proposal(sentence: str, verb: str, object_words: str, at: datetime, zone: str, *, negated: bool, plan: bool) -> Proposal | None:
    form = verb.lower()
    infinitive, kind = _VERBS.get(form) or _VERBS.get(form.removesuffix("ing")) or _VERBS.get(form.removesuffix("ing") + "e") or ("", "")
    quantity, unit = _quantity(object_words)
    thing = _object(object_words)
    window = next((window for window in when.windows(sentence, at, zone) if window.start <= at), None)
    ahead = upcoming(sentence, at, zone) if plan else None
    if not infinitive or not (thing or quantity is not None):
        return None
    if infinitive in ("spend", "pay", "earn", "save") and not unit:
        return None
    if infinitive in _VAGUE and quantity is None and window is None and ahead is None:
        return None
    day = ahead.date() if ahead else window.start.astimezone(ZoneInfo(zone)).date() if window and window.end - window.start <= timedelta(hours=25) else None
    start = (
        sentence
        if re.match(r"(?:i|we)\b", sentence, re.IGNORECASE) or not language.past_verb(sentence.split()[0])
        else f"I {sentence[0].lower()}{sentence[1:]}"
    )
    text = language.third_person(start)
    head = thing.split()[-1].lower() if thing else unit
    return Proposal(
        kind="event",
        text=text,
        subject="user",
        value=f"{_plain(quantity)} {unit}".strip() if quantity is not None else thing,
        asserted=not plan,
        attribute_tag=tags.tag(text),
        entities=tuple(terms.entity_spans(text)),
        evidence=sentence[:80],
        event_time=ahead or (window.start if window else None),
        fields={
            "event_type": kind,
            "object": thing[:200],
            "quantity": quantity,
            "unit": unit[:40],
            "canonical_action": stem(infinitive),
            "canonical_object": stem(terms.fold(head))[:120],
            "date_text": (window.phrase if window else "")[:80],
            "normalized_date": day,
            "is_negated": negated,
            "countable": not negated and not plan,
        },
    )


def _quantity(words: str) -> tuple[Decimal | None, str]:
    """The amount of an act and its unit: money, a measure, or so many things. Decimals, never fractions."""
    if each := _EACH.search(words):
        n = each["n"].lower()
        count, price = (_WORDS[n] if n in _WORDS else _decimal(n)), _quantity(each["price"])
        return (count * price[0] if count is not None and price[0] is not None else None), price[1]
    if found := values.find_all(words, "money"):
        sign = next(
            (
                name
                for mark, name in _CURRENCY.items()
                if re.search(rf"{re.escape(mark)}(?!\w)" if mark.isalpha() else re.escape(mark), found[0], re.IGNORECASE)
            ),
            "",
        )
        digits = re.search(r"\d[\d,.'\u00a0\u202f]*", found[0])
        amount = _decimal(digits.group()) if digits else None
        return (amount * 1000 if amount is not None and re.search(r"\dk\b", found[0]) else amount), sign
    if measured := _MEASURED.search(words):
        unit = measured["unit"].lower()
        return _decimal(measured["n"]), _UNITS.get(unit, unit)
    if counted := _COUNTED.match(words):
        n = counted["n"].lower()
        return (_WORDS[n] if n in _WORDS else _decimal(n)), ""
    return None, ""


def _decimal(written: str) -> Decimal | None:
    try:
        return Decimal(number(written.rstrip(".,'")))
    except InvalidOperation:
        return None


def _plain(quantity: Decimal) -> str:
    return f"{quantity.normalize():f}"


def _object(words: str) -> str:
    """What the act was done to: the words after the verb, without amounts, up to the first preposition; or after “on” for money spent."""
    text = words.strip()
    spent = re.match(rf"^(?:about\s+|around\s+)?(?:{values.MONEY})\s+(?:on|for|to)\s+(?P<what>.+)$", text, re.IGNORECASE)
    if spent:
        text = spent["what"]
    text = re.sub(rf"{values.MONEY}", " ", text, flags=re.IGNORECASE)
    text = text.strip()
    measured, counted = _MEASURED.match(text), _COUNTED.match(text)
    if measured:
        text = re.sub(r"^\s*of\s+", "", text[measured.end() :])
    elif counted:
        text = text[counted.start("what") :]
    previous = None
    while previous != text:
        previous, text = text, _DETERMINERS.sub("", text.strip())
    phrase = _STOP.split(f" {text}", maxsplit=1)[0].strip()
    return "" if phrase.lower() in _TIMES else " ".join(phrase.split()[:5])


# --- Dates ahead -----------------------------------------------------------------------------------------------------------

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAY_MONTH = re.compile(
    r"\b(?:(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"(?P<m2>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s+(?P<d2>\d{1,2})(?:st|nd|rd|"
    r"th)?)\b(?:,?\s+(?P<y>\d{4}))?",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_IN = re.compile(r"\bin\s+(?P<n>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?P<unit>day|week)s?\b", re.IGNORECASE)
_NEXT_DAY = re.compile(rf"\b(?P<next>next\s+)?(?:on\s+|this\s+)?(?P<day>{'|'.join(_DAYS)})\b", re.IGNORECASE)


def upcoming(text: str, at: datetime, zone: str) -> datetime | None:
    """The first time ahead of `at` that a text names, as midnight of that day in `zone` (aware); None when it names none."""
    area = ZoneInfo(zone)
    today = at.astimezone(area).replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _ISO.search(text):
        day = _day(int(match[1]), int(match[2]), int(match[3]), area)
        return day if day and day >= today else None
    if match := _DAY_MONTH.search(text):
        number_, month = int(match["d"] or match["d2"]), _MONTHS.index((match["m"] or match["m2"]).lower()[:3]) + 1
        years = [int(match["y"])] if match["y"] else [today.year, today.year + 1]
        return next((day for year in years if (day := _day(year, month, number_, area)) and day >= today), None)
    if re.search(r"\btomorrow\b", text, re.IGNORECASE):
        return _plus(today, 1, area)
    if match := _IN.search(text):
        n = int(match["n"]) if match["n"].isdigit() else int(_WORDS[match["n"].lower()])
        return _plus(today, n * (7 if match["unit"].lower() == "week" else 1), area)
    if match := _NEXT_DAY.search(text):
        ahead = (_DAYS.index(match["day"].lower()) - today.weekday() - 1) % 7 + 1
        # “Next Friday” said on a Monday is the one of next week; said on a Saturday there is no other.
        return _plus(today, ahead + (7 if match["next"] and ahead + today.weekday() <= 6 else 0), area)
    return None


def _day(year: int, month: int, day: int, area: ZoneInfo) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=area)
    except ValueError:
        return None


def _plus(today: datetime, days: int, area: ZoneInfo) -> datetime:
    # Through the calendar, so that a day with 23 or 25 hours is one day.
    date = today.date() + timedelta(days=days)
    return datetime(date.year, date.month, date.day, tzinfo=area)


def canonical(words: Iterable[str]) -> set[str]:
    """The stems under which the acts among these words are kept: by their infinitive (“bought” → buy)."""
    return {stem(_VERBS[word][0]) for word in words if word in _VERBS}


def type_of(infinitive: str) -> str:
    """The type of an act, “other” where none is known."""
    return _VERBS.get(infinitive, ("", "other"))[1]


def is_action(term: str) -> bool:
    """Whether a stem is that of an act events are kept under."""
    return term in _ACTIONS


_ACTIONS = frozenset(stem(verb) for verb, _ in _VERBS.values())
