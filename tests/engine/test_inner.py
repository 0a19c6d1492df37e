"""Back-jumps: an input that goes back to an earlier state of the branch it resumes."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from memory.engine import inner, localize, pieces
from memory.engine.calibration import Calibration
from memory.engine.forest import Interaction, Lane, Recall
from memory.engine.net import Net
from memory.engine.query import Query, read

NOON = datetime(2026, 11, 12, 12, tzinfo=UTC)
LIST = Interaction(1, 1, None, 1, 1, 0, NOON, "Which suppliers are there?", "1. Tulipan\n2. Gelber Hof\n3. Ivory Gate", topic="Garden")
CHOICE = Interaction(2, 2, 1, 1, 1, 1, NOON, "Tulipan, then.", "Tulipan it is.", topic="Garden")
NEXT = Interaction(3, 3, 2, 1, 1, 2, NOON, "They come on Friday.", "Friday.", topic="Garden")
LANE = Lane(
    NEXT,
    [1, 2, 3],
    turns={1: 0.3, 2: 0.3, 3: 0.3},
    pieces={(1, pieces.ITEMS): 0.2, (1, pieces.ITEMS + 1): 0.6, (2, pieces.SAID): 0.2, (3, pieces.SAID): 0.1},
)
NET = Net.linear(inner.FEATURES, {"tip": 3.0, "lists_reconsidering": 6.0, "items_pointed": 2.0})
CALIBRATION = replace(Calibration.linear({"active": 9.0}, {"continuation": 0.9, "temporal": 0.9}), earlier=NET, threshold=0.5)


def asked(text: str) -> Query:
    return read(text, NOON, "UTC")


def test_a_changed_mind_goes_back_to_the_list() -> None:
    found = inner.earlier(asked("On second thoughts, rather the one with the crane"), LANE, True, NET, 0.5)
    assert found is not None
    state, share = found
    assert state == LIST.id
    assert 0.5 < share < 1


def test_what_goes_on_stays_at_the_tip() -> None:
    assert inner.earlier(asked("At what time on Friday?"), LANE, True, NET, 0.5) is None
    assert inner.earlier(asked("On second thoughts, rather the one with the crane"), LANE, True, NET, inner.NEVER) is None
    assert inner.earlier(asked("On second thoughts, rather the other"), replace(LANE, latest=[3]), True, NET, 0.1) is None


def test_the_features_of_an_earlier_state_set_what_stands_up_to_it_against_what_came_after() -> None:
    lane = replace(LANE, placed={1: 1.0, 2: 0.4, 3: 0.9}, joined={2: 0.1, 3: 0.6})
    states, rows = inner.rows(asked("Which one?"), lane, False)
    assert states == [3, 2, 1] and rows.shape == (3, len(inner.FEATURES)) and np.isfinite(rows).all()

    def column(name: str) -> list[float]:
        return [float(value) for value in rows[:, inner.FEATURES.index(name)]]

    assert column("tip") == [1, 0, 0] and column("tip_active") == [0, 0, 0]
    assert column("tip_doubt") == pytest.approx([0.1, 0, 0])
    assert column("turn_nearer") == pytest.approx([0, 0, 0])
    assert column("piece_nearer") == pytest.approx([0, 0.1, 0.5])
    assert column("piece_split") == pytest.approx([0, 0.6 - 0.1, 0.6 - 0.2])
    assert column("doubt_after") == pytest.approx([0, 0.1, 0.6]) and column("doubt_later") == pytest.approx([0, 0, 0.1])
    assert column("joined_after") == pytest.approx([0, 0.6, 0.1])


OTHER = Interaction(4, 4, None, 4, 4, 0, NOON, "A poem about snow", "Gladly.", topic="Poem")


def test_the_decision_names_the_earlier_turn_in_place_of_the_tip_and_stays_as_sure_of_the_branch() -> None:
    recall = Recall([], {1: LANE, 4: Lane(OTHER, [4], turns={4: 0.1})}, NEXT, [], {}, 4, 10.0)
    query = asked("On second thoughts, rather the one with the crane")
    decision = localize.localize(query, recall, replace(CALIBRATION, temperature=6.0))
    assert decision.parent == NEXT.id and 0.5 < decision.probability < 0.9 and decision.second == OTHER.id
    jump = localize.back_jump(query, recall, decision, CALIBRATION)
    assert jump is not None
    for share in (jump[1], 0.1):  # however unsure where on the branch: another one is no likelier for that
        back = inner.back_to(decision, LIST, share)
        assert back.parent == back.candidates[0].state == LIST.id
        assert [candidate.state for candidate in back.candidates[1:]] == [candidate.state for candidate in decision.candidates[1:]]
        assert NEXT.id not in {candidate.state for candidate in back.candidates}
        assert (back.probability, back.margin, back.unsure, back.second) == (decision.probability, decision.margin, decision.unsure, decision.second)
        assert back.probability == back.candidates[0].probability == max(candidate.probability for candidate in back.candidates)
        assert back.margin == pytest.approx(back.candidates[0].probability - back.candidates[1].probability)
        assert sum(candidate.probability for candidate in back.candidates) == pytest.approx(1.0)
        assert "“Which suppliers are there?”" in back.why
    assert f"({round(100 * jump[1])} % within that path)" in inner.back_to(decision, LIST, jump[1]).why


def test_a_cue_that_decided_is_no_back_jump() -> None:
    recall = Recall([], {1: LANE}, NEXT, [], {}, 3, 10.0)
    calibration = replace(CALIBRATION, earlier=Net.linear(inner.FEATURES, {"tip": -9.0}), threshold=0.1)
    query = asked("Go on")
    assert localize.back_jump(query, recall, localize.localize(query, recall, calibration), calibration) is None
