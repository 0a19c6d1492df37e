"""An export of ours → an equal forest (RELIABILITY X2): every row under a new id, whatever names an id following it; indexes are built again.

Rows come in one transaction, so a killed restore begins anew; vectors and postings follow state by state (`index_states`) and go on where they stopped;
those of pieces are left to the worker (`index_pieces`).
A row that isn't sound, or names one that isn't there, is left out and named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any
from zoneinfo import available_timezones

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import connection, models, transaction
from django.db.models import Model

from memory.actions import index_pieces, structure
from memory.actions.export_forest import LEFT_OUT, SECTIONS, VERSION
from memory.actions.index_states import index_states
from memory.engine import signs
from memory.errors import conflict, invalid
from memory.imports.reading import LONGEST
from memory.imports.stream import Piece, decode, load, pieces
from memory.imports.values import Note, text_of, time_of
from memory.models import EVIDENCE_MODELS, Forest, InteractionState, Topic, Turn

Told = Callable[[int, int], None]
Row = dict[str, Any]

BATCH = 200
# What names a row of which section; `!` must be there.
NAMED: dict[str, dict[str, str]] = {
    "turns": {"edited_from": "turns"},
    "states": {"turn": "turns!", "parent": "states", "root": "states!", "branch": "states!"},
    "topics": {"root": "states!"},
    "links": {"state": "states!", "parent": "states!"},
    "changes": {},
    "moves": {"state": "states!", "old_parent": "states", "new_parent": "states", "change": "changes"},
    **{f"{kind}s": {"state": "states!", "superseded_by": f"{kind}s"} for kind in EVIDENCE_MODELS},
    "changed": {"change": "changes!", "state": "states!"},
    "revisions": {"state": "states"},
    "decisions": {"turn": "turns!", "chosen": "states"},
    "traces": {"turn": "turns!"},
    "forgotten": {"state": "states"},
}
ONCE: dict[str, tuple[tuple[str, ...], ...]] = {
    "turns": (("client",),),
    "states": (("turn",), ("position",)),
    "topics": (("root",),),
    "links": (("state", "parent"),),
    **{f"{kind}s": (("state", "number", "made_by"),) for kind in EVIDENCE_MODELS},
    "changed": (("change", "kind", "item"),),
    "revisions": (("kind", "old_item", "new_item", "verdict"),),
    "decisions": (("turn",),),
    "traces": (("turn",),),
}
# A turn that was under way there is interrupted here: nobody answers it.
UNDER_WAY = {Turn.Status.LOCALIZED, Turn.Status.ANSWERING}


class Unsound(ValueError):  # noqa: N818 - what it is, in one word
    """This row can't be kept; the message says why."""


@dataclass(slots=True)
class _Document:
    """What a first look at the file gives: where the rows are, which ids there are, and how the states hang together."""

    head: Row = field(default_factory=dict)
    places: dict[str, list[tuple[int, Piece]]] = field(default_factory=lambda: {section: [] for section in SECTIONS})
    ids: dict[str, dict[int, int]] = field(default_factory=dict)
    clients: list[str] = field(default_factory=list)
    edges: dict[int, tuple[int, int | None]] = field(default_factory=dict)  # state → position, parent
    told: set[int] = field(default_factory=set)  # turns that are states
    taught: dict[tuple[str, int], int] = field(default_factory=dict)  # section and id of an item → its state
    whole: bool = True
    notes: list[Note] = field(default_factory=list)


def restore(forest: Forest, file: IO[bytes], told: Told = lambda done, total: None) -> tuple[dict[str, int], list[Note]]:
    """Fill an empty forest from an export; how many states are new or were there already, and what was left out.

    Raises Refused for another version of the format, and for a forest with turns that aren't in the file."""
    document = _survey(file, told)
    total = len(document.edges)
    with transaction.atomic():
        locked = Forest.objects.select_for_update().get(pk=forest.pk)
        own = set(Turn.objects.in_forest(locked).values_list("client_id", flat=True))
        if own - set(document.clients):
            raise conflict("This forest has turns of its own.", "Make an empty forest and import the export there.")
        if not own:
            _write(locked, file, document, told)
    counts = {"new": 0, "known": total} if own else {"new": total, "known": 0}
    index_states(forest, lambda done: told(done, total))
    index_pieces.order(forest)
    return counts, document.notes


# --- The first look


def _survey(file: IO[bytes], told: Told) -> _Document:
    file.seek(0)
    version = re.search(rb'"version"\s*:\s*(\d+)', file.read(64 * 1024))
    if version is None or int(version[1]) != VERSION:
        raise invalid("This export is of another version of ArborWeb.", "Import it with the version it comes from, or a later one.")
    document = _Document()
    for number, piece in enumerate(pieces(file, 2)):
        if not piece.whole:
            document.whole = False
            document.notes.append(Note("cut short", piece.section, "the file ends here; what was before it is kept"))
        if piece.section == "forest":
            _read_head(file, piece, document)
        elif piece.section in SECTIONS and piece.whole:
            _look(file, piece, document)
        if number % 500 == 0:
            told(0, len(document.edges))
    for section in SECTIONS:
        old = [key for key, _ in document.places[section]]
        document.ids[section] = dict(zip(old, _new_ids(SECTIONS[section], len(old)), strict=True))
    return document


def _read_head(file: IO[bytes], piece: Piece, document: _Document) -> None:
    """One member of the head, which comes as `"name": value`."""
    file.seek(piece.start)
    try:
        member = decode("{" + file.read(min(piece.end - piece.start, LONGEST)).decode("utf-8", "replace") + "}")
    except ValueError:
        return
    document.head |= member if isinstance(member, dict) else {}


def _look(file: IO[bytes], piece: Piece, document: _Document) -> None:
    section = piece.section
    try:
        row = load(file, piece, LONGEST)
        if row is None:
            return
        if not isinstance(row, dict) or not _is_number(row.get("id")):
            raise Unsound("it is no row")
    except ValueError as error:
        document.notes.append(Note("unsound", section, f"a row is left out: {error}"))
        return
    document.places[section].append((row["id"], piece))
    if section == "turns":
        document.clients.append(text_of(row.get("client")))
    elif section == "states":
        parent = row.get("parent")
        document.edges[row["id"]] = (row["position"] if _is_number(row.get("position")) else 0, parent if _is_number(parent) else None)
        if _is_number(row.get("turn")):
            document.told.add(row["turn"])
    elif _is_number(row.get("state")):
        document.taught[section, row["id"]] = row["state"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _new_ids(model: type[Model], number: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [model._meta.db_table, number])
        return sorted(row[0] for row in cursor.fetchall())


# --- The rows


def _write(forest: Forest, file: IO[bytes], document: _Document, told: Told) -> None:
    """Each section twice: first to know which rows are sound, then to write them, so that nothing names a row that isn't kept."""
    standings: dict[int, structure.Standing] = {}
    for section, model in SECTIONS.items():
        _sift(section, file, document, forest)
        if section == "states":
            standings = _standings(document)
        batch: list[Model] = []
        for old, piece in document.places[section]:
            batch.append(_row(model, _moved(section, load(file, piece, LONGEST), document, standings.get(old)), forest))
            if len(batch) >= BATCH:
                _insert(model, batch)
                told(0, len(document.edges))
        _insert(model, batch)
    _head(forest, document)


def _sift(section: str, file: IO[bytes], document: _Document, forest: Forest) -> None:
    """Keep the places and ids of the sound rows of a section only."""
    kept: dict[int, Piece] = {}
    seen: set[tuple[object, ...]] = set()
    for old, piece in document.places[section]:
        try:
            if old in kept:
                raise Unsound("its id was used before")
            row = _moved(section, load(file, piece, LONGEST), document, structure.Standing(old, old, 0))
            _once(section, row, seen)
            _row(SECTIONS[section], row, forest)
            kept[old] = piece
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:  # also values of other kinds than any export has
            what = str(error) if isinstance(error, ValueError) else f"it isn't as rows are ({type(error).__name__})"
            document.notes.append(Note("unsound", f"{section}, id {old}", f"left out: {what}"))
    document.places[section] = list(kept.items())
    document.ids[section] = {old: new for old, new in document.ids[section].items() if old in kept}
    if section == "states":
        document.edges = {old: edge for old, edge in document.edges.items() if old in kept}


def _standings(document: _Document) -> dict[int, structure.Standing]:
    """Where each state stands, from the edges alone. A parent must be there and earlier, or its child begins a tree."""
    order = sorted(document.edges, key=lambda state: (document.edges[state][0], state))
    at = {state: number for number, state in enumerate(order)}
    parents: dict[int, int | None] = {}
    for state in order:
        parent = document.edges[state][1]
        if parent is not None and at.get(parent, len(order)) >= at[state]:
            document.notes.append(Note("unknown parent", f"states, id {state}", "its parent isn't there, or not earlier; it begins a tree"))
            parent = None
        parents[state] = parent
        document.edges[state] = (document.edges[state][0], parent)
    return structure.standings(parents)


def _moved(section: str, row: Any, document: _Document, place: structure.Standing | None) -> Row:
    """The row with new ids in place of the old ones. Raises Unsound, and whatever odd values lead to."""
    row = dict(_clean(row))
    old = row["id"]
    row["id"] = document.ids[section][old]
    if section == "states" and place is not None:
        row |= {"parent": document.edges[old][1], "root": place.root, "branch": place.branch, "depth": place.depth}
        if not document.whole:  # what was learned may be missing: it is read again
            row |= {"refined_at": None, "refined_by": ""}
    for key, target in NAMED[section].items():
        row[key] = _new(row.get(key), target.rstrip("!"), document)
        if row[key] is None and target.endswith("!"):
            raise Unsound(f"its {key} isn't there")
    states = document.ids["states"]
    if section == "turns":
        if row.get("status") in UNDER_WAY:
            row["status"] = Turn.Status.INTERRUPTED
        if row.get("status") in Turn.COMMITTED and old not in document.told:
            raise Unsound("its state isn't there")
    elif section == "revisions":
        for key in ("old_item", "new_item"):
            row[key] = _new(row.get(key), f"{row.get('kind')}s", document)
    elif section == "changes":
        row["revisions"] = [new for old in row.get("revisions") or [] if (new := _new(old, "revisions", document))]
    elif section == "moves":
        for end, root in (("old_parent", "from_root"), ("new_parent", "to_root")):
            row.setdefault(root, row[end] is None)  # of an export from before there was a word for it
    elif section == "changed":
        row["noted"] = _new(row.get("noted"), "revisions", document)
        row["superseded_by"] = _new(row.get("superseded_by"), f"{row.get('kind')}s", document)
        row["item"] = _new(row.get("item"), f"{row.get('kind')}s", document)
        if row["item"] is None:
            raise Unsound("its item isn't there")
    elif section == "topics":
        row["told_by"] = [states[teller] for teller in row.get("told_by") or [] if teller in states]
    elif section == "links":
        _within(row, "weight", 0.0, 1.0)
    elif section == "decisions":
        _within(row, "probability", 0.0, 1.0)
        _within(row, "margin", -1.0, 1.0)
        row["candidates"] = [_candidate(one, states) for one in row.get("candidates") or [] if one.get("state") is None or one["state"] in states]
    elif section == "traces":
        row["blocks"] = [{**block, "items": [_item(item, document) for item in block.get("items", [])]} for block in row.get("blocks") or []]
        row["sources"] = sorted({source for block in row["blocks"] for item in block["items"] for source in item["sources"]})
    elif "sources" in row:
        row["sources"] = [states[source] for source in row["sources"] if source in states]
    return row


def _new(old: Any, section: str, document: _Document) -> int | None:
    return document.ids.get(section, {}).get(old) if _is_number(old) else None


def _within(row: Row, key: str, least: float, most: float) -> None:
    """Raises Unsound for a number, if there is one, out of its range."""
    if row.get(key) is not None and not least <= float(row[key]) <= most:
        raise Unsound(f"its {key} isn't between {least:g} and {most:g}")


def _candidate(one: Row, states: Mapping[int, int]) -> Row:
    _within(one, "probability", 0.0, 1.0)
    for number in (one.get("score", 0.0), *one.get("parts", {}).values()):
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise Unsound("a score of its candidates is no number")
    told = {part: sign for part, sign in signs.from_json(one.get("signs")).items() if sign.state is None or sign.state in states}
    kept = signs.to_json({part: replace(sign, state=states[sign.state]) if sign.state is not None else sign for part, sign in told.items()})
    state = states.get(one["state"]) if one.get("state") is not None else None
    place = {"state": state, "root": states.get(one.get("root"))}  # type: ignore[arg-type]
    return {**one, **place, **({"signs": kept} if "signs" in one else {})}


def _item(item: Row, document: _Document) -> Row:
    """An item of a context. What it is of is told by its kind, or by who taught it."""
    sources, old, section = item.get("sources", []), item.get("id"), f"{item.get('kind')}s"
    if section in ("states", "summarys"):
        identity = _new(old, "states", document)
    else:
        sections = [section] if section in document.ids else [f"{kind}s" for kind in EVIDENCE_MODELS if document.taught.get((f"{kind}s", old or 0)) in sources]
        identity = next((new for one in sections if (new := _new(old, one, document))), None)
    return {**item, "id": identity, "sources": [document.ids["states"][source] for source in sources if source in document.ids["states"]]}


def _clean(value: Any) -> Any:
    """Texts without what can't be stored. Raises Unsound for NaN and infinities, which JSON doesn't know."""
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise Unsound("it holds a number that is none")
    if isinstance(value, list):
        return [_clean(part) for part in value]
    if isinstance(value, dict):
        return {text_of(key): _clean(part) for key, part in value.items()}
    return value


def _once(section: str, row: Row, seen: set[tuple[object, ...]]) -> None:
    marks = [(columns, *(row.get(column) for column in columns)) for columns in ONCE.get(section, ())]
    if any(mark in seen for mark in marks):
        raise Unsound("there is another one like it")
    seen.update(marks)


def _row(model: type[Model], row: Row, forest: Forest) -> Model:
    columns = model._meta.concrete_fields
    return model(**{column.attname: forest.pk if column.attname == "forest_id" else _value(column, row) for column in columns})


def _value(column: Any, row: Row) -> Any:
    name = column.attname.removesuffix("_id")
    if name not in row or column.attname in LEFT_OUT:
        return column.get_default()
    value = row[name]
    try:
        if isinstance(column, ArrayField):
            if not isinstance(value, list):
                raise Unsound(f"its {name} is no list")
            value = [column.base_field.to_python(part) for part in value]
        elif not column.is_relation:
            if isinstance(column, models.TextField | models.CharField) and not isinstance(value, str):
                raise Unsound(f"its {name} is no text")
            value = column.to_python(value)
        if value is None:
            if not column.null:
                raise Unsound(f"its {name} is missing")
            return None
        if not column.is_relation:
            column.run_validators(value)
    except ValidationError as error:
        raise Unsound(f"its {name} isn't valid ({error.messages[0]})") from None
    if column.choices and value not in dict(column.flatchoices):
        raise Unsound(f"its {name} isn't known")
    return value


def _insert(model: type[Model], batch: list[Model]) -> None:
    """As it says: with its own times of making, which `bulk_create` would set anew."""
    if batch:
        model._base_manager.all()._insert(batch, fields=model._meta.concrete_fields, using="default", raw=True)  # type: ignore[attr-defined]
        batch.clear()


def _head(forest: Forest, document: _Document) -> None:
    """The forest's own row: its zone, pointers and counters; its name and owner stay. Every tree has a topic, every turn of a state a decision."""
    head, states = document.head, InteractionState.objects.in_forest(forest)
    roots = states.filter(parent__isnull=True, topic__isnull=True).order_by("position")
    last = Topic.objects.in_forest(forest).count()
    Topic.objects.bulk_create(Topic(forest=forest, root=root, order=last + number) for number, root in enumerate(roots))
    if head.get("time_zone") in available_timezones():
        forest.time_zone = head["time_zone"]
    forest.sample = head.get("sample") is True
    forest.created_at = time_of(head.get("created_at")) or forest.created_at
    sums = states.aggregate(states=models.Count("id"), terms=models.Sum("length"), last=models.Max("position"))
    said_last = head.get("last_position")
    forest.last_position = max(sums["last"] or 0, said_last if isinstance(said_last, int) and _is_number(said_last) else 0)
    forest.indexed_states, forest.indexed_terms = sums["states"], sums["terms"] or 0
    active = _new(head.get("active_state"), "states", document)
    newest = states.order_by("-position").values_list("pk", flat=True).first()
    forest.active_state_id = active or newest
    forest.version += 1
    forest.save()
