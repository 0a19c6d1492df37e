"""What turns teach, worked out in the worker before it is written (paper §3.4, second half): of one state, or of many that are told anew after a deletion."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.engine import commit, forgotten, pieces, terms, text
from memory.engine.extract import offer, summary
from memory.engine.forest import Extraction, Interaction
from memory.llm import usage
from memory.llm.embed import embedder
from memory.llm.interface import LanguageModel, get_model
from memory.llm.offline import OfflineModel
from memory.llm.usage import Spent
from memory.models import ContextTrace, Forest, InteractionState
from memory.store import evidence, read, refine, texts
from memory.store import forgotten as forgetting
from memory.store.forgotten import Marks
from memory.store.texts import Embedded


@dataclass(slots=True)
class _Draft:
    """A plan whose texts aren't embedded yet; `keyed` are those that have to be, by kind and number."""

    state: Interaction
    version: str
    extraction: Extraction
    gone: frozenset[int] = frozenset()
    keyed: dict[tuple[str, int], str] = field(default_factory=dict)
    topic: str = ""  # the name it gives its tree, or reads it under
    stems: tuple[str, ...] = ()
    names: dict[str, int] = field(default_factory=dict)
    spent: Spent = field(default_factory=dict)
    milliseconds: float = 0.0


@dataclass(slots=True)
class _Known:
    """What is read from rows once for all states that are planned together; what one state is found to teach is noted for those below it."""

    forest: Forest
    said: dict[int, Interaction]
    rows: Mapping[int, InteractionState]
    marks: Mapping[int, Marks]
    embedded: Embedded
    topics: dict[int, str] = field(default_factory=dict)  # by root, of trees that were named on the way

    def state(self, pk: int) -> Interaction:
        found = self.said[pk]
        return replace(found, topic=self.topics[found.root]) if found.root in self.topics else found

    def path_to(self, state: Interaction) -> list[Interaction]:
        """Root → its parent."""
        path: list[Interaction] = []
        above = state.parent
        while above is not None:
            path.append(self.said[above])
            above = path[-1].parent
        return path[::-1]

    def note(self, draft: _Draft) -> None:
        """Those below a state read its summary, all of its tree the name it gave."""
        state, found = draft.state, draft.extraction
        self.said[state.id] = replace(state, node_summary=found.node_summary, path_summary=found.path_summary, entities=found.entities, keywords=found.keywords)
        if draft.topic:
            self.topics[state.root] = self.embedded.topics[state.root] = draft.topic[:200]
            self.embedded.vectors.add((state.root, "topic", 0))


def plan(forest_id: int, states: Sequence[int]) -> list[refine.Plan]:
    """Everything these states teach, given in the order of time: as if each were written before the next is read. Worked out outside any transaction;
    `store.refine.apply` writes it.

    Raises what reading the first one raises, and ModelError of the embedder; at a later one that can't be read the plans end before it.
    """
    forest = Forest.objects.get(pk=forest_id)
    said = read.with_ancestors(forest_id, states)
    rows = InteractionState.objects.select_related("turn").only("turn", "refined_by", "extraction_report", "turn__answered_by").in_bulk(states)
    known = _Known(forest, said, rows, forgetting.of_states(states), texts.embedded_of([said[pk] for pk in states if pk in said]))
    drafts: list[_Draft] = []
    for pk in states:
        try:
            draft = _drafted(known, pk)
        except Exception:
            if not drafts:
                raise
            break  # it will be the first of the next ones, and raise then
        known.note(draft)
        drafts.append(draft)
    return _embedded(drafts)


def at_once(refined_by: Sequence[str]) -> int:
    """How many of the states that wait, by their `refined_by` in the order of time, are planned together: those told anew, unless a model has to be asked."""
    by_rule = get_model().extractors == commit.EXTRACTORS
    for number, one in enumerate(refined_by):
        if not (one.startswith(refine.SUMMED) or (by_rule and one == refine.ANEW)):
            return max(1, number)
    return len(refined_by)


def _drafted(known: _Known, pk: int) -> _Draft:
    started = time.perf_counter()
    state, row = known.state(pk), known.rows[pk]
    before = known.path_to(state)
    draft = _summed(state, before, row) if row.refined_by.startswith(refine.SUMMED) else _read(known, state, before, row)
    found = draft.extraction
    draft.keyed["branch", 0] = text.branch_text(found.topic or state.topic, found.path_summary, found.node_summary, found.entities)
    for key in known.embedded.unchanged(state, found, draft.keyed["branch", 0]):
        draft.keyed.pop(key, None)
    draft.milliseconds = 1000 * (time.perf_counter() - started)
    return draft


def _summed(state: Interaction, before: Sequence[Interaction], row: InteractionState) -> _Draft:
    """What the turn taught stays; its path summary is made from the node summaries that are left, and its branch-aware vector from that."""
    path_summary = summary.path_summary(state.topic, before, state.node_summary)
    extraction = Extraction(state.node_summary, state.entities, state.keywords, path_summary, state.topic, (), (), row.extraction_report)
    return _Draft(state, row.refined_by.removeprefix(refine.SUMMED), extraction)


def _read(known: _Known, state: Interaction, before: Sequence[Interaction], row: InteractionState) -> _Draft:
    model = get_model()
    spent: Spent = {}
    with usage.counted(spent):
        extraction = _extracted(model, known.forest, state, before)
    if any(proposal.kind == "artifact" for proposal in extraction.proposals):
        extraction = commit.without_recalled(extraction, _shown(state.id), quotes_only=row.turn.answered_by == OfflineModel.name)
    gone = known.marks[state.id].numbers(extraction.proposals) if state.id in known.marks else frozenset()
    extraction = forgotten.without(extraction, state, before, gone)
    keyed: dict[tuple[str, int], str] = {("state", 0): texts.of_turn(state.user, state.assistant)}
    if extraction.topic:
        keyed["topic", 0] = extraction.topic
    keyed |= {(texts.PIECE, number): piece for number, piece in pieces.pieces(state.user, state.assistant).items()}
    for number, proposal in enumerate(extraction.proposals):
        if number not in gone:
            keyed[proposal.kind, number] = texts.of_item(proposal.text, state.user, proposal.made_by)
    return _Draft(state, model.extractors, extraction, gone, keyed, extraction.topic, _stems(extraction), _entity_terms(extraction), spent)


def _extracted(model: LanguageModel, forest: Forest, state: Interaction, before: Sequence[Interaction]) -> Extraction:
    known = offer.choose(evidence.slots_before(forest.pk, state.position), state.user, {one.id for one in before}) if model.wants_known else ()
    return model.extract(state, before, zone=forest.time_zone, topic=state.topic, known=known)


def _shown(state_id: int) -> list[str]:
    """The texts of other turns that the model was shown for this one: what its answer repeats of them is not new."""
    context = ContextTrace.objects.filter(turn__state=state_id).only("blocks").first()
    return [item["text"] for block in context.blocks for item in block["items"]] if context else []


def _embedded(drafts: Sequence[_Draft]) -> list[refine.Plan]:
    """The plans of drafts, all their texts embedded in one go. What that spent and took is told of the first."""
    started = time.perf_counter()
    wanted = [said for draft in drafts for said in draft.keyed.values()]
    with usage.counted(drafts[0].spent):
        vectors = iter(embedder().embed(wanted) if wanted else ())
    drafts[0].milliseconds += 1000 * (time.perf_counter() - started)
    return [
        refine.Plan(
            state=draft.state.id,
            version=draft.version,
            extraction=draft.extraction,
            vectors={key: next(vectors) for key in draft.keyed},
            topic_stems=draft.stems,
            entity_terms=draft.names,
            spent=draft.spent,
            milliseconds=draft.milliseconds,
            forgotten=draft.gone,
        )
        for draft in drafts
    ]


def _stems(extraction: Extraction) -> tuple[str, ...]:
    stems = {stem for name in (extraction.topic, *extraction.topic_variants) for stem in terms.content_terms(name)}
    return tuple(sorted(stem[:100] for stem in stems))


def _entity_terms(extraction: Extraction) -> dict[str, int]:
    names = Counter(terms.entity_term(name) for name in extraction.entities)
    return {name: number for name, number in names.items() if name}
