"""Fitting of the ranker of many-party chat (systems/speakers.py) on annotated logs, for use on others.

Rounds: examples first have the threads of the gold links before them, then those of an online replay, errors kept, by weights that were learnt from the
other half of the files; so the weights learn from threads as they will be, and the links of the last replay say how good they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memory.engine.net import Net
from memory.evaluation import learn, threads
from memory.evaluation.cases import Case, Step
from memory.evaluation.disentanglement.features import FEATURES, TIMELESS, Log, features, rows
from memory.evaluation.disentanglement.lines import People, Words, count, read
from memory.evaluation.learn import Example
from memory.evaluation.systems.speakers import Speakers, Weights
from memory.evaluation.threads import Links, Threads

ROUNDS: Final = 2
HALVES: Final = (0, 1)
Parents = Mapping[str, str | None]  # message → what it answers, None: it begins a thread


def fit(cases: Sequence[Case], bare: Sequence[Case], on: str, tell: Callable[[str], None], *, steps: int = learn.STEPS) -> Weights:
    """The weights from annotated logs: `cases` with speakers, `bare` the same as text only, of which the times are left out too. Words are counted in
    `cases`, where it is known which of them are names. Raises ValueError for fewer than two logs."""
    if len(cases) < 2:
        raise ValueError("At least two annotated files are needed: each half is linked by what was learnt from the other.")
    words, known = counted(cases), [counted(cases[half::2]) for half in HALVES]
    nets = {}
    for name, files, names in (("speakers", cases, FEATURES), ("text", bare, TIMELESS)):
        parents, unseen = unseen_links(files, known, names, tell, steps=steps // 2)
        tell(f"{name}: link F1 {unseen.f1:.3f}, 1-1 {unseen.clusters.one_to_one:.3f} on files not learnt from")
        nets[name] = learned(files, parents, words, names, nets=learn.NETS, steps=steps)
    return Weights(words, nets["speakers"], nets["text"], on)


def unseen_links(
    cases: Sequence[Case], known: Sequence[Words], names: Sequence[str], tell: Callable[[str], None], *, steps: int
) -> tuple[list[Parents], Threads]:
    """What each message is linked to by a net that learnt from the other half of the files, whose words are `known`; and how good that is."""
    halves = [cases[half::2] for half in HALVES]
    parents: list[list[Parents]] = [[gold_parents(case) for case in half] for half in halves]
    for number in range(ROUNDS):
        nets = [learned(halves[half], parents[half], known[half], names, steps=steps) for half in HALVES]
        others = [Weights(known[1 - half], nets[1 - half], nets[1 - half], "") for half in HALVES]
        parents = [[replay(others[half], case) for case in halves[half]] for half in HALVES]
        found = score(pair for half in HALVES for pair in zip(halves[half], parents[half], strict=True))
        tell(f"round {number + 1}: link F1 {found.f1:.3f}")
    return [parents[number % 2][number // 2] for number in range(len(cases))], found


def learned(cases: Sequence[Case], parents: Sequence[Parents], words: Words, names: Sequence[str], *, nets: int = 1, steps: int) -> Net:
    """A net over features of these names that makes gold links likely, where the messages before have these parents; features that never change are left
    out. Raises ValueError without a gold link to learn."""
    found = [example for case, one in zip(cases, parents, strict=True) for example in examples(case, one, words, names)]
    if not found:
        raise ValueError("There is nothing to learn from.")
    least, most = (np.array([limit(one.rows, axis=0) for one in found]) for limit in (np.min, np.max))
    varied = np.flatnonzero(most.max(axis=0) > least.min(axis=0))
    if len(varied) < len(names):
        found = [replace(one, rows=one.rows[:, varied]) for one in found]
    return learn.learn(found, [names[at] for at in varied.tolist()], nets=nets, steps=steps)


def examples(case: Case, parents: Parents, words: Words, names: Sequence[str]) -> Iterator[Example]:
    """Each annotated message that somebody said, its gold links within reach right."""
    log, people, at = Log(), People(), dict[str, int]()
    for number, step in enumerate(case.steps):
        message = read(step.given.user, step.given.time, people, words)
        at[step.given.id] = number
        if step.gold is not None and not message.server:
            there, columns = features(log, message)
            wanted = {at.get(id) for id in links(step)}
            right = np.array([float(place in wanted) for place in (*there, number)])
            if right.any():
                yield Example(rows(columns, names).astype(np.float32), right, 1.0)
        parent = parents[step.given.id]
        log.add(message, number if parent is None else at[parent])
        people.hear(step.given.user)


def links(step: Step) -> set[str]:
    """What an annotated message answers, itself where it begins a thread."""
    assert step.gold is not None
    return {other for _, other in threads.gold_links({step.given.id: step.gold})}


def gold_parents(case: Case) -> Parents:
    """What each message answers, as annotated; one without annotation begins a thread."""
    return {step.given.id: step.gold.parent if step.gold else None for step in case.steps}


def counted(cases: Sequence[Case]) -> Words:
    """The words of annotated logs."""
    return count([[(step.given.user, step.given.id in links(step) if step.gold else None) for step in case.steps] for case in cases])


def replay(weights: Weights, case: Case) -> Parents:
    """Where each message of a case is put, online."""
    system = Speakers(fitted=weights)
    parents: dict[str, str | None] = {}
    for step in case.steps:
        placed = system.place(step.given)
        system.observe(step.given, placed=placed)
        parents[step.given.id] = placed.parent if placed else None
    return parents


def score(placed: Iterable[tuple[Case, Parents]]) -> Threads:
    """Links and threads of replayed cases against their gold."""
    gold: dict[str, Links] = {}
    said: dict[str, Links] = {}
    for case, parents in placed:
        annotated = {step.given.id: step.gold for step in case.steps if step.gold is not None}
        gold[case.id] = threads.gold_links(annotated)
        said[case.id] = threads.said_links({id: parents[id] for id in annotated})
    return threads.score(gold, said)
