"""What ranking looks at of the open branches (paper §3.2), in a few statements for all of them: last states, cosines, words in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memory.engine import pieces
from memory.engine.forest import Interaction, Lane
from memory.engine.query import Query
from memory.engine.recall import CENTRE_STATES, RECENT_BRANCHES, RECENT_STATES, TELLING_TURNS
from memory.models import PostingKind, StateVector
from memory.store import read

LOOKED_BACK = 256  # latest states among which the branches used last are found
BEST_SENTENCES = 3
TURN = StateVector.Kind.STATE.value


@dataclass(frozen=True, slots=True)
class Latest:
    """What the latest turns of a forest say: the branches used last, newest first, and the share of turns that tell rather than ask."""

    branches: tuple[int, ...]
    telling: float


def latest(forest: int, as_of: int | None = None) -> Latest:
    """The latest turns of a forest, at most LOOKED_BACK of them."""
    rows = read.select(
        "SELECT branch_id, tells FROM memory_interactionstate WHERE forest_id = %s AND position <= %s ORDER BY position DESC LIMIT %s",
        [forest, read.until(as_of), LOOKED_BACK],
    )
    tells = [told for _, told in rows[:TELLING_TURNS]]
    return Latest(tuple(dict.fromkeys(branch for branch, _ in rows))[:RECENT_BRANCHES], (1 + sum(tells)) / (2 + len(tells)))


@dataclass(slots=True)
class _Found:
    """What the statements brought: cosines of turns by state, of pieces by state and number (of the whole input, and of the nearest of its sentences);
    stems and names by state and by tree."""

    turns: dict[int, float] = field(default_factory=dict)
    pieces: dict[int, dict[int, tuple[float, float]]] = field(default_factory=lambda: defaultdict(dict))
    centres: dict[int, float] = field(default_factory=dict)
    answered: dict[int, dict[tuple[int, int], float]] = field(default_factory=lambda: defaultdict(dict))
    stems: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    tree_stems: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    tree_names: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))


def lanes(
    forest: int,
    query: Query,
    spoken: Sequence[str],
    rare: Collection[str],
    branches: Iterable[int],
    recalled: Iterable[Interaction],
    as_of: int | None = None,
) -> dict[int, Lane]:
    """The lanes of these branches, by branch id.

    `spoken` are the vectors of the input and of its sentences, as parameters; `rare` the stems that are looked up in whole trees, all others only in the
    states looked at: those recalled, the last ones of each branch, the roots."""
    recent = _recent(forest, branches, as_of)
    looked: dict[int, set[int]] = defaultdict(set)  # by root
    for states in recent.values():
        looked[states[-1].root] |= {states[-1].root, *(state.id for state in states)}
    for state in recalled:
        if state.root in looked:
            looked[state.root].add(state.id)
    found = _Found()
    _bring_cosines(found, spoken, sorted(set().union(*looked.values())))
    _bring_centres(found, forest, spoken[0], recent, as_of)
    _bring_answered(found, recent.values())
    _bring_words(found, forest, query, rare, looked, as_of)
    return {branch: _lane(states, looked[states[-1].root], found) for branch, states in recent.items()}


def _lane(states: Sequence[Interaction], looked: Collection[int], found: _Found) -> Lane:
    tip, root = states[-1].id, states[-1].root
    said = {state: found.pieces[state][pieces.SAID][0] for state in looked if pieces.SAID in found.pieces[state]}
    cosines = {
        "tip": found.turns.get(tip),
        "said": said.get(tip),
        "centre": found.centres.get(states[-1].branch),
        "best": max((found.turns[state] for state in looked if state in found.turns), default=None),
        "any_said": max(said.values(), default=None),
        "root": said.get(root),
    }
    of_sentences = sorted((best for state in looked for _, best in found.pieces[state].values()), reverse=True)
    return Lane(
        recent=states,
        near={name: cosine for name, cosine in cosines.items() if cosine is not None},
        sentences=tuple(of_sentences[:BEST_SENTENCES]),
        pieces={(state.id, number): best for state in states for number, (_, best) in found.pieces[state.id].items()},
        answered={key: cosine for state in states for key, cosine in found.answered[state.id].items()},
        terms=frozenset(found.tree_stems[root].union(*(found.stems[state] for state in looked))),
        tip_terms=frozenset(found.stems[tip]),
        root_terms=frozenset(found.stems[root]),
        names=frozenset(found.tree_names[root]),
    )


def _recent(forest: int, branches: Iterable[int], as_of: int | None) -> dict[int, list[Interaction]]:
    """The last states of each branch, oldest first."""
    rows = read.select(
        f"""
        SELECT {read.COLUMNS} FROM unnest(%s::bigint[]) AS wanted(branch) CROSS JOIN LATERAL (
            SELECT id FROM memory_interactionstate WHERE forest_id = %s AND branch_id = wanted.branch AND position <= %s ORDER BY position DESC LIMIT %s
        ) last JOIN {read.FROM} ON s.id = last.id ORDER BY s.position
        """,
        [sorted(set(branches)), forest, read.until(as_of), RECENT_STATES],
    )
    found: dict[int, list[Interaction]] = defaultdict(list)
    for row in rows:
        state = read.interaction(row)
        found[state.branch].append(state)
    return dict(found)


# Vectors have length 1, so that the inner product is the cosine, and costs a third of it.


def _bring_cosines(found: _Found, spoken: Sequence[str], states: list[int]) -> None:
    found.turns.update(
        read.select("SELECT state_id, -(vector <#> %s::halfvec) FROM memory_statevector WHERE state_id = ANY(%s) AND kind = %s", [spoken[0], states, TURN])
    )
    best = ", ".join(["-(vector <#> %s::halfvec)"] * len(spoken))
    for state, number, whole, nearest in read.select(
        f"SELECT state_id, number, -(vector <#> %s::halfvec), greatest({best}) FROM memory_piecevector WHERE state_id = ANY(%s)",
        [spoken[0], *spoken, states],
    ):
        found.pieces[state][number] = (whole, nearest)


def _bring_centres(found: _Found, forest: int, said: str, recent: Mapping[int, Sequence[Interaction]], as_of: int | None) -> None:
    rows = read.select(
        """
        SELECT wanted.branch, 1 - (avg(v.vector) <=> %s::halfvec) FROM unnest(%s::bigint[]) AS wanted(branch) CROSS JOIN LATERAL (
            SELECT id FROM memory_interactionstate WHERE forest_id = %s AND branch_id = wanted.branch AND position <= %s ORDER BY position DESC LIMIT %s
        ) last JOIN memory_statevector v ON v.state_id = last.id AND v.kind = %s GROUP BY wanted.branch
        """,
        [said, list(recent), forest, read.until(as_of), CENTRE_STATES, TURN],
    )
    found.centres.update(rows)


def _bring_answered(found: _Found, recent: Iterable[Sequence[Interaction]]) -> None:
    pairs = [(state.id, after.id) for states in recent for state, after in pairwise(states) if pieces.open_questions(state.assistant)]
    if not pairs:
        return
    rows = read.select(
        """
        SELECT asked.state_id, asked.number, -(asked.vector <#> said.vector) FROM unnest(%s::bigint[], %s::bigint[]) AS pair(state, after)
        JOIN memory_piecevector asked ON asked.state_id = pair.state AND asked.number >= %s AND asked.number < %s
        JOIN memory_piecevector said ON said.state_id = pair.after AND said.number = %s
        """,
        [[state for state, _ in pairs], [after for _, after in pairs], pieces.QUESTIONS, pieces.ITEMS, pieces.SAID],
    )
    for state, number, cosine in rows:
        found.answered[state][state, number] = cosine


def _bring_words(found: _Found, forest: int, query: Query, rare: Collection[str], looked: Mapping[int, Collection[int]], as_of: int | None) -> None:
    states = sorted(set().union(*looked.values()))
    for state, term in read.select(
        "SELECT state_id, term FROM memory_posting WHERE forest_id = %s AND kind = %s AND term = ANY(%s) AND state_id = ANY(%s)",
        [forest, PostingKind.TERM, list(query.terms), states],
    ):
        found.stems[state].add(term)
    in_trees = """
        SELECT DISTINCT s.root_id, p.term FROM memory_posting p JOIN memory_interactionstate s ON s.id = p.state_id
        WHERE p.forest_id = %s AND p.kind = %s AND p.term = ANY(%s) AND s.root_id = ANY(%s) AND s.position <= %s
    """
    for kind, terms, trees in ((PostingKind.TERM, rare, found.tree_stems), (PostingKind.ENTITY, query.entities, found.tree_names)):
        if terms:
            for root, term in read.select(in_trees, [forest, kind, list(terms), list(looked), read.until(as_of)]):
                trees[root].add(term)
