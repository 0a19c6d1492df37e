"""A model's facts of a turn, checked: what the turn's own words don't back is dropped, and counted by reason (RELIABILITY W1, W2, W5, W6, R2).

A model proposes, code decides. It says which clause of the user is worth keeping and what it is about; whether that clause tells anything, whether its
value was said, what the slot is called, what day “next Friday” was: all that is found here. Where its wording has a word from nowhere, the
user's own clause is kept instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory.engine import commit, revise, terms
from memory.engine.extract import facts, language, slots, support, tags, telling, values
from memory.engine.extract.slots import Setting, Slotted
from memory.engine.extract.support import Said
from memory.engine.extract.telling import Clause
from memory.engine.forest import Evidence, Interaction, Proposal
from memory.engine.text import one_line

MAX_FACTS = 8
MAX_WORDS, MAX_VALUE, MAX_EVIDENCE = 45, 120, 240
FEWEST_WORDS = 3  # “85 guests.” is no sentence
MODEL = "model"

_LEANING = re.compile(r"^(?:it|its|this|that|these|those|they|their|he|his|she|her|there)\b", re.IGNORECASE)
_THE_USER_DOES = re.compile(r"^the user(?!['’]s)\b", re.IGNORECASE)
_USER = re.compile(r"^(?:the )?(?:user|i|me|speaker)$", re.IGNORECASE)
_OWNER = re.compile(r"^(?:the user['’]s|user['’]s|my|our|the|an?)\s+", re.IGNORECASE)
DOES = re.compile(r"\b(?:i|we|i've|we've|i'm|we're|i'll|we'll|i'd|we'd)\b", re.IGNORECASE)
PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|we'll|our|ours|us)\b", re.IGNORECASE)
_PERSONAL = frozenset("name age birthday job home_city hometown workplace dietary_pref email".split()) | {"phone number"}  # noqa: SIM905
ALIASES = {
    "home city": "home_city",
    "city": "home_city",
    "residence": "home_city",
    "employer": "workplace",
    "occupation": "job",
    "profession": "job",
    "diet": "dietary_pref",
    "dietary preference": "dietary_pref",
    "phone": "phone number",
}


@dataclass(slots=True)
class Report:
    """What was kept and dropped, by kind and by reason. Never what it said: a report outlives no deletion, but it is shown widely."""

    kept: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def drop(self, kind: str, reason: str) -> None:
        self.dropped[f"{kind}: {reason}"] += 1

    def as_json(self) -> dict[str, dict[str, int]]:
        return {"kept": dict(sorted(self.kept.items())), "dropped": dict(sorted(self.dropped.items())), "changed": dict(sorted(self.changed.items()))}


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as the checks look at it: its clauses, what backs a fact of it, what a slot is named against, the values it was offered to replace."""

    interaction: Interaction
    zone: str
    topic: str
    clauses: Sequence[Clause]
    backing: Said
    setting: Setting
    offered: Mapping[int, Evidence]

    @property
    def tells(self) -> bool:
        return any(clause.tells for clause in self.clauses)


def turn_of(interaction: Interaction, path: Sequence[Interaction], zone: str, topic: str, offered: Mapping[int, Evidence]) -> Turn:
    """Read the turn by rule first. `offered` maps the number under which the model was shown a value to that value."""
    topic = topic or commit.topic_of(interaction, path)[0]
    around = [topic, *(item.text for item in offered.values()), *(f"{item.subject} {item.slot}" for item in offered.values())]
    around += [language.said(one.user) for one in path[-6:]] + [one.assistant[-400:] for one in path[-1:]]
    clauses = telling.clauses(interaction.user)
    told = " ".join(clause.text for clause in clauses if clause.tells)
    # A question may name what a statement beside it is about (“And the kitchen? The budget is …”); its names and numbers back nothing.
    around += [word for clause in clauses if not clause.tells for word in clause.text.split() if word.islower()]
    backing = replace(support.said(told, around), text=language.said(interaction.user))
    setting = facts.setting_of(path, commit.subject_of(topic, [*path, interaction]))
    return Turn(interaction, zone, topic, clauses, backing, setting, offered)


def words(row: Mapping[str, Any], name: str, limit: int = 400) -> str:
    """A field of a row as one line of text; a number is text too, anything else is nothing."""
    value = row.get(name)
    return one_line(str(value))[:limit] if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


# --- Facts -------------------------------------------------------------------------------------------------------------------


def propose(rows: Iterable[Mapping[str, Any]], turn: Turn, report: Report) -> list[Proposal]:
    kept: list[Proposal] = []
    for row in rows:
        fact = _fact(row, turn, report)
        if fact is None:
            continue
        if any(fact.text == other.text or (fact.slot and fact.slot == other.slot and support.same(fact.value, other.value)) for other in kept):
            report.drop("fact", "said twice")
        elif len(kept) == MAX_FACTS:
            report.drop("fact", "too many")
        else:
            kept.append(fact)
    return kept


def _fact(row: Mapping[str, Any], turn: Turn, report: Report) -> Proposal | None:
    text, value = words(row, "fact"), words(row, "value", 200)
    clause = source(text, value, "", turn)
    reason = why_not(text, value, clause, turn)
    if reason or clause is None:
        report.drop("fact", reason)
        return None
    text, value = _as_said(text, value, clause, turn, report)
    wording = _wording(text, value, clause, turn, report)
    if not wording:
        report.drop("fact", "words nobody said")
        return None
    slotted = _slotted(row, value, wording, clause, turn, report) if value else None
    dated = slotted is not None and slotted.type in ("date", "time") and "going to" not in clause.text
    slot = slotted.slot if slotted else ""
    return Proposal(
        kind="fact",
        text=wording,
        slot=slot,
        subject=slotted.subject if slotted else "",
        value=value,
        asserted=clause.meant == "told" or (dated and clause.meant == "planned"),
        attribute_tag=(slotted.tag if slotted and slotted.tag else "") or tags.tag(wording, slot),
        entities=tuple(terms.entity_spans(wording)),
        evidence=facts.quote(turn.interaction.user, clause.text, MAX_EVIDENCE),
        event_time=facts.since(clause.text, turn.interaction.time, turn.zone),
        made_by=MODEL,
    )


def source(text: str, value: str, evidence: str, turn: Turn) -> Clause | None:
    """The clause of the user that an item rests on: the one with its value, its quoted words and most of its terms; None when none has any."""
    wanted = set(terms.terms(f"{text} {value}"))

    def weight(clause: Clause) -> float:
        shared = len(wanted & set(terms.terms(clause.text)))
        held = bool(value) and support.has_value(value, clause.text)
        quote = bool(evidence) and (support.quoted(evidence, clause.text) or support.quoted(clause.text, evidence))
        return shared + 3 * held + 2 * quote if shared or held else 0.0

    best = max(turn.clauses, key=lambda clause: (weight(clause), clause.tells), default=None)
    return best if best is not None and weight(best) > 0 else None


_REASONS = {"asked": "only asked", "requested": "only a request", "nothing": "nothing told"}


def why_not(text: str, value: str, clause: Clause | None, turn: Turn) -> str:
    """Why an item can't be a fact of this turn; empty when it can."""
    if not turn.tells:
        return "nothing told"
    if not text:
        return "empty"
    if value and not support.has_value(value, turn.backing.text) and not _iso(value):
        return "only the assistant said it" if support.has_value(value, turn.interaction.assistant) else "a value nobody said"
    if clause is None:
        backed = support.unsaid_words(text, turn.backing)
        return "only the assistant said it" if backed and backed <= set(terms.terms(turn.interaction.assistant)) else "words nobody said"
    return _REASONS.get(clause.meant, "")


_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:+.Z-]*)?")


def _iso(value: str) -> bool:
    return bool(_ISO.fullmatch(value.strip()))


def _as_said(text: str, value: str, clause: Clause, turn: Turn, report: Report) -> tuple[str, str]:
    """Sentence and value with their dates as the user wrote them: what day that was is worked out in code (R2)."""
    said = values.find_all(clause.text, "date")
    given = (text, value)
    if _iso(value) and not support.has_value(value, turn.backing.text):
        value = next(iter(said), "")
    for written in values.find_all(f"{text}; {value}", "date"):
        own = next((date for date in said if set(terms.terms(date)) == set(terms.terms(written))), written)
        text, value = text.replace(written, own), value.replace(written, own)
    if (text, value) != given:
        report.changed["date as said"] += 1
    return text, value


def _wording(text: str, value: str, clause: Clause, turn: Turn, report: Report) -> str:
    """The model's sentence if every word of it is backed, else the user's clause in the third person, if that can stand alone; else nothing."""
    told = _third_person(text)
    fits = FEWEST_WORDS <= len(told.split()) <= MAX_WORDS and not _LEANING.match(told)
    fits = fits and not support.unsaid_numbers(told, turn.backing) and not support.unsaid_words(told, turn.backing)
    fits = fits and support.negated(told) == support.negated(clause.text)
    fits = fits and (not value or support.has_value(value, told))
    fits = fits and language.english(told) == language.english(clause.text)
    sentence = language.strip_lead(clause.text)
    own = DOES.search(clause.text) or language.DECIDING.match(sentence) or language.past_verb(sentence.split()[0])
    fits = fits and bool(own or not _THE_USER_DOES.match(told))  # “my sister lives in Lyon” isn't “the user lives in Lyon”
    if fits and len(terms.content_terms(told)) >= 2:
        return told
    if _LEANING.match(sentence) or language.DECIDING.match(sentence) or len(sentence.split()) > MAX_WORDS:
        return ""
    report.changed["in the user’s words"] += 1
    return _third_person(sentence)


def _third_person(sentence: str) -> str:
    return language.third_person(sentence) if language.english(sentence) else language.finish(sentence)


# --- Slots -------------------------------------------------------------------------------------------------------------------


def _slotted(row: Mapping[str, Any], value: str, wording: str, clause: Clause, turn: Turn, report: Report) -> Slotted | None:
    """The slot of a value: that of the item it corrects, else what the rules read, else the model's attribute where one value only can hold."""
    typed = values.typed(value)
    cited = _cited(row, typed, wording, clause, turn, report)
    if cited is not None:
        subject, _, attribute = cited.slot.partition(revise.SEPARATOR)
        return Slotted(cited.subject or subject, attribute, value, typed.type if typed else "name", wording, cited.attribute_tag)
    ruled = slots.slotted(clause.text, turn.setting) if language.english(clause.text) else slots.elsewhere(clause.text, turn.setting)
    if ruled is not None and (support.same(ruled.value, value) or support.has_value(ruled.value, value)):
        return ruled
    return _named(words(row, "subject", 80), words(row, "attribute", 80), value, clause, turn)


def _cited(row: Mapping[str, Any], typed: values.Value | None, wording: str, clause: Clause, turn: Turn, report: Report) -> Evidence | None:
    """The offered item whose slot this value takes; a number that wasn't offered, or an item about something else, is dropped (W2)."""
    number = row.get("replaces")
    if not isinstance(number, int) or isinstance(number, bool) or number <= 0:
        return None
    item = turn.offered.get(number)
    if item is None:
        report.drop("citation", "not offered")
        return None
    subject, _, attribute = item.slot.partition(revise.SEPARATOR)
    mentioned = set(terms.terms(f"{wording} {words(row, 'attribute', 80)}"))
    about = set(terms.terms(attribute.replace("_", " ")))
    who = set(terms.terms(subject)) - {"user"}
    known = values.typed(item.value)
    alike = (known.type if known else "name") == (typed.type if typed else "name")
    here = not who or bool(who & (mentioned | set(terms.terms(turn.topic))))
    rest = set(terms.content_terms(clause.text)) - set(terms.terms(typed.text if typed else ""))
    elliptic = alike and typed is not None and not (rest - about - who - _DECIDING_WORDS)
    if item.slot and alike and ((here and about & mentioned) or elliptic):
        return item
    report.drop("citation", "of something else")
    return None


_SETTLING = "change changed move moved raise raised push pushed actually instead rather correction mistake agreed"
_DECIDING_WORDS = frozenset(terms.stem(word) for word in _SETTLING.split())


def _named(subject: str, attribute: str, value: str, clause: Clause, turn: Turn) -> Slotted | None:
    """The slot by the model's subject and attribute, named as the rules would name it; none unless both were said and one value only can hold."""
    subject = _OWNER.sub("", subject).strip()
    name = _OWNER.sub("", attribute.replace("_", " ")).strip().lower()
    name = ALIASES.get(name, name)
    if not name or len(name.split()) > 4 or len(value) > MAX_VALUE or language.past_verb(name.split()[0]) or any(map(str.isdigit, name)):
        return None
    key = name.replace(" ", "_")
    if (_USER.match(subject) or not subject) and (name in _PERSONAL or key in _PERSONAL):
        return Slotted(slots.USER, key if key in _PERSONAL else name, value, "name", "") if about_user(key, clause) else None
    subject = "" if _USER.match(subject) else subject
    if support.unsaid_words(f"{subject} {name}", turn.backing):
        return None
    head = name.split()[-1]
    if subject.lower().endswith(head):
        subject = subject[: -len(head)].strip()
    typed = values.typed(value)
    whole = typed is not None and not typed.rest.strip(" .,!")
    return slots.attributed(f"{name} of {subject}" if subject else name, typed if whole else values.Value("name", value, ""), turn.setting)


# What a clause must say for a value to be the user's own home, job, …: “I flew to Lyon” is no home.
_SIGNS = {
    "home_city": re.compile(r"\b(?:live|lives|living|lived|mov\w+|resid\w+|home|based|settl\w+|relocat\w+)\b", re.IGNORECASE),
    "hometown": re.compile(r"\b(?:from|born|grew up|hometown|raised)\b", re.IGNORECASE),
    "workplace": re.compile(r"\b(?:work\w*|job|employ\w*|join\w*|office|company|hired)\b", re.IGNORECASE),
    "job": re.compile(r"\b(?:work\w*|job|profession|i'm an?|i am an?|became an?|as an?|career)\b", re.IGNORECASE),
    "dietary_pref": re.compile(
        r"\b(?:veg\w+|vegan|pescatarian|gluten\S*|lactose|diet\w*|eat|halal|kosher|dairy|allerg\w+|intoleran\w+|flexitarian)\b", re.IGNORECASE
    ),
    "name": re.compile(r"\b(?:name|call|called|i'm|i am|go by)\b", re.IGNORECASE),
    "age": re.compile(r"\b(?:i'm|i am|turned|age|years old)\b", re.IGNORECASE),
    "birthday": re.compile(r"\b(?:birthday|born)\b", re.IGNORECASE),
    "birthday_month": re.compile(r"\b(?:birthday|born)\b", re.IGNORECASE),
}
_SOMEBODY_ELSE = re.compile(
    r"\b(?i:my|our)\s+(?:\w+\s+)?(?:sister|brother|mother|mum|mom|father|dad|wife|husband|partner|girlfriend|boyfriend|son|daughter|"
    r"kids?|child|aunt|uncle|cousin|niece|"
    r"nephew|grand\w+|friends?|boss|colleague|manager|neighbou?r|roommate|flatmate|landlord|teacher|doctor|team)\b|\b[A-ZÀ-Þ][a-zà-þ]+['’]s\b",
)


def about_user(key: str, clause: Clause) -> bool:
    """Whether a clause says something of the user's own under this key, not of somebody else's."""
    if not language.english(clause.text):
        return True
    sign = _SIGNS.get(key)
    return bool(PERSON.search(clause.text)) and not _SOMEBODY_ELSE.search(clause.text) and (sign is None or bool(sign.search(clause.text)))
