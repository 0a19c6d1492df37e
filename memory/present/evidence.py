"""Facts, records and revisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet

from memory.models import EVIDENCE_MODELS, KIND_OF, EvidenceRow, Revision
from memory.present.words import Json, iso
from memory.store.as_of import Then, evidence_then, revisions_then
from memory.store.evidence import FIELDS


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):  # trailing zeros are the column's, not the user's
        return format(value.normalize(), "f")
    return value.isoformat() if hasattr(value, "isoformat") else value


def evidence_list(rows: QuerySet[Any] | Iterable[EvidenceRow], as_of: int | None = None) -> list[Json]:
    """Facts or records of one kind and one forest, with their revisions; some queries however many. `as_of`: as they stood at that position."""
    if isinstance(rows, QuerySet):
        rows = rows.select_related("state")
    found = list(rows)
    if not found:
        return []
    model, forest = type(found[0]), found[0].forest_id
    kind = KIND_OF[model]
    ids = [row.pk for row in found]
    replaced: dict[int, list[int]] = defaultdict(list)
    stood = evidence_then(forest, kind, found, as_of) if as_of is not None else {}
    now = model.objects.filter(forest=forest, superseded_by__in=ids).order_by("id").values_list("id", "superseded_by")
    for old, new in sorted((pk, then.superseded_by) for pk, then in stood.items() if then.superseded_by is not None) if as_of is not None else now:
        replaced[new].append(old)
    revisions: dict[int, list[Json]] = defaultdict(list)
    told = Revision.objects.filter(forest=forest, kind=kind).filter(Q(old_item__in=ids) | Q(new_item__in=ids))
    for revision in revision_list(told if as_of is None else revisions_then(told, forest, as_of)):
        for item in {end["id"] for end in (revision["old"], revision["new"]) if end}:
            revisions[item].append(revision)
    return [_evidence(row, kind, replaced[row.pk], revisions[row.pk], stood.get(row.pk)) for row in found]


def _evidence(row: Any, kind: str, supersedes: list[int], revisions: list[Json], then: Then | None) -> Json:
    stood = then or Then(row.status, row.superseded_by_id, row.valid_to, row.known_until, row.pinned)
    answer: Json = {
        "id": row.pk,
        "kind": kind,
        "text": row.text,
        "slot": row.slot,
        "attribute_tag": row.attribute_tag,
        "status": stood.status,
        "valid_from": iso(row.event_time),
        "valid_to": iso(stood.valid_to),
        "known_from": row.known_from,
        "known_until": stood.known_until,
        "pinned": stood.pinned,
        "state": row.state_id,
        "position": row.state.position,
        "evidence": row.evidence,
        "entities": row.entities,
        "supersedes": supersedes,
        "superseded_by": stood.superseded_by,
        "revisions": revisions,
    }
    if kind != "fact":
        answer["fields"] = {name: _plain(getattr(row, name)) for name in FIELDS[kind]}
    return answer


def evidence_json(row: EvidenceRow) -> Json:
    """One fact or record."""
    return evidence_list([row])[0]


def revision_list(revisions: QuerySet[Revision] | Iterable[Revision]) -> list[Json]:
    """Revisions with the texts of both ends; one query a kind that occurs."""
    found = list(revisions)
    wanted: dict[str, set[int]] = defaultdict(set)
    for revision in found:
        wanted[revision.kind] |= {item for item in (revision.old_item, revision.new_item) if item is not None}
    texts: dict[tuple[str, int], str] = {}
    for kind, ids in wanted.items():
        for pk, text in EVIDENCE_MODELS[kind].objects.filter(pk__in=ids).values_list("pk", "text"):
            texts[kind, pk] = text
    # What is being read anew since it was moved isn't there: it is told of when it is.
    ends = {revision.pk: [item for item in (revision.old_item, revision.new_item) if item is not None] for revision in found}
    return [_revision(revision, texts) for revision in found if all((revision.kind, item) in texts for item in ends[revision.pk])]


def _revision(revision: Revision, texts: dict[tuple[str, int], str]) -> Json:
    old, new = (_end(revision.kind, item, texts) for item in (revision.old_item, revision.new_item))
    return {
        "id": revision.pk,
        "old": old,
        "new": new,
        "verdict": revision.verdict,
        "by": revision.by,
        "at": iso(revision.at),
        "words": revision_words(revision.verdict, revision.by, old, new),
    }


def _end(kind: str, item: int | None, texts: dict[tuple[str, int], str]) -> Json | None:
    return {"kind": kind, "id": item, "text": texts[kind, item]} if item is not None and (kind, item) in texts else None


def revision_words(verdict: str, by: str, old: Json | None, new: Json | None) -> str:
    """A revision in one plain sentence."""
    before = f"“{old['text']}”" if old else "An earlier value"
    after = f"“{new['text']}”" if new else "a later value"
    you = by == Revision.By.USER
    said = {
        Revision.Verdict.SUPERSEDED: f"{before} was replaced by {after}.",
        Revision.Verdict.COEXIST: f"{before} and {after} both hold.",
        Revision.Verdict.RETRACTED: f"You took back {before}." if you else f"{before} was taken back.",
        Revision.Verdict.RESTORED: f"You brought back {before}." if you else f"{before} holds again.",
        Revision.Verdict.EDITED: f"You changed {before} to {after}." if you else f"{before} was changed to {after}.",
    }
    return said.get(Revision.Verdict(verdict), f"{before} → {after}")


def revision_json(revision: Revision) -> Json:
    """One revision."""
    return revision_list([revision])[0]
