"""What the indexes are asked for."""

from datetime import UTC, datetime

from memory.engine.forest import Channel, Hit, Interaction, Recalled
from memory.engine.query import Query, read
from memory.engine.recall import (
    ANCHOR_LIMIT,
    COMMON_SHARE,
    EARLIER_PLACES,
    LANE_LIMIT,
    RECENT_BRANCHES,
    SCAN_LIMIT,
    TERM_LIMIT,
    bm25,
    cut_off,
    doubtful,
    fused,
    idf,
    is_common,
    match_anchors,
    select_terms,
    window_branches,
)


def asked(text: str) -> Query:
    return read(text, datetime(2026, 11, 12, 12, 0, tzinfo=UTC))


def test_rare_terms_are_looked_up_first_and_common_ones_not_at_all() -> None:
    query = asked("the kitchen hood by Bosch")
    assert select_terms(query, {"kitchen": 41, "hood": 12, "bosch": 3}, 100) == ["bosch", "hood"]
    assert is_common(41, 100)
    assert not is_common(int(100 * COMMON_SHARE), 100)


def test_in_a_small_forest_nothing_is_common() -> None:
    assert select_terms(asked("kitchen"), {"kitchen": 3}, 3) == ["kitchen"]


def test_terms_that_no_state_has_are_not_looked_up() -> None:
    assert select_terms(asked("zebra hood"), {"hood": 2}, 10) == ["hood"]


def test_words_of_requests_come_last() -> None:
    assert select_terms(asked("Explain the hood"), {"explain": 1, "hood": 3}, 100) == ["hood", "explain"]


def test_the_number_of_postings_read_is_bounded() -> None:
    words = " ".join(f"word{chr(97 + i)}" for i in range(20))
    query = asked(words)
    assert len(select_terms(query, dict.fromkeys(query.terms, 2), 100)) == TERM_LIMIT
    assert select_terms(query, dict.fromkeys(query.terms, SCAN_LIMIT), 100_000) == [query.terms[0]]


def test_a_rarer_term_weighs_more_and_a_longer_text_less() -> None:
    assert idf(1, 100) > idf(30, 100) >= 0
    short = bm25(["hood"], {"hood": 1}, 5, {"hood": 2}, 100, 20.0)
    long = bm25(["hood"], {"hood": 1}, 200, {"hood": 2}, 100, 20.0)
    assert short > long > 0


def test_an_input_that_names_a_topic_anchors_its_tree() -> None:
    topics = [(3, "Kitchen renovation", ("galley kitchen",)), (9, "Lisbon talk", ())]
    [anchor] = match_anchors(asked("Back to the kitchen renovation"), topics, {})
    assert (anchor.root, anchor.key, anchor.match) == (3, "Kitchen renovation", 1.0)


def test_half_a_name_is_no_anchor_but_a_near_meaning_is() -> None:
    topics = [(3, "Kitchen renovation", ())]
    assert match_anchors(asked("Any kitchen news?"), topics, {}) == []
    [anchor] = match_anchors(asked("the cooking area"), topics, {3: 0.7})
    assert 0.5 < anchor.match < 1.0


def test_only_the_best_anchors_are_followed() -> None:
    topics = [(root, "Sourdough bread", ()) for root in range(1, 9)]
    assert [anchor.root for anchor in match_anchors(asked("my sourdough bread"), topics, {})] == list(range(1, ANCHOR_LIMIT + 1))


def test_a_state_that_two_channels_found_is_before_one_that_one_found() -> None:
    scores = fused({"semantic": {1: Hit(1, 0.6), 2: Hit(2, 0.59)}, "keyword": {2: Hit(1, 7.0)}})
    assert scores[2] > scores[1]


def test_a_state_that_words_found_counts_with_its_meaning_too() -> None:
    hits: dict[Channel, dict[int, Hit]] = {"semantic": {1: Hit(1, 0.7)}, "keyword": {2: Hit(1, 7.0), 3: Hit(2, 6.9)}}
    scores = fused(hits, [recalled(2, 0.1), recalled(3, 0.6)])
    assert scores[3] > scores[2]


def test_good_company_raises_a_state() -> None:
    hits: dict[Channel, dict[int, Hit]] = {"semantic": {1: Hit(1, 0.9), 2: Hit(2, 0.4), 3: Hit(3, 0.4)}}
    scores = fused(hits, [recalled(1, 0.9), recalled(2, 0.4, parent=1), recalled(3, 0.4)])
    assert scores[1] > scores[2] > scores[3]


def test_nothing_found_is_nothing_ranked() -> None:
    assert fused({"semantic": {}, "keyword": {}}) == {}


def recalled(identity: int, similarity: float, parent: int | None = None) -> Recalled:
    time = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)
    return Recalled(Interaction(identity, identity, parent, identity, identity, 0, time, "Hi", ""), {}, similarity)


def test_a_branch_is_doubted_where_a_turn_was_put_unsurely_the_most_doubtful_first() -> None:
    latest = {7: [1, 2, 3, 4, 8], 9: [5, 6]}
    placed = {1: 0.1, 2: 0.84, 3: 0.3, 4: 0.5, 5: 1.0, 6: 0.85, 8: 0.6}
    assert doubtful(latest, placed) == [(7, 2), (7, 3), (7, 4)]  # the first state of a branch has none before it on it; three of a branch at most
    assert doubtful({7: [1, 2], 9: [5, 6]}, {2: 0.79, 6: 0.4}) == [(9, 1), (7, 1)]
    assert doubtful(latest, {}) == []
    many = {branch: [branch, branch + 1] for branch in range(0, 60, 2)}
    assert len(doubtful(many, dict.fromkeys(range(60), 0.5))) == EARLIER_PLACES


def test_words_that_came_only_with_what_is_left_aside_go_with_it() -> None:
    whole = frozenset({"kitchen", "hood", "boot", "path"})
    words = {1: frozenset({"kitchen"}), 2: frozenset({"hood"}), 3: frozenset({"boot", "kitchen"})}
    assert cut_off(whole, words, [1, 2], frozenset({"path"})) == {"kitchen", "hood", "path"}
    assert cut_off(whole, words, [1, 2, 3], frozenset()) == whole


def test_of_a_time_with_many_branches_the_last_the_recalled_and_the_nearest_are_ranked() -> None:
    at = datetime(2026, 11, 11, 12, 0, tzinfo=UTC)
    then = [Recalled(Interaction(n, n, None, n, n, 0, at, "", ""), {}, n % 50 / 50) for n in range(1, 181)]
    branches = window_branches(then, {7: -3.0})
    assert len(branches) == LANE_LIMIT
    assert set(range(181 - RECENT_BRANCHES, 181)) | {7, 49, 99, 149} <= set(branches)
    assert len({48, 98, 148}.intersection(branches)) == LANE_LIMIT - RECENT_BRANCHES - 4  # equally near: as many as there is room for
    assert window_branches(then[:3], {}) == [3, 2, 1] and window_branches([], {}) == []
