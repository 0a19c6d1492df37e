"""The values a slot can take, and how they are written: money, dates, times, measures, numbers to call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ValueType = Literal["money", "date", "time", "measure", "phone", "email", "link", "count", "name", "text"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|"
    r"janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|"
    r"julio|agosto|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|"
    r"dicembre)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CLOCK = r"(?:\d{1,2}[:.h]\d{2}(?:\s?(?:[ap]\.?m\.?|Uhr))?|\d{1,2}\s?(?:[ap]\.?m\.?\b|o'clock|Uhr)|noon|midnight|(?:half|quarter) past \w+)"
MONEY = (
    r"(?:(?:€|\$|£|¥|CHF|EUR|USD|GBP)\s?\d[\d,.'\u00a0\u202f]*(?:\s?k\b|\s?(?:million|m)\b)?|"
    r"\d[\d,.'\u00a0\u202f]*\s?k?\s?(?:€|\$|£|¥|euros?\b|dollars?\b|pounds?\b|francs?\b|eur\b|usd\b|gbp\b|chf\b))"
)
DATE = (
    rf"(?:(?:{_WEEKDAY},?\s+)?(?:the\s+)?(?:\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:of\s+|de\s+)?{_MONTH}\b|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b)(?:,?\s+(?:de\s+)?\d{{4}})?|\d{{4}}-\d{{2}}-\d{{2}}|"
    rf"\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d{{2}})\b"
    rf"|(?:next\s+|this\s+)?{_WEEKDAY}(?:\s+(?:morning|afternoon|evening|night))?|tomorrow|the\s+\d{{1,2}}(?:st|nd|rd|th)|\d+月\d+日)(?:,?\s+(?:at\s+)?{_CLOCK})?"
)
TIME = rf"(?:{_CLOCK})"
MEASURE = (
    r"(?:\d+(?:[.,]\d+)?(?:\s?[x×]\s?\d+(?:[.,]\d+)?)*\s?(?:kg|mg|g|km|cm|mm|m²|m2|m|ml|l|litres?|liters?|hours?|hrs?|h|"
    r"minutes?|min|days?|weeks?|months?|years?|miles?|lbs?|pounds|inches|feet|ft|%|percent|°C|°F|degrees|GB|MB|TB|pages?|"
    r"people|guests|slides)(?!\w))"
)
PHONE = r"(?:\+?\d[\d ()/-]{6,}\d)"
EMAIL = r"(?:[\w.+-]+@[\w-]+\.[\w.-]*\w)"
LINK = r"(?:https?://\S+[\w/])"
COUNT = r"(?:\d+(?:[.,]\d+)*)"

_TYPES: tuple[tuple[ValueType, re.Pattern[str]], ...] = (
    ("link", re.compile(LINK)),
    ("email", re.compile(EMAIL)),
    ("money", re.compile(MONEY, re.IGNORECASE)),
    ("date", re.compile(DATE, re.IGNORECASE)),
    ("time", re.compile(TIME, re.IGNORECASE)),
    ("phone", re.compile(PHONE)),
    ("measure", re.compile(MEASURE, re.IGNORECASE)),
    ("count", re.compile(COUNT)),
)
# Words that may stand before a value without being part of it.
_BEFORE = re.compile(
    r"^(?:(?:now|currently|exactly|about|around|roughly|approximately|at|on|for|only|just|up to|set to|set at|set for|to|of|"
    r"by|until|from|still|definitely|officially|finally|already|=|:)\s+)*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value at the start of a phrase: its type, as written, and what follows it in the phrase."""

    type: ValueType
    text: str
    rest: str


def typed(phrase: str) -> Value | None:
    """The typed value a phrase begins with, if any: “now €21,500, appliances apart” → money “€21,500”, rest “, appliances apart”."""
    body = phrase[_end_of_lead(phrase) :]
    for kind, pattern in _TYPES:
        match = pattern.match(body)
        if match and match.group().strip(" .,"):
            text = match.group().rstrip(" .,'")
            return Value(kind, text, body[len(text) :])
    return None


def _end_of_lead(phrase: str) -> int:
    match = _BEFORE.match(phrase)
    return match.end() if match else 0


def find_all(text: str, kind: ValueType) -> list[str]:
    """Every value of one type in a text, as written."""
    pattern = dict(_TYPES)[kind]
    return [match.group().rstrip(" .,'") for match in pattern.finditer(text)]


_NAME = re.compile(
    r"(?:the\s+|a\s+|an\s+)?[\"“'‘]?(?P<name>[^\W\d_][^,;.!?()\n]{0,60}?)[\"”'’]?(?=\s+(?:now|then|instead|and|but|because|"
    r"since|which|who|as of|from now|for now|these days|at the moment|with|after)\b|[,;.!?()]|$)",
    re.IGNORECASE,
)


def named(phrase: str) -> Value | None:
    """An untyped value: the words up to the next clause, at most eight."""
    start = _end_of_lead(phrase)
    match = _NAME.match(phrase, start)
    if not match or len(match["name"].split()) > 8:
        return None
    name = match["name"].strip(" \"“”'")
    return Value("name", name, phrase[match.end() :]) if name else None
