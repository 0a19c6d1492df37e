"""A model's items of a turn and those the rules read, as one list: what both found is one item.

The rules read few things, but those word for word, at no cost and the same each time; a model reads the rest. Neither is a stand-in for the other:
where the call failed nothing is learned at all (W7).
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.engine import revise, terms
from memory.engine.extract import support
from memory.engine.extract.check_facts import Report, Turn
from memory.engine.forest import Proposal

# Of the content words of a rule's sentence, so many may be missing from the model's facts of that clause for these to say the same.
MISSING = 1 / 3


def united(found: Sequence[Proposal], ruled: Sequence[Proposal], turn: Turn, report: Report) -> list[Proposal]:
    """Both lists, the rules' items only from clauses that tell something. Where both say the same the rules' item stays: it will be the same the next time."""
    theirs = list(found)
    ours: list[Proposal] = []
    for rule in ruled:
        if not _told(rule, turn):
            continue
        same = [model for model in theirs if model.kind == rule.kind and _same(rule, model)]
        # A slot of another name was cited by the model, and the citation was checked: it is the one that will be revised.
        if any(model.slot != rule.slot for model in same) or (rule.kind == "fact" and not rule.slot and _covered(rule, theirs)):
            report.changed["also by rule"] += 1
            continue
        report.changed["also by rule" if same else "by rule alone"] += 1
        theirs = [model for model in theirs if model not in same]
        ours.append(rule)
    return [*theirs, *ours]


def _told(rule: Proposal, turn: Turn) -> bool:
    return any(clause.tells and _of_one_clause(rule.evidence, clause.text) for clause in turn.clauses)


def _of_one_clause(one: str, other: str) -> bool:
    """Whether two quotations are of the same clause; a rule quotes it without the words that open it, and cuts long ones."""
    one, other = one.removesuffix("…"), other.removesuffix("…")
    return support.quoted(one, other) or support.quoted(other, one)


def _same(rule: Proposal, model: Proposal) -> bool:
    if not _of_one_clause(rule.evidence, model.evidence):
        return False
    if rule.kind == "event":
        return rule.fields["canonical_action"] == model.fields["canonical_action"]
    if rule.kind == "mutable_state":
        return rule.fields["key"] == model.fields["key"] and (bool(rule.slot) or support.same(rule.value, model.value))
    if rule.slot:
        return bool(model.value) and (support.same(rule.value, model.value) or support.has_value(rule.value, model.value))
    return revise.normalize(rule.text) == revise.normalize(model.text) and not model.slot


def _covered(rule: Proposal, models: Sequence[Proposal]) -> bool:
    """Whether the model's facts of a clause say together what the rule's whole sentence says: each name and number, and most of its words."""
    parts = [model for model in models if model.kind == "fact" and _of_one_clause(rule.evidence, model.evidence)]
    if not parts:
        return False
    said = support.said(" ".join(f"{model.text} {model.value}" for model in parts))
    wanted = set(terms.content_terms(rule.text)) - {terms.stem("user")}
    exact = " ".join(terms.entity_spans(rule.text))
    if support.unsaid_numbers(rule.text, said) or support.unsaid_words(exact, said):
        return False
    return len(wanted - said.terms) <= MISSING * len(wanted)
