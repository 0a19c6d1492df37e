"""What the ranker looks at (paper §3.2, LOCALIZATION): a row of numbers for every open branch, and one for the new root.

All branches are worked out at once, a column a feature; what only a few of them have, open questions and lists, lane by lane. Cosines and shared words come
from the store on each branch's `Lane`, or as columns of many; what the wording says comes from the query's cues. A feature that only says how the input is
worded is no use to a branch by itself, since all branches have it alike: it counts times being the active one, and for the new root. No feature looks at a
clock, at a tree's depth or at the place in the forest (LOCALIZATION “Traps”).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import describe, gender, pieces, reply
from memory.engine.feature_names import BESTS, FEATURES, LEADS, NEAR_LEADS, OF_BRANCHES, OF_NEW, SHARES
from memory.engine.forest import Column, Lane, Lanes, Recall
from memory.engine.query import Query
from memory.engine.recall import idf, is_common
from memory.engine.terms import terms

Columns = dict[str, Column]

ASKS, TELLS = 0.4, 0.6  # shares of telling turns from which a person counts as one who tells, and wholly so
OPEN_FROM, OPEN_SPREAD, OPEN_HIGH = 0.08, 0.15, 0.25  # cosines with an open question from which, and over which span, they speak for it
ASKING: Final = "?？؟"  # how a question in so many words ends
ANSWERED: Final = 2.0  # how fast an open question counts as answered as the next turn comes near it
# What a branch that has nothing to do with the input is like: where there is no other branch, or none that is nearer, leads and shares are over that.
ANY: Final[Mapping[str, float]] = {**dict.fromkeys((*NEAR_LEADS, "open_any"), 0.15), "words_path": 0.1, "words_only": 0.0, "open_near": 0.05}


@dataclass(frozen=True, slots=True)
class Places:
    """The branches an input may go to, a row each: first those that were looked at whole, which are there as `lanes` too, then the further ones.

    `names` says which of the input's names each has spoken of (`known_names`); `set_aside` which of them the input doesn't mean, by name."""

    columns: Lanes
    lanes: Sequence[Lane]
    names: NDArray[np.bool_]
    set_aside: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.columns)

    @classmethod
    def of(cls, query: Query, recall: Recall) -> Places:
        """Those that recall brought."""
        lanes = recall.looked_at
        columns = Lanes.of(query.terms, query.names, lanes)
        if recall.further:
            columns = columns.then(recall.further)
        return cls(columns, lanes, known_names(columns), np.array([name in query.set_aside for name in query.names], dtype=bool))

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which are branches as they are, of which each is counted once."""
        return ~self.columns.aside

    def known(self) -> frozenset[str]:
        """The stems of the input that any branch has."""
        return frozenset(compress(self.columns.stems, np.logical_or.reduce(self.columns.terms, axis=0)))

    def lane(self, at: int) -> Lane:
        """The lane of a row."""
        return self.lanes[at] if at < len(self.lanes) else self.columns.lane(at)

    def each(self, of_lanes: Sequence[float], else_: float | Column = 0.0) -> Column:
        """A column: these values of the lanes, and for the further branches, of which nothing of the kind is known, another."""
        column = np.full(len(self), else_, dtype=np.float64)
        column[: len(self.lanes)] = of_lanes
        return column


@dataclass(frozen=True, slots=True)
class Table:
    """The features of all places: `rows` (places + 1, features), the last row that of the new root. `rarest`: the informative words of the input."""

    places: Places
    rows: Column
    rarest: Sequence[str]

    def shared(self, at: int) -> tuple[str, ...]:
        """The words that a place has in common with the input, rarest first."""
        columns = self.places.columns
        said = frozenset(compress(columns.stems, columns.terms[at]))
        return tuple(term for term in self.rarest if term in said)


def wording(query: Query) -> dict[str, float]:
    """What the wording says, each 0…1."""
    cues = query.cues
    said = {
        "short": shortness(query),
        "bare": 1.0 / (1 + len(query.content)),
        "named": bool(query.names),
        "pronoun": cues.pronoun,
        "inward": cues.inward,
        "opener": cues.opener,
        "answer": cues.answer,
        "greeting": cues.greeting,
        "question": cues.question,
        "request": cues.request,
        "generic": cues.question and not cues.first_person and not query.names,
        "first": cues.first_person,
        "third": cues.third_person,
        "contrast": cues.contrast,
        "fresh": bool(cues.fresh),
        "returning": bool(cues.returning),
        "additive": cues.additive,
        "topical": cues.topical,
        "reporting": cues.reporting,
        "picking": cues.picking,
        "reconsidering": cues.reconsidering,
        "choosing": cues.choosing,
        "elliptical": cues.elliptical,
        "describing": bool(describe.descriptions(query.text)),
    }
    return {name: float(value) for name, value in said.items()}


def shortness(query: Query) -> float:
    """1 for a single word, 0 from 24 words on, falling with the logarithm."""
    return max(0.0, 1.0 - math.log(max(1, query.word_count)) / math.log(24))


def table(query: Query, recall: Recall) -> Table:
    """The features of every branch that recall brought, and of the new root."""
    places = Places.of(query, recall)
    weights = _weights(query, recall)
    said = wording(query)
    columns: Columns = {}
    columns |= _meaning(places)
    columns |= _words(places, weights)
    columns |= _names(places)
    columns["gender"] = places.each(gender.agreement(query.text, [lane.tip for lane in places.lanes]))
    columns |= _replies(query, places, said)
    columns |= _recency(places, recall)
    columns["topic"] = np.zeros(len(places))
    for anchor in recall.anchors:
        columns["topic"][places.columns.roots == anchor.root] = anchor.match
    columns |= _doubts(places, recall)
    columns |= _splits(places, weights)
    _compare(columns, places.columns.branches)
    _worded(columns, said)
    told = telling(recall.telling)
    columns["telling"] = np.full(len(places), told)
    new = _new_root(columns, said, told, query, places, weights)
    rows = np.zeros((len(places) + 1, len(FEATURES)))
    for place, name in enumerate(OF_BRANCHES):
        rows[:-1, place] = columns[name]
    rows[-1, len(OF_BRANCHES) :] = [new[name] for name in OF_NEW]
    return Table(places, rows, sorted(weights, key=lambda term: -weights[term]))


def _weights(query: Query, recall: Recall) -> dict[str, float]:
    """What each informative word of the input weighs: its inverse document frequency; words that are everywhere don't count."""
    return {
        term: idf(recall.document_frequency.get(term, 0), recall.states)
        for term in query.content or query.terms
        if not is_common(recall.document_frequency.get(term, 0), recall.states)
    }


def telling(share: float) -> float:
    """How far a person counts as one who tells rather than asks, 0…1, by the share of their turns that tell something.

    Who keeps a record of what happens resumes a matter by a bare statement; who looks for answers opens a new one with a question of that very form."""
    return min(1.0, max(0.0, (share - ASKS) / (TELLS - ASKS)))


# --- What each branch shows by itself ----------------------------------------------------------------------------------


def _meaning(places: Places) -> Columns:
    """Cosines of the input with the last state, the centre, the nearest state, sentence and root of each branch."""
    cosines = places.columns.near
    least = float(np.nanmin(cosines)) if np.isfinite(cosines).any() else 0.0
    tip, said, centre, best, any_said, root = np.unstack(cosines, axis=1)
    near = {
        "near_tip": _first(tip, said, least),
        "near_said": _first(said, tip, least),
        "near_centre": _first(centre, tip, least),
        "near_best": _first(best, tip, least),
        "near_any_said": _first(any_said, said, least),
        "near_root": _first(root, centre, least),
    }
    only = _first(tip, least)
    sentences = [sorted(lane.sentences, reverse=True)[:3] or [float(turn)] for lane, turn in zip(places.lanes, only, strict=False)]
    return {
        **near,
        "near_described": places.each([lane.described or 0.0 for lane in places.lanes]),
        "near_sentence": places.each([found[0] for found in sentences], only),
        "near_sentences": places.each([sum(found) / len(found) for found in sentences], only),
    }


def _first(*known: Column | float) -> Column:
    """Of each lane the first of these values that is known; the last one is."""
    found = np.asarray(known[-1])
    for values in reversed(known[:-1]):
        found = np.where(np.isnan(values), found, values)
    return found


def _words(places: Places, weights: Mapping[str, float]) -> Columns:
    """Shares of the input's inverse document frequency that a branch has, its last state, its root; that it alone has."""
    columns, whole = places.columns, places.whole
    worth = np.array([weights.get(stem, 0.0) for stem in columns.stems]) / (sum(weights.values()) or 1.0)
    numbers = columns.terms[:, [stem[:1].isdigit() for stem in columns.stems]]
    return {
        "words_tip": columns.tip_terms @ worth,
        "words_path": columns.terms @ worth,
        "words_root": columns.root_terms @ worth,
        "words_only": (columns.terms & (columns.terms[whole].sum(axis=0) == 1)) @ worth,
        "number_only": (numbers & (numbers[whole].sum(axis=0) == 1)).any(axis=1).astype(np.float64),
    }


def known_names(lanes: Lanes) -> NDArray[np.bool_]:
    """Which of the named things of the input each branch has spoken of, be it in other letters: (lanes, names)."""
    known = lanes.names.copy()
    place = {stem: at for at, stem in enumerate(lanes.stems)}
    for at, name in enumerate(lanes.entities):
        words = set(terms(name))
        if words:  # names are looked up in whole trees; what was left aside may be all that spoke of one
            known[:, at] &= ~lanes.aside
        if words and words <= place.keys():
            known[:, at] |= lanes.terms[:, [place[word] for word in words]].all(axis=1)
    return known


def began_with(lanes: Lanes) -> NDArray[np.bool_]:
    """Which of the named things of the input each tree began with, (lanes, names): whom it is about, where others are spoken of in passing."""
    began = np.zeros_like(lanes.names)
    place = {stem: at for at, stem in enumerate(lanes.stems)}
    for at, name in enumerate(lanes.entities):
        words = terms(name)
        if words and place.keys() >= set(words):
            # “Brushed” isn't “brushes”; a name that isn't stemmed may stand there in small letters.
            as_name = lanes.names[:, at] | (words == name.split())
            began[:, at] = as_name & lanes.root_terms[:, [place[word] for word in words]].all(axis=1)
    return began


def _names(places: Places) -> Columns:
    told, began_so, total = places.names, began_with(places.columns), places.names.shape[1] or 1
    known, began = told & ~places.set_aside, began_so & ~places.set_aside
    unmeant = began_so & places.set_aside
    holders = known[places.whole].sum(axis=0)
    trees = np.array([len(np.unique(places.columns.roots[having])) for having in began.T], dtype=np.intp)
    return {
        "contrast_names": (told & places.set_aside).sum(axis=1) / total,
        "contrast_names_root": unmeant.sum(axis=1) / total,
        "contrast_names_root_elsewhere": (~unmeant & unmeant.any(axis=0)).any(axis=1).astype(np.float64),
        "names_root": began.sum(axis=1) / total,
        "names_root_only": (began & (trees == 1)).any(axis=1).astype(np.float64),
        "names_root_elsewhere": (~began & (trees > 0)).any(axis=1).astype(np.float64),
        "names_shared": known.sum(axis=1) / total,
        "names_only": (known & (holders == 1)).any(axis=1).astype(np.float64),
        "names_elsewhere": (~known & (holders > 0)).any(axis=1).astype(np.float64),
    }


def _recency(places: Places, recall: Recall) -> Columns:
    at, active = places.columns.positions, _active(places, recall)
    return {
        "active": (active & places.whole).astype(np.float64),
        "recent": 1.0 / (1 + np.argsort(np.argsort(-at))),
        "age": np.log1p(at.max(initial=0) - at) / 5,
    }


def _active(places: Places, recall: Recall) -> NDArray[np.bool_]:
    """Which lanes are of the branch used last, be it as it stood before."""
    active: NDArray[np.bool_] = places.columns.branches == (recall.active.branch if recall.active is not None else -1)
    return active


def _doubts(places: Places, recall: Recall) -> Columns:
    """How unsurely the tip was put there, and, before an unsure turn, that turn; how near the two are."""
    doubt, aside, active = 1.0 - places.columns.placed, places.columns.aside, _active(places, recall)
    return {
        "earlier": aside.astype(np.float64),
        "earlier_of_active": (aside & active).astype(np.float64),
        "doubt": np.where(aside, -doubt, doubt),
        "doubt_active": doubt * (active & ~aside),
        "seam": places.columns.joined,
    }


def _splits(places: Places, weights: Mapping[str, float]) -> Columns:
    """Before an unsure turn: by how much the input is nearer to what stays than to what is left aside, and how that end hangs together.

    A branch as it is has the strongest of its splits, negative: what speaks for a place before the end speaks against the end."""
    names = ("split_near", "split_piece", "split_words", "split_doubt", "split_length", "split_sure")
    lanes, found = places.lanes, np.zeros((len(places), len(names)))
    whole = {lane.tip.branch: index for index, lane in enumerate(lanes) if lane.aside is None}
    total = sum(weights.values()) or 1.0
    strongest: dict[int, Column] = {}
    for index, lane in enumerate(lanes):
        if lane.aside is None or lane.tip.branch not in whole:
            continue
        at = whole[lane.tip.branch]
        split = _split(lane, lanes[at], weights, total)
        found[index] = split
        if at not in strongest or split[3] > strongest[at][3]:
            strongest[at] = split
    for at, split in strongest.items():
        found[at] = -split
    return dict(zip(names, found.T, strict=True))


def _split(lane: Lane, whole: Lane, weights: Mapping[str, float], total: float) -> Column:
    """Likeness to what stays less that to what is left aside: of turns, of pieces, of words that only one of both has; their sum times the doubt; how short
    what is left aside is, and how surely its later turns were put there."""
    stays = frozenset(lane.latest)
    gone = [state for state in whole.latest if state not in stays]
    near = lane.near.get("best", 0.0) - max((whole.turns[state] for state in gone if state in whole.turns), default=0.0)
    kept = max([*lane.sentences[:1], *(cosine for (state, _), cosine in lane.pieces.items() if state in stays)], default=0.0)
    piece = kept - max((cosine for (state, _), cosine in whole.pieces.items() if state not in stays), default=0.0)
    said = frozenset[str]().union(*(whole.words.get(state, frozenset()) for state in gone))
    words = sum(weight for term, weight in weights.items() if term in lane.terms and term not in said)
    words -= sum(weight for term, weight in weights.items() if term in said and term not in lane.terms)
    doubt = 1.0 - lane.placed.get(lane.aside or 0, 1.0)
    sure = [whole.placed.get(state, 1.0) for state in gone[1:]]
    return np.array([near, piece, words / total, doubt * (near + piece + words / total), 1.0 / max(1, len(gone)), sum(sure) / len(sure) if sure else 0.0])


# --- What was left open -------------------------------------------------------------------------------------------------


def _replies(query: Query, places: Places, said: Mapping[str, float]) -> Columns:
    """Whether the input answers a question that the branch left open, or picks from its list."""
    tells = 1.0 - said["question"]
    pointing = max(said["picking"], said["reconsidering"])
    # Only some branches offer anything to reply to: of the others all of this is 0.
    offering = [at for at, lane in enumerate(places.lanes) if lane.pieces or lane.questions]
    found = np.zeros((10, len(places)))
    found[:, offering] = np.array([_offered(query, places.lanes[at]) for at in offering]).reshape(-1, 10).T
    last_asks, near, fits, any_near, last_lists, any_list, item_near, asked, asked_near, asked_fits = found
    return {
        "asked": asked,
        "asked_near": asked_near * tells,
        "asked_fits": asked_fits * tells,
        "asked_tells": asked * tells * said["short"],
        "open_last": last_asks,
        "open_last_tells": last_asks * tells,
        "open_last_short": last_asks * tells * said["short"],
        "open_near": near,
        "open_any": any_near,
        "open_tells": near * tells,
        "open_some": np.clip((near * tells - OPEN_FROM) / OPEN_SPREAD, 0.0, 1.0),
        "open_much": np.clip((near * tells - OPEN_HIGH) / OPEN_SPREAD, 0.0, 1.0),
        "open_fits": fits * tells,
        "list_last_picking": last_lists * said["picking"],
        "list_any_picking": any_list * said["picking"],
        "list_none_picking": (1.0 - any_list) * said["picking"],
        "list_reconsidering": any_list * said["reconsidering"],
        "list_choosing": last_lists * said["choosing"],
        "item_near": item_near * pointing,
    }


def _offered(query: Query, lane: Lane) -> tuple[float, ...]:
    """Whether its last turn asks, how near the input is to an unanswered question and how well its form fits one; the nearest question of all; whether its
    last turn has a list, whether any has, the nearest item."""
    near, fit = _open(query, lane)
    listed = {state for state, number in lane.pieces if pieces.ITEMS <= number < pieces.INTRODUCED}
    return (
        float(any(state == lane.tip.id for state, _ in lane.questions)),
        near,
        fit,
        _nearest(lane, pieces.QUESTIONS, pieces.ITEMS),
        float(lane.tip.id in listed),
        float(bool(listed)),
        _nearest(lane, pieces.ITEMS, pieces.INTRODUCED),
        *_asked(query, lane),
    )


def _asked(query: Query, lane: Lane) -> tuple[float, float, float]:
    """Of the last state with a question in so many words (“?”, not “I still need …”), as long as nobody answered it: how open it is, how near the input is
    to it, how well its form fits."""
    asking = [key for key, question in lane.questions.items() if question.rstrip()[-1:] in ASKING]
    last = max((state for state, _ in asking), default=None, key=lambda state: lane.latest.index(state))
    of = [(key, max(0.0, 1.0 - lane.answered.get(key, 0.0))) for key in asking if key[0] == last]
    return (
        max((left for _, left in of), default=0.0),
        max((left * lane.pieces.get(key, 0.0) for key, left in of), default=0.0),
        max((left * reply.fits(lane.questions[key], query.text) for key, left in of), default=0.0),
    )


def _nearest(lane: Lane, first: int, end: int) -> float:
    """The highest cosine of the recent states' pieces of these numbers, 0 without."""
    return max((cosine for (_, number), cosine in lane.pieces.items() if first <= number < end), default=0.0)


def _open(query: Query, lane: Lane) -> tuple[float, float]:
    """How near the input is to a question of this branch that nobody has answered yet, and how well its form fits one; of the best, 0 without."""
    best = fit = 0.0
    for key, question in lane.questions.items():
        left = max(0.0, 1.0 - ANSWERED * lane.answered.get(key, 0.0))
        best = max(best, left * lane.pieces.get(key, 0.0))
        fit = max(fit, left * reply.fits(question, query.text))
    return best, fit


# --- Beside the others --------------------------------------------------------------------------------------------------


def _compare(columns: Columns, branches: NDArray[np.int64]) -> None:
    """By how much a lane leads the best one of another branch, and its share of all likeness: a softmax, as the ranking itself will be."""
    kinds, of = np.unique(branches, return_inverse=True)

    def bests(values: Column) -> Column:
        """Of each branch the highest of these values (…, lanes)."""
        found = np.full((len(kinds), *values.shape[:-1]), -np.inf)
        np.maximum.at(found, of, values.T)
        return found.T

    def elsewhere(values: Column) -> Column:
        """Of each lane the highest of these values (…, lanes) on another branch: the highest of all, or of the others where that is its own."""
        if len(kinds) < 2:
            return np.full(values.shape, -np.inf)
        found = bests(values)
        top = found.argmax(axis=-1, keepdims=True)
        highest = np.take_along_axis(found, top, axis=-1)
        np.put_along_axis(found, top, -np.inf, axis=-1)
        other: Column = np.where(of == top, found.max(axis=-1, keepdims=True), highest)
        return other

    led = np.array([columns[name] for name in LEADS])
    least = np.array([[ANY.get(name, 0.0)] for name in LEADS])
    columns |= {f"lead_{name}": lead for name, lead in zip(LEADS, led - np.maximum(elsewhere(led), least), strict=True)}
    shared = np.array([columns[name] for name in SHARES])
    sharpness, least = np.array([[SHARES[name]] for name in SHARES]), np.array([[ANY[name]] for name in SHARES])
    top = np.maximum(shared.max(axis=1, initial=-np.inf, keepdims=True), least)
    raised = np.exp((shared - top) / sharpness)
    raised_best = bests(raised)
    others = np.exp((least - top) / sharpness) + (raised_best.sum(axis=1, keepdims=True) - raised_best[:, of])
    for name, share in zip(SHARES, raised / (raised + others), strict=True):
        columns[f"share_{name}"] = share
        columns[f"active_share_{name}"] = columns["active"] * share
    for name in ("open_some", "item_near", "asked_fits", "asked_near"):
        columns[f"active_{name}_elsewhere"] = columns["active"] * np.maximum(0.0, np.maximum(0.0, elsewhere(columns[name])) - columns[name])
    columns["open_elsewhere"] = np.maximum(0.0, columns["open_some"].max(initial=0.0) - columns["open_some"])


def _worded(columns: Columns, said: Mapping[str, float]) -> None:
    """What the wording says for or against going on with the active branch."""
    active = columns["active"]
    for name, value in said.items():
        columns[f"active_{name}"] = active * value
    for name in ("near_tip", "words_tip", "names_elsewhere", "names_only", "names_root_elsewhere", "gender"):
        columns[f"active_{name}"] = active * columns[name]
    columns["active_unasked"] = active * (1.0 - columns["asked"]) * (1.0 - said["question"]) * said["short"]
    columns["contrast_centre"] = said["contrast"] * columns["near_centre"]
    columns["other_returning"] = (1.0 - active) * said["returning"]


def _new_root(
    columns: Columns,
    said: Mapping[str, float],
    told: float,
    query: Query,
    places: Places,
    weights: Mapping[str, float],
) -> dict[str, float]:
    """How little the branches have of what was said, and the wording."""
    known = places.known()
    named = places.names.any(axis=0)
    total = sum(weights.values()) or 1.0
    uncovered = 1.0 - sum(weight for term, weight in weights.items() if term in known) / total
    unknown = float(not named.all())
    introducing = unknown * query.cues.introducing
    new = {f"new_{name}": float(columns[name].max(initial=0.0)) for name in BESTS}
    new |= {f"new_{name}": value for name, value in said.items()}
    new |= {
        "new": 1.0,
        "new_telling": told,
        "new_uncovered": uncovered,
        "new_unknown_name": unknown,
        "new_unknown_name_worded": unknown * new["new_words_path"],  # somebody new in a matter that is known
        "new_unknown_name_near": unknown * new["new_near_best"],
        "new_known_name": float(named.any()),
        "new_root_name": float(columns["names_root"].max(initial=0.0)),
        "new_gender": float(columns["gender"].max(initial=0.0)),
        "new_introducing": introducing,
        "new_introducing_first": introducing * said["first"],
        "new_long": min(1.0, query.word_count / 40),
        "new_generic_uncovered": said["generic"] * uncovered,
        "new_generic_near": said["generic"] * new["new_near_sentence"],
    }
    return new
