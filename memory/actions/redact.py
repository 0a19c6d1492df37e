"""Take deleted turns out of what later answers were given and of why they went where they went (D2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memory.models import ContextTrace, Forest, RoutingDecision

GONE = "(deleted)"
WHY = "The turn it continued was deleted."
# Texts that may speak of more than the states they name.
WIDE = frozenset({"summary"})


def redact_decisions(forest: Forest, gone: set[int], turns: Iterable[int], parents: Mapping[int, int | None]) -> None:
    """Candidates that no longer exist go. `turns` belong to the deleted states and go anyway; `parents` maps a turn to the parent its state has now."""
    rows = RoutingDecision.objects.in_forest(forest).exclude(turn__in=list(turns))
    named = [pk for pk, chosen, candidates in rows.values_list("pk", "chosen_id", "candidates") if chosen in gone or _names(candidates) & gone]
    for decision in rows.filter(pk__in=named):
        labels = {candidate["label"] for candidate in decision.candidates if candidate["state"] in gone}
        labels |= {candidate["tree"] for candidate in decision.candidates if candidate["root"] in gone}
        decision.candidates = [_without_tree(candidate, gone) for candidate in decision.candidates if candidate["state"] not in gone]
        if decision.chosen_id in gone or any(label and label in decision.why for label in labels):
            decision.why = WHY
        if decision.chosen_id in gone:
            decision.chosen_id = parents.get(decision.turn_id)
        decision.save(update_fields=["candidates", "why", "chosen"])


def _names(candidates: list[dict[str, Any]]) -> set[int]:
    return {candidate[end] for candidate in candidates for end in ("state", "root") if candidate[end] is not None}


def _without_tree(candidate: dict[str, Any], gone: set[int]) -> dict[str, Any]:
    return {**candidate, "root": None, "tree": None} if candidate["root"] in gone else candidate


def redact_traces(forest: Forest, gone: set[int], retold: set[int]) -> None:
    """In every trace that shows a deleted state, or a summary of the states in `retold`, that text goes, and with it the messages sent."""
    for trace in ContextTrace.objects.in_forest(forest).filter(sources__overlap=list(gone | retold)).iterator(chunk_size=50):
        hit = False
        for block in trace.blocks:
            for item in block["items"]:
                sources = set(item["sources"])
                if sources & gone or (item["kind"] in WIDE and sources & retold):
                    item["text"], item["id"], item["sources"], hit = GONE, None, sorted(sources - gone), True
                    block["note"] = ""
        if hit:
            trace.messages, trace.messages_hash = [], ""
            trace.save(update_fields=["blocks", "messages", "messages_hash"])
