"""Back-jumps inside a tree: the input goes back to an earlier state of the branch it resumes, and leaves aside what came after.

“Rather the other one from your list”, after a choice was made; a question about what an answer said four turns ago. The branch is chosen first (`localize`);
then one softmax over its last states says whether it is resumed at its tip or before. That is rare, so it must be likely: below a fitted threshold the place
stays the tip. Cosines come from the lane; features are differences to the tip, so that a branch which is near as a whole isn't entered in its middle.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.engine import pieces, reply
from memory.engine.forest import Decision, Interaction, Lane
from memory.engine.net import Net
from memory.engine.query import Query
from memory.engine.text import excerpt

NEVER: Final = 1.1  # a threshold that no chance exceeds
LABEL: Final = 60
OF_TIP: Final = (
    "tip",
    "tip_active",
    "tip_doubt",
    "tip_doubt_active",
    "tip_joined",
    "tip_turn",
    "tip_piece",
    "tip_words",
    "tip_fits",
    "tip_lists",
    "tip_reconsidering",
    "tip_picking",
    "tip_returning",
    "tip_third",
    "tip_elliptical",
    "tip_question",
    "tip_short",
)
OF_EARLIER: Final = (
    "next_to_tip",
    "distance",
    "doubt_after",
    "doubt_later",
    "doubt_before",
    "joined_after",
    "joined_later",
    "turn",
    "turn_nearer",
    "turn_split",
    "turn_leads",
    "piece",
    "piece_nearer",
    "piece_split",
    "piece_leads",
    "said_nearer",
    "said_split",
    "words",
    "words_nearer",
    "words_split",
    "items_nearer",
    "items_pointed",
    "lists_picking",
    "lists_reconsidering",
    "lists_contrast",
    "open_fits",
    "open_split",
    "doubt_after_turn_split",
    "doubt_after_piece_split",
    "doubt_after_active",
)
FEATURES: Final = OF_TIP + OF_EARLIER


def rows(query: Query, lane: Lane, active: bool) -> tuple[list[int], NDArray[np.float64]]:
    """The latest states of a lane, its tip first, and their features, (states, FEATURES). `active`: whether the branch is the one used last.

    To go back to a state is to say that the matter lies before its end and not after: hence the *splits*, the best of what stands up to it less the best of
    what came after, and the doubts, how unsurely what came after was put there."""
    states = list(reversed(lane.latest))
    cues = query.cues
    pointing = float(cues.picking or cues.reconsidering or cues.contrast)
    least = min(lane.turns.values(), default=0.0)
    turns = [lane.turns.get(state, least) for state in states]
    best = [_best(lane, state) for state in states]
    said = [lane.pieces.get((state, pieces.SAID), 0.0) for state in states]
    items = [_nearest(lane, state, pieces.ITEMS, pieces.INTRODUCED) for state in states]
    words = [len(lane.words.get(state, ())) / (len(set(query.terms)) or 1) for state in states]
    fits = [max((reply.fits(question, query.text) for (of, _), question in lane.questions.items() if of == state), default=0.0) for state in states]
    doubts = [1.0 - lane.placed.get(state, 1.0) for state in states]
    joined = [lane.joined.get(state, 1.0) for state in states]
    told = [
        {
            "tip": 1.0,
            "tip_active": float(active),
            "tip_doubt": doubts[0],
            "tip_doubt_active": doubts[0] * active,
            "tip_joined": joined[0],
            "tip_turn": turns[0],
            "tip_piece": best[0],
            "tip_words": words[0],
            "tip_fits": fits[0],
            "tip_lists": float(items[0] > 0.0),
            "tip_reconsidering": float(cues.reconsidering),
            "tip_picking": float(cues.picking),
            "tip_returning": float(bool(cues.returning)),
            "tip_third": float(cues.third_person),
            "tip_elliptical": float(cues.elliptical),
            "tip_question": float(cues.question),
            "tip_short": max(0.0, 1.0 - query.word_count / 24),
        }
    ]
    for at in range(1, len(states)):
        lists = float(items[at] > 0.0)
        told.append(
            {
                "next_to_tip": float(at == 1),
                "distance": math.log1p(at),
                "doubt_after": doubts[at - 1],
                "doubt_later": max(doubts[: at - 1], default=0.0),
                "doubt_before": doubts[at],
                "joined_after": joined[at - 1],
                "joined_later": min(joined[: at - 1], default=1.0),
                "turn": turns[at],
                "turn_nearer": turns[at] - turns[0],
                "turn_split": max(turns[at:]) - max(turns[:at]),
                "turn_leads": turns[at] - max(turns[:at] + turns[at + 1 :]),
                "piece": best[at],
                "piece_nearer": best[at] - best[0],
                "piece_split": max(best[at:]) - max(best[:at]),
                "piece_leads": best[at] - max(best[:at] + best[at + 1 :]),
                "said_nearer": said[at] - said[0],
                "said_split": max(said[at:]) - max(said[:at]),
                "words": words[at],
                "words_nearer": words[at] - words[0],
                "words_split": max(words[at:]) - max(words[:at]),
                "items_nearer": items[at] - best[0] if lists else 0.0,
                "items_pointed": pointing * items[at],
                "lists_picking": lists * cues.picking,
                "lists_reconsidering": lists * cues.reconsidering,
                "lists_contrast": lists * cues.contrast,
                "open_fits": fits[at],
                "open_split": max(fits[at:]) - max(fits[:at]),
                "doubt_after_turn_split": doubts[at - 1] * (max(turns[at:]) - max(turns[:at])),
                "doubt_after_piece_split": doubts[at - 1] * (max(best[at:]) - max(best[:at])),
                "doubt_after_active": doubts[at - 1] * active,
            }
        )
    return states, np.array([[row.get(name, 0.0) for name in FEATURES] for row in told], dtype=np.float64).reshape(len(states), len(FEATURES))


def _nearest(lane: Lane, state: int, first: int, end: int) -> float:
    return max((cosine for (of, number), cosine in lane.pieces.items() if of == state and first <= number < end), default=0.0)


def _best(lane: Lane, state: int) -> float:
    return _nearest(lane, state, 0, pieces.INTRODUCED)


def earlier(query: Query, lane: Lane, active: bool, net: Net, threshold: float) -> tuple[int, float] | None:
    """The earlier state that the input resumes with its probability within the branch, or None for the tip."""
    if threshold > 1.0 or len(lane.latest) < 2:
        return None
    states, found = rows(query, lane, active)
    scores = net.scores(found)
    raised = np.exp(scores - scores.max())
    shares = raised / raised.sum()
    best = int(shares[1:].argmax()) + 1
    return (states[best], float(shares[best])) if shares[best] > threshold else None


def back_to(decision: Decision, state: Interaction, share: float) -> Decision:
    """The decision with an earlier state of the chosen branch as its place, in place of the tip. The branch was decided on first: its probability, and with it
    how sure the decision is, stays; `share` says how surely it is this state of it."""
    label = excerpt(state.node_summary or state.user or state.assistant, LABEL)
    back = replace(decision.candidates[0], state=state.id, label=label)
    why = f"{decision.why} It goes back to an earlier turn there, “{label}” ({round(100 * share)} % within that path), and leaves aside what came after."
    return replace(decision, parent=state.id, why=why, candidates=[back, *decision.candidates[1:]])
