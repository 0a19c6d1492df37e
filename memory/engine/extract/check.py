"""A model's reading of a turn, checked part by part: what holds joins what the rules read, the rest is dropped and counted by reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory.engine import commit, terms
from memory.engine.extract import artifacts, check_facts, check_records, language, summary, support, tags, union
from memory.engine.extract.check_facts import MODEL, Report, Turn, words
from memory.engine.forest import Extraction, Interaction, Proposal
from memory.engine.text import excerpt, one_line

# Raise it whenever the checks change: part of the version a state is refined by.
VERSION = "checks-2"
MAX_ARTIFACTS, MAX_ENTITIES, MAX_SUMMARY_WORDS = 8, 16, 50
MAX_ITEM, MAX_ITEM_EVIDENCE = 120, 80
MOST_UNSAID = 1 / 3  # of a summary's words: a paraphrase has some of its own
ARTIFACT_TYPES = ("recommendation", "list_item", "link", "generated_text", "recipe", "step", "title", "other")


def checked(answer: Mapping[str, Any], turn: Turn, path: Sequence[Interaction], report: Report) -> Extraction:
    """What of a model's answer (shape: `llm/prompts/extract.py`) holds. Pure: the same answer for the same turn gives the same extraction."""
    interaction = turn.interaction
    ruled = commit.extract(interaction, path, turn.zone, turn.topic)
    found: list[Proposal] = []
    found += check_facts.propose(_rows(answer, "facts"), turn, report)
    found += check_records.states(_rows(answer, "states"), turn, report)
    found += check_records.events(_rows(answer, "events"), turn, report)
    proposals = (*ruled.proposals, *union.added(found, ruled.proposals, report))
    listed = [proposal for proposal in ruled.proposals if proposal.kind == "artifact"]
    proposals += tuple(_artifacts(_rows(answer, "artifacts"), turn, listed, report))
    for proposal in proposals:
        report.kept[proposal.kind] += 1
    node = _summary(str(answer.get("summary") or ""), turn, report) or ruled.node_summary
    return Extraction(
        node_summary=node,
        entities=_entities(answer.get("entities"), ruled.entities, interaction),
        keywords=ruled.keywords,
        path_summary=summary.path_summary(ruled.topic or turn.topic, path, node),
        topic=ruled.topic,
        topic_variants=ruled.topic_variants,
        proposals=proposals,
    )


def _rows(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = answer.get(name) or []
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, Sequence) and not isinstance(rows, str) else []


# --- Artifacts ---------------------------------------------------------------------------------------------------------------


def _artifacts(rows: Iterable[Mapping[str, Any]], turn: Turn, ruled: Sequence[Proposal], report: Report) -> list[Proposal]:
    """What else of the assistant's text the model points at, beside the lists, links and code that the rules read word for word."""
    answer = language.said(turn.interaction.assistant)
    kept: list[Proposal] = []
    for row in rows:
        item, kind = words(row, "item_text"), words(row, "artifact_type", 20)
        if kind not in ARTIFACT_TYPES:
            report.drop("artifact", "unknown type")
        elif not item or not support.quoted(item, answer):
            report.drop("artifact", "not in the answer")
        elif _chat(item, turn):
            report.drop("artifact", "only talk")
        elif any(_same_item(item, other.text) for other in (*ruled, *kept)):
            report.drop("artifact", "said twice")
        elif len(kept) == MAX_ARTIFACTS:
            report.drop("artifact", "too many")
        else:
            kept.append(_artifact(item, kind, words(row, "topic", MAX_ITEM), row.get("ordinal"), turn))
    return kept


_TALK = re.compile(
    r"\b(?:you(?:'re| are)? welcome|how can i|can i help|let me know|happy to|glad|feel free|anything else|of course|sure|noted|i(?:'ll|'ve| will| have)|"
    r"sounds|thank|sorry|hello|hi there|good (?:luck|morning|night|evening)|enjoy)\b|[?？؟]",
    re.IGNORECASE,
)


def _chat(item: str, turn: Turn) -> bool:
    """Whether a piece of prose is only the assistant talking: nothing in it has a name, unless a text was asked for. Lists, links and code are read by rule."""
    if _TALK.search(item.replace("’", "'")) or len(terms.content_terms(item)) < 2:
        return True
    return not (terms.entity_spans(item) or artifacts.DRAFT.search(turn.interaction.user))


def _same_item(one: str, other: str) -> bool:
    return support.quoted(one, other) or support.quoted(other.removesuffix("…"), one)


def _artifact(item: str, kind: str, topic: str, ordinal: Any, turn: Turn) -> Proposal:
    text = excerpt(item, MAX_ITEM)
    numbered = isinstance(ordinal, int) and not isinstance(ordinal, bool) and 0 < ordinal <= 1000
    heard = support.said(f"{turn.interaction.user} {turn.interaction.assistant}", [turn.topic])
    about = topic if topic and not support.unsaid_words(topic, heard) else turn.topic
    return Proposal(
        kind="artifact",
        text=text,
        subject=about,
        value=text,
        asserted=False,  # the assistant's words are never what the user stated (W6, P3)
        attribute_tag=tags.tag(f"{about} {text}"),
        entities=tuple(terms.entity_spans(text)),
        evidence=excerpt(item, MAX_ITEM_EVIDENCE),
        fields={"artifact_type": kind, "topic": about[: artifacts.TOPIC_WIDTH], "item_text": text, "ordinal": ordinal if numbered else None},
        made_by=MODEL,
    )


# --- Node --------------------------------------------------------------------------------------------------------------------


def _summary(text: str, turn: Turn, report: Report) -> str:
    """The model's summary when it is one of this turn alone; else nothing, and the rules write one. What an earlier turn said must not live on in it (D2)."""
    line = " ".join(one_line(text).split()[:MAX_SUMMARY_WORDS])
    if not line:
        return ""
    said = support.said(f"{turn.interaction.user} {turn.interaction.assistant}", [turn.topic])
    content = " ".join(terms.content_terms(line))
    names = " ".join(terms.entity_spans(line))
    if support.unsaid_numbers(line, said) or support.unsaid_words(names, said) or len(support.unsaid_words(content, said)) > MOST_UNSAID * len(content.split()):
        report.drop("summary", "not of this turn")
        return ""
    return line


def _entities(given: Any, ruled: Sequence[str], interaction: Interaction) -> tuple[str, ...]:
    """The names the model would ask for later, where the turn has them, beside those the rules find."""
    both = f"{interaction.user}\n{interaction.assistant}"
    listed = [one_line(name)[:80] for name in given if isinstance(name, str)] if isinstance(given, Sequence) and not isinstance(given, str) else []
    said = [name for name in listed if len(name) > 1 and support.quoted(name, both) and terms.content_terms(name)]
    return tuple({terms.entity_term(name): name for name in (*said, *ruled) if terms.entity_term(name)}.values())[:MAX_ENTITIES]
