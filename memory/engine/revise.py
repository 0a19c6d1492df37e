"""Which value of a slot holds: rule W6 as a pure function of the set of all its values.

Nothing is remembered between calls, so neither the order in which values arrived nor what was deleted since can leave a trace: take the newest
away, resolve again, and the older one holds (D3).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation

from memory.engine.forest import SlotEntry, SlotOutcome

SEPARATOR = "|"
_CURRENCIES = {
    "€": "eur",
    "$": "usd",
    "£": "gbp",
    "¥": "jpy",
    "euro": "eur",
    "euros": "eur",
    "dollars": "usd",
    "dollar": "usd",
    "pounds": "gbp",
    "pound": "gbp",
}
_AMOUNT = re.compile(
    r"(?P<before>[€$£¥]|eur|usd|gbp|chf)?\s*(?P<number>\d[\d,.'\u00a0\u202f ]*)(?P<kilo>k\b)?\s*(?P<after>[€$£¥]|[a-zäöüß°%²]*)", re.IGNORECASE
)
_FILLER = re.compile(r"\b(?:a|an|the|about|around|roughly|approximately|exactly|now|currently)\b")
_BLANKS = re.compile(r"\s+")


def slot(subject: str, attribute: str) -> str:
    """The name of a single-valued attribute: `kitchen|budget`. Case and blanks don't tell two slots apart; empty when either half is."""
    halves = [_BLANKS.sub(" ", unicodedata.normalize("NFKC", half).casefold().replace(SEPARATOR, " ")).strip() for half in (subject, attribute)]
    return SEPARATOR.join(halves)[:200] if all(halves) else ""


def same_slot(one: str, other: str) -> bool:
    """Whether two slots are one attribute of one thing; the empty slot is nobody's."""
    return bool(one) and slot(*_halves(one)) == slot(*_halves(other))


def _halves(name: str) -> tuple[str, str]:
    subject, _, attribute = name.partition(SEPARATOR)
    return subject, attribute


def normalize(value: str) -> str:
    """A value as it is compared: “€ 21,500.00”, “21.5k euros” and “21500 EUR” are one; so are “The Moreaus” and “moreaus.”."""
    text = _BLANKS.sub(" ", unicodedata.normalize("NFKC", value).casefold()).strip(" .,;:!?\"'“”‘’")
    amount = _AMOUNT.fullmatch(_FILLER.sub("", text).strip())
    if amount and (number := _decimal(amount["number"])) is not None:
        if amount["kilo"]:
            number *= 1000
        unit = amount["before"] or amount["after"] or ""
        return f"{_plain(number)} {_CURRENCIES.get(unit, unit)}".strip()
    return _BLANKS.sub(" ", _FILLER.sub(" ", re.sub(r"[^\w\s:%€$£¥+/.-]", " ", text))).strip()


def value_after_edit(text: str, value: str, edited: str) -> str:
    """What the slot of a sentence says once a person has put it into other words: the words in the place of the old value. The value stays when it is
    still among the words; it is empty, so that the sentence speaks for itself, when what stands for it can't be told."""
    if not value or value.casefold() in edited.casefold():
        return value
    before, found, after = text.casefold().partition(value.casefold())
    after, fresh = after.strip(" ."), edited.rstrip(" .")
    fits = found and fresh.casefold().startswith(before) and fresh.casefold().endswith(after) and len(fresh) > len(before) + len(after)
    return fresh[len(before) : len(fresh) - len(after)].strip(" ,;") if fits else ""


def _decimal(text: str) -> Decimal | None:
    """A number with grouping by comma, point, apostrophe or blank: a last group of three is a group, anything else decimals."""
    text = re.sub(r"['\u00a0\u202f ]", "", text).rstrip(".,")
    if re.fullmatch(r"\d{1,3}([.,]\d{3})+", text):
        text = re.sub(r"[.,]", "", text)
    elif "," in text and "." in text:
        decimal_mark = max(",", ".", key=text.rfind)
        text = text.replace("," if decimal_mark == "." else ".", "").replace(decimal_mark, ".")
    else:
        text = text.replace(",", ".")
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def takes_part(entry: SlotEntry) -> bool:
    """Whether a value counts at all: asserted, and neither retracted nor quarantined by a person."""
    return entry.asserted and entry.status in ("current", "superseded")


def _order(entry: SlotEntry) -> tuple[datetime, int, int]:
    return (entry.event_time, entry.position, entry.id)


def supersedes(new: SlotEntry, old: SlotEntry) -> bool:
    """Whether `new` replaces `old`, both values of one slot (W6): another value, asserted, later in the world; a pinned value is never replaced."""
    return why_not(new, old) == ""


def why_not(new: SlotEntry, old: SlotEntry) -> str:
    """Why `new` doesn't replace `old`, in words for the page; empty when it does."""
    if not new.asserted:
        return "it was a plan or a guess, not a statement"
    if not old.asserted:
        return "the earlier one was a plan or a guess"
    if new.status in ("retracted", "quarantined"):
        return f"it was {new.status}"
    if old.status in ("retracted", "quarantined"):
        return f"the earlier one was {old.status}"
    if old.pinned:
        return "the earlier one is pinned"
    if normalize(new.value) == normalize(old.value):
        return "the value is the same"
    if _order(new) <= _order(old):
        return "it held earlier"
    return ""


def replacements(entries: Sequence[SlotEntry]) -> dict[tuple[int, int], int]:
    """Every replacement that held at some position, as (old, new) → the position from which it is known; like `resolve` a function of the set alone.

    A value that was learned late, of a time between two others, comes between them: what the earlier one was replaced by until then stays told.
    """
    taking = sorted((entry for entry in entries if takes_part(entry)), key=_order)
    values = {entry.id: normalize(entry.value) for entry in taking}
    if any(later.position < earlier.position for earlier, later in itertools.pairwise(taking)):
        taking.sort(key=lambda entry: (entry.position, entry.id))
        return {pair: position for old in taking if not old.pinned for pair, position in _replaced_in_time(old, taking, values)}
    found: dict[tuple[int, int], int] = {}
    following: SlotEntry | None = None  # of the one looked at: the next one of another value
    for place in range(len(taking) - 2, -1, -1):
        old, beside = taking[place], taking[place + 1]
        following = beside if values[beside.id] != values[old.id] else following
        if following is not None and not old.pinned:
            found[old.id, following.id] = following.position
    return found


def _replaced_in_time(old: SlotEntry, taking: Sequence[SlotEntry], values: Mapping[int, str]) -> Iterator[tuple[tuple[int, int], int]]:
    """What replaced `old` one after the other, of values in the order they were learned."""
    best: SlotEntry | None = None
    told: SlotEntry | None = None
    for place, new in enumerate(taking):
        if values[new.id] != values[old.id] and _order(new) > _order(old) and (best is None or _order(new) < _order(best)):
            best = new
        position = max(old.position, new.position)
        known_together = place + 1 == len(taking) or taking[place + 1].position > position
        if known_together and best is not told and best is not None:
            told = best
            yield (old.id, best.id), max(old.position, best.position)


def resolve(entries: Sequence[SlotEntry]) -> list[SlotOutcome]:
    """What holds of all values of one slot, in the order given; the outcome depends on the set alone.

    A value is replaced by the next later one that differs from it. `valid_to` is when that one became so, `known_until` the position at
    which both were known. Values that don't take part keep their status and replace nothing.
    """
    timeline = sorted((entry for entry in entries if takes_part(entry)), key=_order)
    outcomes = {entry.id: SlotOutcome(entry.id, entry.status, None, None, None) for entry in entries}
    for place, old in enumerate(timeline):
        new = next((later for later in timeline[place + 1 :] if supersedes(later, old)), None)
        if new is None:
            outcomes[old.id] = SlotOutcome(old.id, "current", None, None, None)
        else:
            outcomes[old.id] = SlotOutcome(old.id, "superseded", new.id, new.event_time, max(old.position, new.position))
    return [outcomes[entry.id] for entry in entries]
