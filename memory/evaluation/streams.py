"""Replay of gold streams on a forest held in memory: the same recall channels, limits and engine as a forest in the database, without one.

Streams are read by benchmarks/streams.py; their gold never reaches the engine. Errors of localization are kept, as in life (online replay).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.engine import commit, cues, inner, pieces, query, recall, terms, text
from memory.engine.forest import Anchor, Channel, Decision, Hit, Interaction, Lane, Lanes, Recall, Recalled
from memory.engine.query import Query
from memory.evaluation.benchmarks import streams
from memory.evaluation.cases import Case
from memory.evaluation.localization import Judged, judge_turn

Vector = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vector]


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """A line of a stream; `tree` is the index of the turn that opened its gold tree, `parent` the index of its gold parent."""

    user: str
    assistant: str
    time: datetime
    parent: int | None
    tree: int


def load(directory: Path) -> list[list[GoldTurn]]:
    """The streams of a directory or file, by name (`*.jsonl`, packed or not). Raises WrongFileError, a ValueError, for what is no stream."""
    return [_stream(case) for case in streams.load(directory)]


def _stream(case: Case) -> list[GoldTurn]:
    turns: list[GoldTurn] = []
    index: dict[str, int] = {}
    for number, step in enumerate(case.steps):
        given, gold = step.given, step.gold
        parent = None if gold is None or gold.parent is None else index[gold.parent]
        index[given.id] = number
        turns.append(GoldTurn(given.user, given.assistant, given.time, parent, number if parent is None else turns[parent].tree))
    return turns


class CachedEmbedder:
    """An embedder that keeps what it embedded: replays of the same streams embed every text once."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self.known: dict[str, Vector] = {}

    def __call__(self, texts: Sequence[str]) -> Vector:
        if missing := [said for said in dict.fromkeys(texts) if said not in self.known]:
            self.known.update(zip(missing, self._embed(missing), strict=True))
        return np.stack([self.known[said] for said in texts])


@dataclass
class MemoryForest:
    """A forest of one stream. Ids are positions from 1. Refinement is immediate, by the offline rules."""

    embed: Embed
    states: list[Interaction] = field(default_factory=list)
    active: int | None = None
    _vectors: list[Vector] = field(default_factory=list)
    _branch_vectors: list[Vector] = field(default_factory=list)
    _counts: list[Counter[str]] = field(default_factory=list)
    _names: list[set[str]] = field(default_factory=list)
    _frequency: dict[str, Counter[str]] = field(default_factory=lambda: {"term": Counter(), "entity": Counter()})
    _children: Counter[int] = field(default_factory=Counter)
    _topics: dict[int, tuple[str, tuple[str, ...], Vector]] = field(default_factory=dict)
    _pieces: list[dict[int, Vector]] = field(default_factory=list)
    _questions: list[Mapping[int, str]] = field(default_factory=list)
    _tells: list[bool] = field(default_factory=list)
    _placed: list[float] = field(default_factory=list)

    def path(self, state: int | None) -> list[Interaction]:
        found: list[Interaction] = []
        while state is not None:
            found.append(self.states[state - 1])
            state = found[-1].parent
        return found[::-1]

    def recall(self, asked: Query) -> tuple[Recall, dict[int, float]]:
        """What the store brings for a query (paper §3.2): four channels, tips, anchors, statistics; beside it the fused score of each state found."""
        [vector] = self.embed([asked.text])
        total = len(self.states)
        frequency = {term: self._frequency["term"][term] for term in asked.terms if self._frequency["term"][term]}
        average = sum(sum(counts.values()) for counts in self._counts) / max(1, total)
        near = np.maximum(np.stack(self._vectors) @ vector, np.stack(self._branch_vectors) @ vector) if total else np.zeros(0)
        similarities = {state.id: float(near[state.id - 1]) for state in self.states}
        chosen = recall.select_terms(asked, frequency, total)
        words = {
            state.id: recall.bm25(chosen, counts, sum(counts.values()), frequency, total, average)
            for state, counts in zip(self.states, self._counts, strict=True)
        }
        names = {
            state.id: sum(
                recall.idf(self._frequency["entity"][name], total)
                for name in asked.entities
                if name in known and not recall.is_common(self._frequency["entity"][name], total)
            )
            for state, known in zip(self.states, self._names, strict=True)
        }
        anchors = self._anchors(asked, vector)
        anchored = [
            (state.id, anchor.match)
            for anchor in anchors
            for state in [state for state in reversed(self.states) if state.root == anchor.root][: recall.ANCHOR_STATES]
        ]
        hits: dict[Channel, dict[int, Hit]] = {
            "semantic": _best(similarities, recall.SEMANTIC_LIMIT),
            "keyword": _best({state: score for state, score in words.items() if score > 0}, recall.KEYWORD_LIMIT),
            "entity": _best({state: score for state, score in names.items() if score > 0}, recall.ENTITY_LIMIT),
            "topic": {state: Hit(rank, score) for rank, (state, score) in enumerate(anchored, 1)},
        }
        by_state: dict[int, dict[Channel, Hit]] = defaultdict(dict)
        for channel, found in hits.items():
            for state, hit in found.items():
                by_state[state][channel] = hit
        if self.active is not None:
            by_state.setdefault(self.active, {})
        latest = dict.fromkeys(state.branch for state in reversed(self.states))  # used last first
        recalled = [Recalled(self.states[state - 1], channels, similarities[state]) for state, channels in sorted(by_state.items())]
        scores = recall.fused(hits, recalled)
        wanted = [self.states[self.active - 1].branch] if self.active is not None else []
        branch_of = {found.interaction.id: found.interaction.branch for found in recalled}
        branches = recall.ranked_branches(wanted, list(latest)[: recall.RECENT_BRANCHES], scores, branch_of)
        spoken = pieces.spoken(asked.text)
        vectors = self.embed(spoken.texts)
        sentences, descriptions = vectors[: 1 + len(spoken.sentences)], vectors[1 + len(spoken.sentences) :]
        tells = self._tells[-recall.TELLING_TURNS :]
        own = {branch: [state.id for state in self.states if state.branch == branch] for branch in sorted(branches)}
        lanes = {branch: self._lane(states, asked, chosen, sentences, descriptions, set(by_state)) for branch, states in own.items()}
        last = {branch: lane.latest for branch, lane in lanes.items()}
        ends = {state.branch: state.id for state in self.states}
        further = [self._lane([ends[branch]], asked, chosen, sentences, descriptions, set(), far=True) for branch in recall.further_branches(branches, latest)]
        brought = Recall(
            recalled=recalled,
            lanes=lanes,
            further=Lanes.of(asked.terms, asked.names, further) if further else None,
            earlier=[
                self._before(own[branch], last[branch][at], lanes[branch], asked, chosen, sentences, descriptions, set(by_state))
                for branch, at in recall.doubtful(last, {state: self._placed[state - 1] for states in last.values() for state in states})
            ],
            active=self.states[self.active - 1] if self.active is not None else None,
            anchors=anchors,
            document_frequency=frequency,
            states=total,
            average_length=average,
            telling=recall.telling_share(sum(tells), len(tells)),
        )
        return brought, scores

    def _before(
        self,
        own: Sequence[int],
        aside: int,
        lane: Lane,
        asked: Query,
        chosen: Collection[str],
        sentences: Vector,
        descriptions: Vector,
        recalled: set[int],
    ) -> Lane:
        """The lane of a branch as it stood before the state `aside`."""
        kept = [state for state in own if state < aside]
        before = self._lane(kept, asked, chosen, sentences, descriptions, recalled, frozenset(own) - frozenset(kept), start=lane.latest[0])
        return replace(
            before,
            terms=recall.cut_off(lane.terms, lane.words, before.latest, lane.root_terms),
            names=lane.names,
            placed={**before.placed, aside: lane.placed[aside]},
            joined={**before.joined, aside: lane.joined[aside]},
            aside=aside,
        )

    def _lane(
        self,
        states: Sequence[int],
        asked: Query,
        chosen: Collection[str],
        sentences: Vector,
        descriptions: Vector,
        recalled: set[int],
        gone: Collection[int] = (),
        start: int = 0,
        far: bool = False,
    ) -> Lane:
        """What ranking looks at of a branch, as `store/lanes.py` brings it from the database. Of its last states those from `start` on; without `gone`;
        of a branch that is `far` without pieces.
        The `chosen` terms are looked up in the whole tree, all others in the states looked at."""
        own = [self.states[state - 1] for state in states]
        latest, tip, root = [state for state in own[-recall.LATEST_STATES :] if state.id >= start], own[-1], own[-1].root
        tree = [state for state in self.states if state.root == root and state.id not in gone]
        looked = {state.id for state in latest[-recall.RECENT_STATES :]} | {state.id for state in tree if state.id in recalled} | {root}
        centre = np.mean([self._vectors[state.id - 1] for state in own[-recall.CENTRE_STATES :]], axis=0)
        kept = {state: self._pieces[state - 1] if not far else {} for state in looked}
        asked_of = {
            state.id: kept[state.id] if state.id in kept else {n: own for n, own in self._pieces[state.id - 1].items() if pieces.is_offered(n)}
            for state in latest
        }
        vector, said = sentences[0], set(asked.terms)
        near = {"tip": self._vectors[tip.id - 1], "centre": centre / (np.linalg.norm(centre) or 1.0)}
        near["best"] = max((self._vectors[state - 1] for state in looked), key=lambda own: float(own @ vector))
        words = [own[pieces.SAID] for own in kept.values() if pieces.SAID in own]
        if words:
            near["any_said"] = max(words, key=lambda own: float(own @ vector))
        near |= {name: kept[state][pieces.SAID] for name, state in (("said", tip.id), ("root", root)) if pieces.SAID in kept[state]}
        every = np.concatenate([sentences, descriptions])
        return Lane(
            tip=tip,
            latest=[state.id for state in latest],
            turns={state.id: float(self._vectors[state.id - 1] @ vector) for state in latest},
            near={name: float(own @ vector) for name, own in near.items()},
            sentences=sorted((float((sentences @ piece).max()) for own in kept.values() for piece in own.values()), reverse=True)[:3],
            described=max((float((descriptions @ piece).max()) for own in kept.values() for piece in own.values()), default=None)
            if len(descriptions)
            else None,
            pieces={(state.id, number): float((every @ piece).max()) for state in latest for number, piece in asked_of[state.id].items()},
            questions={
                (state.id, number): question for state in latest for number, question in self._questions[state.id - 1].items() if number in asked_of[state.id]
            },
            answered={
                (state.id, number): float(piece @ self._pieces[after.id - 1][pieces.SAID])
                for state, after in pairwise(latest)
                for number, piece in asked_of[state.id].items()
                if pieces.QUESTIONS <= number < pieces.ITEMS and pieces.SAID in self._pieces[after.id - 1]
            },
            terms=frozenset(
                said.intersection(terms.terms(tip.topic))
                | said.intersection(set().union(*(self._counts[state - 1] for state in looked)))
                | said.intersection(chosen).intersection(set().union(*(self._counts[state.id - 1] for state in tree)))
            ),
            tip_terms=frozenset(said & self._counts[tip.id - 1].keys()),
            root_terms=frozenset(said & self._counts[root - 1].keys()),
            names=frozenset(name for name in asked.names if any(name in self._names[state.id - 1] for state in tree)),
            words={state.id: frozenset(said & self._counts[state.id - 1].keys()) for state in latest},
            placed={state.id: self._placed[state.id - 1] for state in latest},
            joined={after.id: float(self._vectors[state.id - 1] @ self._vectors[after.id - 1]) for state, after in pairwise(latest)},
        )

    def _anchors(self, asked: Query, vector: Vector) -> list[Anchor]:
        near = {root: float(own @ vector) for root, (_, _, own) in self._topics.items()}
        nearest = set(sorted(near, key=lambda root: -near[root])[: recall.ANCHOR_LIMIT])
        topics = [(root, key, variants) for root, (key, variants, _) in self._topics.items()]
        return recall.match_anchors(asked, topics, {root: near[root] for root in nearest})

    def add(self, parent: int | None, user: str, assistant: str, time: datetime, placed: float = 1.0) -> Interaction:
        """Commit an interaction under `parent` (None: a new root), put there with this probability, and make it the active state."""
        identity = len(self.states) + 1
        above = self.states[parent - 1] if parent is not None else None
        branch = identity if above is None or self._children[above.id] else above.branch
        if above is not None:
            self._children[above.id] += 1
        root = above.root if above else identity
        topic = self._topics[root][0] if root in self._topics else ""
        state = Interaction(identity, identity, parent, root, branch, above.depth + 1 if above else 0, time, user, assistant, topic=topic)
        learnt = commit.extract(state, self.path(parent), "UTC", topic)
        topic = learnt.topic or topic
        state = replace(
            state,
            node_summary=learnt.node_summary,
            path_summary=learnt.path_summary,
            topic=topic,
            entities=learnt.entities,
            keywords=learnt.keywords,
            refined=True,
        )
        said = f"{user}\n{assistant}"
        turn_vector, branch_vector = self.embed([said, text.branch_text(topic, learnt.path_summary, learnt.node_summary, learnt.entities)])
        cut = pieces.pieces(user, assistant)
        self._pieces.append(dict(zip(cut, self.embed(list(cut.values())), strict=True)))
        self._questions.append(pieces.open_questions(assistant))
        self._tells.append(cues.tells(user))
        self._placed.append(placed)
        counts = Counter(terms.terms(said))
        names = {*terms.entity_terms(said), *(terms.entity_term(name) for name in learnt.entities)} - {""}
        self.states.append(state)
        self._vectors.append(turn_vector)
        self._branch_vectors.append(branch_vector)
        self._counts.append(counts)
        self._names.append(names)
        self._frequency["term"].update(set(counts))
        self._frequency["entity"].update(names)
        if topic:
            [own] = self.embed([topic])
            self._topics[root] = (topic, tuple(learnt.topic_variants), own)
        self.active = identity
        return state


def _best(scores: Mapping[int, float], limit: int) -> dict[int, Hit]:
    order = sorted(scores, key=lambda state: (-scores[state], -state))[:limit]
    return {state: Hit(rank, scores[state]) for rank, state in enumerate(order, 1)}


@dataclass(frozen=True, slots=True)
class Placed:
    """One replayed turn: its gold, its number in the stream, where it went, and the judgement."""

    gold: GoldTurn
    index: int
    decision: Decision
    judged: Judged


Decide = Callable[[Query, Recall], Decision]


def replay(
    stream: Sequence[GoldTurn],
    embed: Embed,
    decide: Decide,
    *,
    jump: Callable[[Query, Recall, Decision], tuple[int, float] | None] = lambda asked, found, decision: None,
    teacher: bool = False,
    watch: Callable[[GoldTurn, Query, Recall, list[int]], None] | None = None,
) -> list[Placed]:
    """Replay a stream turn by turn, committing every turn where the decision put it (`teacher`: under its gold parent).

    `jump` may say that the turn goes back to an earlier state of the branch decided on.
    `watch` is shown each turn with its query, recall, and the gold trees of the committed states so far, before the turn is committed."""
    forest = MemoryForest(embed)
    trees: list[int] = []
    placed: list[Placed] = []
    for index, turn in enumerate(stream):
        asked = query.read(turn.user, turn.time, "UTC")
        found, _ = forest.recall(asked)
        if watch is not None:
            watch(turn, asked, found, trees)
        decision = decide(asked, found)
        if (back := jump(asked, found, decision)) is not None:
            decision = inner.back_to(decision, forest.states[back[0] - 1], back[1])
        gold = None if turn.parent is None else turn.parent + 1
        judged = judge_turn(
            tree=turn.tree,
            root=turn.parent is None,
            before=trees[-1] if trees else None,
            said=None if decision.parent is None else trees[decision.parent - 1],
            said_root=decision.parent is None,
            parent_right=decision.parent == gold,
            probability=decision.probability,
        )
        placed.append(Placed(turn, index, decision, judged))
        parent = gold if teacher else decision.parent
        forest.add(parent, turn.user, turn.assistant, turn.time, 1.0 if teacher else decision.probability)
        trees.append(turn.tree)
    return placed
