"""What ranking looks at of the open branches (paper §3.2), in a few statements for all of them: last states, cosines, words in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from memory.engine import pieces
from memory.engine.forest import NEAR, Interaction, Lane, Lanes, having
from memory.engine.query import Query
from memory.engine.recall import CENTRE_STATES, LATEST_STATES, OPEN_BRANCHES, RECENT_STATES, TELLING_TURNS, cut_off, doubtful, telling_share
from memory.engine.terms import terms
from memory.models import PostingKind, RoutingDecision, StateVector
from memory.store import read
from memory.threads import beside

LOOKED_BACK = 1_024  # latest states among which the open branches are found
BEST_SENTENCES = 3
NONE: Final = frozenset[str]()
TURN = StateVector.Kind.STATE.value
BY_HAND = [RoutingDecision.Method.GIVEN.value, RoutingDecision.Method.CORRECTED.value]  # a person put it there: surely


@dataclass(frozen=True, slots=True)
class Open:
    """What the latest turns of a forest say: where each branch ends, by branch, the one used last first, as rows of `_LAST`; and the share of turns that tell
    rather than ask."""

    ends: Mapping[int, Sequence[Any]]
    telling: float


# With which probability a state was put where it is, where localization placed it: `d` is its turn's decision.
PLACED = "CASE WHEN d.probability IS NOT NULL THEN least(1, greatest(0, d.probability)) END"
BY_LOCALIZATION = "memory_routingdecision d ON d.turn_id = s.turn_id AND NOT d.method = ANY(%s)"
_LAST = f"{read.COLUMNS}, {PLACED}"  # of the last state of a branch: its columns, and how surely it was put there
_ID, _POSITION, _ROOT, _BRANCH, _TOPIC, _SURE = 0, 1, 3, 4, 11, 16


def opened(forest: int, as_of: int | None = None) -> Open:
    """The latest turns of a forest, at most LOOKED_BACK of them; at most OPEN_BRANCHES branches."""
    rows = read.select(
        f"""
        SELECT {_LAST}, last.told, last.turns FROM (
            SELECT (max(ARRAY[position, id]))[2] AS id, max(position) AS position, count(*) FILTER (WHERE number <= %s AND tells) AS told,
                count(*) FILTER (WHERE number <= %s) AS turns
            FROM (
                SELECT id, branch_id, position, tells, row_number() OVER (ORDER BY position DESC) AS number FROM memory_interactionstate
                WHERE forest_id = %s AND position <= %s ORDER BY position DESC LIMIT %s
            ) latest GROUP BY branch_id ORDER BY max(position) DESC LIMIT %s
        ) last JOIN memory_interactionstate s ON s.id = last.id LEFT JOIN memory_topic t ON t.root_id = s.root_id LEFT JOIN {BY_LOCALIZATION}
        ORDER BY last.position DESC
        """,
        [TELLING_TURNS, TELLING_TURNS, forest, read.until(as_of), LOOKED_BACK, OPEN_BRANCHES, BY_HAND],
    )
    return Open({row[_BRANCH]: row for row in rows}, telling_share(sum(row[-2] for row in rows), sum(row[-1] for row in rows)))


Words = Mapping[int, frozenset[str]]  # by state, or by the root of a tree


@dataclass(frozen=True, slots=True)
class Spoken:
    """The vectors of an input as parameters: of itself; `parts` brings those of its sentences and of its descriptions (`pieces.Spoken`)."""

    whole: str
    parts: Callable[[], tuple[Sequence[str], Sequence[str]]]


class _Piece(NamedTuple):
    """Cosines of a piece: with the whole input, the nearest of it and its sentences, the nearest of its descriptions. A thousand are read for an input."""

    whole: float
    sentence: float
    description: float | None


@dataclass(slots=True)
class _Found:
    """What the statements brought: cosines by state, stems and names by state and by tree."""

    tree_stems: Words
    tree_names: Words
    placed: dict[int, float] = field(default_factory=dict)
    turns: dict[int, float] = field(default_factory=dict)
    pieces: dict[int, dict[int, _Piece]] = field(default_factory=lambda: defaultdict(dict))
    centres: dict[int, float] = field(default_factory=dict)  # by the last state
    questions: dict[int, dict[tuple[int, int], str]] = field(default_factory=lambda: defaultdict(dict))
    answered: dict[int, dict[tuple[int, int], float]] = field(default_factory=lambda: defaultdict(dict))
    stems: Words = field(default_factory=dict)
    joined: dict[int, float] = field(default_factory=dict)


def lanes(
    forest: int,
    query: Query,
    spoken: Spoken,
    words: tuple[Words, Words],
    branches: Collection[int],
    further: Sequence[Sequence[Any]],
    recalled: Iterable[Interaction],
    as_of: int | None = None,
) -> tuple[dict[int, Lane], Lanes | None, list[Lane]]:
    """The lanes of these branches, by branch id, of `further` ones, and those of branches as they stood before a turn that was put there unsurely.

    Of `branches` the root, the last states and those recalled of the tree are looked at, of `further` ones, given by where they end (`Open.ends`), the root and
    the last state, without their pieces. `words`: those of the input that whole trees have (`tree_words`).
    A branch as it stood before a turn is left out when what was its end then is deleted between two of the statements."""
    found = _Found(*words)
    latest, ends = _bring_latest(found, forest, spoken.whole, branches, as_of)
    cuts = [_Cut(branch, states[:at], states[at:]) for branch, at in doubtful(latest, found.placed) for states in [latest[branch]]]
    before_cuts = read.interactions(forest, [cut.kept[-1] for cut in cuts]) if cuts else {}
    cuts = [cut for cut in cuts if cut.kept[-1] in before_cuts]
    told: dict[int, set[int]] = defaultdict(set)  # by root
    for state in recalled:
        told[state.root].add(state.id)
    looked = {branch: {root, *states[-RECENT_STATES:], *told[root]} for branch, states in latest.items() for root in [ends[branch].root]}
    before = [{end.root, *cut.kept[-RECENT_STATES:], *told[end.root]} - set(cut.gone) for cut in cuts for end in [before_cuts[cut.kept[-1]]]]
    near = set().union(*looked.values(), *before)
    every = near.union(*latest.values(), *((row[_ID], row[_ROOT]) for row in further))
    stems = beside(lambda: _stems(forest, query, every))
    _bring_cosines(found, spoken, near, set().union(*latest.values()) - near, every - found.turns.keys())
    _bring_centres(found, forest, spoken.whole, list(before_cuts.values()), as_of)
    _bring_questions(found, forest, latest.values())
    found.stems = stems()
    lanes = {branch: _lane(query, ends[branch], states, looked[branch], found) for branch, states in latest.items()}
    earlier = [_before(query, before_cuts[cut.kept[-1]], cut, lanes[cut.branch], around, found) for cut, around in zip(cuts, before, strict=True)]
    return lanes, _further(query, further, found) if further else None, earlier


@dataclass(frozen=True, slots=True)
class _Cut:
    """A branch cut before a state that was put there unsurely: the ids of its last states, those kept and those cut off, both oldest first."""

    branch: int
    kept: Sequence[int]
    gone: Sequence[int]


def _before(query: Query, tip: Interaction, cut: _Cut, whole: Lane, looked: Collection[int], found: _Found) -> Lane:
    """The lane of a branch as it stood before the cut. `whole`: that of the branch as it is."""
    aside = cut.gone[0]
    lane = _lane(query, tip, cut.kept, looked, found)
    return replace(
        lane,
        terms=cut_off(whole.terms, whole.words, cut.kept, whole.root_terms),
        placed={**lane.placed, aside: whole.placed[aside]},
        joined={**lane.joined, aside: whole.joined[aside]} if aside in whole.joined else lane.joined,
        aside=aside,
    )


def _lane(query: Query, tip: Interaction, latest: Sequence[int], looked: Collection[int], found: _Found) -> Lane:
    """The lane that ends with `tip`."""
    of = {state: found.pieces[state] for state in {*looked, *latest}}
    said = {state: of[state][pieces.SAID].whole for state in looked if pieces.SAID in of[state]}
    cosines = {
        "tip": found.turns.get(tip.id),
        "said": said.get(tip.id),
        "centre": found.centres.get(tip.id),
        "best": max((found.turns[state] for state in looked if state in found.turns), default=None),
        "any_said": max(said.values(), default=None),
        "root": said.get(tip.root),
    }
    every = [piece for state in looked for piece in of[state].values()]
    return Lane(
        tip=tip,
        latest=latest,
        turns={state: found.turns[state] for state in latest if state in found.turns},
        near={name: cosine for name, cosine in cosines.items() if cosine is not None},
        sentences=sorted((piece.sentence for piece in every), reverse=True)[:BEST_SENTENCES],
        described=max((piece.description for piece in every if piece.description is not None), default=None),
        pieces={
            (state, number): piece.sentence if piece.description is None else max(piece.sentence, piece.description)
            for state in latest
            for number, piece in of[state].items()
            if state in looked or pieces.is_offered(number)
        },
        questions={key: question for state in latest for key, question in found.questions[state].items()},
        answered={key: cosine for state in latest[:-1] for key, cosine in found.answered[state].items()},
        terms=_tree_terms(query, tip, looked, found),
        tip_terms=found.stems.get(tip.id, NONE),
        root_terms=found.stems.get(tip.root, NONE),
        names=found.tree_names.get(tip.root, NONE),
        words={state: found.stems.get(state, NONE) for state in latest},
        placed={state: found.placed.get(state, 1.0) for state in latest},
        joined={state: found.joined[state] for state in latest if state in found.joined},
    )


def _further(query: Query, ends: Sequence[Sequence[Any]], found: _Found) -> Lanes:
    """The lanes of branches of which only the last state, given as a row, and the root were looked at."""
    ids, roots = [row[_ID] for row in ends], [row[_ROOT] for row in ends]
    turns = np.array([[found.turns.get(state, np.nan) for state in of] for of in (ids, roots)])
    near = np.full((len(ends), len(NEAR)), np.nan)
    near[:, NEAR.index("tip")] = near[:, NEAR.index("centre")] = turns[0]
    near[:, NEAR.index("best")] = np.fmax(*turns)
    tip_terms = having(query.terms, [found.stems.get(state, NONE) for state in ids])
    root_terms = having(query.terms, [found.stems.get(root, NONE) for root in roots])
    told = having(query.terms, [found.tree_stems.get(root, NONE) for root in roots])
    topics = having(query.terms, [terms(row[_TOPIC]) for row in ends])
    return Lanes(
        query.terms,
        query.names,
        states=np.array([(row[_ID], row[_BRANCH], row[_ROOT], row[_POSITION]) for row in ends], dtype=np.int64),
        near=near,
        terms=tip_terms | root_terms | told | topics,
        tip_terms=tip_terms,
        root_terms=root_terms,
        names=having(query.names, [found.tree_names.get(root, NONE) for root in roots]),
        placed=np.array([1.0 if row[_SURE] is None else row[_SURE] for row in ends]),
        joined=np.ones(len(ends)),
        aside=np.zeros(len(ends), dtype=bool),
        tip=lambda at: read.interaction(ends[at]),
    )


def _tree_terms(query: Query, tip: Interaction, looked: Iterable[int], found: _Found) -> frozenset[str]:
    """Which of the input's stems the tree has, as far as it was looked at; its topic counts."""
    topic = frozenset(terms(tip.topic)).intersection(query.terms)
    return topic.union(found.tree_stems.get(tip.root, NONE), *[found.stems[state] for state in looked if state in found.stems])


# Vectors have length 1, so that the inner product is the cosine, and costs a third of it.


def _bring_latest(found: _Found, forest: int, said: str, branches: Collection[int], as_of: int | None) -> tuple[dict[int, list[int]], dict[int, Interaction]]:
    """The ids of each branch's last states, oldest first, and the last of them as a value.

    Of each is brought with which probability it was put there, how near it is to the one before and to the input; of the branch its centre."""
    rows = read.select(
        f"""
        SELECT wanted.branch, last.id, {PLACED}, -(v.vector <#> lag(v.vector) OVER (PARTITION BY wanted.branch ORDER BY last.position)),
            -(v.vector <#> %s::halfvec), 1 - (avg(v.vector) OVER (PARTITION BY wanted.branch) <=> %s::halfvec), {read.COLUMNS}
        FROM unnest(%s::bigint[]) AS wanted(branch) CROSS JOIN LATERAL (
            SELECT id, turn_id, position, row_number() OVER (ORDER BY position DESC) AS number FROM memory_interactionstate
            WHERE forest_id = %s AND branch_id = wanted.branch AND position <= %s ORDER BY position DESC LIMIT %s
        ) last
        LEFT JOIN memory_routingdecision d ON d.turn_id = last.turn_id AND NOT d.method = ANY(%s)
        LEFT JOIN memory_statevector v ON v.state_id = last.id AND v.kind = %s
        LEFT JOIN memory_interactionstate s ON s.id = last.id AND last.number = 1 LEFT JOIN memory_topic t ON t.root_id = s.root_id
        ORDER BY last.position
        """,
        [said, said, read.ids(branches), forest, read.until(as_of), max(LATEST_STATES, CENTRE_STATES), BY_HAND, TURN],
    )
    of: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        of[row[0]].append(row)
    for last in of.values():
        for number, (_, state, placed, joined, turn, *_) in enumerate(last[-LATEST_STATES:]):
            if placed is not None:
                found.placed[state] = placed
            if joined is not None and number:
                found.joined[state] = joined
            if turn is not None:
                found.turns[state] = turn
        end, centre = last[-1][1], last[-1][5]
        if centre is not None:
            found.centres[end] = centre
    latest = {branch: [row[1] for row in last[-LATEST_STATES:]] for branch, last in of.items()}
    return latest, {branch: read.interaction(last[-1][6:]) for branch, last in of.items()}


def _bring_cosines(found: _Found, spoken: Spoken, states: Collection[int], rest: Collection[int], turns: Collection[int]) -> None:
    """The cosines of the input with the pieces of states, of the `rest` with those that wait for the user; with these `turns`."""
    parts = spoken.parts()
    sentences, descriptions = (", ".join(["-(vector <#> %s::halfvec)"] * len(said)) or "NULL::float8" for said in parts)
    rows = read.select(
        f"""
        SELECT state_id, NULL, -(vector <#> %s::halfvec), NULL, NULL FROM memory_statevector WHERE state_id = ANY(%s::bigint[]) AND kind = %s
        UNION ALL
        SELECT state_id, number, -(vector <#> %s::halfvec), greatest({sentences}), greatest({descriptions})
        FROM memory_piecevector WHERE state_id = ANY(%s::bigint[]) OR state_id = ANY(%s::bigint[]) AND number BETWEEN %s AND %s
        """,
        [
            *(spoken.whole, read.ids(turns), TURN),
            *(spoken.whole, *parts[0], *parts[1]),
            *(read.ids(states), read.ids(rest), pieces.QUESTIONS, pieces.INTRODUCED - 1),
        ],
    )
    for state, number, whole, sentence, description in rows:
        if number is None:
            found.turns[state] = whole
        else:
            found.pieces[state][number] = _Piece(whole, whole if sentence is None else max(whole, sentence), description)


def _bring_centres(found: _Found, forest: int, said: str, ends: Sequence[Interaction], as_of: int | None) -> None:
    """The cosine of the input with the mean of the branch's turns up to each of these states."""
    if not ends:
        return
    rows = read.select(
        """
        SELECT wanted.tip, 1 - (avg(v.vector) <=> %s::halfvec) FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS wanted(tip, branch, until)
        CROSS JOIN LATERAL (
            SELECT id FROM memory_interactionstate WHERE forest_id = %s AND branch_id = wanted.branch AND position <= least(wanted.until, %s)
            ORDER BY position DESC LIMIT %s
        ) last JOIN memory_statevector v ON v.state_id = last.id AND v.kind = %s GROUP BY wanted.tip
        """,
        [said, [end.id for end in ends], [end.branch for end in ends], [end.position for end in ends], forest, read.until(as_of), CENTRE_STATES, TURN],
    )
    found.centres.update(rows)


def _bring_questions(found: _Found, forest: int, latest: Iterable[Sequence[int]]) -> None:
    """What the last answers left open, and how near the user's next words came to it."""
    asking = {state for states in latest for state in states if any(pieces.QUESTIONS <= number < pieces.ITEMS for number in found.pieces[state])}
    if not asking:
        return
    after = {state: later for states in latest for state, later in pairwise(states)}
    rows = read.select(
        """
        SELECT s.id, s.assistant_text, asked.number, -(asked.vector <#> said.vector)
        FROM unnest(%s::bigint[], %s::bigint[]) AS pair(state, after) JOIN memory_interactionstate s ON s.forest_id = %s AND s.id = pair.state
        LEFT JOIN memory_piecevector said ON said.state_id = pair.after AND said.number = %s
        LEFT JOIN memory_piecevector asked ON said.vector IS NOT NULL AND asked.state_id = pair.state AND asked.number >= %s AND asked.number < %s
        """,
        [sorted(asking), [after.get(state) for state in sorted(asking)], forest, pieces.SAID, pieces.QUESTIONS, pieces.ITEMS],
    )
    for state, answer in {row[:2] for row in rows}:
        for number, question in pieces.open_questions(answer).items():
            if number in found.pieces[state]:
                found.questions[state][state, number] = question
    for state, _, number, cosine in rows:
        if number is not None:
            found.answered[state][state, number] = cosine


def _stems(forest: int, query: Query, states: Iterable[int]) -> dict[int, frozenset[str]]:
    """Which of the input's stems these states have: looked up by the index that has the states of each."""
    rows = read.select(
        """
        SELECT wanted.term, (
            SELECT array_agg(state_id) FROM memory_posting WHERE forest_id = %s AND kind = %s AND term = wanted.term AND state_id = ANY(%s::bigint[])
        ) FROM unnest(%s::text[]) AS wanted(term)
        """,
        [forest, PostingKind.TERM, read.ids(states), list(query.terms)],
    )
    return _turned((said, having or ()) for said, having in rows)


def _turned(having: Iterable[tuple[str, Iterable[int]]]) -> dict[int, frozenset[str]]:
    """Words with those that have each, turned round."""
    found: dict[int, set[str]] = defaultdict(set)
    for said, ids in having:
        for one in ids:
            found[one].add(said)
    return {one: frozenset(said) for one, said in found.items()}


def tree_words(forest: int, query: Query, rare: Collection[str], as_of: int | None = None) -> tuple[Words, Words]:
    """Which of the rare stems, those that are looked up in whole trees, and of the input's names, each tree has, by root."""
    wanted = {PostingKind.TERM: list(rare), PostingKind.ENTITY: list(query.names)}
    rows = read.select(
        """
        SELECT wanted.kind, wanted.term, (
            SELECT array_agg(DISTINCT s.root_id) FROM memory_posting p CROSS JOIN LATERAL (
                SELECT root_id FROM memory_interactionstate WHERE forest_id = p.forest_id AND id = p.state_id AND position <= %s OFFSET 0
            ) s WHERE p.forest_id = %s AND p.kind = wanted.kind AND p.term = wanted.term
        ) FROM unnest(%s::smallint[], %s::text[]) AS wanted(kind, term)
        """,
        [
            *(read.until(as_of), forest),
            *([kind for kind, words in wanted.items() for _ in words], [word for words in wanted.values() for word in words]),
        ],
    )
    stems, names = (_turned((said, roots or ()) for of, said, roots in rows if of == kind) for kind in wanted)
    return stems, names
