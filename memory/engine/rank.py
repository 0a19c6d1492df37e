"""The branch-aware ranking (paper §3.2): a score for every branch an input may resume, beside that of a new root.

A candidate is a *branch*, and its place mostly its tip, since one resumes a matter where it was left; a branch that took in a turn unsurely is also one as it
stood before that (`Lane.aside`), and an input may go back further (inner.py). Scores are weighted sums of features (`features.py`), shown
by named parts, so that a person can be told what decided. One softmax over all branches and the new root turns scores into probabilities. Weights and
temperature are fitted elsewhere and come in as a `Calibration`.

`additive_parts` are the terms of the paper's own sum for a real cross-encoder, kept as a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.engine import features
from memory.engine.calibration import Calibration
from memory.engine.feature_names import FEATURES, PARTS
from memory.engine.features import Places, Table
from memory.engine.forest import Channel, Hit, Interaction, Lane, Recall, Recalled
from memory.engine.query import Query

_AT: Final = {name: place for place, name in enumerate(FEATURES)}
PAPER_THRESHOLD: Final = 8.0  # τ of the paper, on the scale of BGE-Reranker-v2-M3


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as a candidate: its tip, the recalled states that speak for it, and the input's words found on its tree, rarest first."""

    tip: Interaction
    active: bool
    evidence: Sequence[Recalled]
    shared: tuple[str, ...]
    recent: float  # 1 for the branch used last, ½ for the one before, …
    topic: float  # match of its tree's topic anchor
    channels: Mapping[Channel, Hit]
    lane: Lane

    @property
    def aside(self) -> int | None:
        """The unsurely placed state that this place leaves aside, with all that came after it; None for a branch as it is."""
        return self.lane.aside


@dataclass(frozen=True, slots=True)
class Field:
    """All places an input may go: the branches by row, with their features, in the last row those of the new root; what was recalled, by branch."""

    table: Table
    recalled: Mapping[int, Sequence[Recalled]]

    @property
    def places(self) -> Places:
        return self.table.places

    def scores(self, calibration: Calibration) -> list[float]:
        """The scores, branch by branch and the new root last."""
        scored: list[float] = calibration.places.scores(self.table.rows).tolist()
        return scored

    def parts(self, calibration: Calibration, places: Sequence[int]) -> list[dict[str, float]]:
        """The scores of some places by their parts, which sum to them; by row, −1 being the new root."""
        return [dict(zip(PARTS, scored, strict=True)) for scored in calibration.parts(self.table.rows[list(places)]).tolist()]

    @property
    def branches(self) -> list[Branch]:
        """All of them: of a few hundred a handful is worth being looked at one by one (`branch`)."""
        return [self.branch(at) for at in range(len(self.places))]

    def branch(self, at: int) -> Branch:
        """The branch of a row."""
        lane, row = self.places.lane(at), self.table.rows[at]
        of = self.recalled.get(lane.tip.branch, ())
        evidence = of if lane.aside is None else [found for found in of if found.interaction.position <= lane.tip.position]
        active, recent, topic = (float(row[_AT[name]]) for name in ("active", "recent", "topic"))
        return Branch(lane.tip, bool(active), evidence, self.table.shared(at), recent, topic, _channels(evidence), lane)


def read(query: Query, recall: Recall) -> Field:
    """The field of a query: every branch of the recall."""
    recalled: dict[int, list[Recalled]] = {}
    for found in recall.recalled:
        recalled.setdefault(found.interaction.branch, []).append(found)
    return Field(features.table(query, recall), recalled)


def _channels(evidence: Sequence[Recalled]) -> dict[Channel, Hit]:
    channels: dict[Channel, Hit] = {}
    for found in evidence:
        for channel, hit in found.channels.items():
            if channel not in channels or hit.rank < channels[channel].rank:
                channels[channel] = hit
    return channels


def probabilities(scores: Sequence[float], temperature: float) -> list[float]:
    """Softmax of the scores, shape as given; sums to 1."""
    if not scores:
        return []
    scaled = np.asarray(scores, dtype=float) / temperature
    raised = np.exp(scaled - scaled.max())
    return [float(share) for share in raised / raised.sum()]


# --- The paper's own sum ------------------------------------------------------------------------------------------------


def additive_parts(ce_score: float, shared_terms: int, recency: float, anchor_match: float | None) -> dict[str, float]:
    """The paper's sum s_ce + s_key + s_rec + s_topic for one candidate, term by term; the sum is compared with PAPER_THRESHOLD (above it, or a new root).

    `shared_terms` counts informative overlapping terms and entities (1.0 for the first, 0.5 for each further one); `recency` is 0…1;
    `anchor_match` is the match of the candidate's topic, None when the input named no topic at all (+8 × match above 0.5, else −6)."""
    key = 0.0 if shared_terms <= 0 else 1.0 + 0.5 * (shared_terms - 1)
    topic = 0.0 if anchor_match is None else (8.0 * anchor_match if anchor_match > 0.5 else -6.0)
    return {**dict.fromkeys(PARTS, 0.0), "meaning": ce_score, "words": key, "path": topic, "recency": min(1.0, max(0.0, recency))}


def lexical_score(similarity: float | None, words: float) -> float:
    """s_ce where there is no cross-encoder: BM25 of the branch-aware text, squashed, and its cosine, on a scale of 0 to 10."""
    return 6.0 * max(0.0, similarity or 0.0) + 4.0 * words / (words + 8.0)
