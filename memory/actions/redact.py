"""Take what was deleted out of what stays: later decisions and traces, reports of imports, and, where asked, the answers that quote it (D2).

Each function reads only rows that name what goes, however large the forest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F

from memory.actions import structure
from memory.engine import terms
from memory.engine.localize import spoken
from memory.engine.quote import MARKER
from memory.llm.tokens import count
from memory.models import EVIDENCE_MODELS, ContextTrace, Forest, Import, InteractionState, PieceVector, PostingKind, RoutingDecision, StateVector, Turn
from memory.present.words import LABEL_SOURCE_LENGTH, label_of
from memory.store import read
from memory.store.dropping import drop
from memory.store.quotes import Quotes
from memory.store.slots import resolve_slots
from memory.store.write import add_postings

GONE = MARKER
WHY = "The turn it continued was deleted."
WHY_LESS = "What this rested on was deleted in part."
# Texts that may speak of more than the states they name.
WIDE = frozenset({"summary"})
RESTING = frozenset({"update", "computed"})
LINES_NAME = 60  # characters of an id that a report of an import names a turn by


@dataclass(frozen=True, slots=True)
class Away:
    """What goes from decisions and traces: `gone` states wholly; of `retold` ones summaries and labels; of `reworded` ones everything shown of them; `items` by
    (kind, id), with what was computed from those of `resting`; and the topic keys that trees had, by root, with the states `under` them."""

    gone: Collection[int] = ()
    retold: Collection[int] = ()
    reworded: Collection[int] = ()
    items: Collection[tuple[str, int]] = ()
    resting: Collection[int] = ()
    keys: Mapping[int, list[str]] = field(default_factory=dict)
    under: Collection[int] = ()

    @property
    def touched(self) -> set[int]:
        return {*self.gone, *self.retold, *self.reworded, *self.resting}


# --- Decisions


def redact_decisions(forest: Forest, away: Away, turns: Iterable[int], parents: Mapping[int, int | None]) -> None:
    """Candidates that no longer exist go; those that were called by a summary or topic that is told anew are called by their own words; signs that quote go.

    `turns` belong to the deleted states and go anyway; `parents` maps a turn to the parent its state has now."""
    gone, renamed, quoted = set(away.gone), {*away.retold, *away.reworded}, {*away.gone, *away.reworded}
    named = _naming(forest, gone | renamed, {*gone, *away.keys})
    own = InteractionState.objects.filter(pk__in=renamed).values_list("pk", "user_text")
    labels = {pk: label_of("", user[:LABEL_SOURCE_LENGTH]) for pk, user in own}
    for decision in RoutingDecision.objects.in_forest(forest).filter(pk__in=named).exclude(turn__in=list(turns)).iterator(chunk_size=100):
        said = {name for keys in away.keys.values() for name in keys}
        candidates = []
        for candidate in decision.candidates:
            if candidate["state"] in gone or candidate["state"] in renamed:
                said.add(candidate["label"])
            if candidate["root"] in gone or candidate["root"] in away.keys:
                said.add(candidate["tree"])
                candidate = {**candidate, "tree": None, "root": None if candidate["root"] in gone else candidate["root"]}
            if candidate["state"] in renamed:
                candidate = {**candidate, "label": labels.get(candidate["state"], MARKER)}
            if hit := {part: sign for part, sign in candidate.get("signs", {}).items() if sign["state"] in quoted}:
                said |= {quote for sign in hit.values() for quote in sign["quotes"]}
                candidate = {**candidate, "signs": {part: sign for part, sign in candidate["signs"].items() if part not in hit}}
            if candidate["state"] not in gone:
                candidates.append(candidate)
        decision.candidates = candidates
        if decision.chosen_id in gone:
            decision.why, decision.chosen_id = WHY, parents.get(decision.turn_id)
        elif any(words and words in decision.why for name in said for words in (name, spoken(name or ""))):
            decision.why = WHY_LESS if decision.chosen_id else WHY
        decision.save(update_fields=["candidates", "why", "chosen"])


def _naming(forest: Forest, states: Collection[int], roots: Collection[int]) -> list[int]:
    """The decisions that chose one of the states or name or quote them, or name a tree, among their candidates; by the indexes of migrations 0009 and 0013."""
    rows = read.select(
        """
        SELECT d.id FROM unnest(%s::bigint[]) AS q(id) JOIN memory_routingdecision d
          ON jsonb_path_query_array(d.candidates, '$[*].state'::jsonpath) @> jsonb_build_array(q.id) WHERE d.forest_id = %s
        UNION
        SELECT d.id FROM unnest(%s::bigint[]) AS q(id) JOIN memory_routingdecision d
          ON jsonb_path_query_array(d.candidates, '$[*].root'::jsonpath) @> jsonb_build_array(q.id) WHERE d.forest_id = %s
        UNION
        SELECT d.id FROM unnest(%s::bigint[]) AS q(id) JOIN memory_routingdecision d
          ON jsonb_path_query_array(d.candidates, '$[*].signs.*.state'::jsonpath) @> jsonb_build_array(q.id) WHERE d.forest_id = %s
        UNION
        SELECT id FROM memory_routingdecision WHERE forest_id = %s AND chosen_id = ANY(%s)
        """,
        [list(states), forest.pk, list(roots), forest.pk, list(states), forest.pk, forest.pk, list(states)],
    )
    return [row[0] for row in rows]


# --- Traces


def redact_traces(forest: Forest, away: Away) -> None:
    """In every trace that shows any of it, that text goes, and with it the messages sent."""
    names = [name for keys in away.keys.values() for name in keys]
    for trace in ContextTrace.objects.in_forest(forest).filter(sources__overlap=[*away.touched, *away.under]).iterator(chunk_size=50):
        hit = False
        for block in trace.blocks:
            if any(name in block["note"] for name in names):
                block["note"], hit = "", True
            for item in block["items"]:
                if _shows(item, away):
                    item["text"], item["id"], item["sources"], hit = GONE, None, sorted(set(item["sources"]) - set(away.gone)), True
                    block["note"] = ""
        if hit:
            trace.messages, trace.messages_hash = [], ""
            trace.save(update_fields=["blocks", "messages", "messages_hash"])


def _shows(item: Mapping[str, Any], away: Away) -> bool:
    sources = set(item["sources"])
    return bool(
        sources & set(away.gone)
        or sources & set(away.reworded)
        or (item["kind"] in WIDE and sources & set(away.retold))
        or (item["kind"], item["id"]) in away.items
        or (item["kind"] in RESTING and sources & set(away.resting))
    )


def using(forest: Forest, away: Away) -> list[int]:
    """The turns whose trace shows any of it, in no order."""
    traces = ContextTrace.objects.in_forest(forest).filter(sources__overlap=list(away.touched)).values_list("turn_id", "blocks")
    return [turn for turn, blocks in traces.iterator(chunk_size=50) if any(_shows(item, away) for block in blocks for item in block["items"])]


# --- Reports of imports


def redact_reports(forest: Forest, client_ids: Iterable[str]) -> None:
    """Lines of imports that name a deleted turn by its id go."""
    ids = [one[:LINES_NAME] for one in client_ids if one]
    for report in Import.objects.in_forest(forest).exclude(left_out=[]):
        kept = [line for line in report.left_out if not any(one in line for one in ids)]
        if kept != report.left_out:
            report.left_out = kept
            report.save(update_fields=["left_out"])


# --- Answers that quote it


def redact_answers(forest: Forest, quotes: Quotes) -> None:
    """The passages of these answers are replaced by MARKER; what rests on an answer is made again from what is left of it.

    Its vector and index entries at once or by the worker, which reads the turn anew; facts that repeat the passage go, also those a person has judged.
    The states must be among those read anew (`retell.clear`)."""
    for state in InteractionState.objects.in_forest(forest).filter(pk__in=list(quotes.states)).order_by("position"):
        state.assistant_text = quotes.wording.without(state.assistant_text)
        _index_again(forest, state)
        state.entities, state.keywords = terms.entity_spans(state.user_text)[:20], []
        state.tokens = count(state.user_text) + count(state.assistant_text)
        state.node_summary = state.path_summary = ""
        state.extraction_report = {}
        state.save(update_fields=["assistant_text", "entities", "keywords", "tokens", "node_summary", "path_summary", "extraction_report", "length"])
    StateVector.objects.in_forest(forest).filter(state__in=list(quotes.states), kind__in=[StateVector.Kind.STATE, StateVector.Kind.BRANCH]).delete()
    PieceVector.objects.in_forest(forest).filter(state__in=list(quotes.states)).delete()
    for turn in Turn.objects.in_forest(forest).filter(pk__in=list(quotes.parts)):
        turn.partial = quotes.wording.without(turn.partial)
        turn.save(update_fields=["partial"])


def drop_repeating(forest: Forest, quotes: Quotes, states: Iterable[int]) -> dict[str, list[int]]:
    """Facts and records of these states that repeat the wording go, judged by a person or not; their ids by kind."""
    going: dict[str, list[int]] = {}
    for kind, model in EVIDENCE_MODELS.items():
        for row in model.objects.in_forest(forest).filter(state__in=list(states)):
            if any(quotes.wording.passages(text) for text in (row.text, row.value, row.evidence)):
                going.setdefault(kind, []).append(row.pk)
    _, slots = drop(forest, going)
    resolve_slots(forest.pk, slots, None)
    return going


def _index_again(forest: Forest, state: InteractionState) -> None:
    structure.unindex(forest, [state.pk], kinds=[PostingKind.TERM, PostingKind.ENTITY])
    before, both = state.length, f"{state.user_text}\n{state.assistant_text}"
    found, names = Counter(terms.terms(both)), Counter(terms.entity_terms(both))
    state.length = sum(found.values())
    add_postings(forest.pk, state.pk, state.length, list(_postings(found, names)))
    Forest.objects.filter(pk=forest.pk).update(indexed_terms=F("indexed_terms") + state.length - before)


def _postings(found: Counter[str], names: Counter[str]) -> Iterator[tuple[int, str, int]]:
    for kind, counts in ((PostingKind.TERM, found), (PostingKind.ENTITY, names)):
        cut: Counter[str] = Counter()
        for term, number in counts.items():
            cut[term[:100]] += number
        yield from ((int(kind), term, number) for term, number in cut.items() if term)
