"""What the vectors of states embed, read back from rows: for re-embedding and rebuilding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory.engine import text
from memory.engine.forest import Extraction, Interaction
from memory.models import EVIDENCE_MODELS, InteractionState, PieceVector, StateVector, Topic

Key = tuple[int, str, int]  # state, kind, item
PIECE = "piece"  # the kind of what isn't kept among the vectors of states, in a plan


def of_turn(user: str, assistant: str) -> str:
    """What a state's turn vector embeds."""
    return f"{user}\n{assistant}"


def of_item(said: str, user: str, made_by: str) -> str:
    """What a fact's or record's vector embeds: it is found by its own words and those of its turn (paper §3.3); a person's own wording stands alone."""
    return said if made_by == "user" else f"{said}\n{user}"


def unchanged(state: Interaction, extraction: Extraction, branch: str) -> Iterator[tuple[str, int]]:
    """The (kind, number) of what needn't be embedded again: the vector is there and was made of the same text.

    A state's turn is embedded by its rough commit; only one whose answer was redacted since has no vector of it."""
    kinds = StateVector.Kind
    there = set(StateVector.objects.filter(state__in={state.id, state.root}).values_list("state_id", "kind", "item"))
    if (state.id, kinds.STATE, 0) in there:
        yield "state", 0
    if (state.id, kinds.BRANCH, 0) in there and branch == text.branch_text(state.topic, state.path_summary, state.node_summary, state.entities):
        yield "branch", 0
    # Pieces are read off the texts, which stay; of what was redacted they are gone.
    yield from ((PIECE, number) for number in PieceVector.objects.filter(state=state.id).values_list("number", flat=True))
    if (state.root, kinds.TOPIC, 0) in there and Topic.objects.filter(root=state.root, key=extraction.topic).exists():
        yield "topic", 0
    for kind in {proposal.kind for proposal in extraction.proposals}:
        rows = EVIDENCE_MODELS[kind].objects.filter(state=state.id).exclude(made_by="user").values_list("pk", "made_by", "text", "slot", "value")
        said = {tuple(words) for pk, *words in rows if (state.id, kind, pk) in there}  # by what a row is known again (store/refine.py)
        for number, proposal in enumerate(extraction.proposals):
            if proposal.kind == kind and (proposal.made_by, proposal.text, proposal.slot[:200], proposal.value) in said:
                yield kind, number


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
