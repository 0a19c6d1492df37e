"""Delete a state or a whole forest, with everything only it supported (RELIABILITY D1–D5).

What a deletion can't do it refuses: nothing is deleted while a turn of the forest is being answered, or while Valkey, which keeps messages for an hour,
doesn't answer. Later answers keep their words unless `redact` is asked for; those that used or quote what goes are listed in the preview.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import redis
from django.apps import apps
from django.db import transaction
from django.db.models import F

from memory import messages, present
from memory.actions import consequences, redact, retell, structure
from memory.actions.redact import Away
from memory.actions.retell import Anew
from memory.actions.unlearn import Support, support, unlearn
from memory.errors import conflict, unavailable, unknown_forest, unknown_state
from memory.models import AtomicFact, Forest, Import, InteractionState, Outbox, Turn
from memory.models.forest import Origin
from memory.models.scoping import InForest
from memory.store import forgotten, quotes, uploads
from memory.store.quotes import Quotes

log = logging.getLogger(__name__)
Mode = Literal["with_children", "children_to_parent"]


def delete_forest(forest: Forest, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Delete a forest: every row of every table that names it, and its messages. Locks the forest and its turns."""
    counts = {**present.forest_json(forest)["counts"], "facts": AtomicFact.objects.in_forest(forest).count()}
    if preview:
        return consequences.answer(preview=True, counts=counts)
    reach_valkey()
    with transaction.atomic():
        locked = Forest.objects.select_for_update().filter(pk=forest.pk).first()
        if locked is None:
            raise unknown_forest()
        turns = quiet_turns(locked)
        jobs = list(Import.objects.in_forest(locked).values_list("job_id", flat=True))
        for model in apps.get_app_config("memory").get_models():
            if issubclass(model, InForest):
                rows = model._default_manager.filter(forest=locked.pk)
                rows._raw_delete(rows.db)
        Forest.objects.filter(pk=locked.pk)._raw_delete("default")
        structure.audit(locked, by, "delete_forest", f"forest {locked.pk}", counts)
        transaction.on_commit(partial(forget_messages, turns, []))
        transaction.on_commit(partial(uploads.drop, jobs))
        transaction.on_commit(partial(messages.look_again, messages.group(locked.pk)))
    return consequences.answer(preview=False, counts=counts)


@dataclass(frozen=True, slots=True)
class _Deletion:
    """What a deletion of states is about to do, worked out under the forest's lock."""

    forest: Forest
    rows: list[InteractionState]
    before: list[structure.Edge]
    parents: dict[int, int | None]
    moving: list[int]
    top: InteractionState
    support: Support
    quotes: Quotes
    told: Anew

    @property
    def gone(self) -> set[int]:
        return {row.pk for row in self.rows}

    @property
    def left(self) -> dict[int, int | None]:
        """State → parent as it will be, in order of time."""
        return {pk: (self.top.parent_id if pk in self.moving else parent) for pk, parent in self.parents.items() if pk not in self.gone}


def delete_state(state: InteractionState, mode: Mode, by: Any, *, preview: bool = False, redact_quotes: bool = False) -> dict[str, Any]:
    """Delete a state, its turn and what only it supported; its children move to its parent, or go with it. Locks the forest and its turns.

    States that may speak of it, those within reach below it, are cleared of what may and wait for refinement, which reads the raw turns.
    `redact_quotes`: the passages of later answers that quote it go too. Raises Refused."""
    if not preview:
        reach_valkey()
    with transaction.atomic():
        forest = Forest.objects.select_for_update().filter(pk=state.forest_id).first()
        found = InteractionState.objects.in_forest(state.forest_id).filter(pk=state.pk).first()
        if forest is None or found is None:
            raise unknown_state()
        deletion = _plan(forest, found, mode, redact_quotes)
        answer = _answer(deletion, preview)
        if preview:
            return answer
        turns = quiet_turns(forest)
        changed = _delete(deletion, redact_quotes)
        structure.audit(forest, by, "delete_state", f"state {found.pk}", answer["counts"])
        transaction.on_commit(partial(forget_messages, [row.turn_id for row in deletion.rows], turns))
        transaction.on_commit(partial(tell_deleted, forest.pk, [(row.pk, row.turn_id) for row in deletion.rows], changed))
    return answer


def _plan(forest: Forest, top: InteractionState, mode: Mode, redact_quotes: bool) -> _Deletion:
    before = structure.edges(forest, {top.root_id})
    parents: dict[int, int | None] = {edge.state: edge.parent for edge in before}
    going = structure.subtree(parents, top.pk) if mode == "with_children" else [top.pk]
    rows = list(InteractionState.objects.in_forest(forest).filter(pk__in=going))
    moving = [pk for pk, parent in parents.items() if parent in going and pk not in going]
    supported = support(forest, going)
    said = quotes.find(forest, consequences.texts_of(forest, rows, supported.only), going)
    changed = set(said.states) if redact_quotes else set()
    if changed:  # trees with a redacted answer are told anew as well
        roots = set(InteractionState.objects.filter(pk__in=changed).values_list("root_id", flat=True))
        before = structure.edges(forest, {top.root_id, *roots})
        parents = {edge.state: edge.parent for edge in before}
    return _Deletion(forest, rows, before, parents, moving, top, supported, said, retell.anew(forest, parents, going, changed).with_changed(changed))


def _answer(deletion: _Deletion, preview: bool) -> dict[str, Any]:
    forest, rows, gone = deletion.forest, deletion.rows, deletion.gone
    counts = {"states": len(rows), **deletion.support.counts, "children_moved": len(deletion.moving)}
    going = deletion.support.only
    return consequences.answer(
        preview=preview,
        counts=counts,
        told=deletion.told,
        stays=[*consequences.shared(forest, deletion.support.shared, gone), *consequences.said_elsewhere(forest, going, gone)],
        restored=consequences.restored(forest, going),
        used=consequences.used_by(forest, Away(gone=gone), [row.turn_id for row in rows]),
        quoted=consequences.quoted_by(forest, deletion.quotes),
    )


def _delete(deletion: _Deletion, redact_quotes: bool) -> set[int]:
    """The deletion itself; returns the states that look different afterwards."""
    forest, rows, gone, left, top = deletion.forest, deletion.rows, deletion.gone, deletion.left, deletion.top
    turns = [row.turn_id for row in rows]
    reworded = set(deletion.quotes.states) if redact_quotes else set()
    structure.fence(forest)
    # In this order: what a deleted turn shares with one below it is no extraction of the latter alone, and stays.
    felled = gone & {edge.state for edge in deletion.before if edge.parent is None}
    cleared = retell.clear(forest, deletion.told, left, retell.words_of(forest, gone | reworded), felled)
    changed = {*cleared.touched, *cleared.summaries, *unlearn(forest, gone)}
    InteractionState.objects.filter(pk__in=deletion.moving).update(parent=top.parent_id)
    restood = structure.restand(forest, deletion.before, left)
    for root in felled:
        structure.fell_tree(forest, root)
    for root in (pk for pk, parent in left.items() if parent is None and deletion.parents[pk] is not None):
        structure.plant_tree(forest, root)
    items = {(kind, pk) for kind, ids in cleared.items.items() for pk in ids}
    if redact_quotes:
        redact.redact_answers(forest, deletion.quotes)
        repeating = redact.drop_repeating(forest, deletion.quotes, deletion.told.states)
        items |= {(kind, pk) for kind, ids in repeating.items() for pk in ids}
    under = [edge.state for edge in deletion.before if edge.standing.root in cleared.keys and edge.state not in gone]
    resting = deletion.told.states if items else ()
    away = Away(gone=gone, retold=cleared.summaries, reworded=reworded, items=items, resting=resting, keys=cleared.keys, under=under)
    redact.redact_decisions(forest, away, turns, dict(InteractionState.objects.filter(pk__in=deletion.moving).values_list("turn_id", "parent_id")))
    redact.redact_traces(forest, away)
    names = list(Turn.objects.filter(pk__in=turns).values_list("client_id", "origin"))
    redact.redact_reports(forest, [name for name, _ in names])
    forgotten.forget_turns(forest, [name for name, origin in names if origin == Origin.IMPORTED])
    _take_away(forest, rows, turns)
    retell.refine_later(forest)
    return {*changed, *restood, *deletion.moving, *deletion.told.states} - gone


def _take_away(forest: Forest, rows: Sequence[InteractionState], turns: Sequence[int]) -> None:
    """The states and turns themselves, and what counts or points at them."""
    gone = [row.pk for row in rows]
    structure.unindex(forest, gone)
    Outbox.objects.in_forest(forest).filter(kind="refine", subject__in=gone).delete()
    if forest.active_state_id in gone:
        newest = InteractionState.objects.in_forest(forest).exclude(pk__in=gone).order_by("-position").first()
        forest.active_state = newest
        Forest.objects.filter(pk=forest.pk).update(active_state=newest)
    # Children were given another parent or go as well: what protects a parent holds no more.
    InteractionState.objects.filter(pk__in=gone).update(parent=None)
    Turn.objects.in_forest(forest).filter(pk__in=turns).delete()
    Forest.objects.filter(pk=forest.pk).update(
        version=F("version") + 1, indexed_states=F("indexed_states") - len(rows), indexed_terms=F("indexed_terms") - sum(row.length for row in rows)
    )


def quiet_turns(forest: Forest) -> list[int]:
    """The ids of all turns of the forest, whose row is locked: none can begin to be answered. Raises Refused while one is: it was given what is about to go."""
    if Turn.objects.in_forest(forest).exclude(generator="").exists():
        raise conflict("A turn of this forest is being answered.", "Stop it, or wait for its answer.")
    return list(Turn.objects.in_forest(forest).values_list("pk", flat=True))


def reach_valkey() -> None:
    """Raise Refused when Valkey doesn't answer: a deletion must not pretend."""
    try:
        messages.client().ping()
    except redis.RedisError:
        raise unavailable("Valkey isn't reachable, so its copies couldn't be deleted. Nothing was deleted.") from None


def tell_deleted(forest: int, gone: Sequence[tuple[int, int]], changed: Iterable[int]) -> None:
    """After the commit: pages that watch lose what went and see what changed; of very much, they read the forest anew."""
    if gone:
        messages.publish(forest, gone[0][1], "state.removed", {"states": [state for state, _ in gone]})
    structure.refine_and_tell(forest, changed, "deleted")


def forget_messages(gone: list[int], others: list[int]) -> None:
    """Kept messages go: of deleted turns wholly; of the forest's others too, since they may quote what was deleted."""
    try:
        messages.forget(gone)
        messages.purge(others)
        messages.rewrite_log()
    except redis.RedisError as error:
        log.error("messages of deleted turns stay until they expire, within an hour (%s)", type(error).__name__)
