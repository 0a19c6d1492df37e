"""Which facts and records go into which evidence block (ARBORMEM §3), as lines of text. Packing them into the budget is `assemble`'s."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from memory.engine.forest import Computed, Cut, Evidence, Found, Interaction, Pool
from memory.engine.query import Query
from memory.engine.terms import content_terms, entity_terms, fold, has_entity, terms
from memory.engine.text import excerpt, one_line

FACTS: Final = 10  # paper §3.3
SIMILARITY: Final = 0.4  # from which a fact or record counts as near the question (paper §3.3)
BEYOND: Final = "beyond the number of candidates looked at"
RECORDS: Final = 8  # artifacts, events, changing values each
LIST_ITEMS: Final = 12  # of a list that the question points into
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LIKES = re.compile(
    r"\b(?:prefer|like|love|enjoy|favou?rite|fan of|avoid|allerg|hate|dislike|vegetarian|vegan|interested in|into|hobby|can't stand|budget)\w*", re.IGNORECASE
)
_PREFERENCE_KEYS = ("favorite_", "dietary_pref", "hobby", "workout")


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of a block before it is counted."""

    kind: str
    text: str
    sources: tuple[int, ...]
    id: int | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The structured blocks in order of getting in, each with what was left out; `units` counts the candidates taken."""

    blocks: Sequence[tuple[str, Sequence[Piece], Sequence[Cut]]]
    units: int


def choose(query: Query, pool: Pool, computed: Sequence[Computed], zone: str, limit: int, *, facts_only: bool = False) -> Chosen:
    """Sort what was found into its blocks, at most `limit` pieces. Retracted and quarantined evidence never shows;
    replaced values only when history is asked for (R1). `facts_only`: one block, of plain facts."""
    judge = Judge(query)
    history = query.asks("previous", "update", "order")
    standing = [found for found in pool.found if found.evidence.status in (("current", "superseded") if history else ("current",))]
    by_kind: dict[str, list[Found]] = {"fact": [], "artifact": [], "event": [], "mutable_state": []}
    for found in sorted(standing, key=lambda found: -judge.strength(found)):
        by_kind[found.evidence.kind].append(found)
    used: set[tuple[str, int]] = set()
    blocks: list[tuple[str, Sequence[Piece], Sequence[Cut]]] = []

    def block(name: str, pieces: Sequence[Piece], left_out: int = 0) -> None:
        taken = pieces[: max(0, limit - sum(len(others) for _, others, _ in blocks))]
        if taken or left_out:
            blocks.append((name, taken, [Cut(name, left_out, "too far from the question"), Cut(name, len(pieces) - len(taken), BEYOND)]))

    if facts_only:
        block("DataContext", *_near(judge, by_kind["fact"], FACTS, used, lambda evidence: _fact_line(evidence, zone)))
        return Chosen(blocks, sum(len(pieces) for _, pieces, _ in blocks))
    # The surest first, then what this kind of question lives on, then the rest; no piece twice.
    block("EventComputationEvidence", [Piece("computed", f"{answer.operation}: {one_line(answer.text)}", answer.sources) for answer in computed])
    block("UpdateEvidence", _updates(query, judge, pool, zone, used))
    if query.asks("count", "sum"):
        block("CountSourceEvidence", _count_sources(judge, by_kind["event"], zone))
    if query.asks("preference"):
        block("PreferenceEvidence", _preferences(standing, used, zone))
    if query.asks("bridge"):
        block("BridgeEvidence", _bridges(query, judge, standing, zone))
    block("StateEvidence", *_near(judge, by_kind["mutable_state"], RECORDS, used, lambda evidence: _value_line(evidence, zone)))
    block("DataContext", *_near(judge, by_kind["fact"], FACTS, used, lambda evidence: _fact_line(evidence, zone)))
    block("ArtifactEvidence", *_artifacts(query, judge, by_kind["artifact"], used))
    block("EventEvidence", *_events(query, judge, by_kind["event"], used, zone))
    block("TopicSlotEvidence", _topic_slots(query, pool, standing, used, zone))
    return Chosen(blocks, sum(len(pieces) for _, pieces, _ in blocks))


class Judge:
    """How near evidence is to one question; every piece is looked at once."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._content = set(query.content)
        self._known: dict[tuple[str, int], tuple[float, bool]] = {}

    def strength(self, found: Found) -> float:
        """Cosine, raised by shared words and names, by a good rank of its source in lexical recall, and by a pin."""
        return self._look(found)[0]

    def supported(self, found: Found) -> bool:
        """Near enough in meaning (paper §3.3: 0.4), or backed by words: a name of the question, two of its words, or its only one."""
        return self._look(found)[1]

    def _look(self, found: Found) -> tuple[float, bool]:
        evidence = found.evidence
        key = (evidence.kind, evidence.id)
        if key not in self._known:
            text = f"{evidence.text} {evidence.value}"
            shared = len(self._content.intersection(terms(text))) if self._content else 0
            # Names are looked for in the folded text: reading the names of every piece would cost more than all the rest.
            folded = f" {fold(' '.join((text, *evidence.entities)))} " if self._query.entities else ""
            named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) for name in self._query.entities)
            rank = 0.1 / found.lexical_rank if found.lexical_rank else 0.0
            similarity = found.similarity or 0.0
            strength = similarity + 0.5 * shared / max(1, len(self._content)) + 0.15 * named + rank + (0.05 if evidence.pinned else 0.0)
            self._known[key] = strength, similarity >= SIMILARITY or named or shared >= min(2, max(1, len(self._content)))
        return self._known[key]


def direct_match(query: Query, state: Interaction) -> bool:
    """Whether a turn has a name, an exact value or a time of the input (the paper's strict rule for supplemental turns)."""
    if not {entity.casefold() for entity in state.entities}.isdisjoint(query.entities):
        return True
    if has_entity(f"{state.user}\n{state.assistant}", query.entities):
        return True
    numbers = {term for term in query.terms if term[0].isdigit()}
    if numbers and numbers.intersection(content_terms(f"{state.user}\n{state.assistant}")):
        return True
    return any(window.start <= state.time < window.end for window in query.dates)


def day(time: datetime, zone: str) -> str:
    """A day as the model reads it: `12 Nov 2026`, on the calendar of the IANA zone."""
    local = time.astimezone(ZoneInfo(zone))
    return f"{local.day} {MONTHS[local.month - 1]} {local.year}"


Line = Callable[[Evidence], str]


def _piece(evidence: Evidence, text: str, kind: str | None = None) -> Piece:
    return Piece(kind or evidence.kind, text, evidence.sources, evidence.id, evidence.status)


def _near(judge: Judge, candidates: Sequence[Found], limit: int, used: set[tuple[str, int]], line: Line) -> tuple[list[Piece], int]:
    """The nearest supported ones that no earlier block has, as lines; and how many were left out."""
    fresh = [found for found in candidates if (found.evidence.kind, found.evidence.id) not in used]
    near = [found.evidence for found in fresh if judge.supported(found)][:limit]
    used.update((evidence.kind, evidence.id) for evidence in near)
    return [_piece(evidence, line(evidence)) for evidence in near], len(fresh) - len(near)


def _standing(evidence: Evidence, zone: str) -> str:
    if evidence.status != "superseded":
        return ""
    return f" (replaced{f' {day(evidence.valid_to, zone)}' if evidence.valid_to else ''})"


def _fact_line(evidence: Evidence, zone: str) -> str:
    return f"[{day(evidence.event_time, zone)}] {one_line(evidence.text)}{_standing(evidence, zone)}"


def _value_line(evidence: Evidence, zone: str) -> str:
    key = one_line(str(evidence.fields.get("key") or evidence.slot.partition("|")[2] or evidence.text))
    value = one_line(evidence.value or evidence.text)
    since = day(evidence.event_time, zone)
    return (
        f"{key} = {value} (previous, from {since}{f' to {day(evidence.valid_to, zone)}' if evidence.valid_to else ''})"
        if evidence.status == "superseded"
        else f"{key} = {value} (current, since {since})"
    )


def _updates(query: Query, judge: Judge, pool: Pool, zone: str, used: set[tuple[str, int]]) -> list[Piece]:
    """Old → new pairs of one slot. Only with history asked for does the old value's own wording stand beside the new one."""
    pieces = []
    for old, new in pool.updates:
        if old.status in ("retracted", "quarantined") or new.status != "current":
            continue
        if not (query.asks("previous", "update", "current", "latest", "order") or judge.supported(Found(new, None))):
            continue
        name = one_line(new.slot.replace("|", " ").replace("_", " ") or new.subject or new.kind)
        before = f"{excerpt(old.value or old.text, 160)} ({day(old.event_time, zone)})"
        after = f"{excerpt(new.value or new.text, 160)} ({day(new.event_time, zone)}, holds now)"
        text = f"{name}: {before} → {after}"
        pieces.append(Piece("update", text, tuple(dict.fromkeys((*old.sources, *new.sources))), new.id, new.status))
        used.add((old.kind, old.id))
        if len(pieces) == RECORDS:
            break
    return pieces


def _artifacts(query: Query, judge: Judge, candidates: Sequence[Found], used: set[tuple[str, int]]) -> tuple[list[Piece], int]:
    """Things the assistant made. A question for “the second one” gets the list that is nearest to it in order, the one it points at marked."""
    near = [found.evidence for found in candidates if judge.supported(found)]
    if query.ordinal is not None and candidates:
        near = near or [candidates[0].evidence]
        nearest = near[0]
        listed = sorted(
            (found.evidence for found in candidates if found.evidence.sources == nearest.sources and found.evidence.fields.get("ordinal")),
            key=lambda evidence: int(evidence.fields["ordinal"]),
        )[:LIST_ITEMS]
        near = list({evidence.id: evidence for evidence in (*listed, *near)}.values())
    wanted = query.ordinal
    if wanted == -1:
        wanted = max((int(evidence.fields["ordinal"]) for evidence in near if evidence.fields.get("ordinal")), default=None)
    kept = near[: LIST_ITEMS if query.ordinal is not None else RECORDS]
    pieces = []
    for evidence in kept:
        ordinal = evidence.fields.get("ordinal")
        topic = one_line(str(evidence.fields.get("topic") or ""))
        mark = " [exact match]" if wanted is not None and ordinal == wanted else ""
        text = f"{f'{ordinal}. ' if ordinal else ''}{one_line(str(evidence.fields.get('item_text') or evidence.text))}{f' ({topic})' if topic else ''}{mark}"
        pieces.append(_piece(evidence, text))
        used.add((evidence.kind, evidence.id))
    return pieces, len(candidates) - len(kept)


def _events(query: Query, judge: Judge, candidates: Sequence[Found], used: set[tuple[str, int]], zone: str) -> tuple[list[Piece], int]:
    """Matching events by date: a summary to check an answer with, not an answer."""
    pieces, left = _near(
        judge,
        candidates,
        RECORDS if not query.asks("count", "sum", "order", "latest", "earliest") else 2 * RECORDS,
        used,
        lambda evidence: _event_line(evidence, zone),
    )
    times = {found.evidence.id: found.evidence.event_time for found in candidates}
    return sorted(pieces, key=lambda piece: times[piece.id or 0]), left


def _event_line(evidence: Evidence, zone: str) -> str:
    quantity = evidence.fields.get("quantity")
    amount = f", {quantity} {evidence.fields.get('unit') or ''}".rstrip() if quantity is not None else ""
    negated = " (did not happen)" if evidence.fields.get("is_negated") else ""
    return f"[{day(evidence.event_time, zone)}] {one_line(evidence.text)}{amount}{negated}{_standing(evidence, zone)}"


def _count_sources(judge: Judge, events: Sequence[Found], zone: str) -> list[Piece]:
    """The words of the turns to count over: each matching event's own evidence, with its day."""
    pieces = []
    for found in events:
        evidence = found.evidence
        if judge.supported(found) and evidence.evidence and not evidence.fields.get("is_negated"):
            pieces.append(
                Piece("event", f"[{day(evidence.event_time, zone)}] “{excerpt(evidence.evidence, 200)}”", evidence.sources, evidence.id, evidence.status)
            )
    return pieces[: 2 * RECORDS]


def _topic_slots(query: Query, pool: Pool, standing: Sequence[Found], used: set[tuple[str, int]], zone: str) -> list[Piece]:
    """Values with a slot that were learnt on the localized path and share a word with the question, beyond what other blocks show."""
    path, content = {state.id for state in pool.path}, set(query.content)
    pieces: list[Piece] = []
    for found in standing:
        evidence = found.evidence
        key = (evidence.kind, evidence.id)
        if not evidence.slot or key in used or path.isdisjoint(evidence.sources) or evidence.kind not in ("fact", "mutable_state"):
            continue
        slot = one_line(evidence.slot.replace("|", " ").replace("_", " "))
        if content.intersection(terms(f"{slot} {evidence.text}")):
            used.add(key)
            value = excerpt(evidence.value or evidence.text, 160)
            pieces.append(_piece(evidence, f"{slot}: {value} ({day(evidence.event_time, zone)}){_standing(evidence, zone)}"))
            if len(pieces) == RECORDS:
                break
    return pieces


def _preferences(standing: Sequence[Found], used: set[tuple[str, int]], zone: str) -> list[Piece]:
    """For a recommendation: what the person likes, avoids or is bound by, as far as other blocks don't show it."""
    pieces = []
    for found in standing:
        evidence = found.evidence
        key = (evidence.kind, evidence.id)
        preference = (
            str(evidence.fields.get("key", "")).startswith(_PREFERENCE_KEYS)
            if evidence.kind == "mutable_state"
            else evidence.kind == "fact" and bool(_LIKES.search(evidence.text))
        )
        if preference and key not in used:
            used.add(key)
            pieces.append(_piece(evidence, f"[{day(evidence.event_time, zone)}] {one_line(evidence.text)}{_standing(evidence, zone)}"))
    return pieces[:RECORDS]


def _bridges(query: Query, judge: Judge, standing: Sequence[Found], zone: str) -> list[Piece]:
    """Pairs of facts from different turns that share a name or value the question doesn't have: the first is nearer to it, the other may hold the answer."""
    facts = [
        found.evidence for found in sorted(standing, key=lambda found: -judge.strength(found)) if found.evidence.kind in ("fact", "mutable_state", "event")
    ][:24]
    names = {evidence.id: (set(entity_terms(evidence.text)) | {entity.casefold() for entity in evidence.entities}) - set(query.entities) for evidence in facts}
    pieces = []
    for index, link in enumerate(facts):
        for answer in facts[index + 1 :]:
            shared = names[link.id] & names[answer.id]
            if shared and set(link.sources).isdisjoint(answer.sources):
                sides = [f"{excerpt(side.text, 160)} ({day(side.event_time, zone)})" for side in (link, answer)]
                text = f"link “{excerpt(min(shared), 60)}”: {sides[0]} — {sides[1]}"
                pieces.append(Piece("fact", text, tuple(dict.fromkeys((*link.sources, *answer.sources))), link.id, link.status))
                if len(pieces) == 4:
                    return pieces
    return pieces
