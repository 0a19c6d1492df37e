"""Hybrid recall (paper §3.2): what to ask the indexes for, and how their answers are put on one scale.

Limits are the paper's (20 nearest states, 12 states for each topic anchor, terms in more than 40 % of the states say nothing) and
our own measurements (docs/decisions): a query term costs in proportion to the states that have it, so the rarest are looked up and common ones are not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine.forest import Anchor, Channel, Hit, Recalled
from memory.engine.query import Query
from memory.engine.terms import content_terms

CHANNELS: Final[tuple[Channel, ...]] = ("semantic", "keyword", "entity", "topic")
SEMANTIC_LIMIT: Final = 20  # nearest states
KEYWORD_LIMIT: Final = 20  # best states by BM25
ENTITY_LIMIT: Final = 20  # best states by named entities
ANCHOR_STATES: Final = 12  # latest states of each anchored topic
ANCHOR_LIMIT: Final = 3  # anchors followed
RECENT_BRANCHES: Final = 8  # branches used last: an elliptical turn resumes one of these without a word in common
LANE_LIMIT: Final = 14  # branches ranked by all that is known of them: the active one, those used last, then the best recalled
OPEN_BRANCHES: Final = 256  # branches ranked at all: of the others, those used last are looked at where they end and where they began
RECENT_STATES: Final = 4  # last states of a branch that are looked at whole, beside its root and what was recalled of its tree
LATEST_STATES: Final = 12  # … of which the open questions and lists are looked at
CENTRE_STATES: Final = 16  # latest turns of a branch that its centre is the mean of
DOUBTED: Final = 0.85  # a turn put on a branch with less than this probability may belong elsewhere: the branch before it is a place of its own
DOUBTS: Final = 3  # such places of one branch, the most doubtful
EARLIER_PLACES: Final = 14  # … and of all branches together
TELLING_BEFORE: Final = (12, 0.3)  # so many imagined turns before the first, and the share of them that tell: most people ask
TELLING_TURNS: Final = 48  # latest turns from which is read whether a person tells or asks
TERM_LIMIT: Final = 12  # query terms looked up
SCAN_LIMIT: Final = 4_000  # postings read for one query, about
COMMON_SHARE: Final = 0.40  # terms in more states than this don't count (paper §3.2)
FEW_STATES: Final = 5  # … which means nothing in a forest this small
ANCHOR_MATCH: Final = 0.5  # an anchor counts above this match (paper §3.2)
ANCHOR_SIMILARITY: Final = 0.45  # cosine of query and topic key from which the meaning alone names a topic
FUSION: Final[Mapping[Channel, float]] = {"semantic": 0.55, "keyword": 0.45, "entity": 0.15, "topic": 0.1}
COMPANY: Final = 0.2  # what the best neighbour and the best of the branch add
COSINE_SPREAD: Final = 0.03  # least deviation of cosines, and of channel scores, that counts as one
SCORE_SPREAD: Final = 0.5
BM25_K1: Final = 1.2
BM25_B: Final = 0.75


def is_common(frequency: int, states: int) -> bool:
    """Whether a term stands in too many of the forest's states to say anything (paper §3.2: more than 40 %)."""
    return states > FEW_STATES and frequency > COMMON_SHARE * states


def idf(frequency: int, states: int) -> float:
    """Inverse document frequency as BM25 has it, never negative: ln(1 + (N − n + ½) / (n + ½))."""
    return math.log(1 + max(0.0, states - frequency + 0.5) / (frequency + 0.5))


def bm25(query: Iterable[str], counts: Mapping[str, int], length: int, document_frequency: Mapping[str, int], states: int, average_length: float) -> float:
    """BM25 (k₁ 1.2, b 0.75) of a text given as term counts and length, for distinct query terms; common terms count nothing."""
    total = 0.0
    for term in query:
        if (count := counts.get(term, 0)) and not is_common(document_frequency.get(term, 0), states):
            norm = BM25_K1 * (1 - BM25_B + BM25_B * length / max(average_length, 1.0))
            total += idf(document_frequency.get(term, 0), states) * count * (BM25_K1 + 1) / (count + norm)
    return total


def select_terms(query: Query, document_frequency: Mapping[str, int], states: int) -> list[str]:
    """The query terms worth looking up, rarest first: known to the forest, not common, at most TERM_LIMIT, as many as SCAN_LIMIT pays for (one at least).

    Words of requests and small talk come last: “explain” only matters when there is nothing better."""
    informative = set(query.content)
    known = [term for term in query.terms if document_frequency.get(term, 0) > 0 and not is_common(document_frequency[term], states)]
    known.sort(key=lambda term: (term not in informative, document_frequency[term]))
    chosen: list[str] = []
    scanned = 0
    for term in known[:TERM_LIMIT]:
        scanned += document_frequency[term]
        if chosen and scanned > SCAN_LIMIT:
            break
        chosen.append(term)
    return chosen


def match_anchors(query: Query, topics: Sequence[tuple[int, str, Sequence[str]]], similarity: Mapping[int, float]) -> list[Anchor]:
    """The trees whose topic the input names, best first, at most ANCHOR_LIMIT (ARBORMEM §2).

    `topics` are (root, key, variants); `similarity` maps a root to the cosine of the query and its topic key, where known.
    The match is the larger of two: the share of a name's informative stems that the input has (half of a one-stem name: one word is soon said by chance
    unless it is a name of something), and how far the cosine exceeds ANCHOR_SIMILARITY, scaled to reach 1 at .8."""
    said = set(query.terms)
    named = {word for entity in query.entities for word in entity.split()}
    found = []
    for root, key, variants in topics:
        best = 0.0
        for name in dict.fromkeys((key, *variants)):
            stems = content_terms(name)
            if stems:
                share = sum(stem in said for stem in stems) / len(stems)
                if len(stems) == 1 and not named.intersection(name.lower().split()):
                    share *= 0.75
                best = max(best, share)
        meaning = (similarity.get(root, 0.0) - ANCHOR_SIMILARITY) / (0.8 - ANCHOR_SIMILARITY)
        match = max(best, min(1.0, 0.5 + 0.5 * meaning) if meaning > 0 else 0.0)
        if match > ANCHOR_MATCH:
            found.append(Anchor(root, key, min(1.0, match)))
    found.sort(key=lambda anchor: (-anchor.match, anchor.root))
    return found[:ANCHOR_LIMIT]


def fused(channels: Mapping[Channel, Mapping[int, Hit]], recalled: Sequence[Recalled] = ()) -> dict[int, float]:
    """One score for each state that any channel found: the weighted sum of its standardized cosine and channel scores, raised a little by good company
    (its parent or child, its branch). Only the order means anything; it orders supplemental turns (`ranked` policy).

    `recalled` knows the cosine of states that other channels found, and who is next to whom; without it a missing cosine counts as the least one.
    Scores fuse better than reciprocal ranks (LOCALIZATION)."""
    states = sorted({state for hits in channels.values() for state in hits})
    if not states:
        return {}
    known = {found.interaction.id: found for found in recalled}
    cosines = {state: found.similarity for state, found in known.items() if found.similarity is not None}
    cosines |= {state: hit.score for state, hit in channels.get("semantic", {}).items() if state not in cosines}
    least = min((cosines[state] for state in states if state in cosines), default=0.0)
    score = FUSION["semantic"] * _standard([cosines.get(state, least) for state in states], COSINE_SPREAD)
    for channel, hits in channels.items():
        if channel != "semantic":
            score = score + FUSION[channel] * _standard([hits[state].score if state in hits else 0.0 for state in states], SCORE_SPREAD)
    alone = dict(zip(states, score.tolist(), strict=True))
    lowest = min(alone.values())
    beside, branch = dict.fromkeys(states, lowest), dict[int, float]()
    for state in states:
        if (found := known.get(state)) is None:
            continue
        branch[found.interaction.branch] = max(branch.get(found.interaction.branch, lowest), alone[state])
        parent = found.interaction.parent
        if parent in alone:
            beside[state] = max(beside[state], alone[parent])
            beside[parent] = max(beside[parent], alone[state])
    return {
        state: alone[state] + COMPANY * beside[state] + COMPANY * (branch[known[state].interaction.branch] if state in known else lowest) for state in states
    }


def ranked_branches(wanted: Iterable[int], latest: Sequence[int], scores: Mapping[int, float], branch_of: Mapping[int, int]) -> list[int]:
    """The branches that are ranked, at most LANE_LIMIT beside those `wanted` in any case: the ones used last, then those of the best scored states."""
    chosen = dict.fromkeys(wanted)
    best = (branch_of[state] for state in sorted(scores, key=lambda state: -scores[state]) if state in branch_of)
    for branch in (*latest, *best):
        if branch not in chosen and len(chosen) < LANE_LIMIT:
            chosen[branch] = None
    return list(chosen)


def further_branches(chosen: Collection[int], latest: Iterable[int]) -> list[int]:
    """The branches that are ranked beside those `chosen`, by where they end and began: no branch is lost while at most OPEN_BRANCHES are open.

    `latest` are the branches of the forest, the one used last first."""
    return [branch for branch in latest if branch not in chosen][: max(0, OPEN_BRANCHES - len(chosen))]


def window_branches(then: Sequence[Recalled], scores: Mapping[int, float]) -> list[int]:
    """The branches of the states of a time that are ranked, at most LANE_LIMIT: those used last then, those of the best scored states, of the nearest ones."""
    then = sorted(then, key=lambda found: -found.interaction.position)
    latest = list(dict.fromkeys(found.interaction.branch for found in then))[:RECENT_BRANCHES]
    least = min(scores.values(), default=0.0) - 2.0  # cosines come after every score
    near = {found.interaction.id: scores.get(found.interaction.id, least + (found.similarity or -1.0)) for found in then}
    return ranked_branches((), latest, near, {found.interaction.id: found.interaction.branch for found in then})


def _standard(values: Sequence[float], spread: float) -> NDArray[np.float64]:
    """Distance from the mean in deviations, which count at least `spread`: a few nearly equal scores are nearly equal."""
    listed = np.asarray(values, dtype=np.float64)
    distances: NDArray[np.float64] = (listed - listed.mean()) / max(float(listed.std()), spread)
    return distances


def doubtful(latest: Mapping[int, Sequence[int]], placed: Mapping[int, float]) -> list[tuple[int, int]]:
    """Where branches may have taken in another matter: (branch, place in `latest` of the state that was put there unsurely), the most doubtful first.

    `latest` are the last states of each branch, oldest first; `placed` with which probability a state was put where it is (absent: surely)."""
    found: list[tuple[float, int, int]] = []
    for branch, states in latest.items():
        doubts = [(placed.get(states[at], 1.0), branch, at) for at in range(1, len(states)) if placed.get(states[at], 1.0) < DOUBTED]
        found += sorted(doubts, key=lambda one: (one[0], -one[2]))[:DOUBTS]
    return [(branch, at) for _, branch, at in sorted(found, key=lambda one: (one[0], one[1], -one[2]))[:EARLIER_PLACES]]


def cut_off(lane_terms: frozenset[str], words: Mapping[int, frozenset[str]], kept: Sequence[int], root_terms: frozenset[str]) -> frozenset[str]:
    """The stems of a branch less those that came only with what was cut off, as far as its latest states tell (`words`; `kept`: those not cut off)."""
    before = root_terms.union(*(words.get(state, frozenset()) for state in kept))
    after = frozenset().union(*(said for state, said in words.items() if state not in set(kept)))
    return lane_terms - (after - before)


def telling_share(told: int, turns: int) -> float:
    """The share of the latest turns that tell something rather than ask, beside that of TELLING_BEFORE: a few turns prove no habit."""
    number, share = TELLING_BEFORE
    return (told + number * share) / (turns + number)
