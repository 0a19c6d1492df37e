"""Forests of any size for measuring speed, written by COPY: as refined, with postings, vectors and facts, but nothing of it was localized or embedded.

A state's vectors lie around one of its matter, so that neighbours are neighbours; only the matters are embedded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from django.db import connection, models
from numpy.typing import NDArray

from memory.engine import commit, cues, pieces, terms
from memory.evaluation.synthetic import MadeTurn
from memory.models import (
    AtomicFact,
    ContextTrace,
    Forest,
    InteractionState,
    PieceVector,
    Posting,
    PostingKind,
    RoutingDecision,
    StateVector,
    TermStat,
    Topic,
    Turn,
)
from memory.store.recall import half

CHUNK = 2_000
SPREAD = 0.8  # length of the noise that is added to a matter's unit vector
FACT_EVERY = 2  # states


def seed(forest: Forest, turns: Sequence[MadeTurn], embed: Callable[[Sequence[str]], NDArray[np.float32]], *, numbers: int = 1) -> None:
    """Make an empty forest the one of `turns`; `numbers` makes the noise. Raises ValueError for a forest that has states."""
    if forest.last_position:
        raise ValueError("Only an empty forest can be seeded.")
    rng, first = np.random.default_rng(numbers), _reserve(len(turns))
    roots, depths, branches, children = [0] * len(turns), [0] * len(turns), [0] * len(turns), Counter[int]()
    planted = [index for index, made in enumerate(turns) if made.parent is None]
    centres = dict(zip(planted, embed([turns[index].user for index in planted]), strict=True))
    states_with: Counter[tuple[int, str]] = Counter()
    indexed = 0
    for index, made in enumerate(turns):
        above = made.parent
        roots[index] = index if above is None else roots[above]
        depths[index] = 0 if above is None else depths[above] + 1
        branches[index] = index if above is None or children[above] else branches[above]
        if above is not None:
            children[above] += 1
    for start in range(0, len(turns), CHUNK):
        chunk = range(start, min(start + CHUNK, len(turns)))
        rows: list[models.Model] = []
        vectors: list[StateVector] = []
        parts: list[PieceVector] = []
        facts: list[AtomicFact] = []
        postings: list[tuple[int, int, str, int, int, int]] = []
        for index in chunk:
            made, identity = turns[index], first + index
            counts = {PostingKind.TERM: Counter(terms.terms(f"{made.user}\n{made.assistant}")), PostingKind.ENTITY: Counter(terms.entity_terms(made.user))}
            length = counts[PostingKind.TERM].total()
            indexed += length
            for kind, found in counts.items():
                postings += [(forest.pk, int(kind), term[:100], identity, n, length) for term, n in found.items()]
                states_with.update((int(kind), term[:100]) for term in found)
            rows.append(_state(forest, made, identity, index, first, roots, depths, branches, length))
            centre = centres[roots[index]]
            for role in (StateVector.Kind.STATE, StateVector.Kind.BRANCH, *([StateVector.Kind.TOPIC] if made.parent is None else [])):
                vectors.append(StateVector(forest=forest, state_id=identity, kind=role, vector=half(_near(centre, rng))))
            cut = pieces.pieces(made.user, made.assistant)
            parts += [PieceVector(forest=forest, state_id=identity, number=number, vector=half(_near(centre, rng))) for number in cut]
            if index % FACT_EVERY == 0:
                facts.append(_fact(forest, made, identity, index))
        copy(Turn, [_turn(forest, turns[index], first + index, index) for index in chunk])
        copy(InteractionState, rows)
        copy(AtomicFact, facts, without=("id",))
        ids = dict(AtomicFact.objects.in_forest(forest).filter(state_id__in=[fact.state_id for fact in facts]).values_list("state_id", "id"))
        vectors += [
            StateVector(forest=forest, state_id=state, kind=StateVector.Kind.FACT, item=item, vector=half(_near(centres[roots[state - first]], rng)))
            for state, item in ids.items()
        ]
        copy(StateVector, vectors, without=("id",))
        copy(PieceVector, parts, without=("id",))
        postings += [
            (forest.pk, int(PostingKind.TOPIC), stem, first + index, 1, 1)
            for index in chunk
            if turns[index].parent is None
            for stem in _topic_stems(turns[index])
        ]
        copy_rows(Posting, ("forest_id", "kind", "term", "state_id", "count", "length"), postings)
    copy_rows(TermStat, ("forest_id", "kind", "term", "states"), ((forest.pk, kind, term, n) for (kind, term), n in states_with.items()))
    copy(Topic, [_topic(forest, turns[index], first + index, order) for order, index in enumerate(planted)], without=("id",))
    forest.active_state_id, forest.last_position, forest.version = first + len(turns) - 1, len(turns), len(turns)
    forest.indexed_states, forest.indexed_terms = len(turns), indexed
    forest.save()


def seed_traces(forest: Forest, turns: Sequence[MadeTurn], *, ancestors: int = 8, rivals: int = 8, numbers: int = 1) -> None:
    """Give every turn of a seeded forest a decision, with candidates from all over it, and a trace that shows its last `ancestors` raw, as chat would have."""
    rng, first = np.random.default_rng(numbers), InteractionState.objects.in_forest(forest).order_by("position").values_list("pk", flat=True)[0]
    roots = dict(InteractionState.objects.in_forest(forest).values_list("pk", "root_id"))
    for start in range(0, len(turns), CHUNK):
        decisions, traces = [], []
        for index in range(start, min(start + CHUNK, len(turns))):
            parent = turns[index].parent
            named = [first + int(one) for one in rng.integers(0, index, rivals)] if index else []
            named += [] if parent is None else [first + parent]
            candidates = [_candidate(state, roots[state], turns[state - first], turns[roots[state] - first]) for state in dict.fromkeys(named)]
            chosen = None if parent is None else first + parent
            decisions.append(
                RoutingDecision(
                    forest=forest, turn_id=first + index, method="recall", chosen_id=chosen, probability=0.9, margin=0.5, threshold=0.0, candidates=candidates
                )
            )
            path: list[int] = []
            while parent is not None and len(path) < ancestors:
                path, parent = [parent, *path], turns[parent].parent
            traces.append(_trace(forest, first, index, turns, path))
        copy(RoutingDecision, decisions, without=("id",))
        copy(ContextTrace, traces, without=("id",))


def _candidate(state: int, root: int, made: MadeTurn, planted: MadeTurn) -> dict[str, Any]:
    score = {"score": 1.0, "probability": 0.1, "parts": {"meaning": 0.5, "words": 0.5}, "channels": {"semantic": {"rank": 1, "score": 0.6}}}
    return {"state": state, "root": root, "label": made.user.partition(".")[0], "tree": _key(planted), "active": False, **score}


def _trace(forest: Forest, first: int, index: int, turns: Sequence[MadeTurn], path: Sequence[int]) -> ContextTrace:
    shown = [f"User: {turns[one].user}\nAssistant: {turns[one].assistant}" for one in path]
    items = [
        {"kind": "state", "id": first + one, "text": text, "tokens": 300, "sources": [first + one], "status": None}
        for one, text in zip(path, shown, strict=True)
    ]
    block = {"name": "ConversationHistory", "label": "The conversation path", "tokens": 300 * len(path), "note": f"{len(path)} turns, whole", "items": items}
    return ContextTrace(
        forest=forest,
        turn_id=first + index,
        budget=16_384,
        tokens=300 * len(path),
        blocks=[block] if path else [],
        messages=[{"role": "system", "content": "\n".join(shown)}, {"role": "user", "content": turns[index].user}],
        messages_hash="0" * 64,
        sources=sorted(first + one for one in path),
    )


def copy(model: type[models.Model], rows: Sequence[models.Model], without: Sequence[str] = ()) -> None:
    """Write rows by COPY, every column but `without`, which the database fills."""
    fields = [field for field in model._meta.concrete_fields if field.column not in without]
    copy_rows(
        model, [str(field.column) for field in fields], ([field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields] for row in rows)
    )


def copy_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor() as cursor, cursor.copy(_statement(model, columns)) as writer:
        for row in rows:
            writer.write_row(row)


def _statement(model: type[models.Model], columns: Sequence[str]) -> str:
    quote = connection.ops.quote_name
    return f"COPY {quote(model._meta.db_table)} ({', '.join(quote(column) for column in columns)}) FROM STDIN"


def _reserve(number: int) -> int:
    """The first of `number` ids that turns and states share, taken from both sequences."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT greatest((SELECT max(id) FROM memory_turn), (SELECT max(id) FROM memory_interactionstate), 0)")
        first = int(cursor.fetchone()[0]) + 1
        for table in ("memory_turn", "memory_interactionstate"):
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence(%s, 'id'), greatest(%s, nextval(pg_get_serial_sequence(%s, 'id'))))", [table, first + number, table]
            )
    return first


def _near(centre: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    noise = rng.standard_normal(len(centre)).astype(np.float32)
    vector = centre + SPREAD * noise / np.linalg.norm(noise)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _turn(forest: Forest, made: MadeTurn, identity: int, index: int) -> Turn:
    return Turn(id=identity, forest=forest, client_id=f"made-{index}", origin="observed", status=Turn.Status.REFINED, sent_at=made.time, answered_at=made.time)


def _state(
    forest: Forest, made: MadeTurn, identity: int, index: int, first: int, roots: Sequence[int], depths: Sequence[int], branches: Sequence[int], length: int
) -> InteractionState:
    summary = made.user.partition(".")[0]
    return InteractionState(
        id=identity,
        forest=forest,
        turn_id=identity,
        position=index + 1,
        parent_id=None if made.parent is None else first + made.parent,
        root_id=first + roots[index],
        branch_id=first + branches[index],
        depth=depths[index],
        time=made.time,
        user_text=made.user,
        tells=cues.tells(made.user),
        assistant_text=made.assistant,
        node_summary=summary,
        path_summary=summary,
        tokens=length * 2,
        length=length,
        origin="observed",
        refined_at=made.time,
        refined_by=commit.EXTRACTORS,
    )


def _fact(forest: Forest, made: MadeTurn, identity: int, index: int) -> AtomicFact:
    words = made.user.lower().rstrip(".").split()
    return AtomicFact(
        forest=forest,
        state_id=identity,
        sources=[identity],
        text=f"The {words[0]} of {words[1]} is {words[2]}.",
        slot=f"{words[1]}|{words[0]} {index}",
        subject=words[1],
        value=words[2],
        evidence=made.user[:80],
        event_time=made.time,
        known_from=index + 1,
        made_by="rule",
    )


def _topic(forest: Forest, made: MadeTurn, identity: int, order: int) -> Topic:
    key = _key(made)
    return Topic(forest=forest, root_id=identity, key=key, variants=[key], stems=_topic_stems(made), order=order)


def _key(made: MadeTurn) -> str:
    return " ".join(made.user.lower().split()[:2])


def _topic_stems(made: MadeTurn) -> list[str]:
    return sorted(set(terms.terms(_key(made))))
