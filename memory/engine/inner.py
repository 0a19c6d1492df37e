"""Back-jumps inside a tree: the input goes back to an earlier state of the branch it resumes, and leaves aside what came after.

“Rather the other one from your list”, after a choice was made; a question about what an answer said four turns ago. The branch is chosen first (`localize`);
then one softmax over its last states says whether it is resumed at its tip or before. That is rare, so it must be likely: below a fitted threshold the place
stays the tip. Cosines come from the lane; features are differences to the tip, so that a branch which is near as a whole isn't entered in its middle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import pieces, reply
from memory.engine.forest import Candidate, Decision, Interaction, Lane
from memory.engine.query import Query
from memory.engine.text import excerpt

NEVER: Final = 1.1  # a threshold that no chance exceeds
LABEL: Final = 60
FEATURES: Final = (
    "earlier",
    "turn_nearer",
    "piece_nearer",
    "piece_leads",
    "said_nearer",
    "items_nearer",
    "items_pointed",
    "lists_picking",
    "lists_reconsidering",
    "lists_contrast",
    "tip_lists",
    "open_fits",
    "next_to_tip",
    "reconsidering",
    "picking",
    "returning",
    "third",
    "elliptical",
    "question",
    "piece_question",
    "piece_third",
)


def rows(query: Query, lane: Lane) -> tuple[list[int], NDArray[np.float64]]:
    """The earlier states of a lane, latest first, and their features, (states, features); the tip has none and scores 0."""
    states = [state for state in reversed(lane.latest) if state != lane.tip.id]
    cues, tip = query.cues, lane.tip.id
    pointing = float(cues.picking or cues.reconsidering or cues.contrast)
    best = {state: _best(lane, state) for state in lane.latest}
    least = min(lane.turns.values(), default=0.0)
    found = []
    for place, state in enumerate(states):
        lists = float(_nearest(lane, state, pieces.ITEMS, pieces.INTRODUCED) > 0.0)
        others = max((cosine for other, cosine in best.items() if other != state), default=0.0)
        near = best[state] - best[tip]
        told = {
            "earlier": 1.0,
            "turn_nearer": lane.turns.get(state, least) - lane.turns.get(tip, least),
            "piece_nearer": near,
            "piece_leads": best[state] - others,
            "said_nearer": lane.pieces.get((state, pieces.SAID), 0.0) - lane.pieces.get((tip, pieces.SAID), 0.0),
            "items_nearer": _nearest(lane, state, pieces.ITEMS, pieces.INTRODUCED) - best[tip] if lists else 0.0,
            "items_pointed": pointing * _nearest(lane, state, pieces.ITEMS, pieces.INTRODUCED),
            "lists_picking": lists * cues.picking,
            "lists_reconsidering": lists * cues.reconsidering,
            "lists_contrast": lists * cues.contrast,
            "tip_lists": float(_nearest(lane, tip, pieces.ITEMS, pieces.INTRODUCED) > 0.0),
            "open_fits": max((reply.fits(question, query.text) for (of, _), question in lane.questions.items() if of == state), default=0.0),
            "next_to_tip": float(place == 0),
            "reconsidering": float(cues.reconsidering),
            "picking": float(cues.picking),
            "returning": float(bool(cues.returning)),
            "third": float(cues.third_person),
            "elliptical": float(cues.elliptical),
            "question": float(cues.question),
            "piece_question": near * cues.question,
            "piece_third": near * cues.third_person,
        }
        found.append([told[name] for name in FEATURES])
    return states, np.array(found, dtype=np.float64).reshape(len(states), len(FEATURES))


def _nearest(lane: Lane, state: int, first: int, end: int) -> float:
    return max((cosine for (of, number), cosine in lane.pieces.items() if of == state and first <= number < end), default=0.0)


def _best(lane: Lane, state: int) -> float:
    return _nearest(lane, state, 0, pieces.INTRODUCED)


def earlier(query: Query, lane: Lane, weights: Mapping[str, float], threshold: float) -> tuple[int, float] | None:
    """The earlier state that the input resumes with its probability within the branch, or None for the tip."""
    states, found = rows(query, lane)
    if not states or threshold > 1.0:
        return None
    scores = np.concatenate([[0.0], found @ np.array([weights.get(name, 0.0) for name in FEATURES])])
    raised = np.exp(scores - scores.max())
    shares = raised / raised.sum()
    best = int(shares[1:].argmax()) + 1
    return (states[best - 1], float(shares[best])) if shares[best] > threshold else None


def back_to(decision: Decision, state: Interaction, share: float) -> Decision:
    """The decision with an earlier state of the chosen branch as its place."""
    winner = decision.candidates[0]
    label = excerpt(state.node_summary or state.user or state.assistant, LABEL)
    probability = winner.probability * share
    back = replace(winner, state=state.id, label=label, probability=probability)
    tip = Candidate(winner.state, winner.root, winner.label, winner.tree, winner.active, winner.score, winner.probability - probability, winner.parts)
    why = f"{decision.why} It goes back to an earlier turn there, “{label}”, and leaves aside what came after."
    return replace(decision, parent=state.id, probability=probability, why=why, candidates=[back, tip, *decision.candidates[1:]])
