"""What the offline engine says: evidence quoted, values computed, what is missing named. It never invents (DESIGN “Models behind it”).

Only evidence that reached the context is used, so that the chips under an answer are all it rests on (R5); the pool gives it its structure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from memory.engine import commit, revise, terms
from memory.engine.extract import language
from memory.engine.extract.facts import Fact
from memory.engine.forest import Context, Decision, Evidence, Found, Interaction, Pool
from memory.engine.query import Query, read
from memory.engine.structured import Judge
from memory.engine.text import excerpt, one_line, sentences

OFFLINE = "*No language model is connected, so I answer only with what memory holds.*"
QUOTE_WIDTH = 320
LISTED = 20
# How much of a question's content a piece must share before it is offered as an answer.
ENOUGH = 0.5
NEAR = 0.5  # cosine from which a fact answers without sharing a word

_THANKS = re.compile(r"^\W*(?:many )?(?:thanks|thank you|thx|cheers|danke|merci|gracias|grazie|obrigad[oa]|ありがとう|谢谢)\b", re.IGNORECASE)
_GREETING = re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|bonjour|hola|ciao|olá)\b[\s!.,]*(?:there|again)?\W*$", re.IGNORECASE)
_WANTS_LIST = re.compile(r"\b(?:list|outline|steps|items|which ones|what were|names? of|all (?:the|my|our))\b", re.IGNORECASE)
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"]
_NUMBERED = re.compile(rf"\b(?P<n>{'|'.join(_ORDINALS)}|last)\s+(?P<what>[a-zà-þ]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence of a turn that may answer: who said it, when, and how much of the question it shares."""

    text: str
    by_user: bool
    interaction: Interaction
    score: float


def compose(query: Query, decision: Decision, context: Context, pool: Pool, *, now: datetime, zone: str) -> str:
    """The answer to `query` in Markdown, never empty. `now` is when it is given, `zone` the user's IANA zone."""
    clauses = list(language.clauses(query.text))
    moods = [language.mood(clause) for clause in clauses]
    facts = _facts(query, decision, pool)
    if not moods:
        return f"I kept that. {OFFLINE}"
    if "asked" not in moods and "requested" not in moods:
        return _acknowledge(query, facts, pool, zone)
    parts = [_noted(facts, pool, zone)] if facts else []
    if facts:
        # What was told beside the question isn't what is asked about.
        query = read(" ".join(clause for clause, mood in zip(clauses, moods, strict=True) if mood in ("asked", "requested")), query.time, query.zone)
    parts.append(_computed(context) or _ordinal(query, context, pool, zone) or _answer(query, context, pool, zone, requested="asked" not in moods))
    return "\n\n".join(part for part in parts if part)


# --- Statements ----------------------------------------------------------------------------------------------------------------


def _facts(query: Query, decision: Decision, pool: Pool) -> list[Fact]:
    path = pool.path
    parent = path[-1] if path else None
    said = Interaction(0, 0, parent.id if parent else None, 0, 0, len(path), query.time, query.text, "")
    topic = next((state.topic for state in reversed(path) if state.topic), "") or commit.topic_of(said, path)[0]
    return commit.read_facts(said, path, topic)


def _acknowledge(query: Query, facts: Sequence[Fact], pool: Pool, zone: str) -> str:
    if facts:
        return _noted(facts, pool, zone)
    if _THANKS.search(query.text):
        return "You’re welcome."
    if _GREETING.search(query.text):
        return f"Hello! Tell me something to remember, or ask about what you told me. {OFFLINE}"
    topic = pool.path[0].topic if pool.path else ""
    return f"I kept that on **{_plain(topic)}**." if topic else "I kept that; nothing in it looked like a fact to note."


def _noted(facts: Sequence[Fact], pool: Pool, zone: str) -> str:
    lines = [f"{_plain(fact.text)}{'' if fact.asserted else ' (a plan)'}{_replaces(fact, pool, zone)}" for fact in facts]
    return f"Noted: {lines[0]}" if len(lines) == 1 else "Noted:\n\n" + "\n".join(f"- {line}" for line in lines)


def _replaces(fact: Fact, pool: Pool, zone: str) -> str:
    """What a new value takes the place of, as far as memory showed it."""
    if fact.slotted is None or not fact.asserted:
        return ""
    known = [found.evidence for found in pool.found if found.evidence.kind == "fact" and revise.same_slot(found.evidence.slot, fact.slotted.slot)]
    held = max((item for item in known if item.status == "current" and item.asserted), key=lambda item: (item.event_time, item.position), default=None)
    if held is None:
        return ""
    if revise.normalize(held.value) == revise.normalize(fact.slotted.value):
        return f" You told me so on {_day(held.event_time, zone)} too."
    return f" It replaces {_plain(held.value)} of {_day(held.event_time, zone)}."


# --- Computed and numbered -------------------------------------------------------------------------------------------------------


def _computed(context: Context) -> str:
    items = [item for block in context.blocks if block.name == "EventComputationEvidence" for item in block.items]
    answers = []
    for item in items:
        head, _, rows = item.text.partition(": ")[2].partition(" (")
        answers.append(f"**{_plain(head)}**" + (f"\n\nCounted from: {_plain(rows.removesuffix(')'))}." if rows else ""))
    return "\n\n".join(answers)


def _ordinal(query: Query, context: Context, pool: Pool, zone: str) -> str:
    """The item that “the second one” means, from the list nearest to the question."""
    ordinal, noun = _which(query)
    if ordinal is None:
        return ""
    shown = [found.evidence for found in _shown(context, pool) if found.evidence.kind == "artifact" and found.evidence.fields.get("ordinal")]
    by_list: dict[tuple[tuple[int, ...], str], list[Evidence]] = {}
    for item in shown:
        by_list.setdefault((item.sources, str(item.fields.get("topic"))), []).append(item)
    for (_, topic), items in by_list.items():
        if noun and noun not in terms.terms(f"{topic} {' '.join(item.text for item in items)}"):
            continue
        items.sort(key=lambda item: int(item.fields["ordinal"]))
        wanted = items[-1] if ordinal == -1 else next((item for item in items if item.fields["ordinal"] == ordinal), None)
        if wanted is not None:
            return (
                f"**{_plain(wanted.text)}**\n\nThat is number {wanted.fields['ordinal']} of “{_plain(topic)}”, which I wrote on "
                f"{_day(wanted.event_time, zone)}."
            )
    return ""


def _which(query: Query) -> tuple[int | None, str]:
    """The number asked for, and the stem of what is numbered when it is named: “the second fitter” → 2, fitter."""
    if query.ordinal is not None:
        return query.ordinal, ""
    match = _NUMBERED.search(query.text)
    if match is None:
        return None, ""
    word = match["n"].lower()
    return (-1 if word == "last" else _ORDINALS.index(word) + 1), terms.stem(terms.fold(match["what"]))


# --- Questions -------------------------------------------------------------------------------------------------------------------


def _answer(query: Query, context: Context, pool: Pool, zone: str, *, requested: bool) -> str:
    content = set(query.content)
    found = [item for item in _shown(context, pool) if item.evidence.kind != "artifact"]
    judge = Judge(query)
    ranked = sorted(found, key=lambda item: (-_fit(item, content), -judge.strength(item), item.evidence.id))
    lines = _lines(query, context, pool)
    listed = _list(query, context, pool, zone)
    new = requested and not (listed and _WANTS_LIST.search(query.text))
    if new or (query.asks("preference") and not query.asks("past")):
        return _can_only_quote(query, ranked, lines, listed, zone)
    if listed and (_WANTS_LIST.search(query.text) or query.asks("past")):
        return listed
    best, line = (ranked[0] if ranked else None), (lines[0] if lines else None)
    fit = _fit(best, content) if best else 0.0
    if best is not None and (fit >= ENOUGH or (best.similarity or 0.0) >= NEAR) and (line is None or fit + 0.15 >= line.score):
        more = [item for item in ranked[1:4] if _fit(item, content) >= ENOUGH and not _same(item.evidence, best.evidence)]
        also = "\n".join(f"- {_plain(item.evidence.text)} ({_day(item.evidence.event_time, zone)})" for item in _distinct(more, best.evidence))
        return _value(query, best.evidence, pool, zone) + (f"\n\nAlso in memory:\n\n{also}" if also else "")
    if line is not None and line.score >= ENOUGH:
        return _quotation(line, zone)
    return _nothing(pool, best, line, zone)


def _shown(context: Context, pool: Pool) -> list[Found]:
    """The evidence of the pool that got into the context: as an item, in an update pair, or by a turn of its own that is there in full."""
    items = [item for block in context.blocks for item in block.items]
    ids = {("fact" if item.kind == "update" else item.kind, item.id) for item in items if item.id is not None}
    turns = {source for item in items if item.kind == "state" for source in item.sources}
    return [found for found in pool.found if (found.evidence.kind, found.evidence.id) in ids or turns.intersection(found.evidence.sources)]


def _fit(found: Found, content: set[str]) -> float:
    """The share of the question's content words that the evidence, or the name of its slot, has."""
    evidence = found.evidence
    slot = evidence.slot.replace(revise.SEPARATOR, " ").replace("_", " ")
    said = set(terms.terms(f"{evidence.text} {slot} {evidence.fields.get('key', '')}".replace("_", " ")))
    return len(content & said) / max(1, len(content))


def _value(query: Query, evidence: Evidence, pool: Pool, zone: str) -> str:
    """A value with its date; with the one before or after it, as the question has it."""
    pair = next(((old, new) for old, new in pool.updates if evidence.id in (old.id, new.id) and evidence.kind == new.kind), None)
    if pair is None:
        said = f"You told me on {_day(evidence.event_time, zone)}." if evidence.kind in ("fact", "mutable_state") else f"({_day(evidence.event_time, zone)})"
        plan = "" if evidence.asserted or evidence.kind == "artifact" else " It was a plan then."
        return f"**{_plain(evidence.text)}** {said}{plan}"
    old, new = pair
    if query.asks("previous"):
        return f"**{_plain(old.text)}** That held from {_day(old.event_time, zone)} until {_day(new.event_time, zone)}; since then: {_plain(new.text)}"
    return f"**{_plain(new.text)}** That holds since {_day(new.event_time, zone)}; before it was {_plain(old.value or old.text)}."


def _same(one: Evidence, other: Evidence) -> bool:
    """Whether two say one thing: the same words, or values of one slot (the answer tells its history already)."""
    return one.text == other.text or revise.same_slot(one.slot, other.slot)


def _distinct(more: Iterable[Found], best: Evidence) -> list[Found]:
    """Without what says the same as the best one, and without replaced values."""
    seen = {(best.subject, revise.normalize(best.value))} if best.value else set()
    kept = []
    for item in more:
        key = (item.evidence.subject, revise.normalize(item.evidence.value))
        if item.evidence.status == "current" and (not item.evidence.value or key not in seen):
            seen.add(key)
            kept.append(item)
    return kept


def _lines(query: Query, context: Context, pool: Pool) -> list[_Line]:
    """The sentences of the turns shown, best first: rare words of the question weigh more, and the path counts a little over other branches."""
    shown = {source for block in context.blocks for item in block.items if item.kind in ("state", "summary") for source in item.sources}
    on_path = {state.id for state in pool.path}
    turns = {state.id: state for state in (*pool.path, *pool.second_path, *(state for state, _ in pool.turns)) if state.id in shown}
    told: list[tuple[str, bool, Interaction, set[str]]] = []
    for state in turns.values():
        for by_user, text in ((True, state.user), (False, state.assistant)):
            for sentence in sentences(text)[:60]:
                line = _plain(sentence)
                if line and not line.endswith(":") and language.mood(line) not in ("asked", "requested") and len(line.split()) > 2:
                    told.append((line, by_user, state, set(terms.terms(line))))
    frequency = Counter(term for *_, said in told for term in said)
    weight = {term: 1.0 / (1 + frequency[term]) ** 0.5 for term in query.content}
    total = sum(weight.values()) or 1.0
    lines = [
        _Line(line, by_user, state, sum(weight[term] for term in said if term in weight) / total + 0.05 * (state.id in on_path) + 0.02 * by_user)
        for line, by_user, state, said in told
    ]
    return sorted((line for line in lines if line.score > 0.1), key=lambda line: (-line.score, -line.interaction.position))


def _quotation(line: _Line, zone: str) -> str:
    who = "You said" if line.by_user else "I said"
    topic = _plain(line.interaction.topic)
    return f"> {excerpt(line.text, QUOTE_WIDTH)}\n\n{who} that on {_day(line.interaction.time, zone)}{f', on {topic}' if topic else ''}."


def _list(query: Query, context: Context, pool: Pool, zone: str) -> str:
    """The list of the assistant's that the question is about, in its order."""
    content = set(query.content)
    items = [found.evidence for found in _shown(context, pool) if found.evidence.kind == "artifact"]
    lists: dict[tuple[tuple[int, ...], str], list[Evidence]] = {}
    for item in items:
        lists.setdefault((item.sources, str(item.fields.get("topic") or "")), []).append(item)
    scored = [(len(content & set(terms.terms(f"{topic} {' '.join(item.text for item in rows)}"))), key) for key, rows in lists.items() for topic in [key[1]]]
    if not scored or max(scored)[0] < ENOUGH * len(content):
        return ""
    key = max(scored)[1]
    rows = sorted(lists[key], key=lambda item: (int(item.fields.get("ordinal") or 0), item.id))[:LISTED]
    heading = f"{_plain(key[1])}, from {_day(rows[0].event_time, zone)}:" if key[1] else f"From {_day(rows[0].event_time, zone)}:"
    return heading + "\n\n" + "\n".join(f"{item.fields.get('ordinal') or 1}. {_plain(item.text)}" for item in rows)


def _can_only_quote(query: Query, ranked: Sequence[Found], lines: Sequence[_Line], listed: str, zone: str) -> str:
    """To a request for something new: what memory has about it, and that no more can be had offline."""
    content = set(query.content)
    about = _distinct(
        [item for item in ranked if _fit(item, content) > 0][:5],
        Evidence("fact", 0, "", "", "", "", True, "", (), "", (), 0, None, query.time, None, "current"),
    )
    told = "\n".join(f"- {_plain(item.evidence.text)} ({_day(item.evidence.event_time, zone)})" for item in about)
    if listed:
        told = f"{listed}\n\n{told}" if told else listed
    elif not told and lines and lines[0].score >= ENOUGH:
        told = _quotation(lines[0], zone)
    if not told:
        return f"I can’t write that: I only repeat what memory holds, and it holds nothing about this. {OFFLINE}"
    return f"I can’t make anything new, but this is in memory:\n\n{told}\n\n{OFFLINE}"


def _nothing(pool: Pool, best: Found | None, line: _Line | None, zone: str) -> str:
    near = ""
    if line is not None and line.score >= 0.25:
        near = f"\n\nThe nearest I have, from {_day(line.interaction.time, zone)}:\n\n> {excerpt(line.text, QUOTE_WIDTH)}"
    elif best is not None and (best.similarity or 0.0) >= 0.4:
        near = f"\n\nThe nearest I have, from {_day(best.evidence.event_time, zone)}:\n\n> {_plain(best.evidence.text)}"
    return f"Memory doesn’t hold an answer to that.{near}\n\n{OFFLINE}"


# --- Words -----------------------------------------------------------------------------------------------------------------------

_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|[-*•+]\s+|\d{1,3}[.)]\s+|>\s*)+|\*\*|__|`")


_USER = re.compile(
    r"\b(?P<t>[Tt])he user(?P<own>'s)?(?P<others> and others)?(?:(?P<adverb>\s+(?:\w+ly|always|never|often|also|still|now|"
    r"just|sometimes|already))?\s+(?P<verb>[a-z]+(?:'t)?)\b)?"
)
_SECOND = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "doesn't": "don't",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "goes": "go",
}


def _plain(text: str) -> str:
    """Remembered text on one line, without the Markdown marks that would reach beyond it; “the user” is who reads it."""
    return _USER.sub(_you, one_line(_MARKS.sub("", text)))


def _you(match: re.Match[str]) -> str:
    who = "you" if match["t"] == "t" else "You"
    after = f"{match['adverb'] or ''} {match['verb']}" if match["verb"] else ""
    if match["own"]:
        return f"{who}r{after}"
    if match["verb"] and not match["others"]:
        verb = match["verb"]
        if verb in _SECOND:
            verb = _SECOND[verb]
        elif re.search(r"(?:sh|ch|ss|x|z)es$", verb):
            verb = verb[:-2]
        elif verb.endswith("ies"):
            verb = verb[:-3] + "y"
        elif verb.endswith("s") and not verb.endswith("ss"):
            verb = verb[:-1]
        after = f"{match['adverb'] or ''} {verb}"
    return f"{who}{match['others'] or ''}{after}"


def _day(time: datetime, zone: str) -> str:
    local = time.astimezone(ZoneInfo(zone))
    return f"{local:%a} {local.day} {local:%b} {local.year}"
