"""Atomic facts (ARBORMEM §4): one self-contained sentence each, exact values, a slot where only one value can hold."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from memory.engine import terms, when
from memory.engine.extract import language, slots, tags, telling
from memory.engine.extract.slots import Setting, Slotted, Sought
from memory.engine.forest import Interaction, Proposal

MAX_FACTS = 12
MAX_PLAIN = 6  # facts without a slot a turn: a pasted text isn't memorized line by line
MAX_WORDS = 45
PATH_LOOKED_AT = 24  # states back along the path whose slots an ellipsis may refer to

_PRONOUN_SUBJECT = re.compile(
    r"^(?:it|its|that|this|these|those|they|them|their|he|she|his|her|him|there|here|which|who|what|everything|something|"
    r"nothing|one|both|all of|none of|the (?:first|second|third|last|other|same|former|latter)(?: one)?)\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(?:you|your|yours|yourself)\b|\b(?:sounds?|looks?|seems?) (?:like|so|really|very|good|great|interesting|amazing|"
    r"delicious|perfect|fun|nice|fantastic|awesome|lovely|cool)\b|^(?:i|we) (?:see|think so|agree|understand|understood|"
    r"got it|get it|guess|mean|wonder|"
    r"have a question|have another question|had a question|know|don't know|don't understand|thought so|was wondering|"
    r"need help|need your|appreciate|love it|like it|like that|like this|like the idea|am not sure|'m not sure|am curious|"
    r"look forward|can't wait|hear|am listening|will try|'ll try|'ll do|will do|tried that|did that|am ready|'m ready|"
    r"am back|'m back|am done|'m done)\b",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^(?:that|this|it)(?:'s| is| was| sounds| looks| makes| helps| works)\b|^(?:sounds|looks|makes|works|helps|seems)\b|"
    r"^(?:good|great|nice|happy|merry|perfect|awesome|amazing|excellent|wonderful|lovely|brilliant|cool|fine|sure|exactly|"
    r"indeed|"
    r"agreed|right|understood|noted|done|deal|cheers|bye|goodbye|see you|talk (?:soon|later)|same here|me too|no worries|"
    r"no problem|of course|never mind|nevermind|got it|will do|have a (?:nice|good|great)|take care|well done|makes sense|not)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|mine|me|we|our|ours|us|i'm|i've|i'd|i'll|we're|we've|we'll)\b", re.IGNORECASE)
_EXACT = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred)\b|[A-ZÀ-Þ][\w-]+(?:\s+[A-ZÀ-Þ]|['’]s\b)|(?<=\w )[A-ZÀ-Þ][a-zà-þ]+"
)
_FEELING = re.compile(
    r"^(?:i|we)(?:'m| am|'re| are| feel| was| were)\s+(?:so |very |really |a bit |just |quite |pretty )*(?:happy|sad|glad|"
    r"tired|excited|nervous|confused|lost|stuck|sorry|grateful|curious|sure|afraid|ready|fine|ok|okay|good|great|back|here|"
    r"done|bored|hungry|looking|trying|wondering|thinking|asking|working on it|busy)\b(?! (?:to|at|with|allergic))",
    re.IGNORECASE,
)
_OBJECT_UNKNOWN = re.compile(r"^(?:i|we|(?:the|my|our)\s+\w+|\w+)\s+\w+\s+(?:it|them|this|that|these|those|one)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|do|can|will|goes|went|comes|came|says|said|isn't|aren't|wasn't|doesn't|"
    r"didn't|hasn't|\w{3,}ed)\b|\w's (?:a|an|the|in|on|at|now|not|been)\b",
    re.IGNORECASE,
)
# “The fridge goes next to the door”, “Nora likes cheese”: a thing or a person, and a verb in the present.
_THING_DOES = re.compile(
    r"^(?:(?:[Tt]he|[Mm]y|[Oo]ur|[A-ZÀ-Þ][\w-]+'s)\s+(?:[\w-]+\s+){1,3}?|[A-ZÀ-Þ][a-zà-þ]+\s+)(?:is|has|[a-z]{2,}(?<!s)(?<!ou)(?<!iou)s)(?:\s+\w|,|$)"
)
_OPENING_VERB = re.compile(r"^[A-Z][a-z']+")
_QUOTE_MARKS = re.compile(r"^[\"“‘'«].*[\"”’'»]$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of one clause, with its slot when it has one."""

    clause: str
    text: str
    asserted: bool
    slotted: Slotted | None


def setting_of(path: Sequence[Interaction], topic: str) -> Setting:
    """What the next turn is read against: the slots that the users' turns along the path filled, and what the last answer asked for."""
    setting = Setting(topic=topic)
    for interaction in path[-PATH_LOOKED_AT:]:
        found = [fact.slotted for fact in read(interaction.user, setting) if fact.slotted is not None and fact.asserted]
        setting = replace(setting, filled=[*setting.filled, *found], asked=slots.asked_for(interaction.assistant))
    return setting


def read(text: str, setting: Setting) -> list[Fact]:
    """The facts in a user's words, those with a slot first come first; questions, wishes and small talk give none (W5, W6)."""
    readings = _readings(text, setting.topic, setting.asked)
    for sought, facts in tuple(readings):
        if all(setting.latest(one) == found for one, found in sought.items()):
            return list(facts)
    asked_of_it: dict[Sought, Slotted | None] = {}

    def before(one: Sought) -> Slotted | None:
        return asked_of_it.setdefault(one, setting.latest(one))

    facts = _read(text, Setting(setting.topic, (), setting.asked, before))
    readings.append((asked_of_it, facts))
    return list(facts)


@lru_cache(maxsize=1024)
def _readings(text: str, topic: str, asked: str) -> deque[tuple[dict[Sought, Slotted | None], list[Fact]]]:
    """How a text was read before, each time with the earlier slots that it leaned on. Along a path each turn is read for every one after it, against other
    slots each time, most of which say nothing to it."""
    return deque(maxlen=4)


def _read(text: str, setting: Setting) -> list[Fact]:
    facts: list[Fact] = []
    plain = 0
    for clause in language.clauses(text):
        fact = _read_clause(clause, setting)
        if fact is None or any(fact.text == other.text for other in facts):
            continue
        if fact.slotted is None:
            plain += 1
            if plain > MAX_PLAIN:
                continue
        elif fact.asserted:
            setting = replace(setting, filled=[*setting.filled, fact.slotted])
        facts.append(fact)
        if len(facts) == MAX_FACTS:
            break
    return facts


def _read_clause(clause: str, setting: Setting) -> Fact | None:
    if len(clause) > 400 or _QUOTE_MARKS.match(clause):
        return None
    if not language.english(clause):
        found = None if language.mood(clause) == "asked" else slots.elsewhere(clause, setting)
        return Fact(clause, found.text, True, found) if found else None
    mood = language.mood(clause)
    if mood in ("asked", "supposed", "requested"):
        return None
    slotted = slots.slotted(clause, setting)
    # “We will leave on 12 March” fixes a date; “I'm going to move to Lyon” is a plan until it is done.
    fixed = slotted is not None and slotted.type in ("date", "time") and "going to" not in clause
    asserted = mood == "stated" or fixed
    if slotted is not None:
        return Fact(clause, slotted.text, asserted, slotted)
    sentence = language.strip_lead(clause)
    if language.DECIDING.match(sentence) or telling.small_talk(sentence):
        return None  # a value whose slot nobody named, or only talk
    return Fact(clause, language.third_person(_with_subject(sentence)), asserted, None) if _worth_keeping(sentence, mood) else None


def _with_subject(sentence: str) -> str:
    """“Bought a steel yesterday” → “I bought a steel yesterday”."""
    opening = _OPENING_VERB.match(sentence)
    if opening and language.past_verb(opening.group()):
        return f"I {sentence[0].lower()}{sentence[1:]}"
    return sentence


def _worth_keeping(sentence: str, mood: str) -> bool:
    """Whether a statement says something a person may come back to, and can stand without what was said around it."""
    words = sentence.split()
    if sentence[0].isdigit() or sentence[0] in "€$£":
        return False  # a fragment: of what, only the sentence before knows
    if (
        not 4 <= len(words) <= MAX_WORDS
        or _PRONOUN_SUBJECT.match(sentence)
        or _TALK.search(sentence)
        or _SMALL_TALK.match(sentence)
        or _FEELING.match(sentence)
    ):
        return False
    if _OBJECT_UNKNOWN.match(sentence) or len(terms.content_terms(sentence)) < 2:
        return False
    person, exact = bool(_FIRST_PERSON.search(sentence)), bool(_EXACT.search(sentence))
    if mood == "planned":
        return person and exact
    opening = _OPENING_VERB.match(sentence)
    elided = bool(opening and language.past_verb(opening.group()))
    if not (person or elided or _VERB.search(sentence) or _THING_DOES.match(sentence)):
        return False
    return exact or elided or bool(_THING_DOES.match(sentence)) or (person and bool(telling.LASTING.search(sentence)))


def propose(interaction: Interaction, facts: Iterable[Fact], zone: str) -> list[Proposal]:
    """The facts as proposals: source language kept, tags, entities and the quoted words attached."""
    proposals = []
    for fact in facts:
        slotted = fact.slotted
        slot = slotted.slot if slotted else ""
        proposals.append(
            Proposal(
                kind="fact",
                text=fact.text,
                slot=slot,
                subject=slotted.subject if slotted else "",
                value=slotted.value if slotted else "",
                asserted=fact.asserted,
                attribute_tag=(slotted.tag if slotted else "") or tags.tag(fact.text, slot),
                entities=tuple(terms.entity_spans(fact.text)),
                evidence=quote(interaction.user, fact.clause),
                event_time=since(fact.clause, interaction.time, zone),
            )
        )
    return proposals


_OVER = re.compile(r"\b(?:was|were|lived|worked|used to|had been|until)\b", re.IGNORECASE)


def since(clause: str, at: datetime, zone: str) -> datetime | None:
    """When the value of a clause became so, if that isn't the turn's time: “I lived in Lyon in 2019” tells of then, “I moved last week” of now.

    A change told today holds today, whatever was said in between: dated back, it would lose against a value stated after that day.
    """
    return happened(clause, at, zone) if _OVER.search(clause) else None


def happened(clause: str, at: datetime, zone: str) -> datetime | None:
    """When a past event took place: the start of the first time named that isn't ahead of the turn; None when none is named."""
    return next((window.start for window in when.windows(clause, at, zone) if window.start <= at), None)


def quote(text: str, clause: str, limit: int = 240) -> str:
    """The clause as it stands in the text where it can be found, else as it was read."""
    return clause[:limit] if len(clause) <= limit else clause[: limit - 1].rstrip() + "…"
