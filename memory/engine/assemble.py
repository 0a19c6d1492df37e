"""Context assembly (paper §3.3): what the answer model is shown, in the evidence blocks of ARBORMEM §3, within a token budget.

Every block is a heading and its items; `rendered` is the exact text whose tokens are counted, and the texts of all blocks joined are within the budget, always.
Memory is data: it stands inside its block's tags, and text that looks like such a tag is defused. Replaced values are left out
unless history is asked for (R1).
What didn't get in is told as a `Cut`, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal
from zoneinfo import ZoneInfo

from memory.engine import structured
from memory.engine.forest import Block, Computed, Context, Cut, Decision, Interaction, Item, Pool
from memory.engine.query import Query
from memory.engine.text import Count, one_line, trim

Policy = Literal["ranked", "strict"]

PATH_SHARE: Final = 0.75  # of the budget, at most, for the path
LOOKING_BACK: Final = 0.5  # … of the path when the input asks for something said: it may lie on any branch
TIGHT: Final = 2_048  # tokens: in a budget like this a question about the past gets its evidence before the path
TIGHT_PATH: Final = 0.25
TIGHT_RECORDS: Final = 0.4
SECOND_SHARE: Final = 0.15  # of the budget, at most, for the runner-up's path
RAW_TAIL: Final = 4  # latest states of a path that stay raw when it doesn't fit whole (paper §3.3)
UNITS: Final = 50  # candidates before packing (paper §3.3)
TURNS: Final = 16  # … of them kept for turns of other branches, when there are any
SECOND_STATES: Final = 4

LABELS: Final = {
    "ConversationHistory": "The conversation path",
    "SupplementalEvidence": "Other turns",
    "DataContext": "Facts",
    "UpdateEvidence": "What changed",
    "ArtifactEvidence": "Lists and things made",
    "EventEvidence": "Events",
    "EventComputationEvidence": "Computed",
    "CountSourceEvidence": "Turns to count over",
    "StateEvidence": "Values that change",
    "TopicSlotEvidence": "Details of this topic",
    "PreferenceEvidence": "Preferences",
    "BridgeEvidence": "What links two topics",
}
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(LABELS)})\b)", re.IGNORECASE)
_TELL = re.compile(
    r"^\W*(?:please )?(?:tell|list|summari[sz]e|show|name|describe|recall|give|explain)\b.{0,120}\b(?:my|our|i|i've|we|we've)\b", re.IGNORECASE | re.DOTALL
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def rendered(block: Block) -> str:
    """The block as the model reads it, ending in a line break; `Block.tokens` counts exactly this."""
    return _render(block.name, block.items)


def _render(name: str, items: Iterable[Item]) -> str:
    return f"<{name}>\n" + "".join(f"{item.text}\n" for item in items) + f"</{name}>\n"


def defused(text: str) -> str:
    """Text of a memory that can't close or open a block of ours: the bracket of such a tag becomes “‹”."""
    return _TAG.sub("‹", text)


def moment(time: datetime, zone: str) -> str:
    """A time as the model reads it: `Thu 12 Nov 2026, 13:02`, on the clock of the IANA zone."""
    local = time.astimezone(ZoneInfo(zone))
    return f"{_DAYS[local.weekday()]} {local.day} {structured.MONTHS[local.month - 1]} {local.year}, {local:%H:%M}"


def state_text(state: Interaction, zone: str) -> str:
    """An interaction as said, with its time; a side that said nothing is left out."""
    said = "".join(f"\n{who}: {defused(text.strip())}" for who, text in (("User", state.user), ("Assistant", state.assistant)) if text.strip())
    return f"[{moment(state.time, zone)}]{said}"


def assemble(
    query: Query,
    decision: Decision,
    pool: Pool,
    budget: int,
    count: Count,
    now: datetime,
    zone: str,
    policy: Policy = "ranked",
    computed: Sequence[Computed] = (),
    facts_only: bool = False,
) -> Context:
    """Choose and pack the evidence for one input. `budget` and `count` are in tokens of the same tokenizer; `now` is when the input is answered.

    `facts_only` leaves out the blocks of records and of what is derived from facts, which stay as plain lines (an ablation of the paper).
    The context is empty when nothing fits or nothing is known. Evidence from after `now` isn't expected in the pool.
    Raises ValueError for a negative budget."""
    if budget < 0:
        raise ValueError("A token budget can't be negative.")
    packer = _Packer(budget, count)
    chosen = structured.choose(query, pool, computed, zone, UNITS - (TURNS if pool.turns else 0), facts_only=facts_only)
    path_share, record_share = _shares(query, decision, pool, budget, policy)
    _path(packer, pool.path, int(budget * path_share), zone)
    records = int(budget * record_share)
    for name, items, cuts in chosen.blocks:
        records -= packer.add(name, items, limit=records)
        packer.cut += [cut for cut in cuts if cut.count]
    on_path = {state.id for state in pool.path}
    if pool.second_path:
        _second_path(packer, [state for state in pool.second_path if state.id not in on_path], int(budget * SECOND_SHARE), zone)
    _supplement(packer, query, [(state, score) for state, score in pool.turns if state.id not in packer.raw], policy, chosen.units, zone)
    return packer.context()


def _shares(query: Query, decision: Decision, pool: Pool, budget: int, policy: Policy) -> tuple[float, float]:
    """The shares of the budget that the path and the facts and records may take. What they leave is for other turns.

    Under `ranked`, an input that asks for something said gets less of the path: the answer may lie on any branch."""
    if policy == "strict" or not pool.turns or decision.method in ("continuation", "given") or not looks_back(query):
        return PATH_SHARE, 1.0
    return (TIGHT_PATH, TIGHT_RECORDS) if budget <= TIGHT else (LOOKING_BACK, 1.0)


def looks_back(query: Query) -> bool:
    """Whether the input asks for something said before: by its kind, as a question that stands on its own, or by asking to be told of one's own matters."""
    if query.asks("past", "previous", "count", "sum", "latest", "earliest", "difference", "bridge", "order", "preference"):
        return True
    if _TELL.search(query.text[:200]):
        return True
    return query.text.rstrip().endswith(("?", "？", "؟")) and not (query.cues.pronoun or query.cues.opener or query.cues.answer)


class _Packer:
    """Takes items into blocks while they fit. Counts are of rendered blocks, so headings and separators are paid for."""

    def __init__(self, budget: int, count: Count) -> None:
        self.budget = budget
        self.count = count
        self.blocks: dict[tuple[str, str], Block] = {}
        self.cut: list[Cut] = []
        self.raw: set[int] = set()  # states shown raw

    @property
    def left(self) -> int:
        return self.budget - sum(block.tokens for block in self.blocks.values())

    def item(self, kind: str, text: str, sources: Iterable[int], id: int | None = None, status: str | None = None) -> Item:
        return Item(kind, text, self.count(text), tuple(sources), id, status)

    def fits(self, name: str, items: Sequence[Item], limit: int) -> int | None:
        """The tokens of such a block when within the limit, else None."""
        tokens = self.count(_render(name, items))
        return tokens if tokens <= limit else None

    def put(self, name: str, items: Sequence[Item], note: str = "", label: str = "", limit: int | None = None) -> bool:
        """Set a block as a whole; False, and nothing set, when it is too long."""
        tokens = self.fits(name, items, self.left if limit is None else min(limit, self.left))
        if tokens is None or not items:
            return False
        self.blocks[name, label] = Block(name, label or LABELS[name], tuple(items), tokens, note)
        return True

    def add(self, name: str, texts: Sequence[structured.Piece], limit: int | None = None, note: str = "") -> int:
        """Fill a block with as many of the pieces as fit, in their order; those too long are skipped and told. Returns the block's tokens."""
        room = self.left if limit is None else min(limit, self.left)
        items: list[Item] = []
        # The sum of the parts is near the count of the whole; the whole is counted once at the end and decides.
        used = self.count(_render(name, ()))
        skipped = 0
        for piece in texts:
            item = self.item(piece.kind, defused(piece.text), piece.sources, piece.id, piece.status)
            if used + item.tokens + 1 <= room:
                items.append(item)
                used += item.tokens + 1
            else:
                skipped += 1
        while items and not self.put(name, items, note, limit=room):
            items.pop()
            skipped += 1
        if skipped:
            self.cut.append(Cut(name, skipped, "no room left in the budget"))
        return self.blocks[name, ""].tokens if items else 0

    def context(self) -> Context:
        order = list(LABELS)
        blocks = sorted(self.blocks.values(), key=lambda block: (order.index(block.name), block.label != LABELS[block.name]))
        return Context(tuple(blocks), tuple(_merged(self.cut)), sum(block.tokens for block in blocks), self.budget)


def _merged(cuts: Iterable[Cut]) -> list[Cut]:
    merged: dict[tuple[str, str], Cut] = {}
    for cut in cuts:
        key = (cut.block, cut.reason)
        merged[key] = replace(cut, count=cut.count + merged[key].count) if key in merged else cut
    return list(merged.values())


# --- The path ------------------------------------------------------------------------------------------------------------


def _path(packer: _Packer, path: Sequence[Interaction], limit: int, zone: str) -> None:
    """The path whole when it fits; else its last states raw and older ones as summaries, the latest first to get in."""
    if not path:
        return
    name, topic = "ConversationHistory", one_line(path[0].topic)

    def note(words: str) -> str:
        return ", ".join(part for part in (topic, words) if part)

    number = f"{len(path)} {'turn' if len(path) == 1 else 'turns'}"
    # Known lengths spare counting a path that is out of reach: a depth of 1,000 must not cost 1,000 counts.
    if sum(state.tokens for state in path) <= limit:
        whole = [packer.item("state", state_text(state, zone), (state.id,), state.id) for state in path]
        if packer.put(name, whole, note(f"{number}, whole"), limit=limit):
            packer.raw.update(state.id for state in path)
            return
    tail: list[Item] = []
    for state in reversed(path[-RAW_TAIL:]):
        item = packer.item("state", state_text(state, zone), (state.id,), state.id)
        if packer.fits(name, [item, *tail], limit) is None:
            if not tail:  # not even the last turn fits whole: its beginning
                frame = packer.count(_render(name, ())) + 2
                text = trim(item.text, limit - frame, packer.count)
                item = packer.item("state", text, (state.id,), state.id)
                if text and packer.fits(name, [item], limit) is not None:
                    tail = [item]
                    packer.cut.append(Cut(name, 1, "the last turn is longer than its share of the budget, so only its beginning is shown"))
            break
        tail.insert(0, item)
        packer.raw.add(state.id)
    if not tail:
        packer.cut.append(Cut(name, len(path), "no room left in the budget"))
        return
    shown = path[-len(tail) :]
    prefix = path[: len(path) - len(shown)]
    room = limit - packer.count(_render(name, tail))
    summaries: list[Item] = []
    for state in reversed(prefix):
        item = packer.item("summary", f"[{moment(state.time, zone)}] {_summary(state)}", (state.id,), state.id)
        room -= item.tokens + 1
        if room < 0:
            break
        summaries.insert(0, item)
    while not packer.put(
        name,
        [*summaries, *tail],
        note(f"{len(tail)} of {number} raw, {len(summaries)} as summaries" if summaries else f"last {len(tail)} of {number}"),
        limit=limit,
    ):
        if not summaries:
            return
        summaries.pop(0)
    if left := len(prefix) - len(summaries):
        packer.cut.append(Cut(name, left, "older turns of a path that is longer than its share of the budget"))


def _summary(state: Interaction) -> str:
    """One line for an older turn: its summary; an unrefined one by the beginning of what was said."""
    return defused(one_line(state.node_summary) or f"{one_line(state.user)[:160]} → {one_line(state.assistant)[:120]}")


def _second_path(packer: _Packer, path: Sequence[Interaction], limit: int, zone: str) -> None:
    """The end of the runner-up's path, for a decision that isn't sure."""
    limit = min(limit, packer.left)
    items: list[Item] = []
    for state in reversed(path[-SECOND_STATES:]):
        item = packer.item("state", state_text(state, zone), (state.id,), state.id)
        if packer.fits("ConversationHistory", [item, *items], limit) is None:
            break
        items.insert(0, item)
    if not items:
        if path:
            packer.cut.append(Cut("ConversationHistory", len(path), "the path of the second choice is longer than its share of the budget"))
        return
    topic = one_line(path[0].topic)
    note = f"{topic + ', ' if topic else ''}last {len(items)} of {len(path)} turns, since the place isn't sure"
    if packer.put("ConversationHistory", items, note, "Second path", limit):
        packer.raw.update(item.sources[0] for item in items)


def _supplement(packer: _Packer, query: Query, turns: Sequence[tuple[Interaction, float]], policy: Policy, units: int, zone: str) -> None:
    """Raw turns of other branches: by rank for an input that asks for something said; else, and always under `strict`, only on a direct match of a name,
    a time or an exact value (paper §3.3): a remark that goes on with its matter is not helped by whatever is nearest elsewhere."""
    by_rank = policy == "ranked" and looks_back(query)
    eligible = [state for state, _ in turns if by_rank or structured.direct_match(query, state)]
    if len(turns) > len(eligible):
        packer.cut.append(Cut("SupplementalEvidence", len(turns) - len(eligible), "no direct match of a name, a time or a value"))
    taken = eligible[: max(0, UNITS - units)]
    if len(eligible) > len(taken):
        packer.cut.append(Cut("SupplementalEvidence", len(eligible) - len(taken), structured.BEYOND))
    packer.add("SupplementalEvidence", [structured.Piece("state", state_text(state, zone), (state.id,), state.id) for state in taken])
    if block := packer.blocks.pop(("SupplementalEvidence", ""), None):  # chosen by rank, read in the order of time
        position = {state.id: state.position for state in taken}
        in_order = sorted(block.items, key=lambda item: position[item.sources[0]])
        if not packer.put(block.name, in_order, block.note):
            packer.blocks[block.name, ""] = block
