"""How two partitions of the same turns agree: 1-1 overlap, variation of information, adjusted Rand index, exactly found clusters.

As in Kummerfeld et al. 2019 (ACL), §5 and its evaluation scripts; Meilă 2007 for VI, Hubert & Arabie 1985 for ARI. A partition maps an item to the name of
its cluster. To pool several streams, give items and clusters names that tell the streams apart (`pooled`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

Partition = Mapping[str, Hashable]


@dataclass(frozen=True, slots=True)
class Agreement:
    """one_to_one, ari, exact_*: 1 is best. vi in bits, 0 is best; scaled_vi = 1 − vi / log2(items), 1 is best. Precision and so on are of whole clusters."""

    one_to_one: float
    vi: float
    scaled_vi: float
    ari: float
    exact_precision: float
    exact_recall: float
    exact_f1: float


def compare(gold: Partition, said: Partition) -> Agreement:
    """All figures. Raises ValueError when the two aren't partitions of the same items, or of none."""
    if gold.keys() != said.keys() or not gold:
        raise ValueError(
            f"Two partitions of the same items are compared; these have {len(gold)} and {len(said)}, {len(gold.keys() & said.keys())} of them shared."
        )
    precision, recall, f1 = exact(gold, said)
    vi = variation(gold, said)
    return Agreement(one_to_one(gold, said), vi, 1 - vi / math.log2(len(gold)) if len(gold) > 1 else 1.0, adjusted_rand(gold, said), precision, recall, f1)


def pooled(streams: Mapping[str, Partition]) -> dict[str, Hashable]:
    """The partitions of several streams as one, no item or cluster shared between two streams."""
    return {f"{stream}\0{item}": (stream, cluster) for stream, partition in streams.items() for item, cluster in partition.items()}


def one_to_one(gold: Partition, said: Partition) -> float:
    """The share of items that agree under the best pairing of gold with said clusters, each used once (Elsner & Charniak 2008)."""
    from scipy.optimize import linear_sum_assignment  # of the extra “bench”: what only reads a file or replays it does without

    rows, columns = _numbered(gold), _numbered(said)
    table = np.zeros((len(rows), len(columns)))
    for item, cluster in gold.items():
        table[rows[cluster], columns[said[item]]] += 1
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(gold))


def variation(gold: Partition, said: Partition) -> float:
    """Variation of information in bits: H(gold | said) + H(said | gold)."""
    total = len(gold)
    sizes, said_sizes = Counter(gold.values()), Counter(said.values())
    both = Counter((cluster, said[item]) for item, cluster in gold.items())
    lost = sum(count * (math.log2(count / sizes[a]) + math.log2(count / said_sizes[b])) for (a, b), count in both.items())
    return abs(lost) / total  # never negative but for rounding, and −0.0


def adjusted_rand(gold: Partition, said: Partition) -> float:
    """The Rand index less what chance gives: 1 for equal partitions, about 0 for unrelated ones. Two partitions that leave no choice agree: 1."""
    together = sum(math.comb(count, 2) for count in Counter((cluster, said[item]) for item, cluster in gold.items()).values())
    a, b = (sum(math.comb(count, 2) for count in Counter(partition.values()).values()) for partition in (gold, said))
    pairs = math.comb(len(gold), 2)
    expected = a * b / pairs if pairs else 0.0
    return (together - expected) / ((a + b) / 2 - expected) if (a + b) / 2 != expected else 1.0


def exact(gold: Partition, said: Partition) -> tuple[float, float, float]:
    """Precision, recall and F1 of clusters found exactly; clusters of one item don't count on either side (Kummerfeld et al. 2019). 0 where there are none."""
    wanted, found = ({members for members in _members(partition) if len(members) > 1} for partition in (gold, said))
    hit = len(wanted & found)
    precision, recall = hit / len(found) if found else 0.0, hit / len(wanted) if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hit else 0.0


def _members(partition: Partition) -> list[frozenset[str]]:
    groups: dict[Hashable, set[str]] = {}
    for item, cluster in partition.items():
        groups.setdefault(cluster, set()).add(item)
    return [frozenset(group) for group in groups.values()]


def _numbered(partition: Partition) -> dict[Hashable, int]:
    return {cluster: number for number, cluster in enumerate(dict.fromkeys(partition.values()))}
