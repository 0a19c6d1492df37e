"""What a model adds to the items the rules read of the same turn: nothing that these say already.

The rules read few things, but those word for word, at no cost and the same each time; a model reads the rest. So theirs are all kept, in their order (a
rule's row is known by its number), and a model's item that says the same is left out. Neither stands in for the other: where the call failed nothing is
learned at all (W7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.engine import terms
from memory.engine.extract import support
from memory.engine.extract.check_facts import Report
from memory.engine.forest import Proposal


def added(found: Iterable[Proposal], ruled: Sequence[Proposal], report: Report) -> list[Proposal]:
    """The model's items that the rules don't have; the others are counted."""
    kept = []
    for model in found:
        if any(_same(rule, model) for rule in ruled if rule.kind == model.kind):
            report.changed["also by rule"] += 1
        else:
            kept.append(model)
    return kept


def _same(rule: Proposal, model: Proposal) -> bool:
    alike = support.same(rule.value, model.value) or support.has_value(rule.value, model.value)
    if rule.kind == "event":
        return rule.fields["canonical_action"] == model.fields["canonical_action"] and _of_one_clause(rule.evidence, model.evidence)
    if rule.kind == "mutable_state":
        return rule.fields["key"] == model.fields["key"] and (alike or (bool(rule.slot) and _of_one_clause(rule.evidence, model.evidence)))
    return (model.slot == rule.slot and alike) if model.slot else _within(f"{model.text} {model.value}", f"{rule.text} {rule.value}")


def _of_one_clause(one: str, other: str) -> bool:
    """Whether two quotations are of the same clause; a rule quotes it without the words that open it, and cuts long ones."""
    one, other = one.removesuffix("…"), other.removesuffix("…")
    return support.quoted(one, other) or support.quoted(other, one)


def _within(text: str, whole: str) -> bool:
    """Whether a text says nothing beyond another: no number, and no word of weight."""
    said = support.said(whole)
    return not support.unsaid_numbers(text, said) and not support.unsaid_words(" ".join(terms.content_terms(text)), said)
