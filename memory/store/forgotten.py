"""The marks of what must not come back (engine/forgotten.py): written by a deletion, asked before anything is learned or taken in."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.engine import forgotten
from memory.engine.forest import Proposal
from memory.engine.revise import normalize
from memory.models import EVIDENCE_MODELS, KIND_OF, EvidenceRow, Forest, Forgotten


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one turn, or of the deleted turns of a forest, with the salts they were made with."""

    known: frozenset[str]
    salts: tuple[str, ...]

    def numbers(self, proposals: Sequence[Proposal]) -> frozenset[int]:
        """The numbers of the proposals that were forgotten."""
        return frozenset(number for number, item in enumerate(proposals) if self.known and forgotten.is_forgotten(item, self.known, self.salts))


def of_states(states: Iterable[int]) -> dict[int, Marks]:
    """The marks of those of the states that have any."""
    rows: dict[int, list[Forgotten]] = {}
    for row in Forgotten.objects.filter(state__in=list(states)):
        rows.setdefault(row.state_id, []).append(row)
    return {state: _marks(found) for state, found in rows.items()}


def turns(forest: int, client_ids: Iterable[str]) -> set[str]:
    """Those of the ids that are turns which were deleted here."""
    marks = _marks(Forgotten.objects.in_forest(forest).filter(state__isnull=True))
    return {one for one in client_ids if any(forgotten.turn_mark(one, salt) in marks.known for salt in marks.salts)} if marks.known else set()


def _marks(rows: Iterable[Forgotten]) -> Marks:
    found = [(row.salt, row.marks) for row in rows]
    return Marks(frozenset(mark for _, marks in found for mark in marks), tuple(sorted({salt for salt, _ in found})))


def forget_item(row: EvidenceRow) -> None:
    """Remember, for every turn that supports it, that this item is not to be learned again. Call it before the row goes, under the forest's lock."""
    kind, salt = KIND_OF[type(row)], _salt(row.forest_id)
    for state in row.sources:
        siblings = EVIDENCE_MODELS[kind].objects.filter(state=state).exclude(pk=row.pk).values_list("value", "text")
        said = normalize(row.value)
        alone = all(normalize(value) != said if said else text != row.text for value, text in siblings)
        marks = forgotten.marks(kind, row.slot, row.value, row.text, row.evidence, salt, alone=alone)
        Forgotten.objects.create(forest_id=row.forest_id, state_id=state, salt=salt, marks=marks)


def forget_turns(forest: Forest, client_ids: Sequence[str]) -> None:
    """Remember that these turns were deleted, so that the export they came from doesn't bring them again."""
    if client_ids:
        salt = _salt(forest.pk)
        Forgotten.objects.create(forest=forest, salt=salt, marks=[forgotten.turn_mark(one, salt) for one in client_ids])


def _salt(forest: int) -> str:
    known = Forgotten.objects.in_forest(forest).values_list("salt", flat=True).order_by("pk").first()
    return known or secrets.token_hex(16)
