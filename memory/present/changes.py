"""What a person changed: moves of a turn, and the list of changes that can be undone, in plain words. The words are made of what is there now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from memory.models import EVIDENCE_MODELS, Change, ChangedItem, ParentChange
from memory.present.states import labels
from memory.present.words import Json, iso, shorten

GONE = "(deleted)"
DONE = {
    Change.Action.RETRACT: "Took back {}",
    Change.Action.RESTORE: "Brought back {}",
    Change.Action.PIN: "Pinned {}",
    Change.Action.UNPIN: "Unpinned {}",
    Change.Action.QUARANTINE: "Set aside {}",
    Change.Action.EDIT: "Changed {} to {}",
}


def move_list(moves: Iterable[ParentChange]) -> list[Json]:
    """The moves of a state in the order given: who, when, from where to where, and whether it was undone. Two queries however many."""
    found = list(moves)
    named = labels(end for move in found for end in (move.old_parent_id, move.new_parent_id) if end is not None)
    return [
        {
            "at": iso(move.created_at),
            "by": move.by_user.get_username() if move.by_user else None,
            "from": _end(move.old_parent_id, move.from_root, named),
            "to": _end(move.new_parent_id, move.to_root, named),
            "change": move.change_id,
            "undone": move.change is not None and move.change.undone_at is not None,
        }
        for move in found
    ]


def _end(state: int | None, root: bool, named: dict[int, str]) -> Json | None:
    """One end of a move; null for a root, and without an id for a state that was deleted since."""
    return None if root else {"state": state, "label": named.get(state or 0, GONE)}


def change_list(changes: Sequence[Change], undoable: Collection[int]) -> list[Json]:
    """Changes in the order given; `undoable` are the ids of those that can be undone now. Some queries however many."""
    moves: dict[int, list[ParentChange]] = defaultdict(list)
    items: dict[int, list[ChangedItem]] = defaultdict(list)
    for move in ParentChange.objects.filter(change__in=changes).order_by("pk"):
        moves[move.change_id or 0].append(move)
    for item in ChangedItem.objects.filter(change__in=changes).order_by("pk"):
        items[item.change_id].append(item)
    named = labels(end for some in moves.values() for move in some for end in (move.state_id, move.old_parent_id, move.new_parent_id) if end is not None)
    texts = _texts(item for some in items.values() for item in some)
    return [
        {
            "id": change.pk,
            "action": change.action,
            "words": _words(change, moves[change.pk], items[change.pk], named, texts),
            "by": change.by_user.get_username() if change.by_user else None,
            "at": iso(change.at),
            "state": _state(moves[change.pk], items[change.pk]),
            "item": next(({"kind": item.kind, "id": item.item} for item in items[change.pk] if not item.made), None),
            "undone_at": iso(change.undone_at),
            "undoable": change.pk in undoable,
        }
        for change in changes
    ]


def change_json(change: Change, *, undoable: bool) -> Json:
    """One change."""
    return change_list([change], {change.pk} if undoable else set())[0]


def _state(moves: Sequence[ParentChange], items: Sequence[ChangedItem]) -> int | None:
    if moves:
        return moves[0].state_id if len(moves) == 1 else None
    return items[0].state_id if len({item.state_id for item in items}) == 1 else None


def _texts(items: Iterable[ChangedItem]) -> dict[tuple[str, int], str]:
    wanted: dict[str, set[int]] = defaultdict(set)
    for item in items:
        wanted[item.kind].add(item.item)
    return {(kind, pk): text for kind, ids in wanted.items() for pk, text in EVIDENCE_MODELS[kind].objects.filter(pk__in=ids).values_list("pk", "text")}


def _words(change: Change, moves: Sequence[ParentChange], items: Sequence[ChangedItem], named: dict[int, str], texts: dict[tuple[str, int], str]) -> str:
    if moves and change.action == Change.Action.MOVE:
        [move] = moves[:1]
        source, target = (
            "a topic of its own" if root else f"“{named.get(end or 0, GONE)}”"
            for end, root in ((move.old_parent_id, move.from_root), (move.new_parent_id, move.to_root))
        )
        return f"Moved “{named.get(move.state_id, GONE)}” from {source} to {target}."
    if moves:
        return f"Moved {len(moves)} turns."
    said = [f"“{shorten(texts[item.kind, item.item])}”" if (item.kind, item.item) in texts else "something" for item in items]
    if change.action == Change.Action.EDIT and said:
        return DONE[Change.Action.EDIT].format(said[0], said[1] if len(said) > 1 and said[1] != "something" else "another wording") + "."
    if change.action == Change.Action.RESTORE and len(said) > 1:  # a replaced value, written anew
        return DONE[Change.Action.RESTORE].format(said[1] if said[1] != "something" else "an earlier value") + "."
    if len(said) == 1 and change.action in DONE:
        return DONE[Change.Action(change.action)].format(said[0]) + "."
    return f"Changed {len(said)} facts and records." if said else "What it changed was deleted."
