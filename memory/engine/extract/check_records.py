"""A model's events and mutable states of a turn, checked like its facts; amounts, days and canonical names come from the user's words, in code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from memory.engine import revise, terms, when
from memory.engine.extract import events as ruled
from memory.engine.extract import facts, language, support, tags
from memory.engine.extract.check_facts import ALIASES, DOES, MODEL, Report, Turn, about_user, source, why_not, words
from memory.engine.extract.telling import Clause
from memory.engine.forest import Proposal

MAX_EVENTS, MAX_STATES = 8, 6
MAX_VALUE, MAX_EVIDENCE, MAX_WORDS = 180, 80, 45

# Canonical keys (ARBORMEM §4) as they are said, and whether one value only can hold.
KEYS: dict[str, tuple[str, bool]] = {
    "home_city": ("home city", True),
    "hometown": ("hometown", True),
    "workplace": ("workplace", True),
    "job": ("job", True),
    "dietary_pref": ("dietary preference", True),
    "birthday_month": ("birthday month", True),
    "favorite_drink": ("favourite drink", True),
    "favorite_food": ("favourite food", True),
    "favorite_movie": ("favourite movie", True),
    "favorite_book": ("favourite book", True),
    "favorite_season": ("favourite season", True),
    "pet_name": ("pet’s name", False),
    "hobby": ("hobby", False),
    "workout": ("workout", False),
}
_ALIASES = {
    "favourite_film": "favorite_movie",
    "favorite_film": "favorite_movie",
    "favorite_dish": "favorite_food",
    "diet": "dietary_pref",
    "city": "home_city",
}
_KEY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_FAVORITE = re.compile(r"\b(?:favou?rite|prefer|love|best|go-to)\b", re.IGNORECASE)
_PET = re.compile(r"\b(?:dogs?|cats?|puppy|puppies|kitten|parrot|hamster|rabbit|horse|tortoise|budgie|pony|bunny|pet|goldfish)\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r"\b[A-ZÀ-Þ][a-zà-þ]+['’]s\b|\b(?:his|her|their)\b")


# --- Mutable states ----------------------------------------------------------------------------------------------------------


def states(rows: Iterable[Mapping[str, Any]], turn: Turn, report: Report) -> list[Proposal]:
    """The states that hold, at most six; the same key and value once."""
    kept: dict[tuple[str, str], Proposal] = {}
    for row in rows:
        proposal = _state(row, turn, report)
        if proposal is None:
            continue
        name = (str(proposal.fields["key"]), revise.normalize(proposal.value))
        if name in kept:
            report.drop("state", "said twice")
        elif len(kept) == MAX_STATES:
            report.drop("state", "too many")
        else:
            kept[name] = proposal
    return list(kept.values())


def _state(row: Mapping[str, Any], turn: Turn, report: Report) -> Proposal | None:
    key, value = _key(words(row, "key", 60)), words(row, "value", MAX_VALUE + 20)
    clause = source(f"{key.replace('_', ' ')} {value}", value, words(row, "evidence_text"), turn)
    reason = _state_reason(key, value, clause, turn)
    if reason or clause is None:
        report.drop("state", reason)
        return None
    said, single = KEYS[key]
    if key == "birthday_month":
        value = next((month for month in _MONTHS if month[:3].lower() in value.lower()), value)
    text = f"The user's {said} is {value}." if language.english(clause.text) else language.finish(clause.text)  # in the language of its source (R3)
    return Proposal(
        kind="mutable_state",
        text=text[: MAX_VALUE - 1],
        slot=revise.slot("user", key) if single else "",
        subject="user",
        value=value,
        asserted=clause.meant == "told",
        attribute_tag=tags.tag(text, key),
        entities=tuple(terms.entity_spans(text)),
        evidence=clause.text[:MAX_EVIDENCE],
        event_time=facts.since(clause.text, turn.interaction.time, turn.zone),
        fields={"key": key},
        made_by=MODEL,
    )


def _key(name: str) -> str:
    key = re.sub(r"[\s-]+", "_", name.strip().lower())
    key = re.sub(r"^(?:user_|users_|my_|current_)", "", key).replace("favourite", "favorite")
    return _ALIASES.get(key, ALIASES.get(key.replace("_", " "), key))


def _state_reason(key: str, value: str, clause: Clause | None, turn: Turn) -> str:
    if not _KEY.fullmatch(key) or key not in KEYS:
        return "unknown key"
    if not value:
        return "empty"
    if len(value) >= MAX_VALUE:
        return "too long"
    if reason := why_not(value, value, clause, turn):
        return reason
    if clause is None or not support.has_value(value, clause.text):
        return "a value nobody said"
    if not about_user(key, clause) or (key != "pet_name" and language.english(clause.text) and _OF_OTHERS.search(clause.text)):
        return "not about the user"
    if language.english(clause.text) and (
        (key.startswith("favorite") and not _FAVORITE.search(clause.text)) or (key == "pet_name" and not _PET.search(clause.text))
    ):
        return "not what was said"
    return "denied" if support.negated(clause.text) else ""


# --- Events ------------------------------------------------------------------------------------------------------------------


def events(rows: Iterable[Mapping[str, Any]], turn: Turn, report: Report) -> list[Proposal]:
    """The events that hold, at most eight; two that say the same of one clause are one."""
    kept: list[Proposal] = []
    for row in rows:
        event = _event(row, turn, report)
        if event is None:
            continue
        if any(_same(event, other) for other in kept):
            report.drop("event", "said twice")
        elif len(kept) == MAX_EVENTS:
            report.drop("event", "too many")
        else:
            kept.append(event)
    return kept


def _same(one: Proposal, other: Proposal) -> bool:
    names = ("canonical_action", "canonical_object", "quantity")
    return one.evidence == other.evidence and all(one.fields[name] == other.fields[name] for name in names)


def _event(row: Mapping[str, Any], turn: Turn, report: Report) -> Proposal | None:
    action, thing = words(row, "action", 60), words(row, "object", 200)
    clause = source(f"{action} {thing}", "", words(row, "date_text"), turn)
    reason = why_not(f"{action} {thing}", "", clause, turn) or _event_reason(action, thing, clause)
    if reason or clause is None:
        report.drop("event", reason)
        return None
    sentence = language.strip_lead(clause.text)
    if len(sentence.split()) > MAX_WORDS:
        report.drop("event", "too long")
        return None
    # The rules read amounts, units and objects word for word; where they can't, the model's own are checked one by one.
    exact = next((event for event in ruled.propose(replace(turn.interaction, user=clause.text, assistant=""), turn.zone)), None)
    quantity, unit = _amount(row, clause, report)
    if exact is not None and exact.fields["quantity"] is not None:
        quantity, unit = exact.fields["quantity"], exact.fields["unit"]
    happened, day, phrase = _when(row, clause, turn)
    plan = clause.meant != "told" or (happened is not None and day is not None and happened > turn.interaction.time)
    negated = support.negated(sentence)
    infinitive = _infinitive(action)
    head = (thing or unit).split()[-1:] or [""]
    text = language.third_person(sentence) if language.english(sentence) else language.finish(sentence)
    return Proposal(
        kind="event",
        text=text,
        subject="user",
        value=f"{quantity.normalize():f} {unit}".strip() if quantity is not None else thing,
        asserted=not plan,
        attribute_tag=tags.tag(text),
        entities=tuple(terms.entity_spans(text)),
        evidence=clause.text[:MAX_EVIDENCE],
        event_time=happened,
        fields={
            "event_type": str(exact.fields["event_type"]) if exact else ruled.type_of(infinitive),
            "object": thing[:200],
            "quantity": quantity,
            "unit": unit[:40],
            "canonical_action": terms.stem(terms.fold(infinitive))[:60],
            "canonical_object": terms.stem(terms.fold(head[0].lower()))[:120],
            "date_text": phrase[:80],
            "normalized_date": day,
            "is_negated": negated,
            "countable": not negated and not plan,
        },
        made_by=MODEL,
    )


def _event_reason(action: str, thing: str, clause: Clause | None) -> str:
    """An event is somebody's act in their own words: its action and its object stand in the clause, and the clause is the user's doing."""
    if not action:
        return "empty"
    if clause is None:
        return "words nobody said"
    here = set(terms.terms(clause.text)) | set(ruled.canonical(terms.words(clause.text)))
    acts = set(terms.terms(_infinitive(action))) | set(terms.terms(action))
    if not acts & here or not set(terms.terms(thing)) <= here:
        return "words nobody said"
    if language.english(clause.text) and not _own_act(clause.text):
        return "not the user’s act"
    return ""


def _own_act(clause: str) -> bool:
    sentence = language.strip_lead(clause)
    return bool(DOES.search(sentence)) or language.past_verb(sentence.split()[0])


def _infinitive(action: str) -> str:
    """“bought”, “has bought”, “buying” → buy, as the rules call an act."""
    last = action.lower().split()[-1]
    found = ruled.canonical([last])
    return next(iter(found), last)


def _amount(row: Mapping[str, Any], clause: Clause, report: Report) -> tuple[Decimal | None, str]:
    """A decimal that stands in the clause, with its unit if that does too; a fraction like 1/3, or a number nobody said, is none."""
    written, unit = words(row, "quantity", 40), words(row, "unit", 40)
    if not written or written.lower() in ("null", "none", "n/a"):
        return None, ""
    try:
        quantity = Decimal(terms.number(written.replace("€", "").replace("$", "").replace("£", "").strip()))
    except InvalidOperation:
        report.drop("quantity", "no decimal")
        return None, ""
    if not quantity.is_finite() or abs(quantity) >= Decimal(10) ** 13 or not support.numbers(written) <= support.numbers(clause.text):
        if quantity != 1 or not re.search(r"\b(?:a|an)\b", clause.text):
            report.drop("quantity", "nobody said it")
        return None, ""
    return quantity, unit if unit and not set(terms.terms(unit)) - set(terms.terms(clause.text)) else ""


def _when(row: Mapping[str, Any], clause: Clause, turn: Turn) -> tuple[datetime | None, date | None, str]:
    """When an act took or takes place, from the user's words, the turn's time and zone (R2)."""
    at, zone = turn.interaction.time, turn.zone
    ahead = ruled.upcoming(clause.text, at, zone) if clause.meant != "told" else None
    window = next((window for window in when.windows(clause.text, at, zone) if window.start <= at), None) if ahead is None else None
    day: date | None = None
    if ahead is not None:
        day = ahead.astimezone(ZoneInfo(zone)).date()
    elif window is not None and window.end - window.start <= timedelta(hours=25):
        day = window.start.astimezone(ZoneInfo(zone)).date()
    return ahead or (window.start if window else None), day, window.phrase if window else words(row, "date_text", 80) if ahead else ""
