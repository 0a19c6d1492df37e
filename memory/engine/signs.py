"""What spoke for each place, part by part, so that a person can be told: the open question that an input answers, names and words that were said there.

Scores come from features; a sign is the plainest thing among what these were worked out of. A part without one can still weigh: then it is only said which
way. Signs quote the input itself, or an open question of a state, which they name: what quotes a state goes with it (actions/redact.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np

from memory.engine import describe, gender, pieces, reply
from memory.engine.features import ANSWERED, OPEN_FROM, Places, began_with
from memory.engine.forest import NEAR, Lane, Recall, Sign
from memory.engine.query import Query
from memory.engine.terms import DENSE, entity_spans, entity_term, fold, surfaces, terms
from memory.engine.text import excerpt

Signs = Mapping[str, Sign]

QUOTES: Final = 3  # of a sign
LONGEST: Final = 70  # characters of a quotation
FITS: Final = 0.5  # from here on the form of an input is that of an answer
FORM: Final = 0.2  # what its form counts beside its meaning when it is asked which question an input answers
NAMED: Final = 0.5  # match of a topic from which it counts as named
DESCRIBED: Final = 0.2  # cosine from which a description counts as met
AGREES: Final = 0.5  # from here on a path speaks of whom the input speaks of: one word that fits and none that doesn't
FEW: Final = 4  # words of an input that says little by itself
_NEAR: Final = {"sentence": "near_sentence", "tip": "near_last", "centre": "near_lately", "best": "near_earlier"}


@dataclass(frozen=True, slots=True)
class _Field:
    """All places of a query, and what is worked out once for all of them."""

    query: Query
    recall: Recall
    places: Places
    names: Mapping[int, frozenset[str]]  # of the lanes asked about, by last state
    about: Mapping[int, frozenset[str]]  # likewise: those that its tree began with, and no other
    written: Mapping[str, str]  # name → as the input writes it
    said: Mapping[str, str]  # stem → likewise
    in_names: frozenset[str]  # stems of the names
    holders: Mapping[str, int]  # stem → how many branches have it
    named: Mapping[str, int]  # name → likewise
    nearest: Mapping[str, Mapping[int, float]]  # what is near → the two branches that are nearest in it, with their cosines
    descriptions: Sequence[str]

    def as_written(self, stems: Iterable[str]) -> list[str]:
        """Words as the input writes them, without those of names, which are told apart."""
        kept = [term for term in stems if term not in self.in_names]
        grams = [term for term in kept if _GRAM.fullmatch(term)]
        runs = _runs(fold(self.query.text), grams) if grams else {}
        return list(dict.fromkeys(runs.get(term) or self.said.get(term, term) for term in kept))

    def elsewhere(self, lane: Lane, name: str) -> float | None:
        """How near the nearest other branch is in something; None without another."""
        return max((cosine for branch, cosine in self.nearest[name].items() if branch != lane.tip.branch), default=None)


# What a script without blanks is indexed by: two characters at a time.
_GRAM = re.compile(f"[{DENSE}]{{2}}")


def _runs(text: str, grams: Collection[str]) -> dict[str, str]:
    """Pairs of characters that follow each other in a text, joined again: pair → the first run that it is in."""
    found: dict[str, str] = {}
    wanted = frozenset(grams)
    places = [place for place in range(len(text) - 1) if text[place : place + 2] in wanted]
    start = 0
    for number, place in enumerate(places, 1):
        if number < len(places) and places[number] == place + 1:
            continue
        run = text[places[start] : place + 2]
        for at in range(len(run) - 1):
            found.setdefault(run[at : at + 2], run)
        start = number
    return found


def read(query: Query, recall: Recall, places: Places, shared: Mapping[int, Sequence[str]]) -> dict[int | None, Signs]:
    """The signs of some places, by last state, and of a new root (None). `shared`: by the row of the place, its words in common, rarest first."""
    columns, whole = places.columns, places.whole
    lanes = {at: places.lane(at) for at in shared}
    names = {lane.tip.id: frozenset(compress(query.names, places.names[at])) for at, lane in lanes.items()}
    began = began_with(columns)
    alone = np.array([len(np.unique(columns.roots[having])) == 1 for having in began.T], dtype=bool)
    about = {lane.tip.id: frozenset(compress(query.names, began[at] & alone)) for at, lane in lanes.items()}
    written = {entity_term(span): span for span in reversed(entity_spans(query.text))} if query.names else {}
    in_names = frozenset(term for name in query.names for term in terms(written.get(name, name)))
    holders = dict(zip(columns.stems, columns.terms[whole].sum(axis=0).tolist(), strict=True))
    named = dict(zip(query.names, places.names[whole].sum(axis=0).tolist(), strict=True))
    nearest = {name: _nearest(places, name) for name in (*_NEAR, "root", "described")}
    field = _Field(query, recall, places, names, about, written, surfaces(query.text), in_names, holders, named, nearest, describe.named(query.text))
    found: dict[int | None, Signs] = {lane.tip.id: _of_branch(field, lane, shared[at]) for at, lane in lanes.items()}
    return {**found, None: _of_new(field)}


def _nearest(places: Places, name: str) -> dict[int, float]:
    """The two branches that are nearest to the input in something, with their cosines."""
    near = np.nan_to_num(places.columns.near[:, NEAR.index(name)]) if name in NEAR else places.each([_near(lane, name) for lane in places.lanes])
    branches, best = places.columns.branches, dict[int, float]()
    while len(near) and len(best) < 2 and (highest := float(near.max())) > -np.inf:
        branch = int(branches[near.argmax()])
        best[branch] = highest
        near = np.where(branches == branch, -np.inf, near)
    return best


def _of_branch(field: _Field, lane: Lane, shared: Sequence[str]) -> Signs:
    words = _words(field, lane, shared)
    return _given(
        meaning=_meaning(field, lane),
        words=words,
        names=_names(field, lane),
        reply=_reply(field.query, lane),
        path=_path(field, lane, shared, words),
        cue=_cue(field, lane),
        recency=Sign("last") if _is_active(field, lane) else None,
    )


def _given(**signs: Sign | None) -> Signs:
    return {part: sign for part, sign in signs.items() if sign is not None}


def _quoted(kind: str, quotes: Collection[str], state: int | None = None) -> Sign | None:
    """A sign with these quotations on one line each, at most QUOTES; None without any."""
    lines = tuple(dict.fromkeys(line for quote in quotes if (line := excerpt(quote, LONGEST))))[:QUOTES]
    return Sign(kind, lines, state) if lines else None


def _is_active(field: _Field, lane: Lane) -> bool:
    return field.recall.active is not None and lane.tip.branch == field.recall.active.branch and lane.aside is None


# --- Of a branch -------------------------------------------------------------------------------------------------------


def _meaning(field: _Field, lane: Lane) -> Sign | None:
    """A description that is nearest here, else which part of the branch is nearer to the input than that of any other."""
    met, elsewhere = lane.described or 0.0, field.elsewhere(lane, "described")
    if field.descriptions and met >= DESCRIBED and met > (elsewhere or 0.0):
        return _quoted("described", field.descriptions)
    if elsewhere is None:
        return None
    leads = {name: _near(lane, name) - (field.elsewhere(lane, name) or 0.0) for name in _NEAR}
    best = max(leads, key=lambda name: leads[name])
    return Sign(_NEAR[best]) if leads[best] > 0 else None


def _near(lane: Lane, name: str) -> float:
    if name == "sentence":
        return max(lane.sentences, default=0.0)
    if name == "described":
        return lane.described or 0.0
    return lane.near.get(name, 0.0)


def _words(field: _Field, lane: Lane, shared: Sequence[str]) -> Sign | None:
    """Words of the input that were said on this tree alone, else those of its last turn."""
    only = field.as_written(term for term in shared if field.holders.get(term) == 1)
    return _quoted("only_words", only) or _quoted("last_words", field.as_written(term for term in shared if term in lane.tip_terms))


def _names(field: _Field, lane: Lane) -> Sign | None:
    here = [name for name in field.query.names if name in field.names[lane.tip.id]]
    only = [field.written.get(name, name) for name in here if field.named[name] == 1]
    about = [field.written.get(name, name) for name in here if name in field.about[lane.tip.id]]
    if said := _quoted("only_names", only) or _quoted("about", about) or _quoted("names", [field.written.get(name, name) for name in here]):
        return said
    [agrees] = gender.agreement(field.query.text, [lane.tip])
    return Sign("he" if gender.asked_of(field.query.text) > 0 else "she") if agrees >= AGREES else None


def _reply(query: Query, lane: Lane) -> Sign | None:
    """The open question that the input answers, or that it asks about; a list that it picks from."""
    cues = query.cues
    picks = (cues.picking or cues.reconsidering) and any(pieces.ITEMS <= number < pieces.INTRODUCED for _, number in lane.pieces)
    if picks and not lane.questions:
        return Sign("picks")
    best: tuple[float, float, float, tuple[int, int] | None] = (0.0, 0.0, 0.0, None)
    for place, question in lane.questions.items():
        left = max(0.0, 1.0 - ANSWERED * lane.answered.get(place, 0.0))
        near, fit = left * lane.pieces.get(place, 0.0), left * reply.fits(question, query.text)
        best = max(best, (near + FORM * fit, near, fit, place), key=lambda one: one[0])
    _, near, fit, key = best
    if key is not None and not cues.question and (near >= OPEN_FROM or fit >= FITS):
        return _quoted("answers", [lane.questions[key]], key[0])
    if key is not None and cues.question and near >= OPEN_FROM:
        return _quoted("asks_about", [lane.questions[key]], key[0])
    return Sign("picks") if picks else None


def _path(field: _Field, lane: Lane, shared: Sequence[str], told: Sign | None) -> Sign | None:
    """That its topic is named; words that were said here, beyond those that are `told`; or that it began with what is nearest to the input."""
    if any(anchor.root == lane.tip.root and anchor.match >= NAMED for anchor in field.recall.anchors):
        return Sign("topic")
    if spoken := _quoted("words", [word for word in field.as_written(shared) if told is None or word not in told.quotes]):
        return spoken
    elsewhere = field.elsewhere(lane, "root")
    return Sign("began") if elsewhere is not None and _near(lane, "root") > elsewhere else None


# Cues that lean on what was just spoken of, the plainest first.
_LEANS: Final = ("additive", "answer", "elliptical", "pronoun", "opener", "choosing", "picking")


def _cue(field: _Field, lane: Lane) -> Sign | None:
    cues = field.query.cues
    if _is_active(field, lane):
        return next((Sign(name) for name in _LEANS if getattr(cues, name)), Sign("short") if 0 < field.query.word_count <= FEW else None)
    if cues.returning:
        return _quoted("returning", [cues.returning])
    return Sign("reconsidering") if cues.reconsidering else None


# --- Of a new root -----------------------------------------------------------------------------------------------------


def _of_new(field: _Field) -> Signs:
    """What was never said before in the forest, and what the wording of the input begins."""
    query, cues = field.query, field.query.cues
    counted = field.recall.document_frequency
    known = field.places.known()
    names = frozenset(compress(query.names, np.logical_or.reduce(field.places.names, axis=0)))
    unnamed = [field.written.get(name, name) for name in query.names if name not in names and any(not counted.get(term) for term in terms(name))]
    return _given(
        words=_quoted("unsaid", field.as_written(term for term in query.content if term not in known and not counted.get(term))),
        names=_quoted("introduced" if cues.introducing else "unnamed", unnamed),
        cue=_quoted("fresh", [cues.fresh]) if cues.fresh else Sign("greeting") if cues.greeting else None,
    )


# --- As JSON -----------------------------------------------------------------------------------------------------------


def to_json(signs: Signs) -> dict[str, Any]:
    """Signs as a decision keeps them: part → {"kind", "quotes", "state"}."""
    return {part: {"kind": sign.kind, "quotes": list(sign.quotes), "state": sign.state} for part, sign in signs.items()}


def from_json(kept: Any) -> dict[str, Sign]:
    """Signs read back; what is none, such as in a restored file of another hand, is left out."""
    found: dict[str, Sign] = {}
    for part, one in kept.items() if isinstance(kept, dict) else ():
        if isinstance(one, dict) and isinstance(one.get("kind"), str) and isinstance(one.get("quotes"), list):
            state = one.get("state")
            if state is None or (isinstance(state, int) and not isinstance(state, bool)):
                sign = _quoted(one["kind"], [quote for quote in one["quotes"] if isinstance(quote, str)], state)
                if sign is not None or not one["quotes"]:
                    found[str(part)] = sign or Sign(one["kind"], (), state)
    return found
