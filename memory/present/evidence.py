"""Facts, records and revisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet

from memory.models import EVIDENCE_MODELS, EvidenceRow, Revision
from memory.present.words import Json, iso
from memory.store.evidence import FIELDS

KINDS: dict[type[EvidenceRow], str] = {model: kind for kind, model in EVIDENCE_MODELS.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):  # trailing zeros are the column's, not the user's
        return format(value.normalize(), "f")
    return value.isoformat() if hasattr(value, "isoformat") else value


def evidence_list(rows: QuerySet[Any] | Iterable[EvidenceRow]) -> list[Json]:
    """Facts or records of one kind and one forest, with their revisions; four queries however many."""
    if isinstance(rows, QuerySet):
        rows = rows.select_related("state")
    found = list(rows)
    if not found:
        return []
    model, forest = type(found[0]), found[0].forest_id
    kind = KINDS[model]
    ids = [row.pk for row in found]
    replaced: dict[int, list[int]] = defaultdict(list)
    for old, new in model.objects.filter(forest=forest, superseded_by__in=ids).order_by("id").values_list("id", "superseded_by"):
        replaced[new].append(old)
    revisions: dict[int, list[Json]] = defaultdict(list)
    for revision in revision_list(Revision.objects.filter(forest=forest, kind=kind).filter(Q(old_item__in=ids) | Q(new_item__in=ids))):
        for item in {end["id"] for end in (revision["old"], revision["new"]) if end}:
            revisions[item].append(revision)
    return [_evidence(row, kind, replaced[row.pk], revisions[row.pk]) for row in found]


def _evidence(row: Any, kind: str, supersedes: list[int], revisions: list[Json]) -> Json:
    answer: Json = {
        "id": row.pk,
        "kind": kind,
        "text": row.text,
        "slot": row.slot,
        "attribute_tag": row.attribute_tag,
        "status": row.status,
        "valid_from": iso(row.event_time),
        "valid_to": iso(row.valid_to),
        "known_from": row.known_from,
        "known_until": row.known_until,
        "pinned": row.pinned,
        "state": row.state_id,
        "position": row.state.position,
        "evidence": row.evidence,
        "entities": row.entities,
        "supersedes": supersedes,
        "superseded_by": row.superseded_by_id,
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
    return [_revision(revision, texts) for revision in found]


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
