"""Search as you type over a forest: turns by BM25 and by their summaries, facts and records by their words, trees by their topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Left

from memory.engine import recall as rules
from memory.engine.terms import fold, terms
from memory.engine.text import one_line
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, InteractionState, PostingKind, TermStat, Topic
from memory.present.words import LABEL_SOURCE_LENGTH, Json, shorten
from memory.store import recall

# The terms an unfinished last word may become.
COMPLETIONS = 20
SNIPPET = 160
# Rows a search may read: some tens of milliseconds.
MOST_POSTINGS = 30_000
# A topic is named on purpose; a fact is shorter than a turn; old values come last.
TOPIC_SCORE, FACT_SCORE, OLD_SCORE, SUMMARY_SCORE = 30.0, 12.0, 6.0, 4.0
SHOWN = (EvidenceRow.Status.CURRENT, EvidenceRow.Status.SUPERSEDED)


def search(forest: Forest, asked: str, limit: int) -> list[Json]:
    """The best hits `{"state", "kind", "id", "text", "score"}`; every word must occur in a fact, a topic or a summary, the rare ones weigh in turns."""
    words = asked.split()
    if not words:
        return []
    hits = [*_topics(forest, words, limit), *_evidence(forest, words, limit), *_turns(forest, asked, words, limit)]
    return sorted(hits, key=lambda hit: (-hit["score"], -hit["state"]))[:limit]


def _holds(column: str, words: Iterable[str]) -> Q:
    holds = Q()
    for word in words:
        holds &= Q(**{f"{column}__icontains": word}) | Q(**{f"{column}__icontains": fold(word)})
    return holds


def _topics(forest: Forest, words: list[str], limit: int) -> list[Json]:
    found = []
    for root, key, variants in Topic.objects.in_forest(forest).exclude(key="").values_list("root_id", "key", "variants"):
        names = fold(" ".join([key, *variants]))
        if all(fold(word) in names for word in words):
            found.append({"state": root, "kind": "topic", "id": root, "text": key, "score": TOPIC_SCORE + len(words) / (1 + len(names.split()))})
    return found[:limit]


def _evidence(forest: Forest, words: list[str], limit: int) -> list[Json]:
    found: list[Json] = []
    for model in EVIDENCE_MODELS.values():
        rows: QuerySet[Any] = model.objects.in_forest(forest).filter(_holds("text", words), status__in=SHOWN)
        for pk, state, text, status in rows.order_by("-known_from")[:limit].values_list("pk", "state_id", "text", "status"):
            score = FACT_SCORE if status == EvidenceRow.Status.CURRENT else OLD_SCORE
            found.append({"state": state, "kind": "fact", "id": pk, "text": shorten(text, SNIPPET), "score": score + len(words) / (1 + len(text.split()))})
    return found


def _turns(forest: Forest, asked: str, words: list[str], limit: int) -> list[Json]:
    scores = dict(recall.bm25(forest.pk, PostingKind.TERM, *_weights(forest, asked), limit))
    summaries = InteractionState.objects.in_forest(forest).filter(_holds("node_summary", words))
    for pk in summaries.order_by("-position").values_list("pk", flat=True)[:limit]:
        scores[pk] = scores.get(pk, 0.0) + SUMMARY_SCORE
    length = 4 * LABEL_SOURCE_LENGTH
    rows = InteractionState.objects.filter(pk__in=scores).annotate(said=Left("user_text", length), answered=Left("assistant_text", length))
    return [
        {"state": pk, "kind": "turn", "id": turn, "text": snippet([said, answered, summary], words), "score": round(scores[pk], 3)}
        for pk, turn, said, answered, summary in rows.values_list("pk", "turn_id", "said", "answered", "node_summary")
    ]


def _weights(forest: Forest, asked: str) -> tuple[dict[str, float], float]:
    """Terms with their rarity, and the average length: the query's own terms, and what its last word may become."""
    wanted = set(terms(asked))
    if not asked[-1:].isspace():
        last = fold(asked).split()[-1]
        stats = TermStat.objects.in_forest(forest).filter(kind=PostingKind.TERM, term__gte=last, term__lt=last + "\U0010ffff")
        wanted |= set(stats.order_by(F("states").desc()).values_list("term", flat=True)[:COMPLETIONS])
    known = recall.statistics(forest, sorted(wanted), [])
    weights: dict[str, float] = {}
    scanned = 0
    for term, number in sorted(known.terms.items(), key=lambda pair: pair[1]):  # the rare ones first
        scanned += number
        if weights and scanned > MOST_POSTINGS:
            break
        weights[term] = rules.idf(number, known.states)
    return weights, known.average_length


def snippet(texts: Iterable[str], words: list[str]) -> str:
    """The first text that holds a word, from a little before it."""
    given = [one_line(text) for text in texts if text]
    for text in given:
        folded = text.lower()
        places = [place for word in words if (place := folded.find(word.lower())) >= 0]
        if places:
            start = max(0, min(places) - SNIPPET // 3)
            start = text.rfind(" ", 0, start) + 1 if start else 0
            return ("…" if start else "") + shorten(text[start:], SNIPPET)
    return shorten(given[0] if given else "", SNIPPET)
