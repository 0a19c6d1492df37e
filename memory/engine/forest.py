"""The values the engine thinks in. `memory/store.py` turns rows into these and plans back into rows; nothing else knows both.

Times are aware datetimes; positions are places on the forest's timeline, from 1; ids are those of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from itertools import compress
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

EvidenceKind = Literal["fact", "artifact", "event", "mutable_state"]
Status = Literal["current", "superseded", "retracted", "quarantined"]
Channel = Literal["semantic", "keyword", "entity", "topic"]
Method = Literal["continuation", "temporal", "recall", "new_root", "asked", "given", "corrected"]
Column = NDArray[np.float64]
NEAR: Final = ("tip", "said", "centre", "best", "any_said", "root")  # of `Lane.near`, in the order of `Lanes.near`


@dataclass(frozen=True, slots=True)
class Interaction:
    """One interaction state: a completed user-assistant exchange and its place in the forest (paper §3.1)."""

    id: int
    position: int
    parent: int | None
    root: int
    branch: int
    depth: int
    time: datetime
    user: str
    assistant: str
    node_summary: str = ""
    path_summary: str = ""
    topic: str = ""
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    tokens: int = 0
    refined: bool = False


# --- Localization -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hit:
    """A state found by one recall channel: its rank there (from 1) and its score on the channel's own scale."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Anchor:
    """A tree's topic key that the input names, with the match in 0…1 (ARBORMEM §2)."""

    root: int
    key: str
    match: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """A state some channel found, with what the ranker may look at. `similarity` is the cosine of the query with the
    better of its turn vector and its branch-aware vector, None when it has no vector yet."""

    interaction: Interaction
    channels: Mapping[Channel, Hit]
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Lane:
    """What ranking looks at of one open branch: where it ends, and how near its tree is to the input.

    `tip`: its last state; `latest`: the ids of its last states, oldest first, `turns` the cosines of these turns. `near`: cosines of the input with what
    the name says, absent without a vector:
    `tip` (the whole turn), `said` (the user's words of the tip), `centre` (the mean of the branch's latest turns), `best` (the nearest turn), `any_said` (the
    nearest words of the user), `root` (the user's words of the root). `sentences`: the highest cosines of a sentence of the input with a piece of a state
    looked at; `described`: the highest of a description in the input, None when it has none. `pieces`: the latest states' pieces by (state, number of the
    piece), each with its cosine to the nearest sentence or description; `questions`: the texts of those that are open questions, `answered` their cosines
    with what the user said next. `terms`, `tip_terms`, `root_terms`, `names`: which of the input's stems and names the tree, its tip, its root have;
    `words`: the stems by latest state. `placed`: with which probability each latest state was put where it is, `joined` the cosine of its turn with the one
    before it: where both are low, another matter may have been put on the branch by mistake.

    `aside`: None for a branch as it is; else the lane is that of its branch as it stood before this state, which was put there unsurely.
    """

    tip: Interaction
    latest: Sequence[int] = ()
    turns: Mapping[int, float] = field(default_factory=dict)
    near: Mapping[str, float] = field(default_factory=dict)
    sentences: Sequence[float] = ()
    described: float | None = None
    pieces: Mapping[tuple[int, int], float] = field(default_factory=dict)
    questions: Mapping[tuple[int, int], str] = field(default_factory=dict)
    answered: Mapping[tuple[int, int], float] = field(default_factory=dict)
    terms: frozenset[str] = frozenset()
    tip_terms: frozenset[str] = frozenset()
    root_terms: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    words: Mapping[int, frozenset[str]] = field(default_factory=dict)
    placed: Mapping[int, float] = field(default_factory=dict)
    joined: Mapping[int, float] = field(default_factory=dict)
    aside: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Many lanes beside each other, a row each, in columns: of a few hundred open branches a handful is ever looked at one by one (`lane`).

    `stems` and `entities` are those of the input (`Query.terms`, `Query.names`), in the order of the columns of `terms`, `tip_terms`, `root_terms` and of
    `names`. `states` has the id, branch, root and position of each last state, which `tip` brings by row. `near` has a column for each of NEAR, NaN without a
    vector; `placed` and `joined` are those of the last state, or of the one left aside, 1 where unknown; `aside` says which are branches as they stood before
    such a state."""

    stems: Sequence[str]
    entities: Sequence[str]
    states: NDArray[np.int64]
    near: Column
    terms: NDArray[np.bool_]
    tip_terms: NDArray[np.bool_]
    root_terms: NDArray[np.bool_]
    names: NDArray[np.bool_]
    placed: Column
    joined: Column
    aside: NDArray[np.bool_]
    tip: Callable[[int], Interaction]

    def __len__(self) -> int:
        return len(self.states)

    @property
    def ids(self) -> NDArray[np.int64]:
        return self.states[:, 0]

    @property
    def branches(self) -> NDArray[np.int64]:
        return self.states[:, 1]

    @property
    def roots(self) -> NDArray[np.int64]:
        return self.states[:, 2]

    @property
    def positions(self) -> NDArray[np.int64]:
        return self.states[:, 3]

    @classmethod
    def of(cls, stems: Sequence[str], entities: Sequence[str], lanes: Sequence[Lane]) -> Lanes:
        """The columns of these lanes."""
        doubted = [lane.aside or lane.tip.id for lane in lanes]
        return cls(
            stems,
            entities,
            states=np.array([(lane.tip.id, lane.tip.branch, lane.tip.root, lane.tip.position) for lane in lanes], dtype=np.int64).reshape(-1, 4),
            near=np.array([[lane.near.get(name, np.nan) for name in NEAR] for lane in lanes], dtype=np.float64).reshape(-1, len(NEAR)),
            terms=having(stems, [lane.terms for lane in lanes]),
            tip_terms=having(stems, [lane.tip_terms for lane in lanes]),
            root_terms=having(stems, [lane.root_terms for lane in lanes]),
            names=having(entities, [lane.names for lane in lanes]),
            placed=np.array([lane.placed.get(state, 1.0) for state, lane in zip(doubted, lanes, strict=True)], dtype=np.float64),
            joined=np.array([lane.joined.get(state, 1.0) for state, lane in zip(doubted, lanes, strict=True)], dtype=np.float64),
            aside=np.array([lane.aside is not None for lane in lanes], dtype=bool),
            tip=lambda at: lanes[at].tip,
        )

    def then(self, others: Lanes) -> Lanes:
        """These, and after them others of the same input."""
        first = len(self)
        columns: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in _COLUMNS}
        return replace(self, **columns, tip=lambda at: self.tip(at) if at < first else others.tip(at - first))

    def lane(self, at: int) -> Lane:
        """The lane of a row, with all that its columns tell: that of a branch of which only the last state and the root were looked at."""
        tip = self.tip(at)
        turn, stems = self.near[at, NEAR.index("tip")], frozenset(compress(self.stems, self.tip_terms[at]))
        return Lane(
            tip=tip,
            latest=(tip.id,),
            turns={} if np.isnan(turn) else {tip.id: float(turn)},
            near={name: float(cosine) for name, cosine in zip(NEAR, self.near[at], strict=True) if not np.isnan(cosine)},
            terms=frozenset(compress(self.stems, self.terms[at])),
            tip_terms=stems,
            root_terms=frozenset(compress(self.stems, self.root_terms[at])),
            names=frozenset(compress(self.entities, self.names[at])),
            words={tip.id: stems},
            placed={tip.id: float(self.placed[at])},
        )


_COLUMNS: Final = ("states", "near", "terms", "tip_terms", "root_terms", "names", "placed", "joined", "aside")


def having(words: Sequence[str], said: Sequence[Collection[str]]) -> NDArray[np.bool_]:
    """Which of these have which of the words: (said, words)."""
    found = np.zeros((len(said), len(words)), dtype=bool)
    place = {word: at for at, word in enumerate(words)}
    for at, one in enumerate(said):
        for word in one:
            if word in place:
                found[at, place[word]] = True
    return found


@dataclass(frozen=True, slots=True)
class Recall:
    """What hybrid recall brought for one query (paper §3.2), before ranking.

    `lanes` maps a branch id to what ranking looks at: the branches of the states recalled, of the active state, and those used last; `further` are all other
    open branches, of which only the last state and the root are looked at, None without any.
    `earlier` are such branches as they stood before a turn that was put there unsurely: where another matter was put on a branch by mistake, its own goes on
    from there. `document_frequency` counts, for each query term, the states of the forest that have it; `states` is their total. `telling` is the share of
    the latest turns in which the user told something rather than asked: who mostly tells resumes otherwise.
    """

    recalled: Sequence[Recalled]
    lanes: Mapping[int, Lane]
    active: Interaction | None
    anchors: Sequence[Anchor]
    document_frequency: Mapping[str, int]
    states: int
    average_length: float
    telling: float = 0.3
    earlier: Sequence[Lane] = ()
    further: Lanes | None = None

    @property
    def looked_at(self) -> Sequence[Lane]:
        """The lanes that were looked at whole: those of the branches, in order of branch id, then the earlier ones."""
        return [*(lane for _, lane in sorted(self.lanes.items())), *self.earlier]

    @property
    def tips(self) -> Mapping[int, int]:
        """The last state of each branch, by branch: where a turn that resumes it attaches."""
        further = dict(zip(self.further.branches.tolist(), self.further.ids.tolist(), strict=True)) if self.further else {}
        return {branch: lane.tip.id for branch, lane in self.lanes.items()} | further

    @property
    def ends(self) -> Collection[int]:
        """The last state of each lane."""
        return {*self.tips.values(), *(lane.tip.id for lane in self.earlier)}

    def end(self, state: int) -> Interaction | None:
        """The last state of a lane; None for a state that isn't one."""
        if (tip := next((lane.tip for lane in self.looked_at if lane.tip.id == state), None)) or self.further is None:
            return tip
        return next((self.further.tip(int(at)) for at in np.flatnonzero(self.further.ids == state)), None)


@dataclass(frozen=True, slots=True)
class Sign:
    """What spoke for a place most in one part of its score: its kind (`signs.py`) and the words quoted, each on one line.

    `state` is the state whose text is quoted; None: the words are the input's own."""

    kind: str
    quotes: tuple[str, ...] = ()
    state: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place an input may go. `state` None is a new root. `parts` sum to `score`; `signs` say by part what spoke for it, where it can be named."""

    state: int | None
    root: int | None
    label: str
    tree: str
    active: bool
    score: float
    probability: float
    parts: Mapping[str, float]
    channels: Mapping[Channel, Hit] = field(default_factory=dict)
    signs: Mapping[str, Sign] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the input goes: `parent` None means a new root. Candidates are ordered by probability, at most 8 plus the new root."""

    method: Method
    parent: int | None
    root: int | None
    probability: float
    margin: float
    threshold: float
    unsure: bool
    why: str
    candidates: Sequence[Candidate]
    second: int | None = None  # the runner-up's state, when unsure: the model is shown that path too
    ranker: str = ""


# --- Evidence ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """A stored fact or record. `fields` holds the typed columns of its kind (ARBORMEM §4), e.g. quantity, ordinal, key."""

    kind: EvidenceKind
    id: int
    text: str
    slot: str
    subject: str
    value: str
    asserted: bool
    attribute_tag: str
    entities: tuple[str, ...]
    evidence: str
    sources: tuple[int, ...]
    position: int  # of its first source: known from
    known_until: int | None
    event_time: datetime
    valid_to: datetime | None
    status: Status
    superseded_by: int | None = None
    pinned: bool = False
    made_by: str = "rule"
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence that retrieval brought, with its similarity to the query (cosine of the expanded key; None = found by words only)
    and the rank of its source state in lexical recall (None = not found there)."""

    evidence: Evidence
    similarity: float | None
    lexical_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Everything assembly may choose from. `path` runs from the root to the parent (empty for a new root); `second_path` likewise for
    the runner-up of an unsure decision; `turns` are states of other branches with a fused recall score, best first;
    `found` is evidence of every kind; `updates` are (old, new) pairs of one slot among what was found."""

    path: Sequence[Interaction]
    second_path: Sequence[Interaction]
    turns: Sequence[tuple[Interaction, float]]
    found: Sequence[Found]
    updates: Sequence[tuple[Evidence, Evidence]]
    # The names under which a replay or an import knows states, else absent.
    names: Mapping[int, str] = field(default_factory=dict)


# --- Context ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a block: `text` is exactly what the model reads, `tokens` its exact o200k count, `sources` state ids."""

    kind: str  # state, summary, fact, artifact, event, mutable_state, update, computed
    text: str
    tokens: int
    sources: tuple[int, ...]
    id: int | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One evidence block of ARBORMEM §3; `tokens` covers heading, items and separators."""

    name: str
    label: str
    items: Sequence[Item]
    tokens: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left out of a block, and why in plain words."""

    block: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """The assembled evidence `E_t` (paper §3.3): blocks within the budget, and what was cut. `tokens` = sum of the blocks' tokens ≤ budget."""

    blocks: Sequence[Block]
    cut: Sequence[Cut]
    tokens: int
    budget: int


# --- Commit -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fact or record an extractor proposes for one turn. Ids, times of knowing and revision links are attached by the store, never here.

    `slot` is `subject|attribute` for single-valued attributes, empty when every value coexists. `made_by` is "rule" or "model"."""

    kind: EvidenceKind
    text: str
    slot: str = ""
    subject: str = ""
    value: str = ""
    asserted: bool = True
    attribute_tag: str = ""
    entities: tuple[str, ...] = ()
    evidence: str = ""
    event_time: datetime | None = None  # None = the turn's time
    fields: Mapping[str, Any] = field(default_factory=dict)
    made_by: str = "rule"


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that one turn teaches (ARBORMEM §4): node metadata, path evolution, proposals. `topic`/`variants` name its tree.

    `report` says how it came about, without a word of content: what was kept, what was dropped and why, calls, tokens, model.
    """

    node_summary: str
    entities: tuple[str, ...]
    keywords: tuple[str, ...]
    path_summary: str
    topic: str
    topic_variants: tuple[str, ...]
    proposals: Sequence[Proposal]
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SlotEntry:
    """One value of a slot, as revision sees it: enough to decide which one holds, whatever order they arrived in (W6)."""

    id: int
    value: str
    event_time: datetime
    position: int
    asserted: bool
    status: Status
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class SlotOutcome:
    """What holds after revision: `superseded_by` and `known_until` (position of the later of the two) are set when it was replaced."""

    id: int
    status: Status
    superseded_by: int | None
    valid_to: datetime | None
    known_until: int | None


@dataclass(frozen=True, slots=True)
class Computed:
    """A deterministic answer: count, sum, latest, earliest, difference, compare; with the ids of the rows it rests on."""

    operation: str
    text: str
    value: Decimal | str | None
    rows: tuple[int, ...]
    sources: tuple[int, ...]
