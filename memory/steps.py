"""The four steps of a turn as blocking functions: values from the store, decided by the engine, written back once.

`memory/turn.py` is the page that calls them in order; replay, recall, observe and the worker use the same ones.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.conf import settings
from django.db import transaction

from memory.engine import ask, compute, cues, inner, localize, pieces, query, recall, terms, text
from memory.engine import assemble as assembly
from memory.engine.extract.events import canonical
from memory.engine.forest import Anchor, Channel, Context, Decision, EvidenceKind, Found, Hit, Interaction, Pool, Recall, Recalled
from memory.engine.query import Query, QueryKind
from memory.errors import conflict
from memory.llm import choices, usage
from memory.llm.calibration import calibration
from memory.llm.embed import ahead, embedder
from memory.llm.interface import LanguageModel, ModelError, get_model
from memory.llm.prompts.answer import AnswerRequest, answer_messages
from memory.llm.rerank import reranker
from memory.llm.tokens import count, count_ahead, counting
from memory.llm.usage import Spent
from memory.models import Forest, InteractionState, PostingKind, Profile, RoutingDecision, Turn
from memory.models.forest import Origin
from memory.store import evidence, lanes, read, refine, texts, write
from memory.store import recall as channels
from memory.threads import beside, in_thread

log = logging.getLogger(__name__)

# States that words and meaning rank best lend their facts to the pool, and may be supplemental turns.
LEXICAL_STATES = 12
SUPPLEMENTAL_TURNS = 40
WINDOW_STATES = 200
# Of a context of known length: what we fill by our own count, and what is kept free for the answer and taken by instructions.
CONTEXT_SHARE = 0.85
ANSWER_ROOM, INSTRUCTIONS_ROOM = 1_024, 600
# Questions with a computed answer: every event about their matter is looked at.
COMPUTED_KINDS: tuple[QueryKind, ...] = ("count", "sum", "latest", "earliest", "difference", "compare", "order")


@dataclass(frozen=True, slots=True)
class Asking:
    """A language model was asked where an input goes: what ranking alone had said, what was offered (None: a new root), the number chosen (None: `error`, the
    code of what went wrong), and what it took."""

    before: Decision
    offered: Sequence[int | None]
    chosen: int | None
    error: str
    milliseconds: float
    spent: usage.Usage


@dataclass(frozen=True, slots=True)
class Sought:
    """Facts and records that an input may need, wherever it goes, and the names of the states that words found and of those these rest on (`read.names`)."""

    found: Sequence[Found]
    names: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an input goes, and what was learned on the way that assembly uses again."""

    query: Query
    vector: np.ndarray
    decision: Decision
    recall: Recall
    fused: Mapping[int, float]
    milliseconds: float
    then: Sequence[Recalled] = ()  # the states of the time that the input names
    asked: Asking | None = None  # what asking the language model came to
    sought: Callable[[], Sought] | None = None  # brings the facts and records for it, where they are sought already


# --- 1. Localize ------------------------------------------------------------------------------------------------------

# Decides in place of the shipped ranker: the query, what recall brought, and the states of the time that a temporal return names.
Decide = Callable[[Query, Recall, Sequence[Recalled]], Decision]


def localize_text(
    forest: Forest,
    said: str,
    now: datetime,
    *,
    as_of: int | None = None,
    decide: Decide | None = None,
    asking: Collection[Channel] = recall.CHANNELS,
    besides: Iterable[int] | None = None,
    assembling: bool = False,
) -> Place:
    """The state `said` resumes, by the three-step cascade (paper §3.2). Reads only; raises Refused for a forest of another embedder.

    `decide` and `asking` (the recall channels asked) are for measurements of another ranker, or of recall with less. `besides` are branches that are
    candidates whatever recall finds; then every candidate is kept on the decision, not only the best. `assembling`: facts and
    records are sought while places are ranked."""
    started = time.perf_counter()
    check_embedder(forest)
    asked = query.read(said, now, forest.time_zone)
    spoken = pieces.spoken(said)
    whole, others = ahead(spoken.texts)
    nearest = beside(lambda: channels.semantic(forest.pk, channels.literal(whole()), recall.SEMANTIC_LIMIT, forest.indexed_states, as_of))
    window = localize.window(asked)
    then = _states_of(forest, window.start, window.end, whole(), as_of) if window else []
    searched = search(forest, asked, whole, others, nearest, as_of, asking)
    turns = _supplemental(searched.recalled, searched.fused)
    sought = beside(lambda: seek(forest, asked, whole(), turns, as_of)) if assembling else None
    found = look(forest, asked, spoken, whole(), searched, as_of, then, branches=set(besides or ()))
    shown = localize.SHOWN if besides is None else sys.maxsize
    if decide is not None:
        decision = decide(asked, found, then)
    elif settings.LOCALIZER == "additive-ce":
        decision = localize.localize_additive(asked, found, _cross_encoded(asked, found, then), calibration(), then, shown=shown)
    else:
        decision = localize.localize(asked, found, calibration(), then, shown=shown)
        if jump := localize.back_jump(asked, found, decision, calibration()):
            earlier = read.interactions(forest.pk, [jump[0]])
            if jump[0] in earlier:  # else it was deleted meanwhile, and the place stays the tip
                decision = inner.back_to(decision, earlier[jump[0]], jump[1])
    return Place(asked, whole(), decision, found, searched.fused, 1000 * (time.perf_counter() - started), then, sought=sought)


def to_ask(place: Place) -> ask.Question | None:
    """What the language model would be asked about a place of localization; None where it wouldn't be: ranking is sure, or something else decided."""
    if settings.LOCALIZER != "calibrated" or place.asked is not None:  # the probabilities of the other ranker aren't fitted
        return None
    if place.decision.parent is not None and place.decision.parent not in place.recall.ends:
        return None  # a back-jump: the places asked about are ends of branches
    return ask.question(place.query, place.decision, place.recall, place.then, below=settings.LOCALIZER_ASK_BELOW)


def would_ask(place: Place) -> bool:
    """Whether a chat turn at this place would be asked about."""
    return get_model().chooses and to_ask(place) is not None


def with_model(place: Place) -> Place:
    """The place after asking the language model about it, where there is one and ranking was unsure; else the place as it is.

    Whatever goes wrong is noted on the turn's usage, and ranking alone decides. Blocks for LOCALIZER_ASK_SECONDS at most: never call it in a transaction."""
    question = to_ask(place)
    if question is None or not (model := get_model()).chooses:
        return place
    started = time.perf_counter()
    chosen: int | None = None
    error, spent = "", Spent()
    try:
        with usage.counted(spent):
            chosen = model.choose(question, seconds=settings.LOCALIZER_ASK_SECONDS)
    except ModelError as failed:
        error = failed.code
        log.warning("the language model didn't say where a turn goes: %s", error)
    took = spent.get("route", usage.Usage(calls=1))
    if error:
        took = replace(took, notes=(*took.notes, "asked_too_long" if error == "model_timeout" else "asked_in_vain"))
    usage.add("route", took)
    asking = Asking(place.decision, [option.state for option in question.options], chosen, error, 1000 * (time.perf_counter() - started), took)
    # The model took seconds: what was forgotten meanwhile must not be shown any more, what was learned should be.
    return replace(place, asked=asking, sought=None, decision=place.decision if chosen is None else ask.fold(place.decision, question, chosen))


def _cross_encoded(asked: Query, found: Recall, then: Sequence[Recalled]) -> dict[int, float]:
    """A cross-encoder's score of each recalled state, on its branch-aware text; none when a cue decides without. Raises ModelError."""
    if not localize.needs_recall(asked, found.active):
        return {}
    states = {one.interaction.id: one.interaction for one in (*found.recalled, *then)} | {lane.tip.id: lane.tip for lane in found.lanes.values()}
    read_as = {
        identity: text.branch_text(state.topic, state.path_summary, state.node_summary or state.user, state.entities) for identity, state in states.items()
    }
    return dict(zip(read_as, reranker().scores(asked.text, list(read_as.values())), strict=True))


def localize_turn(turn: Turn, *, asking: bool = True) -> Place:
    """Localize a turn, or follow its sender's word, and keep the decision for the page.

    Where ranking alone is unsure the language model is asked; without `asking` (for use in a transaction) it stays where that had put it before."""
    forest = Forest.objects.get(pk=turn.forest_id)
    place = localize_text(forest, turn.text, turn.sent_at, assembling=True)
    edited = turn.edited_from_id is not None
    if turn.asked_new_root:
        place = given(place, None, edited=edited)
    elif turn.asked_parent_id is not None:
        place = given(place, InteractionState.objects.in_forest(forest).get(pk=turn.asked_parent_id), edited=edited)
    else:
        place = with_model(place) if asking else _asked_before(turn, place)
    with transaction.atomic():
        write.lock(turn.forest_id)
        # A model was waited for, perhaps: a turn that was stopped meanwhile is placed by its next attempt, if there is one.
        ours = Turn.objects.filter(pk=turn.pk, generator=turn.generator, attempt=turn.attempt)
        if ours.exists():
            write.save_decision(turn, place.decision)
            ours.filter(status__in=Turn.WAITING).update(status=Turn.Status.LOCALIZED)
    return place


def _asked_before(turn: Turn, place: Place) -> Place:
    """The place that the language model had a say in when the turn was localized, if it did and that is still there; else the one found now."""
    kept = RoutingDecision.objects.filter(turn=turn, method=RoutingDecision.Method.ASKED).first()
    decision = write.as_decision(kept) if kept else None
    if decision is None:
        return place
    second = next((one for one in (place.decision.parent, place.decision.second) if one is not None and one != decision.parent), None)
    return replace(place, decision=replace(decision, second=second))


def given(place: Place, parent: InteractionState | None, *, edited: bool = False) -> Place:
    """The place its sender chose; what localization would have done stays readable beside it."""
    state = read.interactions(parent.forest_id, [parent.pk])[parent.pk] if parent is not None else None
    chosen = localize.given(state, edited=edited)
    others = [candidate for candidate in place.decision.candidates if candidate.state != chosen.parent]
    return replace(place, decision=replace(chosen, candidates=[*chosen.candidates, *others]))


def placed(forest: Forest, said: str, now: datetime, parent: InteractionState | None) -> Place:
    """A place that is known beforehand, without looking for it (measurements, imports). Raises Refused for a forest of another embedder."""
    started = time.perf_counter()
    check_embedder(forest)
    asked = query.read(said, now, forest.time_zone)
    [vector] = embedder().embed([said])
    state = read.interactions(forest.pk, [parent.pk])[parent.pk] if parent is not None else None
    nothing = Recall([], {}, None, [], {}, 0, 0.0)
    return Place(asked, vector, localize.given(state), nothing, {}, 1000 * (time.perf_counter() - started))


def fits(forest: Forest) -> bool:
    """Whether this process embeds as the forest was built: vectors of two embedders can't be compared (R4)."""
    here = embedder()
    return (forest.embedder, forest.dimensions, forest.weights_hash) == (here.identity, here.dimensions, here.weights_hash)


def check_embedder(forest: Forest) -> None:
    """Refuse a forest of another embedder, with what to do."""
    if not fits(forest):
        here = embedder()
        raise conflict(
            f"This forest was built with the embedder {forest.embedder}; this server has {here.identity}.",
            f"Run `manage.py reembed`, or the server with the embedder it was built with ({forest.dimensions} numbers a vector).",
        )


@dataclass(frozen=True, slots=True)
class Searched:
    """What the channels of hybrid recall found: the states, and the fused score of each; and what of the forest was learned meanwhile."""

    recalled: Sequence[Recalled]
    fused: Mapping[int, float]
    active: Interaction | None
    anchors: Sequence[Anchor]
    known: channels.Statistics
    words: tuple[lanes.Words, lanes.Words]  # of the input that whole trees have
    open: lanes.Open
    parts: Callable[[], np.ndarray]  # brings the vectors of the input's sentences and descriptions


def search(
    forest: Forest,
    asked: Query,
    whole: Callable[[], np.ndarray],
    others: Callable[[], Callable[[], np.ndarray]],
    nearest: Callable[[], list[tuple[int, float]]],
    as_of: int | None = None,
    asking: Collection[Channel] = recall.CHANNELS,
) -> Searched:
    """Ask the channels of hybrid recall. `whole` brings the vector of the input, `nearest` the states nearest to it; what needs neither is asked before.

    `others` begins to embed its sentences and descriptions: no sooner than the states are compared, which wants the cores too."""
    known = channels.statistics(forest, asked.terms, asked.entities, as_of)
    chosen = recall.select_terms(asked, known.terms, known.states)
    weights = {term: recall.idf(known.terms[term], known.states) for term in chosen}
    entities = {term: recall.idf(n, known.states) for term, n in known.entities.items() if not recall.is_common(n, known.states)}
    by_words: dict[Channel, list[tuple[int, float]]] = {
        "keyword": channels.bm25(forest.pk, PostingKind.TERM, weights, known.average_length, recall.KEYWORD_LIMIT, as_of),
        "entity": channels.bm25(forest.pk, PostingKind.ENTITY, entities, known.average_length, recall.ENTITY_LIMIT, as_of),
    }
    words = lanes.tree_words(forest.pk, asked, chosen, as_of)
    open = lanes.opened(forest.pk, as_of)
    active = _active(forest, as_of)
    query = channels.literal(whole())
    named = channels.topics(forest.pk, asked.terms, query, recall.ANCHOR_LIMIT, as_of)
    near = {topic.root: topic.similarity for topic in named if topic.similarity is not None}
    anchors = recall.match_anchors(asked, [(topic.root, topic.key, topic.variants) for topic in named], near)
    match = {anchor.root: anchor.match for anchor in anchors}
    anchored = channels.tree_states(forest.pk, list(match), recall.ANCHOR_STATES, as_of)
    alike = nearest()
    parts = others()
    answers: dict[Channel, list[tuple[int, float]]] = {
        "semantic": alike,
        **by_words,
        "topic": [(state, match[root]) for state, root in anchored],
    }
    hits: dict[Channel, dict[int, Hit]] = {channel: channels.ranked(answer) for channel, answer in answers.items() if channel in asking}
    by_state = channels.by_state(hits)
    states = channels.states(forest.pk, query, {*by_state, *([active] if active else [])})
    recalled = [Recalled(state, by_state.get(identity, {}), similarity) for identity, (state, similarity) in sorted(states.items())]
    return Searched(recalled, recall.fused(hits, recalled), states[active][0] if active in states else None, anchors, known, words, open, parts)


def look(
    forest: Forest,
    asked: Query,
    spoken: pieces.Spoken,
    whole: np.ndarray,
    searched: Searched,
    as_of: int | None = None,
    then: Sequence[Recalled] = (),
    branches: Collection[int] = (),
) -> Recall:
    """Fetch what the ranker looks at. `whole` is the vector of the input.

    `then` are the states of the time that a temporal return names: the best of their branches are candidates; `branches` are in any case."""
    active, scores, open = searched.active, searched.fused, searched.open
    found = [one.interaction for one in searched.recalled]
    wanted = [*branches, *recall.window_branches(then, scores), *([active.branch] if active else [])]
    ranked = recall.ranked_branches(wanted, list(open.ends)[: recall.RECENT_BRANCHES], scores, {state.id: state.branch for state in found})
    further = [open.ends[branch] for branch in recall.further_branches(ranked, open.ends)]

    def said() -> tuple[list[str], list[str]]:
        cut = [channels.literal(vector) for vector in searched.parts()]
        return cut[: len(spoken.sentences)], cut[len(spoken.sentences) :]

    query = lanes.Spoken(channels.literal(whole), said)
    brought, others, earlier = lanes.lanes(forest.pk, asked, query, searched.words, ranked, further, found, as_of)
    return Recall(
        recalled=searched.recalled,
        lanes=brought,
        further=others,
        earlier=earlier,
        active=active,
        anchors=searched.anchors,
        document_frequency=searched.known.terms,
        states=searched.known.states,
        average_length=searched.known.average_length,
        telling=open.telling,
    )


def _active(forest: Forest, as_of: int | None) -> int | None:
    if as_of is None:
        return forest.active_state_id
    last = read.latest(forest.pk, as_of)
    return last.id if last else None


def _states_of(forest: Forest, start: datetime, end: datetime, vector: np.ndarray, as_of: int | None) -> list[Recalled]:
    """The states of a window of time, for a temporal return."""
    ids = read.between(forest.pk, start, end, WINDOW_STATES, as_of)
    return [Recalled(state, {}, similarity) for state, similarity in channels.states(forest.pk, channels.literal(vector), ids).values()]


# --- 2. Assemble ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidenced:
    """What the model is shown for a turn, and the pool it was chosen from."""

    context: Context
    pool: Pool
    request: AnswerRequest
    zone: str
    milliseconds: float
    model: LanguageModel  # that answers: the same to the end of the turn, whatever is chosen meanwhile


def gather_pool(forest: Forest, place: Place, as_of: int | None = None, kinds: Collection[EvidenceKind] = evidence.KINDS) -> Pool:
    """Everything assembly may choose from: the path, supplemental turns, facts and records (of these `kinds`), update pairs."""
    turns = _supplemental(place.recall.recalled, place.fused)
    ends = (place.decision.parent, place.decision.second)
    paths, names = read.paths(forest.pk, [end for end in ends if end is not None]) if any(ends) else ({}, {})
    path, second = (paths.get(end, []) if end is not None else [] for end in ends)
    sought = place.sought() if place.sought and kinds == evidence.KINDS else seek(forest, place.query, place.vector, turns, as_of, kinds)
    return Pool(path, second, turns, sought.found, evidence.update_pairs(item.evidence for item in sought.found), {**names, **sought.names})


def seek(
    forest: Forest,
    asked: Query,
    vector: np.ndarray,
    turns: Sequence[tuple[Interaction, float]],
    as_of: int | None = None,
    kinds: Collection[EvidenceKind] = evidence.KINDS,
) -> Sought:
    """The facts and records (of these `kinds`) that an input may need: the nearest, those of the best of the `turns` found, what counts as a match.

    Tokens of the turns that will be shown are counted meanwhile."""
    if assembly.looks_back(asked):
        count_ahead([assembly.state_text(state, forest.time_zone) for state, _ in turns])
    lexical = [state.id for state, _ in turns[:LEXICAL_STATES]]
    counted = {*asked.content, *canonical(terms.words(asked.text))} if asked.asks(*COMPUTED_KINDS) else set()
    query = channels.literal(vector)
    near = evidence.nearest(forest.pk, query, kinds=kinds, states=forest.indexed_states) | evidence.of_states(forest.pk, query, lexical, kinds)
    found = evidence.found(forest.pk, near, lexical, event_terms=counted, as_of=as_of, kinds=kinds)
    return Sought(found, read.names(forest.pk, {*lexical, *(source for item in found for source in item.evidence.sources)}))


def _supplemental(recalled: Sequence[Recalled], fused: Mapping[int, float]) -> list[tuple[Interaction, float]]:
    """The best of the states recalled, with their scores; those of a long path too: assembly leaves out what it shows raw."""
    states = {found.interaction.id: found.interaction for found in recalled}
    best = sorted(fused.items(), key=lambda pair: (-pair[1], -pair[0]))
    return [(states[state], score) for state, score in best if state in states][:SUPPLEMENTAL_TURNS]


def assemble(forest: Forest, place: Place, budget: int, as_of: int | None = None) -> tuple[Context, Pool]:
    """The evidence for an input at its place, within `budget` tokens (paper §3.3). Reads only."""
    pool = gather_pool(forest, place, as_of)
    return pack(place, pool, budget, forest.time_zone), pool


def pack(place: Place, pool: Pool, budget: int, zone: str, *, facts_only: bool = False) -> Context:
    """What of the pool gets into `budget` tokens. `facts_only`: of what was extracted only plain facts (an ablation of the paper)."""
    now = place.query.time
    computed = compute.compute(place.query, pool.found, now, zone)
    return assembly.assemble(place.query, place.decision, pool, budget, counting(), now, zone, computed=computed, facts_only=facts_only)


def assemble_turn(turn: Turn, place: Place) -> Evidenced:
    """Assemble a turn's evidence, lay out its request, and keep both for the inspector."""
    started = time.perf_counter()
    forest = Forest.objects.get(pk=turn.forest_id)
    profile = Profile.objects.filter(owner_id=forest.owner_id).first()
    model = choices.model_for(forest.answer_model)
    budget = min((profile and profile.evidence_budget) or settings.EVIDENCE_BUDGET, _room(model, turn.text))
    context, pool = assemble(forest, place, budget)
    request = answer_messages(context, place.query)
    digest = hashlib.sha256(json.dumps(request.messages, ensure_ascii=False).encode()).hexdigest()
    with transaction.atomic():
        write.lock(turn.forest_id)
        write.save_context(turn, context, request.messages, digest, request.instructions_tokens, request.input_tokens)
        Turn.objects.filter(pk=turn.pk, generator=turn.generator).exclude(generator="").update(status=Turn.Status.ANSWERING, answered_by=model.name)
    return Evidenced(context, pool, request, forest.time_zone, 1000 * (time.perf_counter() - started), model)


def _room(model: LanguageModel, said: str) -> int:
    """Tokens of evidence that the model has room for beside instructions, input and answer; its tokenizer may count more than ours (M6)."""
    length = model.context_length()
    if length is None:
        return sys.maxsize
    return max(0, int(CONTEXT_SHARE * length) - ANSWER_ROOM - INSTRUCTIONS_ROOM - count(said))


# --- 4. Commit --------------------------------------------------------------------------------------------------------


def rough(user: str, assistant: str, time: datetime, origin: str, vector: np.ndarray) -> write.RoughCommit:
    """Everything a rough commit writes of two texts and the vector of both, worked out before its transaction."""
    both = f"{user}\n{assistant}"
    return write.RoughCommit(
        user=user,
        assistant=assistant,
        time=time,
        terms=Counter(terms.terms(both)),
        entity_terms=Counter(terms.entity_terms(both)),
        entities=terms.entity_spans(user)[:20],
        tokens=count(user) + count(assistant),
        vector=vector,
        origin=origin,
        trust=InteractionState.Trust.IMPORTED if origin == Origin.IMPORTED else InteractionState.Trust.OWNER,
        tells=cues.tells(user),
    )


def commit(
    turn: Turn,
    place: Place,
    answer: str,
    *,
    generator: str,
    timings: Mapping[str, float] | None = None,
    evidenced: Evidenced | None = None,
    spent: Spent | None = None,
    seq: int = 0,
) -> InteractionState:
    """The rough commit of one turn (paper §3.4, first half). `generator` empty: nobody generates it (given, or kept by its owner).

    Raises write.TurnTakenError, write.ParentGoneError.
    """
    started = time.perf_counter()
    took = (spent or {}).get("answer")
    [vector] = embedder().embed([texts.of_turn(turn.text, answer)])
    embedded = time.perf_counter()
    made = replace(
        rough(turn.text, answer, turn.sent_at, turn.origin, vector),
        said=place.vector if turn.text.strip() else None,
        input_tokens=took.input if took else evidenced.request.tokens if evidenced else 0,
        output_tokens=took.output if took else count(answer) if evidenced else 0,
        answered_by=evidenced.model.name if evidenced else turn.answered_by or (get_model().name if turn.origin == Origin.CHAT else ""),
        seq=seq,
    )
    with transaction.atomic():
        state = write.commit_rough(turn, place.decision, made, generator)
        if evidenced is None:
            write.save_decision(turn, place.decision)
    done = time.perf_counter()
    measured = {
        "localize_ms": place.milliseconds,
        "ask_ms": place.asked.milliseconds if place.asked else None,
        "assemble_ms": evidenced.milliseconds if evidenced else None,
        **(timings or {}),
        "vector_ms": 1000 * (embedded - started),
        "commit_ms": 1000 * (done - embedded),
    }
    Turn.objects.filter(pk=turn.pk).update(
        timings={name: round(value, 2) for name, value in measured.items() if value is not None}, usage=usage.merged(turn.usage, spent or {})
    )
    return state


# --- Between two turns ------------------------------------------------------------------------------------------------


async def settle(turn: Turn) -> None:
    """Wait for pending refinement, but only while a live lease shows progress, and at most COMMIT_WAIT_SECONDS (S3)."""
    deadline = time.monotonic() + settings.COMMIT_WAIT_SECONDS
    while time.monotonic() < deadline and await in_thread(_worth_waiting, turn.forest_id):  # noqa: ASYNC110 - another process does it
        await asyncio.sleep(0.1)


def _worth_waiting(forest_id: int) -> bool:
    # What was imported waits longer than any turn could.
    return bool(refine.next_unrefined(forest_id, 0, imported=False)) and refine.moving(forest_id)
