"""A forest as one JSON document: everything that isn't derived from the rest (RELIABILITY X2). Vectors and postings are rebuilt at import."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.models import Model, QuerySet

from memory.models import (
    EVIDENCE_MODELS,
    Change,
    ChangedItem,
    ContextTrace,
    Forest,
    Forgotten,
    InteractionState,
    ParentChange,
    Revision,
    RoutingDecision,
    StateLink,
    Topic,
    Turn,
)
from memory.store.changes import told

FORMAT, VERSION = "arborweb-forest", 1
# The columns that name facts and records.
TOLD: dict[type[Model], tuple[str, ...]] = {Revision: ("old_item", "new_item"), ChangedItem: ("item",)}
# Up to here the document stays in memory.
IN_MEMORY = 1024 * 1024
# Columns that say nothing of the forest itself: who generates a turn now, and which forest a row is in.
LEFT_OUT = {"forest_id", "generator", "heartbeat_at", "attempt", "asked_parent_id", "seq", "by_user_id", "corrected_by_id", "undone_by_id", "taught"}

SECTIONS: dict[str, type[Model]] = {
    "turns": Turn,
    "states": InteractionState,
    "topics": Topic,
    "links": StateLink,
    "changes": Change,
    "moves": ParentChange,
    **{f"{kind}s": model for kind, model in EVIDENCE_MODELS.items()},
    "changed": ChangedItem,
    "revisions": Revision,
    "decisions": RoutingDecision,
    "traces": ContextTrace,
    "forgotten": Forgotten,
}


def export_forest(forest: Forest) -> IO[bytes]:
    """A file with the document, at its start; the caller closes it."""
    return written(_pieces(forest))


def written(pieces: Iterator[str]) -> IO[bytes]:
    """A file with what reads the database piece by piece, at its start; the caller closes it. One snapshot, whatever is written meanwhile."""
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - the caller closes it
    with transaction.atomic():
        if _outermost():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for piece in pieces:
            file.write(piece.encode())
    file.seek(0)
    return file


def _outermost() -> bool:
    """Whether this transaction is ours alone (in a test it is inside the test's): only then its isolation can still be chosen."""
    return len(connection.atomic_blocks) == 1


def _pieces(forest: Forest) -> Iterator[str]:
    forest = Forest.objects.get(pk=forest.pk)
    head = {name: getattr(forest, name) for name in ("id", "name", "time_zone", "embedder", "dimensions", "weights_hash", "sample", "created_at")}
    head |= {"active_state": forest.active_state_id, "last_position": forest.last_position}
    yield f'{{"format": {_json(FORMAT)}, "version": {VERSION}, "forest": {_json(head)}'
    for section, model in SECTIONS.items():
        yield f', "{section}": ['
        found = model._default_manager.filter(forest=forest).order_by("pk")
        if model in TOLD:  # what is laid aside until a turn is read again stays here
            found = found.filter(told(*TOLD[model]))
        for number, row in enumerate(_rows(found)):
            yield ("," if number else "") + "\n" + _json(row)
        yield "]"
    yield "}\n"


def _rows(rows: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    columns = [field.attname for field in rows.model._meta.concrete_fields if field.attname not in LEFT_OUT]
    for row in rows.values(*columns).iterator(chunk_size=500):
        yield {name.removesuffix("_id"): value for name, value in row.items()}


class _Exact(DjangoJSONEncoder):
    """Times to the microsecond: an import gives the same ones."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def _json(value: Any) -> str:
    return json.dumps(value, cls=_Exact)
