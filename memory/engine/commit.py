"""What one interaction teaches, read by rule (paper §3.4, ARBORMEM §4): node metadata, path evolution, facts and records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memory.engine.extract import artifacts, events, facts, states, summary
from memory.engine.extract.facts import Fact
from memory.engine.forest import Extraction, Interaction, Proposal
from memory.engine.quote import only_marker

# So many turns down a path a turn's words may be read: as what an ellipsis refers to, and from there as a step of a path summary (`summary.STEPS_SHOWN`).
REACH = facts.PATH_LOOKED_AT + summary.STEPS_SHOWN + 1

# Part of every refined state: a state refined under another version may be refined again (W3).
EXTRACTORS = "rules-2"

_MARKS = re.compile(r"[*_`#>“”\"]+")


def extract(interaction: Interaction, path: Sequence[Interaction], zone: str = "UTC", topic: str = "") -> Extraction:
    """All that `interaction` teaches, given the path from its root to its parent (empty for a root), the user's zone and its tree's topic key.

    A pure function of these texts: deleting a turn and extracting again gives what a forest without it would have (D2). `topic` is kept when
    there is one; a tree that began with a greeting gets its name from the first turn that has one. Raises ZoneInfoNotFoundError.
    """
    key, variants = topic_of(interaction, path) if not topic else (topic, ())
    found = read_facts(interaction, path, key)
    node = summary.node_summary(interaction, found)
    return Extraction(
        node_summary=node,
        entities=summary.entities(interaction),
        keywords=summary.keywords(interaction),
        path_summary=summary.path_summary(key, path, node),
        topic=key,
        topic_variants=variants,
        proposals=_proposals(interaction, found, zone),
    )


def without_recalled(extraction: Extraction, shown: Sequence[str], *, quotes_only: bool = False) -> Extraction:
    """The extraction less the artifacts that only repeat what the answer was shown (W5): a list of remembered things is not a new list.

    `shown` are the texts of the evidence; `quotes_only` says that the answer is quotation throughout, as the offline engine's are.
    """
    known = [plain(text) for text in shown]
    kept = tuple(
        proposal
        for proposal in extraction.proposals
        if proposal.kind != "artifact"
        or not (only_marker(proposal.text) or quotes_only or any(plain(str(proposal.fields.get("item_text", proposal.text))) in text for text in known))
    )
    return replace(extraction, proposals=kept)


def plain(text: str) -> str:
    """A text without Markdown marks, case and blanks, to be looked for in another."""
    return " ".join(_MARKS.sub(" ", text).casefold().split())


def topic_of(interaction: Interaction, path: Sequence[Interaction]) -> tuple[str, tuple[str, ...]]:
    """The topic key of the tree and its variants, from its first turns; ("", ()) when they name nothing."""
    return summary.topic_key([*path, interaction])


def read_facts(interaction: Interaction, path: Sequence[Interaction], topic: str) -> list[Fact]:
    """The facts in the user's words of this turn, read against the path: what an answer may acknowledge before the commit."""
    return facts.read(interaction.user, facts.setting_of(path, subject_of(topic, [*path, interaction])))


def subject_of(topic: str, path: Sequence[Interaction]) -> str:
    """The topic key as a subject in a sentence: “Kitchen” → “kitchen” where the texts write it so, names as they are."""
    lower = topic[:1].lower() + topic[1:]
    return lower if any(lower in interaction.user or lower in interaction.assistant for interaction in path) else topic


def _proposals(interaction: Interaction, found: Sequence[Fact], zone: str) -> tuple[Proposal, ...]:
    return (
        *facts.propose(interaction, found, zone),
        *states.propose(interaction, found, zone),
        *events.propose(interaction, zone),
        *artifacts.propose(interaction),
    )
