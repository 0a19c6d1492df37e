"""Build what is derived of states that have no index yet: vectors, postings, topic stems. Everything it needs is in their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from django.db import transaction
from django.db.models import Exists, OuterRef

from memory.engine import terms
from memory.llm.embed import embedder
from memory.models import Forest, InteractionState, PostingKind, StateVector, Topic
from memory.store import bulk, texts
from memory.store.recall import half

BATCH = 16


def index_states(forest: Forest, told: Callable[[int], None] = lambda done: None) -> int:
    """Index every state of the forest that has no vector of its turn, earliest first, some at a time; how many there were. Goes on after a kill."""
    own = StateVector.objects.filter(state=OuterRef("pk"), kind=StateVector.Kind.STATE)
    waiting = InteractionState.objects.in_forest(forest).exclude(Exists(own)).order_by("position")
    done = InteractionState.objects.in_forest(forest).count() - waiting.count()
    indexed = 0
    while states := list(waiting.select_related("topic")[:BATCH]):
        keyed = dict(texts.embedded(states))
        vectors = embedder().embed(list(keyed.values()))
        rows = [posting for state in states for posting in _postings(state)]
        with transaction.atomic():
            Forest.objects.select_for_update().only("pk").get(pk=forest.pk)
            StateVector.objects.bulk_create(
                (
                    StateVector(forest=forest, state_id=state, kind=kind, item=item, vector=half(vector))
                    for (state, kind, item), vector in zip(keyed, vectors, strict=True)
                ),
                ignore_conflicts=True,
            )
            bulk.add_postings(forest.pk, rows)
        indexed += len(states)
        told(done + indexed)
    return indexed


def _postings(state: InteractionState) -> Iterator[tuple[int, str, int, int, int]]:
    both = f"{state.user_text}\n{state.assistant_text}"
    names: Counter[str] = Counter(terms.entity_terms(both))
    if state.refined_at is not None:
        learned = Counter(terms.entity_term(name) for name in state.entities)
        names = Counter({**learned, **names})
    for kind, counts in ((PostingKind.TERM, Counter(terms.terms(both))), (PostingKind.ENTITY, names)):
        cut: Counter[str] = Counter()
        for term, count in counts.items():
            cut[term[:100]] += count
        yield from ((int(kind), term, state.pk, count, state.length) for term, count in cut.items() if term)
    topic = Topic.objects.filter(root_id=state.pk).first() if state.parent_id is None else None
    if topic is not None:
        yield from ((int(PostingKind.TOPIC), stem, state.pk, 1, len(topic.stems)) for stem in set(topic.stems))
