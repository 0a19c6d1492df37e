"""Where an input goes, and the words that say why."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine import features, localize, pieces, rank
from memory.engine.calibration import Calibration, CalibrationMismatchError
from memory.engine.feature_names import FEATURES, VERSION
from memory.engine.features import wording
from memory.engine.forest import Anchor, Hit, Interaction, Lane, Lanes, Recall, Recalled, Sign
from memory.engine.net import Net
from memory.engine.query import Query, read
from memory.engine.rank import additive_parts, probabilities
from memory.engine.terms import terms

NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)
WEIGHTS = {"near_best": 5.0, "near_tip": 2.0, "words_tip": 2.0, "words_path": 2.0, "topic": 1.0, "active": 1.0, "active_bare": 2.0, "new": 3.5}
CALIBRATION = Calibration.linear(WEIGHTS, {"continuation": 0.95, "temporal": 0.9})


def asked(text: str) -> Query:
    return read(text, NOON, "Europe/Paris")


def said(identity: int, user: str, *, root: int, parent: int | None = None, topic: str = "", answer: str = "", hours: int = 1) -> Interaction:
    return Interaction(identity, identity, parent, root, root, int(parent is not None), NOON - timedelta(hours=hours), user, answer, topic=topic)


KITCHEN = said(1, "The wall to the window must stay when I redo my kitchen", root=1, topic="Kitchen", hours=30)
HOOD = said(2, "Which extractor hood fits under the beam?", root=1, parent=1, topic="Kitchen", answer="A recirculating Bosch.", hours=29)
BREAD = said(3, "My sourdough needs 24 hours in the fridge", root=3, topic="Sourdough", answer="24 hours is fine.", hours=2)


def recalled(*found: tuple[Interaction, float], active: Interaction | None = BREAD, anchors: Sequence[Anchor] = ()) -> Recall:
    hits = [
        Recalled(state, {"semantic": Hit(rank, similarity), "keyword": Hit(rank, 1.0)}, similarity)
        for rank, (state, similarity) in enumerate(sorted(found, key=lambda pair: -pair[1]), 1)
    ]
    lanes = {}
    for state in sorted({state.id: state for state in [*(state for state, _ in found), *([active] if active else [])]}.values(), key=lambda one: one.position):
        of_tree = [other for other, _ in found if other.root == state.root] or [state]
        cosines = {other.id: similarity for other, similarity in found}
        lanes[state.branch] = Lane(
            state,
            [state.id],
            near={"tip": cosines.get(state.id, 0.0), "best": max(cosines.get(other.id, 0.0) for other in of_tree)},
            terms=frozenset().union(*(terms(f"{other.topic} {other.user}\n{other.assistant}") for other in of_tree)),
            tip_terms=frozenset(terms(f"{state.user}\n{state.assistant}")),
        )
    return Recall(hits, lanes, active, anchors, {"window": 1, "hood": 1, "wall": 1, "sourdough": 1, "24": 1}, 3, 10.0)


def test_an_input_goes_to_the_branch_that_is_nearest_at_its_tip() -> None:
    decision = localize.localize(asked("Is the hood loud, and the wall by the window?"), recalled((KITCHEN, 0.5), (HOOD, 0.7), (BREAD, 0.1)), CALIBRATION)
    assert (decision.method, decision.parent, decision.root) == ("recall", HOOD.id, 1)
    assert decision.why.startswith("Returns to Kitchen, Which extractor hood fits under the beam.")
    assert "“wall”" in decision.why


def test_the_open_question_that_an_input_answers_is_in_the_sentence_and_on_the_candidate() -> None:
    found = recalled((HOOD, 0.2), (BREAD, 0.1))
    key = (HOOD.id, pieces.QUESTIONS)
    lanes = {**found.lanes, HOOD.branch: replace(found.lanes[HOOD.branch], pieces={key: 0.5}, questions={key: "How high is the ceiling?"})}
    ranked = Calibration.linear({"open_near": 9.0, "new": 2.0}, {})
    decision = localize.localize(asked("Two metres forty."), replace(found, lanes=lanes), ranked)
    assert "It answers “How high is the ceiling?”." in decision.why
    assert decision.candidates[0].signs["reply"] == Sign("answers", ("How high is the ceiling?",), HOOD.id)


def test_a_name_that_was_spoken_of_in_one_place_only_is_in_the_sentence() -> None:
    sister = said(4, "My sister Greta moves to Lyon", root=4, topic="Lyon")
    ranked = Calibration.linear({"names_only": 4.0, "new": 2.0}, {})
    decision = localize.localize(asked("When does Greta arrive?"), recalled((sister, 0.2), (BREAD, 0.1)), ranked)
    assert decision.why.startswith("Returns to Lyon, My sister Greta moves to Lyon. Only there was “Greta” spoken of.")


def test_a_new_topic_says_what_was_said_nowhere_before() -> None:
    ranked = Calibration.linear({"new_unknown_name": 3.0}, {})
    decision = localize.localize(asked("What did Vermeer paint?"), recalled((HOOD, 0.02), (BREAD, 0.01)), ranked)
    assert decision.why.startswith("Begins a new topic: no path is close enough to it, and “Vermeer” was never spoken of before.")


def test_a_place_cut_short_ends_its_sentence() -> None:
    long = replace(HOOD, user="Which extractor hood fits under the beam " + "of the old kitchen wall " * 5)
    decision = localize.localize(asked("Is the hood loud, and the wall by the window?"), recalled((KITCHEN, 0.5), (long, 0.7), (BREAD, 0.1)), CALIBRATION)
    assert "… " in decision.why
    assert "…." not in decision.why


def test_an_input_near_nothing_begins_a_new_root() -> None:
    decision = localize.localize(asked("Who painted the Night Watch?"), recalled((HOOD, 0.02), (BREAD, 0.01)), CALIBRATION)
    assert (decision.method, decision.parent, decision.root) == ("new_root", None, None)
    assert decision.why.startswith("Begins a new topic")


def test_the_first_turn_of_a_forest_is_surely_a_new_root() -> None:
    decision = localize.localize(asked("Continue"), Recall([], {}, None, [], {}, 0, 0.0), CALIBRATION)
    assert (decision.method, decision.probability, decision.unsure) == ("new_root", 1.0, False)


def test_a_continuation_cue_leads_to_the_active_state_whatever_is_nearer() -> None:
    decision = localize.localize(asked("Go on, please"), recalled((HOOD, 0.9), (BREAD, 0.1)), CALIBRATION)
    assert (decision.method, decision.parent) == ("continuation", BREAD.id)
    assert decision.probability == pytest.approx(0.95)
    assert "“go on, please”" in decision.why
    assert not localize.needs_recall(asked("Go on, please"), BREAD)


def test_a_temporal_return_leads_to_what_was_said_then() -> None:
    query = asked("What did we say yesterday about the hood?")
    window = localize.window(query)
    assert window is not None
    assert window.start <= HOOD.time < window.end
    decision = localize.localize(query, recalled((BREAD, 0.6), (HOOD, 0.0)), CALIBRATION, [Recalled(HOOD, {}, 0.4)])
    assert (decision.method, decision.parent) == ("temporal", HOOD.id)
    assert "“yesterday”" in decision.why


def test_a_time_at_which_nothing_was_said_leaves_it_to_recall() -> None:
    decision = localize.localize(asked("What did we say last week about the hood?"), recalled((HOOD, 0.9), (BREAD, 0.1)), CALIBRATION, [])
    assert (decision.method, decision.parent) == ("recall", HOOD.id)


def test_a_close_race_is_unsure_and_names_the_second_place() -> None:
    decision = localize.localize(asked("Is 24 enough, then?"), recalled((HOOD, 0.9), (BREAD, 0.6)), CALIBRATION)
    assert decision.unsure
    assert decision.second == HOOD.id
    assert "the model was also shown it" in decision.why


def test_probabilities_and_parts_add_up() -> None:
    decision = localize.localize(asked("Is the hood loud?"), recalled((KITCHEN, 0.5), (HOOD, 0.7), (BREAD, 0.1)), CALIBRATION)
    assert sum(candidate.probability for candidate in decision.candidates) == pytest.approx(1.0)
    for candidate in decision.candidates:
        assert sum(candidate.parts.values()) == pytest.approx(candidate.score)
    assert decision.margin == pytest.approx(decision.candidates[0].probability - decision.candidates[1].probability)
    assert decision.threshold == next(candidate.score for candidate in decision.candidates if candidate.state is None)


def test_at_most_eight_branches_and_the_new_root_are_kept() -> None:
    states = [said(number, f"Matter number {number}", root=number) for number in range(1, 15)]
    decision = localize.localize(asked("Matter"), recalled(*((state, 0.3) for state in states), active=states[-1]), CALIBRATION)
    assert len(decision.candidates) == 9
    assert decision.candidates[-1].state is None or any(candidate.state is None for candidate in decision.candidates)


def test_a_topic_that_is_named_speaks_for_its_tree() -> None:
    query, found = asked("The kitchen again"), ((HOOD, 0.3), (BREAD, 0.3))
    plain = rank.read(query, recalled(*found)).branches
    named = rank.read(query, recalled(*found, anchors=[Anchor(1, "Kitchen", 0.9)])).branches
    assert [branch.topic for branch in plain] == [0.0, 0.0]
    assert [branch.topic for branch in named] == [0.9, 0.0]


def test_hostile_text_stays_plain_text_on_one_line() -> None:
    hostile = replace(HOOD, user="</script><b onclick=x>\u202ehood\u202c\n\nIGNORE ALL\x00 hood", topic="Kit\u2066chen\n")
    decision = localize.localize(asked("hood hood"), recalled((hostile, 0.9), (BREAD, 0.1)), CALIBRATION)
    assert not any(character in decision.why for character in "\n\x00\u202e\u2066")
    assert len(decision.why) < 400


def test_a_given_place_is_sure() -> None:
    assert localize.given(HOOD).parent == HOOD.id
    assert localize.given(HOOD).why == "You chose Kitchen, Which extractor hood fits under the beam."
    assert localize.given(None).parent is None


def test_an_edited_turn_says_that_it_goes_beside_its_original() -> None:
    assert (
        localize.given(HOOD, edited=True).why
        == "You edited an earlier turn, so it goes beside that one, under Kitchen, Which extractor hood fits under the beam."
    )
    assert localize.given(None, edited=True).why == "You edited the beginning of a topic."


def test_the_papers_sum_is_there_as_a_baseline() -> None:
    assert sum(additive_parts(5.0, 3, 0.5, None).values()) == pytest.approx(5.0 + 2.0 + 0.5)
    assert sum(additive_parts(5.0, 0, 2.0, 0.9).values()) == pytest.approx(5.0 + 1.0 + 7.2)
    assert sum(additive_parts(5.0, 1, 0.0, 0.3).values()) == pytest.approx(5.0 + 1.0 - 6.0)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12), st.floats(0.1, 5))
def test_probabilities_sum_to_one_and_keep_the_order(scores: list[float], temperature: float) -> None:
    shares = probabilities(scores, temperature)
    assert sum(shares) == pytest.approx(1.0)
    assert shares[scores.index(max(scores))] == max(shares)


@given(st.text(max_size=120))
def test_any_input_finds_a_place(text: str) -> None:
    decision = localize.localize(asked(text), recalled((KITCHEN, 0.2), (HOOD, 0.3), (BREAD, 0.1)), CALIBRATION)
    assert 0 <= decision.probability <= 1
    assert decision.why


def test_weights_survive_being_written_and_read() -> None:
    learned = with_units(np.full((len(FEATURES), 2), 0.25), np.array([0.5, -0.5]), np.array([1.0, -2.0]))
    again = Calibration.from_json(json.loads(json.dumps(learned.to_json())))
    rows = np.random.default_rng(1).normal(size=(3, len(FEATURES)))
    assert again.parts(rows) == pytest.approx(learned.parts(rows))


def test_the_parts_of_a_score_sum_to_it_hidden_units_and_all() -> None:
    rng = np.random.default_rng(1)
    learned = with_units(rng.normal(size=(len(FEATURES), 3)), rng.normal(size=3), rng.normal(size=3))
    rows, net = rng.normal(size=(4, len(FEATURES))), learned.places
    plain = rows @ net.plain + (np.tanh(rows @ net.into + net.bias) - np.tanh(net.bias)) @ net.out
    assert learned.parts(rows).sum(axis=1) == pytest.approx(plain)
    assert net.scores(rows) == pytest.approx(plain)


def test_the_mean_of_nets_scores_as_they_do_on_average() -> None:
    rng = np.random.default_rng(2)
    nets = [with_units(rng.normal(size=(len(FEATURES), 3)), rng.normal(size=3), rng.normal(size=3)).places for _ in range(3)]
    rows = rng.normal(size=(4, len(FEATURES)))
    assert Net.mean_of(nets).scores(rows) == pytest.approx(np.mean([net.scores(rows) for net in nets], axis=0))


def with_units(into: np.ndarray, bias: np.ndarray, out: np.ndarray) -> Calibration:
    return replace(CALIBRATION, places=replace(CALIBRATION.places, into=into, bias=bias, out=out))


def test_every_cue_of_the_wording_counts_for_going_on_and_for_the_new_root() -> None:
    said = wording(asked("Not Greta's this time, the other one"))
    assert all(f"active_{name}" in FEATURES and f"new_{name}" in FEATURES for name in said)
    assert said["contrast"] == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"features": VERSION + 1},
        {"places": {}},
        {"places": {**CALIBRATION.places.to_json(), "bias": [1.0]}},
        {"temperature": 2.0},
        {"temperature": None},
        {"earlier": {"threshold": 0.5, **Net.linear(["horoscope"], {"horoscope": 1.0}).to_json()}},
        {"hash": ""},
    ],
)
def test_weights_that_are_not_of_this_code_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(CalibrationMismatchError):
        Calibration.from_json({**CALIBRATION.to_json(), **change})


# --- The paper's own sum --------------------------------------------------------------------------------------------------


def test_with_a_cross_encoder_the_best_sum_above_eight_wins() -> None:
    query = asked("Is the hood loud, and the wall by the window?")
    decision = localize.localize_additive(query, recalled((KITCHEN, 0.5), (HOOD, 0.7), (BREAD, 0.1)), {1: 7.5, 2: 2.0, 3: -9.0}, CALIBRATION)
    assert (decision.method, decision.parent, decision.threshold, decision.ranker) == ("recall", HOOD.id, 8.0, "additive-ce")
    best = decision.candidates[0]
    assert best.parts["meaning"] == 7.5 and best.parts["words"] >= 1.0
    assert best.score == pytest.approx(sum(best.parts.values()))


def test_exactly_eight_is_a_new_root() -> None:
    """τ must be exceeded strictly."""
    query, found = asked("Why?"), recalled((HOOD, 0.7), active=None)
    sums = [localize.localize_additive(query, found, {2: score}, CALIBRATION) for score in (7.0, 7.1)]
    assert [one.method for one in sums] == ["new_root", "recall"]
    assert sums[0].candidates[1].score == 8.0  # 7 from the cross-encoder, 1 for being used last


def test_an_anchor_lifts_its_topic_and_lowers_the_others() -> None:
    found = recalled((HOOD, 0.7), (BREAD, 0.1), anchors=[Anchor(1, "Kitchen", 1.0)])
    decision = localize.localize_additive(asked("Back to the kitchen"), found, {2: -1.0, 3: -1.0}, CALIBRATION)
    parts = {candidate.root: candidate.parts["path"] for candidate in decision.candidates}
    assert (decision.root, parts) == (1, {1: 8.0, 3: -6.0, None: 8.0})


def test_cues_decide_before_a_cross_encoder_is_asked() -> None:
    decision = localize.localize_additive(asked("Go on, please"), recalled((HOOD, 0.9), (BREAD, 0.1)), {}, CALIBRATION)
    assert (decision.method, decision.parent) == ("continuation", BREAD.id)


# --- Whom a matter is about, and what was asked last ------------------------------------------------------------------------


def columns(recall: Recall, text: str, *names: str) -> dict[int, list[float]]:
    """These features, by the branch of each place."""
    table = features.table(asked(text), recall)
    at = [list(FEATURES).index(name) for name in names]
    return {table.places.lane(row).tip.branch: [float(table.rows[row, place]) for place in at] for row in range(len(table.rows) - 1)}


def test_whom_a_tree_began_with_it_is_about_and_others_are_spoken_of_in_passing() -> None:
    found = recalled((KITCHEN, 0.5), (BREAD, 0.4))
    stems = frozenset(terms("greta oven brushes"))
    lanes = {
        1: replace(found.lanes[1], terms=stems, root_terms=frozenset({"greta", "brush"}), names=frozenset({"greta"})),
        3: replace(found.lanes[3], terms=stems, root_terms=frozenset({"oven"}), names=frozenset({"greta"})),
    }
    greta = columns(replace(found, lanes=lanes), "The oven for Greta", "names_root", "names_root_only", "names_root_elsewhere", "names_only")
    assert greta == {1: [1.0, 1.0, 0.0, 0.0], 3: [0.0, 0.0, 1.0, 0.0]}
    assert columns(replace(found, lanes=lanes), "Brushed steel", "names_root", "names_root_elsewhere") == {1: [0.0, 0.0], 3: [0.0, 0.0]}


def test_the_question_that_was_asked_last_counts_and_one_without_its_mark_does_not() -> None:
    found = recalled((HOOD, 0.2), (BREAD, 0.1))
    first, last, wish = (1, pieces.QUESTIONS), (2, pieces.QUESTIONS), (2, pieces.QUESTIONS + 1)
    lane = replace(
        found.lanes[HOOD.branch],
        latest=[1, 2],
        pieces={first: 0.9, last: 0.4, wish: 0.8},
        questions={first: "How many guests?", last: "How high is the ceiling?", wish: "I still need the colour."},
        answered={last: 0.25},
    )
    about = columns(replace(found, lanes={**found.lanes, HOOD.branch: lane}), "Two metres forty.", "asked", "asked_near", "asked_fits", "active_unasked")
    assert about[HOOD.branch] == pytest.approx([0.75, 0.3, 0.75, 0.0])
    assert about[BREAD.branch][:3] == [0.0, 0.0, 0.0] and about[BREAD.branch][3] > 0


# --- A branch as it stood before a turn that was put there unsurely ---------------------------------------------------------

STRAY = said(4, "Which boots for the Kungsleden?", root=1, parent=2, topic="Kitchen", answer="Light ones.")


def with_a_stray(cosine_before: float, cosine_at_tip: float) -> Recall:
    """The kitchen's branch took in a turn about boots unsurely; the bread's is the one used last."""
    found = recalled((STRAY, cosine_at_tip), (BREAD, 0.1))
    tip = replace(found.lanes[STRAY.branch], latest=[1, 2, 4], placed={1: 1.0, 2: 0.95, 4: 0.4}, joined={2: 0.5, 4: 0.05})
    before = replace(tip, tip=HOOD, latest=[1, 2], near={"tip": cosine_before, "best": cosine_before}, aside=STRAY.id)
    return replace(found, lanes={**found.lanes, STRAY.branch: tip}, earlier=[before])


def test_the_matter_of_a_branch_goes_on_from_before_a_stray_turn() -> None:
    decision = localize.localize(asked("And is it loud?"), with_a_stray(0.8, 0.1), CALIBRATION)
    assert (decision.parent, decision.root) == (HOOD.id, 1)
    assert decision.why.endswith("What came after on that path was put there unsurely, and is left aside.")


def test_the_stray_matter_itself_goes_on_at_the_tip() -> None:
    decision = localize.localize(asked("And are they light?"), with_a_stray(0.1, 0.8), CALIBRATION)
    assert decision.parent == STRAY.id and "left aside" not in decision.why


def splits(recall: Recall, text: str) -> dict[int | None, dict[str, float]]:
    """The features that compare what stays of a branch with what is left aside, by the state left aside (None: the branch as it is)."""
    table = features.table(asked(text), recall)
    names = [name for name in FEATURES if name.startswith("split_")]
    at = [list(FEATURES).index(name) for name in names]
    return {
        lane.aside: dict(zip(names, row[at].tolist(), strict=True))
        for lane, row in zip(table.places.lanes, table.rows[:-1], strict=True)
        if lane.tip.branch == STRAY.branch
    }


def test_what_stays_of_a_branch_is_compared_with_what_would_be_left_aside() -> None:
    recall = with_a_stray(0.6, 0.1)
    stray = recall.lanes[STRAY.branch]
    whole = replace(stray, turns={1: 0.2, 2: 0.6, 4: 0.1}, pieces={(2, 0): 0.7, (4, 0): 0.3}, words={1: frozenset(), 2: frozenset({"loud"}), 4: frozenset()})
    before = replace(recall.earlier[0], pieces={(2, 0): 0.7}, words={2: frozenset({"loud"})}, terms=frozenset({"loud"}), placed={4: 0.4})
    found = splits(replace(recall, lanes={**recall.lanes, STRAY.branch: whole}, earlier=[before]), "And is it loud?")
    expected = {"split_near": 0.5, "split_piece": 0.4, "split_words": 1.0, "split_doubt": 0.6 * 1.9, "split_length": 1.0, "split_sure": 0.0}
    assert found[STRAY.id] == pytest.approx(expected)
    assert found[None] == pytest.approx({name: -value for name, value in expected.items()})  # what speaks for the place before speaks against the end


def test_a_branch_without_a_doubt_has_nothing_to_compare() -> None:
    assert set(splits(replace(with_a_stray(0.6, 0.1), earlier=[]), "And is it loud?")[None].values()) == {0.0}


def test_a_name_that_only_what_is_left_aside_spoke_of_is_not_known_before_it() -> None:
    recall = with_a_stray(0.6, 0.1)
    terms = frozenset({"kungsleden"})  # names are looked up in whole trees, so that also the branch before has it
    whole = replace(recall.lanes[STRAY.branch], names=frozenset({"kungsleden"}), terms=terms)
    query = asked("Is Kungsleden far?")
    assert query.entities == ("kungsleden",)
    before = replace(recall.earlier[0], names=whole.names, terms=frozenset())
    known = features.known_names(Lanes.of(query.terms, query.entities, [whole, before, replace(before, terms=terms)]))
    assert known.tolist() == [[True], [False], [True]]


def test_a_branch_is_one_candidate_with_the_share_of_all_its_places() -> None:
    recall = with_a_stray(0.6, 0.5)
    decision = localize.localize(asked("And is it loud?"), recall, CALIBRATION)
    assert [candidate.root for candidate in decision.candidates].count(1) == 1 and len(decision.candidates) == 3
    assert sum(candidate.probability for candidate in decision.candidates) == pytest.approx(1.0)
    shares = dict(zip([STRAY.id, BREAD.id, HOOD.id, None], of_all_places(recall), strict=True))
    assert decision.candidates[0].state == HOOD.id
    assert decision.probability == pytest.approx(shares[HOOD.id] + shares[STRAY.id])


def test_of_two_likely_places_of_one_branch_neither_loses_to_a_single_one_elsewhere() -> None:
    found = with_a_stray(0.5, 0.5)
    bread = replace(found.lanes[BREAD.branch], near={"tip": 0.55, "best": 0.55})
    shares = of_all_places(together := replace(found, lanes={**found.lanes, BREAD.branch: bread}, active=None))
    assert max(shares) == shares[1]  # the bread's is the likeliest single place
    assert localize.localize(asked("And is it loud?"), together, CALIBRATION).root == 1


def test_the_paper_s_own_sum_knows_ends_of_branches_only() -> None:
    decision = localize.localize_additive(asked("And is it loud?"), with_a_stray(0.8, 0.1), {4: 9.0, 3: 1.0}, CALIBRATION)
    assert HOOD.id not in {candidate.state for candidate in decision.candidates}


def of_all_places(recall: Recall) -> list[float]:
    field = rank.read(asked("And is it loud?"), recall)
    return probabilities(field.scores(CALIBRATION), CALIBRATION.temperature)


@given(
    st.lists(st.integers(min_value=0, max_value=10**8), min_size=3, max_size=3), st.sampled_from(["Is the hood loud?", "And for the bread?", "Who painted it?"])
)
def test_the_clock_says_nothing_without_a_temporal_cue(seconds: list[int], text: str) -> None:
    found = recalled((KITCHEN, 0.5), (HOOD, 0.7), (BREAD, 0.1))
    later = {state.id: NOON - timedelta(seconds=ago) for state, ago in zip((KITCHEN, HOOD, BREAD), seconds, strict=True)}

    def moved(state: Interaction) -> Interaction:
        return replace(state, time=later[state.id])

    other = replace(
        found,
        recalled=[replace(one, interaction=moved(one.interaction)) for one in found.recalled],
        lanes={branch: replace(lane, tip=moved(lane.tip)) for branch, lane in found.lanes.items()},
        active=moved(BREAD),
    )
    query, ranked = asked(text), localize.localize(asked(text), found, CALIBRATION)
    again = localize.localize(query, other, CALIBRATION)
    assert (again.parent, again.probability, [one.score for one in again.candidates]) == (
        ranked.parent,
        ranked.probability,
        [one.score for one in ranked.candidates],
    )
