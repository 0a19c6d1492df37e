"""What ranking looks at of the open branches (paper §3.2), in a few statements for all of them: last states, cosines, words in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from memory.engine import pieces
from memory.engine.forest import Interaction, Lane
from memory.engine.query import Query
from memory.engine.recall import CENTRE_STATES, LATEST_STATES, OPEN_BRANCHES, RECENT_STATES, TELLING_TURNS, cut_off, doubtful, telling_share
from memory.engine.terms import terms
from memory.models import PostingKind, RoutingDecision, StateVector
from memory.store import read

LOOKED_BACK = 1_024  # latest states among which the open branches are found
BEST_SENTENCES = 3
TURN = StateVector.Kind.STATE.value
BY_HAND = [RoutingDecision.Method.GIVEN.value, RoutingDecision.Method.CORRECTED.value]  # a person put it there: surely


@dataclass(frozen=True, slots=True)
class Latest:
    """What the latest turns of a forest say: the branches used last, newest first, and the share of turns that tell rather than ask."""

    branches: tuple[int, ...]
    telling: float


def latest(forest: int, as_of: int | None = None) -> Latest:
    """The latest turns of a forest, at most LOOKED_BACK of them; at most OPEN_BRANCHES branches."""
    rows = read.select(
        """
        SELECT branch_id, max(position), count(*) FILTER (WHERE number <= %s AND tells), count(*) FILTER (WHERE number <= %s) FROM (
            SELECT branch_id, position, tells, row_number() OVER (ORDER BY position DESC) AS number FROM memory_interactionstate
            WHERE forest_id = %s AND position <= %s ORDER BY position DESC LIMIT %s
        ) last GROUP BY branch_id ORDER BY max(position) DESC LIMIT %s
        """,
        [TELLING_TURNS, TELLING_TURNS, forest, read.until(as_of), LOOKED_BACK, OPEN_BRANCHES],
    )
    return Latest(tuple(branch for branch, *_ in rows), telling_share(sum(row[2] for row in rows), sum(row[3] for row in rows)))


@dataclass(frozen=True, slots=True)
class Spoken:
    """The vectors of an input as parameters: of itself, its sentences, its descriptions (`pieces.Spoken`)."""

    whole: str
    sentences: Sequence[str]
    descriptions: Sequence[str]


class _Piece(NamedTuple):
    """Cosines of a piece: with the whole input, the nearest of it and its sentences, the nearest of its descriptions. A thousand are read for an input."""

    whole: float
    sentence: float
    description: float | None


@dataclass(slots=True)
class _Found:
    """What the statements brought: cosines by state, stems and names by state and by tree."""

    turns: dict[int, float] = field(default_factory=dict)
    pieces: dict[int, dict[int, _Piece]] = field(default_factory=lambda: defaultdict(dict))
    centres: dict[int, float] = field(default_factory=dict)  # by the last state
    questions: dict[int, dict[tuple[int, int], str]] = field(default_factory=lambda: defaultdict(dict))
    answered: dict[int, dict[tuple[int, int], float]] = field(default_factory=lambda: defaultdict(dict))
    stems: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    tree_stems: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    tree_names: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    placed: dict[int, float] = field(default_factory=dict)
    joined: dict[int, float] = field(default_factory=dict)


def lanes(
    forest: int,
    query: Query,
    spoken: Spoken,
    rare: Collection[str],
    branches: Collection[int],
    further: Collection[int],
    recalled: Iterable[Interaction],
    as_of: int | None = None,
) -> tuple[dict[int, Lane], dict[int, Lane], list[Lane]]:
    """The lanes of these branches and of `further` ones, by branch id, and those of branches as they stood before a turn that was put there unsurely.

    `rare` are the stems that are looked up in whole trees, all others only in the states looked at: the root and, of `branches`, the last ones and those
    recalled of the tree, of `further` the last one, without their pieces. A branch whose end is deleted between two of the statements is left
    out."""
    found = _Found()
    latest = _bring_latest(found, forest, branches, further, as_of)
    cuts = [_Cut(branch, states[:at], states[at:]) for branch, at in doubtful(latest, found.placed) for states in [latest[branch]]]
    ends = read.interactions(forest, [*(states[-1] for states in latest.values()), *(cut.kept[-1] for cut in cuts)])
    latest = {branch: states for branch, states in latest.items() if states[-1] in ends}
    cuts = [cut for cut in cuts if cut.branch in latest and cut.kept[-1] in ends]
    whole = {branch: states for branch, states in latest.items() if branch not in further}
    told: dict[int, set[int]] = defaultdict(set)  # by root
    for state in recalled:
        told[state.root].add(state.id)
    looked = {branch: {ends[states[-1]].root, *states[-RECENT_STATES:]} for branch, states in latest.items()}
    for branch, states in whole.items():
        looked[branch] |= told[ends[states[-1]].root]
    before = [{ends[cut.kept[-1]].root, *cut.kept[-RECENT_STATES:], *told[ends[cut.kept[-1]].root]} - set(cut.gone) for cut in cuts]
    every = set().union(*looked.values(), *before)
    near = set().union(*(looked[branch] for branch in whole), *before)
    _bring_cosines(found, spoken, sorted(near), sorted({state for states in whole.values() for state in states} - near), sorted(every - near))
    _bring_centres(found, forest, spoken.whole, [ends[states[-1]] for states in whole.values()] + [ends[cut.kept[-1]] for cut in cuts], as_of)
    found.centres |= {latest[branch][-1]: found.turns[latest[branch][-1]] for branch in latest.keys() - whole.keys() if latest[branch][-1] in found.turns}
    _bring_questions(found, forest, whole.values())
    _bring_words(found, forest, query, rare, {end.root for end in ends.values()}, sorted(every.union(*latest.values())), as_of)
    lanes = {branch: _lane(query, ends[states[-1]], states, looked[branch], found, far=branch not in whole) for branch, states in latest.items()}
    earlier = [_before(query, ends[cut.kept[-1]], cut, lanes[cut.branch], around, found) for cut, around in zip(cuts, before, strict=True)]
    return {branch: lanes[branch] for branch in whole}, {branch: lanes[branch] for branch in latest.keys() - whole.keys()}, earlier


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


def _lane(query: Query, tip: Interaction, latest: Sequence[int], looked: Collection[int], found: _Found, *, far: bool = False) -> Lane:
    """The lane that ends with `tip`; of one that is `far` without pieces."""
    stems = frozenset(query.terms)
    of = {state: found.pieces[state] for state in {*looked, *latest}} if not far else {}
    said = {state: of[state][pieces.SAID].whole for state in looked if pieces.SAID in of.get(state, {})}
    cosines = {
        "tip": found.turns.get(tip.id),
        "said": said.get(tip.id),
        "centre": found.centres.get(tip.id),
        "best": max((found.turns[state] for state in looked if state in found.turns), default=None),
        "any_said": max(said.values(), default=None),
        "root": said.get(tip.root),
    }
    every = [piece for state in looked for piece in of.get(state, {}).values()]
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
            for number, piece in of.get(state, {}).items()
            if state in looked or pieces.is_offered(number)
        },
        questions={key: question for state in latest for key, question in found.questions[state].items()},
        answered={key: cosine for state in latest[:-1] for key, cosine in found.answered[state].items()},
        terms=frozenset(found.tree_stems[tip.root].union(stems.intersection(terms(tip.topic)), *(found.stems[state] for state in looked))),
        tip_terms=frozenset(found.stems[tip.id]),
        root_terms=frozenset(found.stems[tip.root]),
        names=frozenset(found.tree_names[tip.root]),
        words={state: frozenset(found.stems[state]) for state in latest},
        placed={state: found.placed.get(state, 1.0) for state in latest},
        joined={state: found.joined[state] for state in latest if state in found.joined},
    )


def _bring_latest(found: _Found, forest: int, branches: Collection[int], further: Collection[int], as_of: int | None) -> dict[int, list[int]]:
    """The ids of each branch's last states, oldest first; of `further` ones that of the last state.

    Of each is brought with which probability it was put there, where localization placed it, and how near it is to the one before."""
    wanted = dict.fromkeys(further, 1) | dict.fromkeys(branches, LATEST_STATES)
    rows = read.select(
        """
        SELECT wanted.branch, last.id, CASE WHEN d.probability IS NOT NULL THEN least(1, greatest(0, d.probability)) END,
            -(v.vector <#> lag(v.vector) OVER (PARTITION BY wanted.branch ORDER BY last.position))
        FROM unnest(%s::bigint[], %s::int[]) AS wanted(branch, states) CROSS JOIN LATERAL (
            SELECT id, turn_id, position FROM memory_interactionstate WHERE forest_id = %s AND branch_id = wanted.branch AND position <= %s
            ORDER BY position DESC LIMIT wanted.states
        ) last
        LEFT JOIN memory_routingdecision d ON d.turn_id = last.turn_id AND NOT d.method = ANY(%s)
        LEFT JOIN memory_statevector v ON v.state_id = last.id AND v.kind = %s
        ORDER BY last.position
        """,
        [list(wanted), list(wanted.values()), forest, read.until(as_of), BY_HAND, TURN],
    )
    latest: dict[int, list[int]] = defaultdict(list)
    for branch, state, placed, joined in rows:
        latest[branch].append(state)
        if placed is not None:
            found.placed[state] = placed
        if joined is not None:
            found.joined[state] = joined
    return dict(latest)


# Vectors have length 1, so that the inner product is the cosine, and costs a third of it.


def _bring_cosines(found: _Found, spoken: Spoken, states: list[int], rest: list[int], far: list[int]) -> None:
    """The cosines of the input with turns and their pieces; of the `rest` with the pieces that wait for the user, of those `far` with none."""
    sentences = ", ".join(["-(vector <#> %s::halfvec)"] * len(spoken.sentences)) or "NULL::float8"
    descriptions = ", ".join(["-(vector <#> %s::halfvec)"] * len(spoken.descriptions)) or "NULL::float8"
    rows = read.select(
        f"""
        SELECT state_id, NULL, -(vector <#> %s::halfvec), NULL, NULL FROM memory_statevector WHERE state_id = ANY(%s) AND kind = %s
        UNION ALL
        SELECT state_id, number, -(vector <#> %s::halfvec), greatest({sentences}), greatest({descriptions})
        FROM memory_piecevector WHERE state_id = ANY(%s) OR state_id = ANY(%s) AND number BETWEEN %s AND %s
        """,
        [
            *(spoken.whole, [*states, *rest, *far], TURN),
            *(spoken.whole, *spoken.sentences, *spoken.descriptions),
            *(states, rest, pieces.QUESTIONS, pieces.INTRODUCED - 1),
        ],
    )
    for state, number, whole, sentence, description in rows:
        if number is None:
            found.turns[state] = whole
        else:
            found.pieces[state][number] = _Piece(whole, whole if sentence is None else max(whole, sentence), description)


def _bring_centres(found: _Found, forest: int, said: str, ends: Sequence[Interaction], as_of: int | None) -> None:
    """The cosine of the input with the mean of the branch's turns up to each of these states."""
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
    for state, answer in read.select("SELECT id, assistant_text FROM memory_interactionstate WHERE forest_id = %s AND id = ANY(%s)", [forest, sorted(asking)]):
        for number, question in pieces.open_questions(answer).items():
            if number in found.pieces[state]:
                found.questions[state][state, number] = question
    pairs = [(state, after) for states in latest for state, after in pairwise(states) if state in asking]
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


def _bring_words(
    found: _Found,
    forest: int,
    query: Query,
    rare: Collection[str],
    roots: Collection[int],
    states: Sequence[int],
    as_of: int | None,
) -> None:
    """Which of the input's stems these states have, which of the rare ones and of its names the trees.

    A word is looked up by the index that has the states of each; the planner alone would read all words of these states."""
    term, entity, trees, until = PostingKind.TERM, PostingKind.ENTITY, list(roots), read.until(as_of)
    rows = read.select(
        """
        SELECT 'state', p.state_id, p.term FROM unnest(%s::text[]) AS wanted(term) CROSS JOIN LATERAL (
            SELECT state_id, term FROM memory_posting WHERE forest_id = %s AND kind = %s AND term = wanted.term AND state_id = ANY(%s) OFFSET 0
        ) p
        UNION ALL
        SELECT DISTINCT 'tree', s.root_id, p.term FROM memory_posting p JOIN memory_interactionstate s ON s.id = p.state_id
        WHERE p.forest_id = %s AND p.kind = %s AND p.term = ANY(%s) AND s.root_id = ANY(%s) AND s.position <= %s
        UNION ALL
        SELECT DISTINCT 'name', s.root_id, p.term FROM memory_posting p JOIN memory_interactionstate s ON s.id = p.state_id
        WHERE p.forest_id = %s AND p.kind = %s AND p.term = ANY(%s) AND s.root_id = ANY(%s) AND s.position <= %s
        """,
        [
            *(list(query.terms), forest, term, list(states)),
            *(forest, term, list(rare), trees, until),
            *(forest, entity, list(query.entities), trees, until),
        ],
    )
    brought = {"state": found.stems, "tree": found.tree_stems, "name": found.tree_names}
    for of, key, said in rows:
        brought[of][key].add(said)
