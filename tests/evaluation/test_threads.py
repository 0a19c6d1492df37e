"""Links and threads of many-party chat, and agreement of partitions, by hand (Kummerfeld et al. 2019)."""

import math

import pytest

from memory.evaluation import clusters, threads
from memory.evaluation.cases import Gold
from memory.evaluation.threads import gold_links, link_scores, previous, said_links


def partition(*groups: str) -> dict[str, int]:
    """`ab c` as groups of letters → item → number of its group."""
    return {item: number for number, group in enumerate(groups) for item in group}


def test_links_of_gold_and_of_placements():
    gold = {"2": Gold("1", "t", ("0",)), "3": Gold(None, "u"), "4": Gold("3", "u", ("4",)), "5": Gold(None, "v", ("0",))}
    assert gold_links(gold) == {("2", "1"), ("2", "0"), ("3", "3"), ("4", "3"), ("4", "4"), ("5", "0")}
    assert said_links({"2": "1", "3": None}) == {("2", "1"), ("3", "3")}


def test_link_scores_are_pooled_over_files():
    gold = [frozenset({("1", "1"), ("2", "1"), ("2", "0")}), frozenset({("1", "1")})]
    said = [frozenset({("1", "1"), ("2", "1")}), frozenset({("1", "0")})]
    precision, recall, f1 = link_scores(gold, said)
    assert (precision, recall) == (pytest.approx(2 / 3), pytest.approx(2 / 4))
    assert f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert link_scores([frozenset()], [frozenset()]) == (0.0, 0.0, 0.0)


def test_the_baseline_answers_the_message_before():
    assert previous(["0", "1", "2", "3", "4"], {"1", "2", "3", "4"}, server={"2"}) == {("1", "0"), ("2", "2"), ("3", "1"), ("4", "3")}
    assert previous(["0", "1"], {"0", "1"}) == {("0", "0"), ("1", "0")}


def test_threads_are_connected_through_the_context_but_made_of_annotated_messages():
    made = threads.components(frozenset({("5", "1"), ("6", "1"), ("7", "7"), ("8", "7"), ("8", "6"), ("9", "9")}))
    assert set(made) == {"5", "6", "7", "8", "9"}
    assert made["5"] == made["6"] == made["7"] == made["8"] != made["9"]


def test_all_figures_of_a_file():
    gold = frozenset({("1", "1"), ("2", "1"), ("3", "3"), ("4", "3")})
    said = frozenset({("1", "1"), ("2", "1"), ("3", "2"), ("4", "4")})
    score = threads.score({"f": gold}, {"f": said})  # {1 2} {3 4} against {1 2 3} {4}
    assert (score.precision, score.recall, score.f1, score.messages) == (0.5, 0.5, 0.5, 4)
    assert score.clusters.one_to_one == 0.75
    assert (score.clusters.exact_precision, score.clusters.exact_recall) == (0.0, 0.0)


def test_files_and_messages_must_be_the_same():
    with pytest.raises(ValueError, match="one side only: g"):
        threads.score({"f": frozenset({("1", "1")})}, {"f": frozenset({("1", "1")}), "g": frozenset()})
    with pytest.raises(ValueError, match="same items"):
        threads.score({"f": frozenset({("1", "1")})}, {"f": frozenset({("2", "2")})})


def test_equal_partitions_agree_fully():
    same = clusters.compare(partition("abc", "de", "f"), partition("f", "abc", "de"))
    assert (same.one_to_one, same.vi, same.scaled_vi, same.ari, same.exact_f1) == (1, 0, 1, 1, 1)


def test_one_to_one_uses_each_cluster_once():
    # abc|def against ab|cd|ef: ab and ef are paired (2 + 2), cd has no partner left.
    assert clusters.one_to_one(partition("abc", "def"), partition("ab", "cd", "ef")) == pytest.approx(4 / 6)
    assert clusters.one_to_one(partition("abcdef"), partition("abc", "def")) == pytest.approx(3 / 6)


def test_variation_of_information_by_hand():
    # One cluster of four split in halves: H(said | gold) = 1 bit, H(gold | said) = 0; scaled by log2 of 4 items, which is 2.
    halves = clusters.compare(partition("abcd"), partition("ab", "cd"))
    assert (halves.vi, halves.scaled_vi) == (pytest.approx(1.0), pytest.approx(0.5))
    # ab|cd against ac|bd: each tells nothing of the other, one bit each way.
    assert clusters.variation(partition("ab", "cd"), partition("ac", "bd")) == pytest.approx(2.0)


def test_adjusted_rand_by_hand():
    # abc|def against ab|cd|ef: 2 pairs together in both; 6 and 3 pairs; 15 in all; expected 6·3/15 = 1.2; (2 − 1.2) / (4.5 − 1.2).
    assert clusters.adjusted_rand(partition("abc", "def"), partition("ab", "cd", "ef")) == pytest.approx(0.8 / 3.3)
    assert clusters.adjusted_rand(partition("ab", "cd"), partition("ac", "bd")) == pytest.approx(-0.5)
    assert clusters.adjusted_rand(partition("a", "b"), partition("a", "b")) == 1.0


def test_exact_clusters_leave_single_items_out():
    # gold: abc, de and the single f; said: abc, d, ef. One of two found, one of two wanted.
    assert clusters.exact(partition("abc", "de", "f"), partition("abc", "d", "ef")) == (0.5, 0.5, 0.5)
    assert clusters.exact(partition("a", "b"), partition("ab")) == (0.0, 0.0, 0.0)


def test_streams_are_pooled_without_mixing():
    both = clusters.pooled({"x": partition("ab"), "y": partition("ab")})
    assert len(both) == 4 and len(set(both.values())) == 2
    assert math.isclose(clusters.compare(both, both).one_to_one, 1.0)
