"""What the vectors of states embed, read back from rows: for re-embedding and rebuilding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from memory.engine import text
from memory.engine.forest import Extraction, Interaction
from memory.models import EVIDENCE_MODELS, InteractionState, PieceVector, StateVector, Topic

Key = tuple[int, str, int]  # state, kind, item
PIECE = "piece"  # in a plan, the kind of what isn't kept among the vectors of states


def of_turn(user: str, assistant: str) -> str:
    """What a state's turn vector embeds."""
    return f"{user}\n{assistant}"


def of_item(said: str, user: str, made_by: str) -> str:
    """What a fact's or record's vector embeds: it is found by its own words and those of its turn (paper §3.3); a person's own wording stands alone."""
    return said if made_by == "user" else f"{said}\n{user}"


@dataclass(frozen=True, slots=True)
class Embedded:
    """What of some states is embedded already: the vectors there are, the keys of their trees, and the words of the facts and records that have one."""

    vectors: set[Key]
    pieces: set[tuple[int, int]]
    topics: dict[int, str]
    said: dict[tuple[int, str], set[tuple[str, str, str, str]]]

    def unchanged(self, state: Interaction, extraction: Extraction, branch: str) -> Iterator[tuple[str, int]]:
        """The (kind, number) of what needn't be embedded again: the vector is there and was made of the same text.

        A state's turn is embedded by its rough commit; only one whose answer was redacted since has no vector of it."""
        kinds = StateVector.Kind
        if (state.id, kinds.STATE, 0) in self.vectors:
            yield "state", 0
        if (state.id, kinds.BRANCH, 0) in self.vectors and branch == text.branch_text(state.topic, state.path_summary, state.node_summary, state.entities):
            yield "branch", 0
        if (state.root, kinds.TOPIC, 0) in self.vectors and self.topics.get(state.root) == extraction.topic:
            yield "topic", 0
        yield from ((PIECE, number) for of, number in self.pieces if of == state.id)  # read off the texts, which stay; of what was redacted they are gone
        for number, proposal in enumerate(extraction.proposals):
            if (proposal.made_by, proposal.text, proposal.slot[:200], proposal.value) in self.said.get((state.id, proposal.kind), ()):
                yield proposal.kind, number


def embedded_of(states: Collection[Interaction]) -> Embedded:
    """Seven queries however many states."""
    ids, roots = [state.id for state in states], {state.root for state in states}
    vectors = set(StateVector.objects.filter(state__in={*ids, *roots}).values_list("state_id", "kind", "item"))
    said: dict[tuple[int, str], set[tuple[str, str, str, str]]] = {}
    for kind, model in EVIDENCE_MODELS.items():
        rows = model.objects.filter(state__in=ids).exclude(made_by="user").values_list("state_id", "pk", "made_by", "text", "slot", "value")
        for state, pk, *words in rows:
            if (state, kind, pk) in vectors:
                said.setdefault((state, kind), set()).add(tuple(words))  # by what a row is known again (store/readings.py)
    pieces = set(PieceVector.objects.filter(state__in=ids).values_list("state_id", "number"))
    return Embedded(vectors, pieces, dict(Topic.objects.filter(root__in=roots).values_list("root_id", "key")), said)


def embedded(states: Iterable[InteractionState]) -> Iterator[tuple[Key, str]]:
    """Every vector these states should have, with its text; five queries however many states. Topics belong to their root."""
    found = {state.pk: state for state in states}
    kinds = StateVector.Kind
    roots = {state.root_id for state in found.values()}
    topics = dict(InteractionState.objects.filter(pk__in=roots).values_list("pk", "topic__key"))
    for state in found.values():
        topic = topics.get(state.root_id) or ""
        yield (state.pk, kinds.STATE, 0), of_turn(state.user_text, state.assistant_text)
        if state.refined_at is not None:
            yield (state.pk, kinds.BRANCH, 0), text.branch_text(topic, state.path_summary, state.node_summary, state.entities)
        if state.parent_id is None and topic:
            yield (state.pk, kinds.TOPIC, 0), topic
    for kind, model in EVIDENCE_MODELS.items():
        for row in model.objects.filter(state__in=found).only("pk", "state_id", "text", "made_by"):
            yield (row.state_id, kind, row.pk), of_item(row.text, found[row.state_id].user_text, row.made_by)
