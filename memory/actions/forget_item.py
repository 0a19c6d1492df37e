"""Delete one fact or record for good: it goes with its vector and revisions, what it had replaced holds again, and its turn doesn't teach it anew."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F

from memory.actions import consequences, forget, redact, retell, structure
from memory.actions.redact import Away
from memory.engine import forgotten as forgotten_items
from memory.engine import terms
from memory.errors import unknown_item
from memory.models import KIND_OF, AtomicFact, EvidenceRow, Forest, InteractionState, StateVector, Turn
from memory.store import forgotten, quotes, read
from memory.store.changes import forget_laid_aside, laid_aside
from memory.store.dropping import drop
from memory.store.slots import resolve_slots


def delete_item(row: EvidenceRow, by: Any, *, preview: bool = False, redact_quotes: bool = False) -> dict[str, Any]:
    """Delete an item; the turn that said it stays, with its words, and its summaries are written without it. Locks the forest and its turns.

    `redact_quotes`: the passages of later answers that quote it go too. Raises Refused."""
    kind = KIND_OF[type(row)]
    if not preview:
        forget.reach_valkey()
    with transaction.atomic():
        forest = Forest.objects.select_for_update().filter(pk=row.forest_id).first()
        found = type(row)._default_manager.filter(pk=row.pk, forest=row.forest_id).first()
        if forest is None or found is None:
            raise unknown_item()
        said = quotes.find(forest, [text for text in (found.text, found.value) if text], found.sources)
        reworded = set(said.states) if redact_quotes else set()
        told, parents = _told_anew(forest, found, reworded)
        away = Away(items={(kind, found.pk), *_former(forest, found, kind)}, resting=found.sources, retold=found.sources)
        answer = _answer(forest, found, kind, preview, told, said, away)
        if preview:
            return answer
        turns = forget.quiet_turns(forest)
        changed = _delete(forest, found, kind, told, parents, said, redact_quotes)
        structure.audit(forest, by, "delete_item", f"{kind} {found.pk}", answer["counts"])
        transaction.on_commit(partial(forget.forget_messages, [], turns))
        transaction.on_commit(partial(forget.tell_deleted, forest.pk, [], changed))
    return answer


def _told_anew(forest: Forest, row: EvidenceRow, reworded: set[int]) -> tuple[retell.Anew, dict[int, int | None]]:
    """The turns that said it, whose summaries may; those on from them that name these summaries; and redacted answers with what is read off them."""
    roots = InteractionState.objects.filter(pk__in={*row.sources, *reworded}).values_list("root_id", flat=True)
    parents: dict[int, int | None] = {edge.state: edge.parent for edge in structure.edges(forest, set(roots))}
    rows = InteractionState.objects.filter(pk__in=row.sources).values_list("pk", "node_summary")
    summed = {pk for pk, node in rows if _names(row, node)}
    told = retell.anew(forest, parents, (), reworded, summed)
    sources = set(row.sources) - told.states
    return replace(told, states=told.states | sources, near=told.near | sources, summed=told.summed | sources).with_changed(reworded), parents


def _names(row: EvidenceRow, summary: str) -> bool:
    return set(terms.terms(row.value or row.text)) <= set(terms.terms(summary))


def _former(forest: Forest, row: EvidenceRow, kind: str) -> set[tuple[str, int]]:
    """What its turns had taught where they hung before: later answers may have been given it under those ids."""
    return {(kind, pk) for pk in laid_aside(forest, row.sources).get(kind, ())}


def _answer(forest: Forest, row: EvidenceRow, kind: str, preview: bool, told: retell.Anew, said: quotes.Quotes, away: Away) -> dict[str, Any]:
    own = list(Turn.objects.filter(state__in=row.sources).values_list("pk", flat=True))
    going = {kind: [row.pk]}
    return consequences.answer(
        preview=preview,
        counts={"facts": int(kind == "fact"), "records": int(kind != "fact")},
        told=told,
        stays=[*consequences.told_beside(row, kind), *consequences.said_elsewhere(forest, going, row.sources)],
        restored=consequences.restored(forest, going),
        used=consequences.used_by(forest, away, own),
        quoted=consequences.quoted_by(forest, said),
    )


def _delete(
    forest: Forest, row: EvidenceRow, kind: str, told: retell.Anew, parents: dict[int, int | None], said: quotes.Quotes, redact_quotes: bool
) -> set[int]:
    structure.fence(forest)
    forgotten.forget_item(row)
    former = _former(forest, row, kind)
    forget_laid_aside(forest, row.sources)
    reworded = set(said.states) if redact_quotes else set()
    touched, slots = drop(forest, {kind: [row.pk]})
    _, others = resolve_slots(forest.pk, slots, None)
    cleared = retell.clear(forest, told, parents, retell.words_of(forest, reworded))
    _describe(forest, row)
    items = {(kind, row.pk), *former, *((of, pk) for of, ids in cleared.items.items() for pk in ids)}
    if redact_quotes:
        redact.redact_answers(forest, said)
        repeating = redact.drop_repeating(forest, said, reworded)
        items |= {(of, pk) for of, ids in repeating.items() for pk in ids}
    retold = {*cleared.summaries, *row.sources}
    tree = retell.trees(parents)
    under = [state for state in parents if tree[state] in cleared.keys]
    away = Away(items=items, resting=row.sources, retold=retold, reworded=reworded, keys=cleared.keys, under=under)
    redact.redact_decisions(forest, away, [], {})
    redact.redact_traces(forest, away)
    Forest.objects.filter(pk=forest.pk).update(version=F("version") + 1)
    retell.refine_later(forest)
    return {*touched, *others, *cleared.touched, *told.states, *row.sources}


def _describe(forest: Forest, row: EvidenceRow) -> None:
    """What describes its turns is written without it: at once, since the worker no longer knows what it was."""
    item = forgotten_items.Item(row.text, row.value, row.evidence)
    told = read.interactions(forest.pk, row.sources)
    for state in told.values():
        facts = AtomicFact.objects.filter(state=state.id, asserted=True).exclude(slot="").exclude(status=AtomicFact.Status.RETRACTED).order_by("number")
        node, entities, keywords = forgotten_items.described(state, [item], list(facts.values_list("text", flat=True)), state.entities)
        if not _names(row, state.node_summary):
            node = state.node_summary
        InteractionState.objects.filter(pk=state.id).update(node_summary=node, path_summary="", entities=list(entities), keywords=list(keywords))
    StateVector.objects.in_forest(forest).filter(state__in=list(told), kind=StateVector.Kind.BRANCH).delete()
