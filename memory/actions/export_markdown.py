"""A forest, or the path to one of its turns, as Markdown to be read: topics as headings, branches in order, what is remembered with its sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.db.models.functions import Left
from django.utils import timezone

from memory.actions.export_forest import written
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, InteractionState
from memory.models.forest import Origin
from memory.present.markdown import answered, heading, inline, quote, said
from memory.present.states import tree_rows
from memory.present.words import LABEL_SOURCE_LENGTH, label_of

KINDS = {"fact": "Facts", "mutable_state": "Values that change", "event": "Events", "artifact": "Lists and what was made"}
# Texts are read so many at a time.
TOGETHER = 200
STATUS = {EvidenceRow.Status.RETRACTED: "taken back", EvidenceRow.Status.QUARANTINED: "set aside"}


def export_markdown(forest: Forest, state: InteractionState | None = None) -> IO[bytes]:
    """A file with the document, at its start; the caller closes it. With a state of the forest: the path from its root to it alone.

    Times are in the forest's zone. What was said is quoted so that it can't leave its quotation; turns that aren't part of memory aren't in it."""
    return written(_pieces(forest, state))


def _pieces(forest: Forest, state: InteractionState | None) -> Iterator[str]:
    forest = Forest.objects.get(pk=forest.pk)
    document = _Document(forest)
    yield heading(1, forest.name) + "\n\n"
    yield document.preface(state) + "\n\n"
    if state is not None:
        path = _path(state)
        yield from document.topic(document.trees.get(state.root_id, "…"), [path])
        return
    for root, name in document.trees.items():
        yield from document.topic(name, _branches(forest, root))


def _path(state: InteractionState) -> list[int]:
    """The ids from the root to a state, out of two columns of its tree."""
    parents = dict(InteractionState.objects.in_forest(state.forest_id).filter(root_id=state.root_id).values_list("pk", "parent_id"))
    path = [state.pk]
    while (parent := parents.get(path[-1])) is not None:
        path.append(parent)
    return path[::-1]


def _branches(forest: Forest, root: int) -> list[list[int]]:
    """A tree's states by branch, each in order, the branches in the order in which they were opened."""
    branches: dict[int, list[int]] = {}
    for pk, branch in InteractionState.objects.in_forest(forest).filter(root_id=root).order_by("position").values_list("pk", "branch_id"):
        branches.setdefault(branch, []).append(pk)
    return list(branches.values())


class _Document:
    """What every part of the document needs to know of the forest: its zone, its trees, and which turn a state is."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self.zone = forest, ZoneInfo(forest.time_zone)
        self.trees: dict[int, str] = {row["root"]: row["topic"] for row in sorted(tree_rows(forest), key=lambda row: row["order"])}
        self.turns: dict[int, tuple[int, datetime]] = {
            pk: (position, time) for pk, position, time in InteractionState.objects.in_forest(forest).values_list("pk", "position", "time")
        }

    def preface(self, state: InteractionState | None) -> str:
        turns, topics = len(self.turns), len(self.trees)
        what = f"{_count(turns, 'turn')}, {_count(topics, 'topic')}" if state is None else f"The path to turn {state.position}, of {_count(turns, 'turn')}"
        pending = InteractionState.objects.in_forest(self.forest).filter(refined_at=None).count()
        late = f" {_count(pending, 'turn')} not yet read into memory." if pending else ""
        return f"{what}. Exported from ArborWeb on {self._when(timezone.now())}; times are those of {inline(self.forest.time_zone)}.{late}"

    def topic(self, name: str, branches: Sequence[Sequence[int]]) -> Iterator[str]:
        """A tree: its branches one after the other, then what is remembered of it."""
        yield heading(2, name) + "\n\n"
        for number, branch in enumerate(branches):
            if len(branches) > 1:
                yield heading(3, self._opening(branch[0]) if number else "The first branch") + "\n\n"
            for start in range(0, len(branch), TOGETHER):
                rows = InteractionState.objects.in_bulk(ids := branch[start : start + TOGETHER])
                for pk in ids:
                    yield from self._turn(rows[pk], 4 if len(branches) > 1 else 3)
        yield from self._remembered([pk for branch in branches for pk in branch])

    def _opening(self, opener: int) -> str:
        """What a later branch is called, and where it leaves."""
        row = InteractionState.objects.annotate(said=Left("user_text", LABEL_SOURCE_LENGTH)).values("parent_id", "node_summary", "said").get(pk=opener)
        left = self.turns.get(row["parent_id"])
        return f"Branch{f' from turn {left[0]}' if left else ''}: {label_of(row['node_summary'], row['said'])}"

    def _turn(self, state: InteractionState, level: int) -> Iterator[str]:
        origin = ", imported" if state.origin == Origin.IMPORTED else ""
        yield heading(level, f"Turn {state.position}, {self._when(state.time)}{origin}") + "\n\n"
        if state.user_text:
            yield "**You**\n\n" + quote(said(state.user_text))
        if state.assistant_text:
            yield "**Answer**\n\n" + quote(answered(state.assistant_text))

    def _remembered(self, states: Sequence[int]) -> Iterator[str]:
        """What these turns taught, by kind: what holds and what held, each with the turns it rests on and their words."""
        begun = False
        for kind, title in KINDS.items():
            rows = EVIDENCE_MODELS[kind].objects.in_forest(self.forest).filter(Q(state__in=states) | Q(sources__overlap=list(states)))
            lines = [f"- {self._item(row)}\n" for row in rows.select_related("superseded_by").order_by("known_from", "pk")]
            if lines:
                yield ("" if begun else heading(3, "What is remembered") + "\n\n") + f"**{title}**\n\n" + "".join(lines) + "\n"
                begun = True

    def _item(self, row: Any) -> str:
        said_in = [self.turns[source] for source in row.sources if source in self.turns]
        parts = [f"turn {position}, {self._when(time)}" for position, time in sorted(said_in)]
        if said_in and self._day(row.event_time) not in {self._day(time) for _, time in said_in}:
            parts.append(f"of {self._day(row.event_time)}")
        if row.status == EvidenceRow.Status.SUPERSEDED:
            parts.append(f"replaced by “{inline(row.superseded_by.text)}”" if row.superseded_by else "replaced")
        elif row.status in STATUS:
            parts.append(STATUS[row.status])
        if row.pinned:
            parts.append("pinned")
        if row.evidence and row.evidence.strip() != row.text.strip():
            parts.append(f"“{inline(row.evidence)}”")
        return " · ".join([inline(row.text), *parts])

    def _day(self, moment: datetime) -> str:
        local = moment.astimezone(self.zone)
        return f"{local:%a} {local.day} {local:%B %Y}"

    def _when(self, moment: datetime) -> str:
        return f"{self._day(moment)}, {moment.astimezone(self.zone):%H:%M}"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"
