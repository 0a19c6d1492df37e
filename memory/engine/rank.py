"""The branch-aware ranking (paper §3.2): an additive score for every branch an input may resume, beside that of a new root.

A candidate is a *branch*, and the place is its tip, since one resumes a matter where it was left; the recalled states of a branch are the evidence for it.
Scores are sums of named parts, so that a person can be shown what decided: meaning, words, path, cue, recency. One softmax over all branches and the new
root turns scores into probabilities. Weights and temperature are fitted elsewhere and come in as a `Calibration`.

`additive_parts` are the terms of the paper's own sum for a real cross-encoder, kept as a baseline.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np

from memory.engine.forest import Channel, Hit, Interaction, Recall, Recalled
from memory.engine.query import Query
from memory.engine.recall import bm25, idf, is_common
from memory.engine.terms import entity_term, terms

FEATURE_VERSION: Final = 1
PAPER_THRESHOLD: Final = 8.0  # τ of the paper, on the scale of BGE-Reranker-v2-M3
PARTS: Final = ("meaning", "words", "path", "cue", "recency")
READ_CHARACTERS: Final = 2_000  # of an answer, for word overlap: what it is about is said early

# Feature → the part it is shown in. `new_*` belong to the new root, all others to branches.
FEATURES: Final[Mapping[str, str]] = {
    "near_best": "meaning",  # cosine with the nearest recalled state
    "near_tip": "meaning",  # cosine with the tip
    "near_centre": "meaning",  # cosine with the mean of the branch
    "near_lead": "meaning",  # by how much its tip is nearer than any other
    "words_tip": "words",  # share of the input's IDF that the tip's texts cover
    "words_bm25": "words",  # best BM25 of its states, squashed to 0…1
    "words_lead": "words",  # by how much its path covers more than any other branch's
    "names": "words",  # s_key of the paper on entities, halved
    "path_words": "path",  # share of the input's IDF that tip, summaries and recalled states cover together
    "topic": "path",  # match of the tree's topic anchor
    "active": "recency",
    "recent": "recency",  # 1 for the branch used last, ½ for the one before, …
    "age": "recency",  # log of the turns since it was used
    "active_short": "cue",  # active × shortness of the input
    "active_pronoun": "cue",
    "active_opener": "cue",
    "active_answer": "cue",
    "active_greeting": "cue",
    "active_bare": "cue",  # active × fewness of informative words
    "active_near": "cue",  # active × cosine with the tip: what follows at once is nearer anyway
    "active_fresh": "cue",
    "active_returning": "cue",
    "other_returning": "cue",
    "new": "path",  # what a new root has for want of a path
    "new_near": "meaning",  # the best cosine of any branch
    "new_tip": "meaning",  # the best cosine of any tip
    "new_uncovered": "words",  # share of the input's IDF that no branch covers
    "new_short": "cue",
    "new_pronoun": "cue",
    "new_opener": "cue",
    "new_answer": "cue",
    "new_greeting": "cue",
    "new_bare": "cue",
    "new_fresh": "cue",
    "new_returning": "cue",
}


class CalibrationMismatchError(ValueError):
    """A calibration that wasn't fitted for this code, or was changed by hand."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted weights of the features (0 where absent), the softmax temperature, and the share of right decisions of each cue.

    `hash` is the SHA-256 of the other values as canonical JSON; `fitted_on` names the data."""

    weights: Mapping[str, float]
    temperature: float
    cue_probability: Mapping[str, float]
    features: int
    fitted_on: tuple[str, ...]
    hash: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Take in what the fitting command wrote. Raises CalibrationMismatchError for another feature version, an unknown feature or a wrong hash."""
        try:
            calibration = cls(
                weights={str(name): float(weight) for name, weight in data["weights"].items()},
                temperature=float(data["temperature"]),
                cue_probability={str(name): float(share) for name, share in data["cue_probability"].items()},
                features=int(data["features"]),
                fitted_on=tuple(map(str, data["fitted_on"])),
                hash=str(data["hash"]),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise CalibrationMismatchError(f"The localization weights can't be read ({error}); fit them again with manage.py fit_localization.") from error
        if calibration.features != FEATURE_VERSION:
            raise CalibrationMismatchError(
                f"The localization weights are for feature version {calibration.features}, this code has {FEATURE_VERSION}; "
                "fit them again with manage.py fit_localization."
            )
        if unknown := calibration.weights.keys() - FEATURES.keys():
            raise CalibrationMismatchError(f"The localization weights name unknown features: {', '.join(sorted(unknown))}.")
        if calibration.hash != calibration.digest():
            raise CalibrationMismatchError(
                "The localization weights don't have the hash they were written with; fit them again with manage.py fit_localization."
            )
        if not calibration.temperature > 0:
            raise CalibrationMismatchError("The softmax temperature must be above 0.")
        return calibration

    def to_json(self) -> dict[str, Any]:
        """The JSON form, with the right hash."""
        return {
            "features": self.features,
            "fitted_on": list(self.fitted_on),
            "temperature": self.temperature,
            "weights": dict(self.weights),
            "cue_probability": dict(self.cue_probability),
            "hash": self.digest(),
        }

    def digest(self) -> str:
        values = [self.features, list(self.fitted_on), self.temperature, sorted(self.weights.items()), sorted(self.cue_probability.items())]
        return hashlib.sha256(json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as a candidate: its tip, the recalled states that speak for it, its features, and the query terms found on it."""

    tip: Interaction
    active: bool
    evidence: Sequence[Recalled]
    features: Mapping[str, float]
    shared: tuple[str, ...]
    channels: Mapping[Channel, Hit] = field(default_factory=dict)


def additive_parts(ce_score: float, shared_terms: int, recency: float, anchor_match: float | None) -> dict[str, float]:
    """The paper's sum s_ce + s_key + s_rec + s_topic for one candidate, term by term; the sum is compared with PAPER_THRESHOLD (above it, or a new root).

    `shared_terms` counts informative overlapping terms and entities (1.0 for the first, 0.5 for each further one); `recency` is 0…1;
    `anchor_match` is the match of the candidate's topic, None when the input named no topic at all (+8 × match above 0.5, else −6)."""
    key = 0.0 if shared_terms <= 0 else 1.0 + 0.5 * (shared_terms - 1)
    topic = 0.0 if anchor_match is None else (8.0 * anchor_match if anchor_match > 0.5 else -6.0)
    return {"meaning": ce_score, "words": key, "path": topic, "cue": 0.0, "recency": min(1.0, max(0.0, recency))}


def lexical_score(similarity: float | None, words: float) -> float:
    """s_ce where there is no cross-encoder: BM25 of the branch-aware text, squashed, and its cosine, on a scale of 0 to 10."""
    return 6.0 * max(0.0, similarity or 0.0) + 4.0 * words / (words + 8.0)


def branches(query: Query, recall: Recall) -> list[Branch]:
    """Every branch of the recall with its features, in order of branch id. The active branch is always among them."""
    evidence: dict[int, list[Recalled]] = {branch: [] for branch in recall.tips}
    tips = dict(recall.tips)
    if recall.active is not None and recall.active.branch not in tips:
        tips[recall.active.branch], evidence[recall.active.branch] = recall.active, []
    for found in recall.recalled:
        evidence.setdefault(found.interaction.branch, []).append(found)
        known = tips.get(found.interaction.branch)
        if known is None:  # a store that brought no tip: the latest state it did bring
            tips[found.interaction.branch] = max((other.interaction for other in evidence[found.interaction.branch]), key=lambda state: state.position)
    weights = {
        term: idf(recall.document_frequency.get(term, 0), recall.states)
        for term in query.content or query.terms
        if not is_common(recall.document_frequency.get(term, 0), recall.states)
    }
    anchors = {anchor.root: anchor.match for anchor in recall.anchors}
    now = 1 + max((tip.position for tip in tips.values()), default=0)
    order = sorted(tips, key=lambda branch: -tips[branch].position)
    raw = {branch: _Raw.of(query, recall, tips[branch], evidence[branch], weights) for branch in tips}
    return [
        _branch(query, tips[branch], evidence[branch], raw, branch, recall.active, anchors.get(tips[branch].root, 0.0), order.index(branch), now)
        for branch in sorted(tips)
    ]


@dataclass(frozen=True, slots=True)
class _Raw:
    """What one branch shows by itself, before it is compared with the others."""

    best: float
    tip: float
    centre: float
    tip_words: float
    path_words: float
    bm25: float
    names: int
    shared: tuple[str, ...]

    @classmethod
    def of(cls, query: Query, recall: Recall, tip: Interaction, evidence: Sequence[Recalled], weights: Mapping[str, float]) -> _Raw:
        similarities = [found.similarity for found in evidence if found.similarity is not None]
        own = next((found.similarity for found in evidence if found.interaction.id == tip.id), None)
        tip_similarity = recall.tip_similarity.get(tip.branch, own if own is not None else min(similarities, default=0.0))
        best = max([*similarities, tip_similarity])
        centre = recall.centres.get(tip.branch, float(np.mean(similarities)) if similarities else tip_similarity)
        tip_counts = _counts(tip)
        path = set(tip_counts) | set(terms(f"{tip.topic} {tip.path_summary}"))
        names = {entity_term(entity) for entity in tip.entities} if query.entities else set()
        best_bm25 = bm25(query.terms, tip_counts, sum(tip_counts.values()), recall.document_frequency, recall.states, recall.average_length)
        for found in evidence:
            if query.entities:
                names.update(entity_term(entity) for entity in found.interaction.entities)
            if found.interaction.id != tip.id and ("keyword" in found.channels or "entity" in found.channels):
                counts = _counts(found.interaction)
                path.update(counts)
                score = bm25(query.terms, counts, sum(counts.values()), recall.document_frequency, recall.states, recall.average_length)
                best_bm25 = max(best_bm25, score)
        total = sum(weights.values())

        def cover(said: Container[str]) -> float:
            return sum(weight for term, weight in weights.items() if term in said) / total if total else 0.0

        return cls(
            best=best,
            tip=tip_similarity,
            centre=centre,
            tip_words=cover(tip_counts),
            path_words=cover(path),
            bm25=best_bm25 / (best_bm25 + 8.0),
            names=sum(entity in names or (bool(said := terms(entity)) and path.issuperset(said)) for entity in query.entities),
            shared=tuple(sorted((term for term in weights if term in path), key=lambda term: -weights[term])),
        )


def _counts(interaction: Interaction) -> Mapping[str, int]:
    return _counted(f"{interaction.user}\n{interaction.assistant[:READ_CHARACTERS]}\n{interaction.node_summary}")


@lru_cache(maxsize=2048)  # the same states are candidates turn after turn
def _counted(text: str) -> Mapping[str, int]:
    return Counter(terms(text))


def shortness(query: Query) -> float:
    """1 for one word, falling to 0 at about 24 words: short inputs lean on what was said before."""
    return max(0.0, 1.0 - math.log(max(1, query.word_count)) / math.log(24))


def bareness(query: Query) -> float:
    """1 without informative words, ½ with one, ⅓ with two: what is left leans on what was said before."""
    return 1.0 / (1 + len(query.content))


def _branch(
    query: Query,
    tip: Interaction,
    evidence: Sequence[Recalled],
    raw: Mapping[int, _Raw],
    branch: int,
    active: Interaction | None,
    anchor: float,
    recency: int,
    now: int,
) -> Branch:
    mine, others = raw[branch], [other for key, other in raw.items() if key != branch]
    is_active = active is not None and active.branch == branch
    on = 1.0 if is_active else 0.0
    cues = query.cues
    features = {
        "near_best": mine.best,
        "near_tip": mine.tip,
        "near_centre": mine.centre,
        "near_lead": mine.tip - max((other.tip for other in others), default=0.0),
        "words_tip": mine.tip_words,
        "words_bm25": mine.bm25,
        "words_lead": mine.path_words - max((other.path_words for other in others), default=0.0),
        "names": min(2.0, 1.0 + 0.5 * (mine.names - 1)) / 2 if mine.names else 0.0,
        "path_words": mine.path_words,
        "topic": anchor,
        "active": on,
        "recent": 1.0 / (1 + recency),
        "age": math.log1p(now - tip.position) / 5,
        "active_short": on * shortness(query),
        "active_pronoun": on * cues.pronoun,
        "active_opener": on * cues.opener,
        "active_answer": on * cues.answer,
        "active_greeting": on * cues.greeting,
        "active_bare": on * bareness(query),
        "active_near": on * mine.tip,
        "active_fresh": on * bool(cues.fresh),
        "active_returning": on * bool(cues.returning),
        "other_returning": (1 - on) * bool(cues.returning),
    }
    channels: dict[Channel, Hit] = {}
    for found in evidence:
        for channel, hit in found.channels.items():
            if channel not in channels or hit.rank < channels[channel].rank:
                channels[channel] = hit
    return Branch(tip, is_active, evidence, features, mine.shared, channels)


def new_root_features(query: Query, candidates: Sequence[Branch]) -> dict[str, float]:
    """The features of the new root: how little the branches have of what was said, and the cues."""
    best = max((branch.features["path_words"] for branch in candidates), default=0.0)
    return {
        "new": 1.0,
        "new_near": max((branch.features["near_best"] for branch in candidates), default=0.0),
        "new_tip": max((branch.features["near_tip"] for branch in candidates), default=0.0),
        "new_uncovered": 1.0 - best,
        "new_short": shortness(query),
        "new_pronoun": float(query.cues.pronoun),
        "new_opener": float(query.cues.opener),
        "new_answer": float(query.cues.answer),
        "new_greeting": float(query.cues.greeting),
        "new_bare": bareness(query),
        "new_fresh": float(bool(query.cues.fresh)),
        "new_returning": float(bool(query.cues.returning)),
    }


def parts(features: Mapping[str, float], calibration: Calibration) -> dict[str, float]:
    """The score of a candidate by its parts; they sum to the score."""
    scored = dict.fromkeys(PARTS, 0.0)
    for name, value in features.items():
        scored[FEATURES[name]] += calibration.weights.get(name, 0.0) * value
    return scored


def probabilities(scores: Sequence[float], temperature: float) -> list[float]:
    """Softmax of the scores, shape as given; sums to 1."""
    if not scores:
        return []
    scaled = np.asarray(scores, dtype=float) / temperature
    raised = np.exp(scaled - scaled.max())
    return [float(share) for share in raised / raised.sum()]
