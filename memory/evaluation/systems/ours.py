"""ArborWeb under test: a real forest in PostgreSQL, filled and asked on the code path of chat, and the paper's ablations of it.

An interaction is localized, committed and refined before the next one comes, as `manage.py replay` does; a question is localized once and assembled per budget,
as `manage.py recall` does. Forests belong to the user `measurements` and are deleted with their case.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction

from memory import steps
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_forest
from memory.actions.observe import observe_one
from memory.actions.refine import drain
from memory.engine import feature_names, localize, rank, recall, terms, text
from memory.engine.forest import Channel, Decision, EvidenceKind, Interaction, Pool, Recall
from memory.engine.forest import Context as Assembled
from memory.engine.forest import Recalled as Found
from memory.engine.query import Query
from memory.evaluation.answers import contains, normalize
from memory.evaluation.cases import Asked, Given
from memory.evaluation.systems.base import LEADERS, Placed, Recalled
from memory.evaluation.systems.base import Asked as Told
from memory.evaluation.systems.peers import NotMeasuredError
from memory.evaluation.systems.reading import Reading, Setting, shown
from memory.evaluation.systems.routers import fitted
from memory.llm.calibration import calibration
from memory.llm.embed import embedding_with
from memory.llm.interface import get_model
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, InteractionState
from memory.store.evidence import KINDS

OWNER: Final = "measurements"


@dataclass(frozen=True, slots=True)
class Variant:
    """What is different from ArborWeb as shipped.

    decide, asking: who ranks, and which recall channels are asked. pathless: nothing is localized. kinds, facts_only: what of the evidence is read.
    asks: where ranking is unsure of an interaction, the endpoint is asked as in chat (never about a question, which `recall` only reads).
    """

    decide: steps.Decide | None = None
    asking: Collection[Channel] = recall.CHANNELS
    pathless: bool = False
    kinds: Collection[EvidenceKind] = KINDS
    facts_only: bool = False
    asks: bool = False


class Ours:
    """A system with a forest of its own for each case."""

    def __init__(self, setting: Setting, name: str = "ours", variant: Variant | None = None) -> None:
        self.name = name
        self.variant = variant or Variant()
        self.routes = not self.variant.pathless
        self.setting = setting
        self._forest: Forest | None = None

    # --- A case -------------------------------------------------------------------------------------------------------

    def open(self, case: str, zone: str) -> None:
        if self.variant.asks:
            _check_asking()
        self._owner, _ = get_user_model().objects.get_or_create(username=OWNER, defaults={"is_active": False})
        name = f"{self.setting.run} {self.name} {case}"[:120]
        if left := Forest.objects.filter(owner=self._owner, name=name).first():  # by a run that was killed
            delete_forest(left, by=self._owner)
        with connection.cursor() as cursor:  # what is measured here can be measured again: no waiting for the disk
            cursor.execute("SET synchronous_commit TO off")
        with self._embedding():
            self._forest = create_forest(self._owner, name, time_zone=zone)
        self.names: dict[int, str] = {}
        self._states: dict[str, int] = {}
        self._place: tuple[Given, steps.Place, Placed] | None = None

    def close(self) -> None:
        if self._forest is not None and not self.setting.keep:
            delete_forest(self._forest, by=self._owner)
        self._forest = None

    @property
    def forest(self) -> Forest:
        """The forest as it is now: its active state and counts move with every commit."""
        if self._forest is None:
            raise RuntimeError("No case is open.")
        return Forest.objects.get(pk=self._forest.pk)

    @contextmanager
    def _embedding(self) -> Iterator[None]:
        with embedding_with(self.setting.embedder):
            yield

    # --- Interactions -------------------------------------------------------------------------------------------------

    def place(self, given: Given) -> Placed | None:
        if self.variant.pathless:
            return None
        with self._embedding():
            place = self._localized(_within(given.user or given.assistant), given)
            if self.variant.asks:
                place = steps.with_model(place)
        placed = self._placed(place)
        self._place = given, place, placed
        return placed

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        interaction: dict[str, Any] = {"id": given.id, "user": _within(given.user or given.assistant), "time": given.time}
        interaction["assistant"] = _within(given.assistant) if given.user else ""
        with self._embedding():
            place = self._given_place(given, placed)
            result = observe_one(self.forest, interaction, tell=False, place=place)
            drain(self.forest.pk, tell=False)
        self._place = None
        self.names[result["state"]] = given.id
        self._states[given.id] = result["state"]

    def _given_place(self, given: Given, placed: Placed | None) -> steps.Place | None:
        """Where it goes, as far as that is known beforehand; None: `observe_one` localizes it."""
        known = self._place if self._place is not None and self._place[0] is given else None
        if self.variant.pathless:
            return steps.placed(self.forest, _within(given.user or given.assistant), given.time, None)
        if placed is None:
            return known[1] if known else None
        if known is not None and placed is known[2]:
            return known[1]
        parent = InteractionState.objects.get(pk=self._states[placed.parent]) if placed.parent is not None else None
        if known is not None:
            return steps.given(known[1], parent)
        return steps.placed(self.forest, _within(given.user or given.assistant), given.time, parent)

    def settle(self) -> None:
        with self._embedding():
            drain(self.forest.pk, tell=False)

    # --- Questions ----------------------------------------------------------------------------------------------------

    def recall(self, asked: Asked, budgets: Sequence[int]) -> Recalled:
        forest = self.forest
        times = [time.perf_counter()]
        with self._embedding(), transaction.atomic():
            place = self._localized(asked.text, asked)
            if self.variant.pathless:
                place = replace(place, decision=replace(place.decision, method="new_root", parent=None, root=None, second=None))
            times.append(time.perf_counter())
            pool = steps.gather_pool(forest, place, kinds=self.variant.kinds)
            times.append(time.perf_counter())
            contexts: dict[int, Assembled] = {}
            for budget in budgets:
                contexts[budget] = steps.pack(place, pool, budget, forest.time_zone, facts_only=self.variant.facts_only)
                times.append(time.perf_counter())
        self._asked = place, pool, contexts, forest.time_zone
        ranked = sorted(place.fused, key=lambda state: (-place.fused[state], -state))[:LEADERS]
        packing = max((later - earlier for earlier, later in pairwise(times[2:])), default=0.0)
        took = {"localize_ms": 1000 * (times[1] - times[0]), "gather_ms": 1000 * (times[2] - times[1]), "pack_ms": 1000 * packing}
        return Recalled(
            ranked=tuple(self.names[state] for state in ranked if state in self.names),
            contexts={budget: shown(context, self.names) for budget, context in contexts.items()},
            placed=None if self.variant.pathless else self._placed(place),
            ms=sum(took.values()),
            details=took,
        )

    def reading(self, budget: int) -> Reading:
        place, pool, contexts, zone = self._asked
        return Reading(place.query, place.decision, contexts[budget], pool, zone)

    def holds(self, id: str, value: str) -> bool | None:
        state, wanted = self._state(id), normalize(value)
        rows = [
            row
            for kind in self.variant.kinds
            for row in EVIDENCE_MODELS[kind].objects.in_forest(self.forest).filter(sources__contains=[state])
            if contains(normalize(f"{row.text} {row.value}"), wanted, normalized=True)
        ]
        return any(row.status == EvidenceRow.Status.CURRENT for row in rows) if rows else None

    def _state(self, id: str) -> int:
        return self._states[id]

    _asked: tuple[steps.Place, Pool, Mapping[int, Assembled], str]

    def _localized(self, said: str, when: Given | Asked) -> steps.Place:
        return steps.localize_text(self.forest, said, when.time, decide=self.variant.decide, asking=self.variant.asking)

    def _placed(self, place: steps.Place) -> Placed:
        decision = place.decision

        def name(state: int | None) -> str | None:
            return None if state is None else self.names.get(state)

        others = tuple(name(candidate.state) for candidate in decision.candidates if candidate.state != decision.parent)
        told = _asked(place.asked, name) if place.asked else None
        return Placed(name(decision.parent), decision.probability, place.milliseconds + (told.ms if told else 0.0), others, name(decision.second), told)


class View(Ours):
    """A variant that differs only in what is read: it asks the forest of another system, and keeps nothing itself."""

    def __init__(self, other: Ours, name: str, variant: Variant) -> None:
        super().__init__(other.setting, name, variant)
        self.other = other

    @property
    def forest(self) -> Forest:
        return self.other.forest

    @property
    def names(self) -> Mapping[int, str]:  # type: ignore[override]
        return self.other.names

    def _state(self, id: str) -> int:
        return self.other._state(id)


def _asked(asking: steps.Asking, name: Callable[[int | None], str | None]) -> Told:
    states = [candidate.state for candidate in asking.before.candidates]
    offered = tuple(states.index(state) for state in asking.offered)
    return Told(
        parent=name(asking.before.parent),
        probability=asking.before.probability,
        places=tuple((name(candidate.state), candidate.probability) for candidate in asking.before.candidates),
        offered=offered,
        chosen=None if asking.chosen is None else offered[asking.chosen],
        error=asking.error,
        ms=asking.milliseconds,
        input_tokens=asking.spent.input,
        output_tokens=asking.spent.output,
    )


def _check_asking() -> None:
    """Raise NotMeasuredError where asking couldn't be measured, or not alone."""
    if not get_model().chooses:
        raise NotMeasuredError("no endpoint: set OPENAI_BASE_URL")
    if settings.EXTRACTION != "rules":
        raise NotMeasuredError("only asking is to be measured: set EXTRACTION=rules, or the model reads every turn as well")


def _within(said: str) -> str:
    """The text as far as a turn takes it: longer ones are cut, as imports cut them, and a NUL can't be stored."""
    return said.replace("\x00", "").encode("utf-8", "replace")[: settings.MAX_TURN_BYTES].decode("utf-8", "ignore")


# --- Variants ---------------------------------------------------------------------------------------------------------


def additive(asked: Query, found: Recall, then: Sequence[Found]) -> Decision:
    """The paper's sum with `lexical_score` in place of the cross-encoder: BM25 of the branch-aware text and its cosine, with a τ fitted for that scale."""
    return additive_at(fitted("additive").threshold)(asked, found, then)


def additive_at(threshold: float) -> steps.Decide:
    """The additive localizer with another τ."""

    def decide(asked: Query, found: Recall, then: Sequence[Found]) -> Decision:
        cosine = {one.interaction.id: one.similarity for one in (*found.recalled, *then)}
        states: dict[int, Interaction] = {one.interaction.id: one.interaction for one in (*found.recalled, *then)}
        for lane in found.lanes.values():
            tip = lane.tip
            states[tip.id] = tip
            cosine.setdefault(tip.id, lane.near.get("tip"))
        scores = {identity: rank.lexical_score(cosine[identity], _words(asked, found, state)) for identity, state in states.items()}
        return localize.localize_additive(asked, found, scores, calibration(), then, threshold)

    return decide


def _words(asked: Query, found: Recall, state: Interaction) -> float:
    counts = Counter(terms.terms(text.branch_text(state.topic, state.path_summary, state.node_summary or state.user, state.entities)))
    return recall.bm25(asked.terms, counts, sum(counts.values()), found.document_frequency, found.states, found.average_length)


def without_words(asked: Query, found: Recall, then: Sequence[Found]) -> Decision:
    """The shipped ranker without what words and names say for a branch; its other weights stay as they were fitted with them."""
    words = [name for name, part in feature_names.OF_BRANCHES.items() if part in ("words", "names")]
    return localize.localize(asked, found, calibration().without(words), then)


FACTS: Final[tuple[EvidenceKind, ...]] = ("fact",)
RECORDS: Final[tuple[EvidenceKind, ...]] = ("artifact", "event", "mutable_state")
# The runner shows it other times (cases.at_shuffled_times); it is ours in everything else.
SHUFFLED: Final = "ours-shuffled-time"
VARIANTS: Final[Mapping[str, Variant]] = {
    "ours": Variant(),
    SHUFFLED: Variant(),
    "ours-asked": Variant(asks=True),
    "additive": Variant(decide=additive),
    "without-localization": Variant(pathless=True),
    "without-keyword-entity": Variant(decide=without_words, asking=("semantic", "topic")),
    "without-facts": Variant(kinds=RECORDS),
    "without-structured-extraction": Variant(kinds=FACTS),
    "without-structured-evidence": Variant(facts_only=True),
}
NOTES: Final[Mapping[str, str]] = {
    SHUFFLED: "ours, shown the same interactions in the same order with their times permuted: what is lost is what the clock says; only places",
    "ours-asked": "ours, and where ranking is unsure of an interaction’s place (LOCALIZER_ASK_BELOW) the endpoint is asked, as in chat",
    "additive": "the paper's sum; BM25 and cosine of the branch-aware text in place of the cross-encoder, τ fitted on OASST half 0 of 2",
    "without-localization": "every interaction is a root and a question resumes nothing: no path is shown",
    "without-keyword-entity": "recall by meaning and topic alone, and no weight on words and names of a branch; the other weights aren't fitted again",
    "without-facts": "no atomic facts are read",
    "without-structured-extraction": "of what was extracted only atomic facts are read, as if records had never been",
    "without-structured-evidence": "records are there, but only plain facts are shown: no pairs, no computed answers, no blocks of records",
}
# Only measured when it is named: it takes seconds of a model for every fifth turn.
NAMED: Final = ("ours-asked",)
# What is kept is the same for these: they read the forest of “ours”.
READ_ONLY: Final = ("without-facts", "without-structured-extraction", "without-structured-evidence")


def make(name: str) -> Callable[[Setting], Ours]:
    """The factory of a variant, with a forest of its own."""
    return lambda setting: Ours(setting, name, VARIANTS[name])


def view(other: Ours, name: str) -> View:
    """A variant that reads the forest of `other`. Raises KeyError for one that needs its own."""
    return View(other, name, {only: VARIANTS[only] for only in READ_ONLY}[name])
