"""What a deletion leaves to be told anew, and nothing else: what a turn taught, its summaries and a tree's topic are read off a path, so only states
within reach below what changed, and a topic it named, can speak of it (D2).

Whatever may hold words of what went is cleared at once; the worker reads those states again and writes what differs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from memory.actions import structure
from memory.actions.unlearn import unlearn_to_learn_anew
from memory.engine import commit, terms
from memory.engine.extract import summary
from memory.engine.forest import Interaction
from memory.models import EVIDENCE_MODELS, Forest, InteractionState, Outbox, Posting, PostingKind, StateVector, Topic, Turn
from memory.store import read
from memory.store.dropping import drop
from memory.store.evidence import FIELDS
from memory.store.readings import unjudged
from memory.store.refine import ANEW, SUMMED
from memory.store.slots import resolve_slots

Parents = Mapping[int, int | None]
FAR = 10**6
# So many turns on, whatever they say, a path summary may name a step that was cleared: turns without a word for it are few.
STEPS = 2 * summary.STEPS_SHOWN


@dataclass(frozen=True, slots=True)
class Anew:
    """States to be told anew; those of them whose path summary names what changed, those where nothing else can, and those below what changed (others share
    its tree's topic); the trees whose topic is named anew, by the roots they have now."""

    states: set[int] = field(default_factory=set)
    near: set[int] = field(default_factory=set)
    summed: set[int] = field(default_factory=set)
    below: set[int] = field(default_factory=set)
    topics: set[int] = field(default_factory=set)

    def with_changed(self, changed: Collection[int]) -> Anew:
        """States whose own text changes are read anew, too."""
        return Anew({*self.states, *changed}, {*self.near, *changed}, self.summed - set(changed), {*self.below, *changed}, self.topics)


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was cleared: summaries of these states, these facts and records, topic keys as they were by root; and states whose evidence looks different now."""

    summaries: set[int] = field(default_factory=set)
    items: dict[str, list[int]] = field(default_factory=dict)
    keys: dict[int, list[str]] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)


def anew(forest: Forest, parents: Parents, gone: Collection[int], changed: Collection[int], summed: Collection[int] = ()) -> Anew:
    """What is to be told anew when `gone` go, the texts of `changed` are other ones, and the summaries of `summed`.

    `parents`: the states of the trees in order of time, as they are now."""
    if not gone and not changed and not summed:
        return Anew()
    moved, named = {*gone, *changed}, {*gone, *changed, *summed}
    tree, empty = trees(parents), _empty_steps(forest, parents)
    renamed = _renamed(forest, parents, tree, moved)
    told_first = {state for state in named if not _has_step_above(state, parents, empty)}
    reach: dict[int, int] = {}  # turns since the last that changed, and steps of a path summary since then
    steps: dict[int, int] = {}
    whole: dict[int, bool] = {}
    for state, parent in parents.items():
        whole[state] = state in told_first or (parent is not None and whole[parent])
        reach[state] = 0 if state in moved else FAR if parent is None else min(FAR, reach[parent] + 1)
        steps[state] = 0 if state in named else FAR if parent is None else steps[parent] + (state not in empty)
    lower = _named_lower(forest, parents, tree, moved)
    read_anew = {state for state in parents if reach[state] <= commit.REACH or tree[state] in renamed or state in lower}
    near = {state for state in parents if whole[state] or steps[state] <= summary.STEPS_SHOWN + 1 or tree[state] in renamed}
    roots = {root for root in renamed if root not in gone}
    roots |= {state for state, parent in parents.items() if parent in gone and state not in gone and _root_after(state, parents, gone) == state}
    left = set(parents) - set(gone)
    return Anew((read_anew | near) & left, near & left, (near - read_anew) & left, {state for state in left if reach[state] < FAR}, roots)


def _root_after(state: int, parents: Parents, gone: Collection[int]) -> int:
    """The root of a state's tree when `gone` are gone and their children hang from their parents."""
    top, parent = state, parents[state]
    while parent is not None:
        if parent not in gone:
            top = parent
        parent = parents[parent]
    return top


def trees(parents: Parents) -> dict[int, int]:
    """The root of each state, now."""
    roots: dict[int, int] = {}
    for state, parent in parents.items():
        roots[state] = state if parent is None else roots[parent]
    return roots


def _empty_steps(forest: Forest, parents: Parents) -> set[int]:
    """The states that no path summary names. Long turns always say something; only short ones are read."""
    rows = read.select(
        "SELECT id, node_summary, user_text FROM memory_interactionstate WHERE forest_id = %s AND id = ANY(%s) AND length(node_summary) < 80",
        [forest.pk, list(parents)],
    )
    return {pk for pk, node, user in rows if summary.empty_step(node, user[:400])}


def _has_step_above(state: int, parents: Parents, empty: Collection[int]) -> bool:
    above = parents[state]
    while above is not None:
        if above not in empty:
            return True
        above = parents[above]
    return False


def _renamed(forest: Forest, parents: Parents, tree: Mapping[int, int], moved: Collection[int]) -> set[int]:
    """The trees whose topic key was read off one of `moved`, or has words that no other turn of the tree says."""
    named: set[int] = set()
    for root in {tree[state] for state in moved}:
        members = [state for state in parents if tree[state] == root]
        if root in moved or set(_naming(forest, parents, members)) & set(moved):
            named.add(root)
            continue
        topic = Topic.objects.filter(root=root).first()
        if topic is None:
            continue
        stems = {stem[:100] for name in (topic.key, *topic.variants) for stem in terms.content_terms(name)} | set(topic.stems)
        rest = Posting.objects.in_forest(forest).filter(kind=PostingKind.TERM, term__in=stems, state__in=set(members) - set(moved))
        if stems - set(rest.values_list("term", flat=True).distinct()):
            named.add(root)
    return named


def _naming(forest: Forest, parents: Parents, members: Iterable[int]) -> list[int]:
    """The path of the first turn of a tree whose beginning names something: its topic key was read off these."""
    paths: dict[int, list[int]] = {}
    for state in members:
        above = parents[state]
        if above is None or (above in paths and len(paths[above]) < summary.NAMING):
            paths[state] = [*(paths[above] if above is not None else []), state]
    said: dict[int, Interaction] = {}
    for path in paths.values():
        missing = [state for state in path if state not in said]
        said |= read.interactions(forest.pk, missing)
        told = [said[state] for state in path if state in said]
        if told and commit.topic_of(told[-1], told[:-1])[0]:
            return path
    return []


def _named_lower(forest: Forest, parents: Parents, tree: Mapping[int, int], moved: Collection[int]) -> set[int]:
    """States that call their matter “kitchen” rather than “Kitchen” only because one of `moved` does (`commit.subject_of`)."""
    found: set[int] = set()
    for root in {tree[state] for state in moved}:
        key = Topic.objects.filter(root=root).values_list("key", flat=True).first() or ""
        lower = key[:1].lower() + key[1:]
        if lower == key:
            continue
        sql = "SELECT id FROM memory_interactionstate WHERE forest_id = %s AND id = ANY(%s) AND (strpos(user_text, %s) > 0 OR strpos(assistant_text, %s) > 0)"
        members = [state for state in parents if tree[state] == root]
        saying = {pk for (pk,) in read.select(sql, [forest.pk, members, lower, lower])}
        if not saying & set(moved):
            continue
        lowered: dict[int, bool] = {}  # whether a turn that stays says it, on the path so far
        did: dict[int, bool] = {}  # … and one that moves
        for state in members:
            above = parents[state]
            lowered[state] = (above is not None and lowered[above]) or (state in saying and state not in moved)
            did[state] = (above is not None and did[above]) or (state in saying and state in moved)
            if did[state] and not lowered[state]:
                found.add(state)
    return found


# --- Clearing ---------------------------------------------------------------------------------------------------------


def words_of(forest: Forest, states: Collection[int]) -> set[str]:
    """The words of some turns and of what they taught: what those further down may have borrowed."""
    texts = [text for pair in InteractionState.objects.filter(pk__in=list(states)).values_list("user_text", "assistant_text") for text in pair]
    for model in EVIDENCE_MODELS.values():
        rows = model.objects.in_forest(forest).filter(state__in=list(states)).values_list("text", "slot", "subject", "value")
        texts += [text.replace("|", " ") for row in rows for text in row]
    return {term for text in texts for term in terms.terms(text)}


def clear(forest: Forest, told: Anew, left: Parents, words: Collection[str], felled: Collection[int] = ()) -> Cleared:
    """Take away what may speak of what went, and leave these states to the worker. Call it under the forest's lock, before the turns themselves go.

    `left`: the states that stay and their parents, as they will be; `words`: those of what goes; `felled`: roots that go, whose trees' names go with them."""
    keys = _clear_topics(forest, told.topics, felled)
    if not told.states:
        return Cleared(keys=keys)
    reading = told.states - told.summed
    states = InteractionState.objects.in_forest(forest).filter(pk__in=reading)
    # A model's words can't be traced: what it read below what went goes whole. Of the rest only what has words of it.
    untraced = told.below & set(states.exclude(refined_by__in=[commit.EXTRACTORS, ANEW]).values_list("pk", flat=True))
    touched, items = unlearn_to_learn_anew(forest, untraced, for_good=True)
    summaries = set(untraced)
    named = {term for names in keys.values() for name in names for term in terms.terms(name)}
    borrowed, nodes = _borrowed(forest, {state: named | set(words if state in told.below else ()) for state in reading - untraced})
    summaries |= nodes
    more, slots = drop(forest, borrowed)
    _, others = resolve_slots(forest.pk, slots, None)
    for kind, ids in borrowed.items():
        items.setdefault(kind, []).extend(ids)
    near = told.near | _following(summaries, left, told.states)
    StateVector.objects.in_forest(forest).filter(state__in=near, kind=StateVector.Kind.BRANCH).delete()
    InteractionState.objects.filter(pk__in=near).update(path_summary="")
    InteractionState.objects.filter(pk__in=summaries).update(node_summary="")
    states.update(refined_at=None, refined_by=ANEW, refine_error=None)
    for version in InteractionState.objects.filter(pk__in=told.summed, refined_at__isnull=False).values_list("refined_by", flat=True).distinct():
        again = InteractionState.objects.filter(pk__in=told.summed, refined_by=version, refined_at__isnull=False)
        again.update(refined_at=None, refined_by=f"{SUMMED}{version}"[:64])
    Turn.objects.in_forest(forest).filter(state__in=told.states, status=Turn.Status.REFINED).update(status=Turn.Status.ANSWERED)
    return Cleared(summaries, items, keys, {*touched, *more, *others})


def refine_later(forest: Forest) -> None:
    """Tell the worker: what waits is read anew, and so is whatever a fenced worker had begun."""
    Outbox.objects.create(forest=forest, kind="refine")


def _clear_topics(forest: Forest, roots: Collection[int], felled: Collection[int]) -> dict[int, list[str]]:
    named = Topic.objects.in_forest(forest).filter(root__in=[*roots, *felled]).values_list("root_id", "key", "variants")
    keys = {root: [key, *variants] for root, key, variants in named if key}
    structure.unname_trees(forest, roots)
    return keys


def _following(cleared: Collection[int], left: Parents, among: Collection[int]) -> set[int]:
    """States whose path summary may name a step that was cleared: itself and some turns on."""
    steps: dict[int, int] = {}
    for state, parent in left.items():
        if state in cleared:
            steps[state] = 0
        elif parent in steps and steps[parent] < STEPS:
            steps[state] = steps[parent] + 1
    return set(steps) & set(among)


def _borrowed(forest: Forest, words: Mapping[int, set[str]]) -> tuple[dict[str, list[int]], set[int]]:
    """Facts and records, and states whose summaries, have one of the `words` of their state that neither its own turn nor its topic says."""
    nodes = dict(InteractionState.objects.in_forest(forest).filter(pk__in=list(words)).values_list("pk", "node_summary"))
    hits = {pk: found for pk, node in nodes.items() if (found := words[pk] & set(terms.terms(node)))}
    items: list[tuple[str, int, int, set[str]]] = []
    for kind in EVIDENCE_MODELS:
        names = ("text", "slot", "subject", "value", *FIELDS[kind])
        for pk, state, sources, *values in unjudged(forest, kind).filter(state__in=list(words)).values_list("pk", "state_id", "sources", *names):
            said = " ".join(value.replace("|", " ").replace("_", " ") for value in values if isinstance(value, str))
            if sources == [state] and (found := words[state] & set(terms.terms(said))):
                items.append((kind, pk, state, found))
    own = _own_words(forest, {*hits, *(state for _, _, state, _ in items)})
    going: dict[str, list[int]] = {}
    for kind, pk, state, found in items:
        if found - own[state]:
            going.setdefault(kind, []).append(pk)
    return going, {pk for pk, found in hits.items() if found - own[pk]}


def _own_words(forest: Forest, states: Collection[int]) -> dict[int, set[str]]:
    """What the turns of these states say themselves, and what their trees are called. Turns are long: only those are read that the answer hangs on."""
    rows = list(InteractionState.objects.in_forest(forest).filter(pk__in=list(states)).values_list("pk", "root_id", "user_text", "assistant_text"))
    keys = dict(Topic.objects.in_forest(forest).filter(root__in={root for _, root, *_ in rows}).values_list("root_id", "key"))
    return {pk: {*terms.terms(f"{user}\n{answer}"), *terms.terms(keys.get(root, ""))} for pk, root, user, answer in rows}
