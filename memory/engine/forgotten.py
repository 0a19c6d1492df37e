"""What was forgotten, recognized without being kept: keyed hashes of an item, by which it is dropped when its turn is read again.

An item is known again by any of its marks:

* `slot`: kind, slot and value (of an item without a slot: its words), the same statement of the same thing;
* `words`: kind, the words of the turn it rests on and its value: the turn moved to another path, where the slot may be called otherwise;
* `value`: kind and value alone, only when nothing else of the turn has that value: a model that words it anew.

A mark says nothing without its salt, and nothing that the turn itself doesn't say: it goes with the turn.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from memory.engine import terms
from memory.engine.extract import summary
from memory.engine.forest import Extraction, Interaction, Proposal
from memory.engine.revise import normalize
from memory.engine.text import one_line, sentence_places


def marks(kind: str, slot: str, value: str, text: str, evidence: str, salt: str, *, alone: bool) -> list[str]:
    """The marks of an item. `alone`: nothing else its turn taught has this kind and value."""
    said = normalize(value) or " ".join(sorted(set(terms.terms(text))))
    found = [_digest(salt, "slot", kind, slot, said)]
    if words := " ".join(terms.terms(evidence)):
        found.append(_digest(salt, "words", kind, words, said))
    if alone and said:
        found.append(_digest(salt, "value", kind, said))
    return found


def turn_mark(client_id: str, salt: str) -> str:
    """The mark of a turn, by the id its export knows it under."""
    return _digest(salt, "turn", client_id)


def _digest(salt: str, *parts: str) -> str:
    return hmac.new(salt.encode(), "\x1f".join(parts).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def is_forgotten(proposal: Proposal, known: Collection[str], salts: Iterable[str]) -> bool:
    """Whether a proposal of the same turn is what was forgotten."""
    return any(
        mark in known
        for salt in salts
        for mark in marks(proposal.kind, proposal.slot[:200], proposal.value, proposal.text, proposal.evidence, salt, alone=True)
    )


def without(extraction: Extraction, interaction: Interaction, before: Sequence[Interaction], gone: Collection[int]) -> Extraction:
    """The extraction with what describes the turn written from the sentences that the proposals with these numbers don't rest on.

    The proposals stay where they are, since they go by their number; who writes them leaves these out. The turn itself keeps its words.
    """
    if not gone:
        return extraction
    dropped = [Item(item.text, item.value, item.evidence) for number, item in enumerate(extraction.proposals) if number in gone]
    settled = [item.text for number, item in enumerate(extraction.proposals) if number not in gone and item.kind == "fact" and item.slot and item.asserted]
    node, entities, keywords = described(interaction, dropped, settled, extraction.entities)
    path = summary.path_summary(extraction.topic, before, node)
    return replace(extraction, node_summary=node, entities=entities, keywords=keywords, path_summary=path)


@dataclass(frozen=True, slots=True)
class Item:
    """What of a fact or record says where in its turn it stands."""

    text: str
    value: str
    evidence: str


def described(
    interaction: Interaction, dropped: Sequence[Item], settled: Sequence[str], entities: Sequence[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Node summary, entities and keywords of a turn without the sentences that `dropped` rest on; `settled` are its facts that stay."""
    rest = replace(interaction, user=_less(interaction.user, dropped), assistant=_less(interaction.assistant, dropped))
    node = " ".join(settled[:2]) or summary.node_summary(rest, [])
    return node, tuple(name for name in entities if name in rest.user or name in rest.assistant), summary.keywords(rest)


def _less(text: str, dropped: Sequence[Item]) -> str:
    said = [set(terms.terms(item.value or item.text)) for item in dropped]
    quoted = [one_line(item.evidence).casefold() for item in dropped if item.evidence]
    kept = ""
    for start, end in sentence_places(text):
        sentence = text[start:end]
        line, words = one_line(sentence).casefold(), set(terms.terms(sentence))
        if any(quote in line or (line and line in quote) for quote in quoted) or any(value and value <= words for value in said):
            continue
        kept += sentence
    return kept.strip()
