"""Which answers of a forest repeat what is to be forgotten (engine/quote.py says by which rule): found by the index, then read.

A rare word – one in at most RARE states – leads to every state that has it. Runs of common words are looked for in the ALIKE states that share most words with
the source; a run without a word that is at least uncommon isn't looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from memory.engine import quote, terms
from memory.engine.quote import Wording
from memory.models import Forest, InteractionState, PostingKind, Turn
from memory.store import read

RARE, ALIKE = 60, 60
UNCOMMON = 0.03  # of the states, for words that lead to those alike
MOST_TERMS, MOST_POSTINGS, MOST_STATES = 400, 20_000, 2_000


@dataclass(frozen=True, slots=True)
class Quotes:
    """The wording that goes, the later states whose answers repeat it (newest first), and the broken turns whose part does; with the first passage of each."""

    wording: Wording
    states: Mapping[int, str]
    parts: Mapping[int, str]


def find(forest: Forest, texts: Sequence[str], sources: Collection[int]) -> Quotes:
    """The answers given after the first of `sources` (states, which are left out themselves) that repeat `texts`."""
    first = InteractionState.objects.filter(pk__in=list(sources)).order_by("position").values_list("position", flat=True).first() or 0
    columns = ("pk", "position", "user_text", "assistant_text")
    likely = _likely(forest, texts, sources)
    rows = list(InteractionState.objects.in_forest(forest).filter(pk__in=likely).order_by("-position").values_list(*columns))
    # What a person says themselves, and what was answered before, is no quote.
    elsewhere = [user for _, _, user, _ in rows] + [answer for _, position, _, answer in rows if position < first]
    wording = Wording(texts, elsewhere)
    states = {pk: said for pk, position, _, answer in rows if position > first and (said := wording.quoted(answer))}
    broken = Turn.objects.in_forest(forest).filter(status__in=Turn.BROKEN).exclude(partial="").values_list("pk", "partial")
    return Quotes(wording, states, {pk: said for pk, part in broken if (said := wording.quoted(part))} if wording else {})


def _likely(forest: Forest, texts: Iterable[str], sources: Collection[int]) -> set[int]:
    said = {term for text in texts for term in terms.content_terms(text)}
    values = {word for text in texts for value in quote.value_terms(text) for word in value}
    if not said:
        return set()
    sql = "SELECT term, states FROM memory_termstat WHERE forest_id = %s AND kind = %s AND term = ANY(%s)"
    known = dict(read.select(sql, [forest.pk, PostingKind.TERM, list(said | values)]))
    by_rarity = sorted(known, key=lambda term: known[term])
    rare = [term for term in by_rarity if known[term] <= RARE][: 10 * MOST_TERMS]
    found = read.select(
        "SELECT DISTINCT state_id FROM memory_posting WHERE forest_id = %s AND kind = %s AND term = ANY(%s) AND state_id <> ALL(%s) LIMIT %s",
        [forest.pk, PostingKind.TERM, [term for term in rare if term in values or known[term] <= 3], list(sources), MOST_STATES],
    )
    alike: list[str] = []
    scanned = 0
    for term in by_rarity[:MOST_TERMS]:
        scanned += known[term]
        if known[term] > max(RARE, UNCOMMON * forest.indexed_states) or (alike and scanned > MOST_POSTINGS):
            break
        alike.append(term)
    weights = [log(1 + forest.indexed_states / max(1, known[term])) for term in alike]
    found += read.select(
        """
        SELECT p.state_id FROM unnest(%s::text[], %s::float8[]) AS q(term, weight)
        JOIN memory_posting p ON p.forest_id = %s AND p.kind = %s AND p.term = q.term
        WHERE p.state_id <> ALL(%s) GROUP BY p.state_id ORDER BY sum(q.weight) DESC LIMIT %s
        """,
        [alike, weights, forest.pk, PostingKind.TERM, list(sources), ALIKE],
    )
    return {row[0] for row in found}
