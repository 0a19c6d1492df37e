"""The values the engine thinks in. `memory/store.py` turns rows into these and plans back into rows; nothing else knows both.

Times are aware datetimes; positions are places on the forest's timeline, from 1; ids are those of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

EvidenceKind = Literal["fact", "artifact", "event", "mutable_state"]
Status = Literal["current", "superseded", "retracted", "quarantined"]
Channel = Literal["semantic", "keyword", "entity", "topic"]
Method = Literal["continuation", "temporal", "recall", "new_root", "asked", "given", "corrected"]


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


@dataclass(frozen=True, slots=True)
class Recall:
    """What hybrid recall brought for one query (paper §3.2), before ranking.

    `lanes` maps a branch id to what ranking looks at: the branches of the states recalled, of the active state, and those used last; `further` are all other
    open branches, of which only the last state and the root are looked at.
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
    further: Mapping[int, Lane] = field(default_factory=dict)

    @property
    def places(self) -> Sequence[Lane]:
        """All lanes: those of the branches, in order of branch id, then the earlier ones."""
        return [*(lane for _, lane in sorted({**self.lanes, **self.further}.items())), *self.earlier]

    @property
    def ends(self) -> Mapping[int, Interaction]:
        """The last state of each lane, by its id."""
        return {lane.tip.id: lane.tip for lane in self.places}

    @property
    def tips(self) -> Mapping[int, Interaction]:
        """The last state of each branch: where a turn that resumes it attaches."""
        return {branch: lane.tip for branch, lane in (*self.lanes.items(), *self.further.items())}


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
