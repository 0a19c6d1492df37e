"""What the ranker looks at (paper §3.2, LOCALIZATION): a row of numbers for every open branch, and one for the new root.

All branches are worked out at once, a column a feature. Cosines and shared words come from the store on each branch's `Lane`; what the wording says comes
from the query's cues. A feature that only says how the input is worded is no use to a branch by itself, since all branches have it alike: it counts times
being the active one, and for the new root. No feature looks at a clock, at a tree's depth or at the place in the forest (LOCALIZATION “Traps”).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import describe, gender, pieces, reply
from memory.engine.forest import Lane, Recall
from memory.engine.query import Query
from memory.engine.recall import idf, is_common
from memory.engine.terms import terms

Column = NDArray[np.float64]
Columns = dict[str, Column]

VERSION: Final = 7
SHARPNESS: Final = 0.06  # of the softmax that gives each branch its share of a similarity; of covered words
WORD_SHARPNESS: Final = 0.15
ASKS, TELLS = 0.4, 0.6  # shares of telling turns from which a person counts as one who tells, and wholly so
OPEN_FROM, OPEN_SPREAD, OPEN_HIGH = 0.08, 0.15, 0.25  # cosines with an open question from which, and over which span, they speak for it
ASKING: Final = "?？؟"
ANSWERED: Final = 2.0  # how fast an open question counts as answered as the next turn comes near it
NEAR_LEADS: Final = ("near_described", "near_tip", "near_centre", "near_best", "near_sentence", "near_sentences", "near_root", "near_said")
LEADS: Final = (*NEAR_LEADS, "words_path", "names_shared", "open_any", "open_near", "item_near", "asked_near", "asked_fits", "gender")
SHARES: Final[Mapping[str, float]] = {
    "near_centre": SHARPNESS,
    "near_best": SHARPNESS,
    "near_sentence": SHARPNESS,
    "near_sentences": SHARPNESS,
    "near_described": SHARPNESS,
    "words_path": WORD_SHARPNESS,
    "words_only": WORD_SHARPNESS,
}
# What a branch that has nothing to do with the input is like: where there is no other branch, or none that is nearer, leads and shares are over that.
ANY: Final[Mapping[str, float]] = {**dict.fromkeys((*NEAR_LEADS, "open_any"), 0.15), "words_path": 0.1, "words_only": 0.0, "open_near": 0.05}
NEAR: Final = ("tip", "said", "centre", "best", "any_said", "root")  # of `Lane.near`
BESTS: Final = (
    "near_tip",
    "near_centre",
    "near_best",
    "near_sentence",
    "near_sentences",
    "near_root",
    "near_said",
    "near_any_said",
    "near_described",
    "words_path",
    "words_tip",
    "open_any",
    "open_some",
)


WORDINGS: Final = (
    "short",
    "bare",
    "named",
    "pronoun",
    "inward",
    "opener",
    "answer",
    "greeting",
    "question",
    "request",
    "generic",
    "first",
    "third",
    "contrast",
    "fresh",
    "returning",
    "additive",
    "topical",
    "reporting",
    "picking",
    "reconsidering",
    "choosing",
    "elliptical",
    "describing",
)
# Feature → the part it is shown in. `new…` belong to the new root, all others to branches.
OF_BRANCHES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("near_tip", "near_said", "near_centre", "near_best", "near_any_said", "near_sentence", "near_sentences", "near_described"), "meaning"),
    **dict.fromkeys(
        ("lead_near_described", "lead_near_tip", "lead_near_said", "lead_near_centre", "lead_near_best", "lead_near_sentence", "lead_near_sentences"), "meaning"
    ),
    **{f"share_{name}": "meaning" for name in SHARES if name.startswith("near")},
    **dict.fromkeys(("words_tip", "words_only", "number_only", "share_words_only"), "words"),
    **dict.fromkeys(("names_shared", "names_only", "names_elsewhere", "lead_names_shared", "contrast_names"), "names"),
    **dict.fromkeys(("names_root", "names_root_only", "names_root_elsewhere", "contrast_names_root", "contrast_names_root_elsewhere"), "names"),
    **dict.fromkeys(("gender", "lead_gender"), "names"),
    **dict.fromkeys(("near_root", "lead_near_root", "words_path", "words_root", "lead_words_path", "share_words_path"), "path"),
    **dict.fromkeys(("topic", "contrast_centre"), "path"),
    **dict.fromkeys(("open_last", "open_last_tells", "open_last_short", "open_near", "open_any", "open_tells", "open_some", "open_much"), "reply"),
    **dict.fromkeys(("asked", "asked_near", "asked_fits", "asked_tells", "lead_asked_near", "lead_asked_fits", "active_asked_fits_elsewhere"), "reply"),
    **dict.fromkeys(("open_fits", "open_elsewhere", "active_open_some_elsewhere", "lead_open_any", "lead_open_near"), "reply"),
    **dict.fromkeys(("list_last_picking", "list_any_picking", "list_none_picking", "list_reconsidering", "list_choosing"), "reply"),
    **dict.fromkeys(("item_near", "lead_item_near", "active_item_near_elsewhere"), "reply"),
    **dict.fromkeys(("active", "recent", "age"), "recency"),
    **dict.fromkeys(("active_near_tip", "active_words_tip", "active_names_elsewhere", "active_names_only"), "recency"),
    **dict.fromkeys(("active_names_root_elsewhere", "active_gender"), "recency"),
    **dict.fromkeys(("active_unasked", "active_asked_near_elsewhere"), "reply"),
    **{f"active_share_{name}": "recency" for name in SHARES},
    **{f"active_{name}": "cue" for name in WORDINGS},
    "other_returning": "cue",
    "telling": "cue",
    **dict.fromkeys(("earlier", "earlier_of_active", "doubt", "doubt_active", "seam"), "path"),
    **dict.fromkeys(("split_near", "split_piece", "split_words", "split_doubt", "split_length", "split_sure"), "path"),
}
OF_NEW: Final[Mapping[str, str]] = {
    "new": "path",
    "new_telling": "cue",
    **{f"new_{name}": {"near": "meaning", "words": "words", "open": "reply"}[name.partition("_")[0]] for name in BESTS},
    **{f"new_{name}": "cue" for name in WORDINGS},
    **dict.fromkeys(("new_long", "new_generic_uncovered", "new_generic_near"), "cue"),
    "new_uncovered": "words",
    **dict.fromkeys(
        ("new_unknown_name", "new_known_name", "new_unknown_name_worded", "new_unknown_name_near", "new_introducing", "new_introducing_first"), "names"
    ),
    **dict.fromkeys(("new_root_name", "new_gender"), "names"),
}
FEATURES: Final[Mapping[str, str]] = {**OF_BRANCHES, **OF_NEW}
PARTS: Final = ("meaning", "words", "names", "reply", "path", "cue", "recency")


@dataclass(frozen=True, slots=True)
class Table:
    """The features of all places: `rows` (lanes + 1, features), the last row that of the new root; `shared`: each lane's words in common, rarest first."""

    lanes: tuple[Lane, ...]
    rows: Column
    shared: tuple[tuple[str, ...], ...]


def wording(query: Query) -> dict[str, float]:
    """What the wording says, each 0…1."""
    cues = query.cues
    said = {
        "short": shortness(query),
        "bare": 1.0 / (1 + len(query.content)),
        "named": bool(query.entities),
        "pronoun": cues.pronoun,
        "inward": cues.inward,
        "opener": cues.opener,
        "answer": cues.answer,
        "greeting": cues.greeting,
        "question": cues.question,
        "request": cues.request,
        "generic": cues.question and not cues.first_person and not query.entities,
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
    """The features of every lane that recall brought, and of the new root."""
    lanes = recall.places
    weights = _weights(query, recall)
    said = wording(query)
    names = known_names(query, lanes)
    columns: Columns = {}
    columns |= _meaning(lanes)
    columns |= _words(lanes, weights, query)
    columns |= _names(query, lanes, names)
    columns["gender"] = np.array(gender.agreement(query.text, [lane.tip for lane in lanes]))
    columns |= _replies(query, lanes, said)
    columns |= _recency(lanes, recall)
    anchors = {anchor.root: anchor.match for anchor in recall.anchors}
    columns["topic"] = _column(lanes, lambda lane: anchors.get(lane.tip.root, 0.0))
    columns |= _doubts(lanes, recall)
    columns |= _splits(lanes, weights)
    _compare(columns, [lane.tip.branch for lane in lanes])
    _worded(columns, said)
    told = telling(recall.telling)
    columns["telling"] = np.full(len(lanes), told)
    new = _new_root(columns, said, told, query, lanes, weights, names)
    rows = np.zeros((len(lanes) + 1, len(FEATURES)))
    for place, name in enumerate(OF_BRANCHES):
        rows[:-1, place] = columns[name]
    for place, name in enumerate(OF_NEW, len(OF_BRANCHES)):
        rows[-1, place] = new[name]
    rarest = sorted(weights, key=lambda term: -weights[term])
    shared = tuple(tuple([term for term in rarest if term in lane.terms]) for lane in lanes)
    return Table(tuple(lanes), rows, shared)


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


def _column(lanes: Sequence[Lane], value: Callable[[Lane], float]) -> Column:
    return np.array([value(lane) for lane in lanes], dtype=np.float64)


def _meaning(lanes: Sequence[Lane]) -> Columns:
    """Cosines of the input with the last state, the centre, the nearest state, sentence and root of each branch."""
    cosines = np.array([[lane.near.get(name, np.nan) for name in NEAR] for lane in lanes]).reshape(-1, len(NEAR))
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
    sentences = [sorted(lane.sentences, reverse=True)[:3] or [only] for lane, only in zip(lanes, _first(tip, least).tolist(), strict=True)]
    return {
        **near,
        "near_described": _column(lanes, lambda lane: lane.described or 0.0),
        "near_sentence": np.array([found[0] for found in sentences]),
        "near_sentences": np.array([sum(found) / len(found) for found in sentences]),
    }


def _first(*known: Column | float) -> Column:
    """Of each lane the first of these values that is known; the last one is."""
    found = np.asarray(known[-1])
    for values in reversed(known[:-1]):
        found = np.where(np.isnan(values), found, values)
    return found


def _words(lanes: Sequence[Lane], weights: Mapping[str, float], query: Query) -> Columns:
    """Shares of the input's inverse document frequency that a branch has, its last state, its root; that it alone has."""
    worth = np.array([*weights.values()]) / (sum(weights.values()) or 1.0)
    path = _having(weights, [lane.terms for lane in lanes])
    whole = np.array([lane.aside is None for lane in lanes], dtype=bool)
    numbers = _having([term for term in query.terms if term[:1].isdigit()], [lane.terms for lane in lanes])
    return {
        "words_tip": _having(weights, [lane.tip_terms for lane in lanes]) @ worth,
        "words_path": path @ worth,
        "words_root": _having(weights, [lane.root_terms for lane in lanes]) @ worth,
        "words_only": (path & (path[whole].sum(axis=0) == 1)) @ worth,
        "number_only": (numbers & (numbers[whole].sum(axis=0) == 1)).any(axis=1).astype(np.float64),
    }


def _having(words: Collection[str], said: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Which lanes have which of the words (lanes, words)."""
    return np.array([[word in one for word in words] for one in said], dtype=bool).reshape(len(said), len(words))


def known_names(query: Query, lanes: Sequence[Lane]) -> list[frozenset[str]]:
    """The named things of the input that each branch has spoken of, be it in other letters."""
    if not query.entities:
        return [frozenset()] * len(lanes)
    words = {name: frozenset(terms(name)) for name in query.entities}

    def knows(lane: Lane, name: str) -> bool:
        # Names are looked up in whole trees; what was left aside may be all that spoke of one.
        return bool(words[name] and words[name] <= lane.terms) or (name in lane.names and (lane.aside is None or not words[name]))

    return [frozenset(name for name in query.entities if knows(lane, name)) for lane in lanes]


def _names(query: Query, lanes: Sequence[Lane], known: Sequence[frozenset[str]]) -> Columns:
    holders = Counter(name for lane, names in zip(lanes, known, strict=True) if lane.aside is None for name in names)
    total = len(query.entities) or 1
    words = {name: frozenset(terms(name)) for name in query.entities}
    plain = {name for name, stems in words.items() if stems == frozenset(name.split())}  # “Brushed” isn't “brushes”, but “James” may stand there in small letters
    # Whom a tree began with it is about; others are spoken of in passing.
    began = [frozenset(name for name in words if words[name] and words[name] <= lane.root_terms and (name in lane.names or name in plain)) for lane in lanes]
    trees = {name: {lane.tip.root for lane, names in zip(lanes, began, strict=True) if name in names} for name in words}
    return {
        "names_root": np.array([len(names) / total for names in began]),
        "names_root_only": np.array([float(any(len(trees[name]) == 1 for name in names)) for names in began]),
        "names_root_elsewhere": np.array([float(any(trees[name] - {lane.tip.root} and name not in names for name in words)) for lane, names in zip(lanes, began, strict=True)]),
        "names_shared": np.array([len(names) / total for names in known]),
        "names_only": np.array([float(any(holders[name] == 1 for name in names)) for names in known]),
        "names_elsewhere": np.array([float(any(name not in names for name in holders)) for names in known]),
    }


def _recency(lanes: Sequence[Lane], recall: Recall) -> Columns:
    active = recall.active.branch if recall.active is not None else None
    places = [lane.tip.position for lane in lanes]
    order = {place: rank for rank, place in enumerate(sorted(places, reverse=True))}
    now = 1 + max(places, default=0)
    return {
        "active": np.array([float(lane.tip.branch == active and lane.aside is None) for lane in lanes]),
        "recent": np.array([1.0 / (1 + order[place]) for place in places]),
        "age": np.array([math.log1p(now - 1 - place) / 5 for place in places]),
    }


def _doubts(lanes: Sequence[Lane], recall: Recall) -> Columns:
    """How unsurely the tip was put there, and, before an unsure turn, that turn; how near the two are."""
    active = recall.active.branch if recall.active is not None else None
    doubt = _column(lanes, lambda lane: 1.0 - lane.placed.get(lane.aside or lane.tip.id, 1.0))
    earlier = _column(lanes, lambda lane: float(lane.aside is not None))
    return {
        "earlier": earlier,
        "earlier_of_active": _column(lanes, lambda lane: float(lane.aside is not None and lane.tip.branch == active)),
        "doubt": np.where(earlier > 0, -doubt, doubt),
        "doubt_active": doubt * _column(lanes, lambda lane: float(lane.tip.branch == active and lane.aside is None)),
        "seam": _column(lanes, lambda lane: lane.joined.get(lane.aside or lane.tip.id, 1.0)),
    }


def _splits(lanes: Sequence[Lane], weights: Mapping[str, float]) -> Columns:
    """Before an unsure turn: by how much the input is nearer to what stays than to what is left aside, and how that end hangs together.

    A branch as it is has the strongest of its splits, negative: what speaks for a place before the end speaks against the end."""
    names = ("split_near", "split_piece", "split_words", "split_doubt", "split_length", "split_sure")
    found = np.zeros((len(lanes), len(names)))
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


def _replies(query: Query, lanes: Sequence[Lane], said: Mapping[str, float]) -> Columns:
    """Whether the input answers a question that the branch left open, or picks from its list."""
    tells = 1.0 - said["question"]
    pointing = max(said["picking"], said["reconsidering"])
    # Only some branches offer anything to reply to: of the others all of this is 0.
    offering = [at for at, lane in enumerate(lanes) if lane.pieces or lane.questions]
    found = np.zeros((10, len(lanes)))
    found[:, offering] = np.array([_offered(query, lanes[at]) for at in offering]).reshape(-1, 10).T
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
    """Of the last state with a question in so many words (“?”, not “I still need …”), as long as nobody answered it: how open it is, how near the input is to it,
    how well its form fits."""
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


def _compare(columns: Columns, branches: Sequence[int]) -> None:
    """By how much a lane leads the best one of another branch, and its share of all likeness: a softmax, as the ranking itself will be."""
    kinds, of = np.unique(np.array(branches, dtype=np.int64), return_inverse=True)

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
    columns["contrast_names"] = said["contrast"] * columns["names_shared"]
    columns["contrast_names_root"] = said["contrast"] * columns["names_root"]
    columns["contrast_names_root_elsewhere"] = said["contrast"] * columns["names_root_elsewhere"]
    columns["contrast_centre"] = said["contrast"] * columns["near_centre"]
    columns["other_returning"] = (1.0 - active) * said["returning"]


def _new_root(
    columns: Columns,
    said: Mapping[str, float],
    told: float,
    query: Query,
    lanes: Sequence[Lane],
    weights: Mapping[str, float],
    names: Sequence[frozenset[str]],
) -> dict[str, float]:
    """How little the branches have of what was said, and the wording."""
    known = frozenset().union(*(lane.terms for lane in lanes))
    named = frozenset().union(*names)
    total = sum(weights.values()) or 1.0
    uncovered = 1.0 - sum(weight for term, weight in weights.items() if term in known) / total
    unknown = float(any(name not in named for name in query.entities))
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
        "new_known_name": float(bool(named)),
        "new_root_name": float(columns["names_root"].max(initial=0.0)),
        "new_gender": float(columns["gender"].max(initial=0.0)),
        "new_introducing": introducing,
        "new_introducing_first": introducing * said["first"],
        "new_long": min(1.0, query.word_count / 40),
        "new_generic_uncovered": said["generic"] * uncovered,
        "new_generic_near": said["generic"] * new["new_near_sentence"],
    }
    return new
