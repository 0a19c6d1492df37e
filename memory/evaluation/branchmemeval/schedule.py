"""The planner of one session: who it is about, what each branch has to get said before which question, and then turn by turn who speaks up next.

A run is a head, which must say where it belongs, and turns that go on. Heads are drawn from what its branch has to point with at that moment
(`_heads`), so that no resumption is planned that a reader couldn't place. A plan that can't keep its questions is thrown away and drawn again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from memory.evaluation.branchmemeval.bank import Bank, BankError, Domain, Kind, Listing, Slot
from memory.evaluation.branchmemeval.plan import QUESTIONS, Act, Asking, Branch, Dimension, Family, Lead, Owner, Part, PlanError, Pointer, Session, Turn
from memory.evaluation.branchmemeval.values import SEASONS, Values, season

TRIES: Final = 400
TRAITS: Final = 4
ITEMS: Final = (4, 8)
RUNS: Final = (0, 0, 1, 1, 1, 2, 2, 3)  # turns that go on after a head
STALE: Final = 3  # turns between something said and something that leans on it
TOWARDS: Final[Mapping[Family, tuple[float, float]]] = {"backjump": (0.46, 0.97), "artifact": (0.5, 0.95), "twin": (0.48, 0.95), "bridge": (0.62, 0.95)}
HEADS: Final[Mapping[Pointer, float]] = {
    "consequence": 3.2,
    "detail": 3.4,
    "pending answer": 5.0,
    "person in other words": 1.6,
    "contrast": 4.0,
    "season": 3.0,
    "choice": 2.5,
    "earlier option": 1.2,
    "old value": 3.0,
    "name": 2.2,
    "cue": 1.0,
}


class _StuckError(Exception):
    """This draw can't be finished; another one may."""


@dataclass
class _Task:
    """Something a branch has to get said: set or change a slot, get a list, tell what bridges. `due`: the number of the question that needs it."""

    act: Literal["set", "change", "list", "tell"]
    slot: str = ""
    due: int = 99
    bridge: int = 0


@dataclass
class _Branch:
    """A branch while it is being planned."""

    number: int
    domain: Domain
    kind: Kind
    owner: Owner
    traits: list[int]
    values: dict[str, str] = field(default_factory=dict)
    replacing: dict[str, str] = field(default_factory=dict)
    tasks: list[_Task] = field(default_factory=list)
    said: dict[str, int] = field(default_factory=dict)  # slot → turn of the value that holds
    first_said: dict[str, int] = field(default_factory=dict)
    old: dict[str, str] = field(default_factory=dict)
    told: dict[int, int] = field(default_factory=dict)  # trait → turn
    hints: dict[int, list[int]] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)
    asked: tuple[int, int] | None = None  # pending question, turn
    listing: Listing | None = None
    items: list[tuple[str, int]] = field(default_factory=list)
    listed: int | None = None
    chosen: int | None = None
    chosen_at: int = -1
    tip: int | None = None
    later: list[int] = field(default_factory=list)

    def has(self, slot: str) -> bool:
        return slot in self.said


@dataclass
class _Wish:
    """A question to be asked: of which branch and slot, with which parallel branch."""

    dimension: Dimension
    branch: int
    parallel: int
    slot: str = ""
    item: int = -1
    by: bool = False
    bridge: int = 0
    teller: int = -1


def session(id: str, family: Family, turns: int, bank: Bank, domain: Domain, rng: random.Random) -> Session:
    """Plan a session. Raises PlanError when no draw works out."""
    for _ in range(TRIES):
        try:
            return _Planner(id, family, turns, bank, domain, rng).plan()
        except (_StuckError, BankError):
            continue
    raise PlanError(f"No session of family {family} and {turns} turns could be planned in {domain.name}.")


class _Planner:
    def __init__(self, id: str, family: Family, length: int, bank: Bank, domain: Domain, rng: random.Random) -> None:
        self.id, self.family, self.length, self.bank, self.domain, self.rng = id, family, length, bank, domain, rng
        self.start = datetime(2026, 1, 3, 8, tzinfo=UTC) + timedelta(days=rng.randrange(300), minutes=rng.randrange(600))
        self.values = Values(bank.voice, rng, self.start)
        self.turns: list[Turn] = []
        self.asides = self._shuffled(len(domain.asides))
        self.shorts = self._shuffled(len(bank.voice.turns["short"]))
        self.chats = self._shuffled(len(bank.voice.turns["chat"]))
        self.shared = self._shuffled(len(bank.voice.frames["shared"]))
        self.cues = self.names = self.seasons = self.boths = self.inners = 0
        self.branches = self._cast()
        self.follows = {branch.domain.name: self._shuffled(len(branch.domain.follows)) for branch in self.branches}
        self.wishes = self._wish()
        self._prepare()
        self.active: int | None = None

    def _shuffled(self, count: int) -> list[int]:
        return self.rng.sample(range(count), count)

    # --- Who and what -------------------------------------------------------------------------------------------------

    def _cast(self) -> list[_Branch]:
        rng, voice = self.rng, self.bank.voice
        matters = self._matters()
        roles: list[int] = []
        names: list[str] = []
        for at in range(len(matters)):
            free = [index for index in range(len(voice.roles)) if index not in roles]
            # Twins are mostly of one sex, so that a pronoun doesn't tell them apart.
            alike = [index for index in free if voice.roles[index].sex == voice.roles[roles[at - 1]].sex] if at % 2 and rng.random() < 0.75 else free
            roles.append(rng.choice(alike or free))
            names.append(rng.choice([name for name in voice.names[voice.roles[roles[-1]].sex] if name not in names]))
        traits = {domain.name: self._shuffled(len(domain.traits)) for domain, _ in matters}
        branches = []
        for number, ((domain, kind), role, name) in enumerate(zip(matters, roles, names, strict=True)):
            branch = _Branch(number, domain, kind, Owner(name, role), [traits[domain.name].pop() for _ in range(TRAITS)])
            branch.hints = {trait: self._shuffled(len(domain.traits[trait].hint)) for trait in branch.traits}
            branch.later = self._shuffled(len(voice.roles[role].later))
            branches.append(branch)
        for domain in {branch.domain.name: branch.domain for branch in branches}.values():
            for number in self._shuffled(len(domain.pending)):
                fitting = [branch for branch in branches if branch.domain is domain and domain.pending[number].kind in ("", branch.kind.name)]
                if fitting:
                    min(fitting, key=lambda branch: (len(branch.pending), rng.random())).pending.append(number)
        return branches

    def _matters(self) -> list[tuple[Domain, Kind]]:
        """Twins, a neighbour of theirs that shares their vocabulary, and a matter of another field of life: three or all of them."""
        rng = self.rng
        first, second = self.domain.kinds if self.family == "bridge" or rng.random() < 0.5 else self.domain.kinds[::-1]
        other = rng.choice([domain for domain in self.bank.domains if domain is not self.domain])
        neighbour, stranger = (self.domain, second), (other, rng.choice(other.kinds))
        twins = [(self.domain, first)] * 2
        if rng.random() < 0.5:
            return [*twins, neighbour, stranger]
        return [*twins, neighbour if self.family == "bridge" or rng.random() < 0.4 else stranger]

    def _twin(self, number: int) -> int | None:
        return next((other.number for other in self.branches if other.kind is self.branches[number].kind and other.number != number), None)

    def _wish(self) -> list[_Wish]:
        """The questions of the family, all of the twins: about the one, then about the other."""
        rng = self.rng
        wishes: list[_Wish] = []
        turn = rng.randrange(2)
        used: set[str] = set()
        for at, dimension in enumerate(QUESTIONS[self.family]):
            target = (at + turn) % 2
            wish = _Wish(dimension, target, 1 - target)
            if dimension == "B3":
                wish.by = at % 2 == 1
            elif dimension == "B4":
                wish.bridge = at % len(self.domain.bridges)
                wish.slot, wish.teller = self.domain.bridges[wish.bridge].slot, 2
            else:
                free = [slot.name for slot in self._askable(target) if slot.name not in used]
                if not free:
                    raise _StuckError
                wish.slot = rng.choice(free)
                used.add(wish.slot)
            wishes.append(wish)
        return wishes

    def _askable(self, number: int) -> list[Slot]:
        """Slots a question may be about: not those a choice from a list settles."""
        kind = self.branches[number].kind
        return [slot for slot in kind.slots if slot.name != kind.list.slot]

    def _prepare(self) -> None:
        """Draw every value, and write down what each branch has to get said by when."""
        rng = self.rng
        lists = {wish.branch for wish in self.wishes if wish.dimension == "B3"} | {wish.parallel for wish in self.wishes if wish.dimension == "B3"}
        for branch in self.branches:
            if branch.number in lists or rng.random() < 0.7:
                branch.listing = branch.kind.list
        self._fill_lists()
        for kind in {branch.kind.name: branch.kind for branch in self.branches}.values():
            seasons = rng.sample(SEASONS, len(SEASONS))
            for branch in self.branches:
                if branch.kind is kind:
                    for slot in self._askable(branch.number):
                        where = (seasons[branch.number % 4],) if slot.type == "date" else SEASONS
                        branch.values[slot.name] = self.values.of(slot, seasons=where)
        for due, wish in enumerate(self.wishes):
            self._need(wish, due)
        for branch in self.branches:
            if branch.listing is not None:
                self._task(branch, _Task("list"))
            free = [slot.name for slot in self._askable(branch.number)]
            for name in rng.sample(free, min(len(free), 4)):
                self._task(branch, _Task("set", name))
            settled = [name for name in free if all(wish.slot != name for wish in self.wishes)]
            if settled and rng.random() < 0.75:
                name = rng.choice(settled)
                self._task(branch, _Task("set", name))
                self._replace(branch, name)
                self._task(branch, _Task("change", name))

    def _need(self, wish: _Wish, due: int) -> None:
        branch, parallel = self.branches[wish.branch], self.branches[wish.parallel]
        for one in (branch, parallel):
            self._task(one, _Task("list", due=due) if wish.dimension == "B3" else _Task("set", wish.slot, due))
        if wish.dimension == "B2":
            self._replace(branch, wish.slot)
            self._task(branch, _Task("change", wish.slot, due))
        if wish.dimension == "B4":
            self._task(self.branches[wish.teller], _Task("tell", wish.slot, due, wish.bridge))
        if wish.dimension == "B3":
            asked = {other.item for other in self.wishes if other.branch == wish.branch}
            common = [at for at in range(min(len(branch.items), len(parallel.items))) if at not in asked]
            same = [at for at, item in enumerate(branch.items) if any(item[1] == other[1] for other in parallel.items) and at not in asked]
            wish.by = wish.by and bool(same)
            wish.item = self.rng.choice(same if wish.by else common)

    def _replace(self, branch: _Branch, name: str) -> None:
        slot = branch.kind.slot(name)
        seasons = (season(branch.values[name]),) if slot.type == "date" else SEASONS
        branch.replacing[name] = self.values.of(slot, seasons=seasons)

    @staticmethod
    def _task(branch: _Branch, task: _Task) -> None:
        """Add a task, or make an equal one due earlier."""
        for known in branch.tasks:
            if (known.act, known.slot, known.bridge) == (task.act, task.slot, task.bridge):
                known.due = min(known.due, task.due)
                return
        branch.tasks.append(task)

    def _fill_lists(self) -> None:
        """Names are each used once in a session; properties too as far as they last, except one that twins share, for questions by property."""
        free: dict[str, list[int]] = {}
        for branch in self.branches:
            listing = branch.listing
            if listing is None:
                continue
            props = free.setdefault(listing.noun, self._shuffled(len(listing.props)))
            twin = self._twin(branch.number)
            shared = self.branches[twin].items if twin is not None and twin < branch.number and self.branches[twin].listing is listing else []
            count = min(self.rng.randint(*ITEMS), len(props) + bool(shared) if shared else len(props) - ITEMS[0] + 1)
            if count < ITEMS[0]:
                raise _StuckError
            chosen = [self.rng.choice(shared)[1]] if shared else []
            chosen += [props.pop() for _ in range(count - len(chosen))]
            self.rng.shuffle(chosen)
            branch.items = [(self.values.draw(listing.names), prop) for prop in chosen]

    # --- Turn by turn -------------------------------------------------------------------------------------------------

    def plan(self) -> Session:
        rng = self.rng
        low, high = TOWARDS[self.family]
        count = len(self.wishes)
        asks = [round(self.length * (low + (high - low) * at / (count - 1))) - rng.randrange(2) for at in range(count)]
        opens = [0, rng.randint(2, 4), rng.randint(6, 10), rng.randint(11, 16)][: len(self.branches)]
        asides = sorted(rng.sample(range(6, self.length - 3), rng.choice((1, 2, 2, 3))))
        opened = asked = left = 0
        while len(self.turns) < self.length:
            now = len(self.turns)
            if asked < count and now >= asks[asked] and self._can_ask(self.wishes[asked]):
                self._ask(self.wishes[asked])
                asked, left = asked + 1, rng.choice((0, 0, 1, 2))
            elif asked < count and now > asks[asked] + 5:
                raise _StuckError
            elif opened < len(self.branches) and now >= opens[opened] and (left <= 0 or now == 0):
                self._open(self.branches[opened])
                opened, left = opened + 1, rng.choice((1, 2, 2, 3))
            elif asides and now >= asides[0] and left <= 0:
                lead: Lead = "beside" if rng.random() < 0.6 else ""
                self._add(Turn(None, None, "aside", (Part("aside", (self.asides.pop(),)),), lead))
                asides.pop(0)
                left = 0
            elif left > 0 and self.active is not None:
                self._go_on(self.branches[self.active])
                left -= 1
            elif self._resume(opened):
                left = rng.choice(RUNS)
            elif self.active is not None:
                self._go_on(self.branches[self.active])
            else:
                raise _StuckError
        if asked < count:
            raise _StuckError
        made = tuple(Branch(branch.domain.name, branch.kind.name, branch.owner, tuple(branch.traits)) for branch in self.branches)
        return Session(self.id, self.family, self.bank.split, self.domain.name, self.start, made, tuple(self.turns))

    def _add(self, turn: Turn) -> None:
        self.active = turn.branch
        if turn.branch is not None:
            self.branches[turn.branch].tip = len(self.turns)
        self.turns.append(turn)

    def _say(
        self, branch: _Branch, pointer: Pointer, parts: list[Part], *, lead: Lead = "", fields: Mapping[str, str] | None = None, **more: int | None
    ) -> None:
        asks = None
        if branch.asked is None and branch.pending and pointer != "new" and parts[-1].act not in ("list", "short", "chat") and self.rng.random() < 0.4:
            asks = branch.pending.pop()
            branch.asked = (asks, len(self.turns))
        parent = more.get("parent", branch.tip)
        self._add(Turn(branch.number, parent, pointer, tuple(parts), lead, fields or {}, more.get("also"), asks))

    def _open(self, branch: _Branch) -> None:
        lead: Lead = "fresh" if self.turns and self.rng.random() < 0.7 else ""
        self._say(branch, "new", [Part("open"), self._trait(branch)], lead=lead)

    def _trait(self, branch: _Branch) -> Part:
        trait = next(trait for trait in branch.traits if trait not in branch.told)
        branch.told[trait] = len(self.turns)
        return Part("trait", (trait,))

    def _due(self, branch: _Branch, *acts: Act) -> _Task | None:
        """The most urgent task of these kinds; a change waits until its value is old enough to be remembered."""
        ready = [
            task
            for task in branch.tasks
            if task.act in acts and (task.act != "change" or (branch.has(task.slot) and len(self.turns) - branch.said[task.slot] > STALE))
        ]
        return min(ready, key=lambda task: (task.due, task.act != "change")) if ready else None

    def _do(self, branch: _Branch, task: _Task) -> Part:
        now = len(self.turns)
        branch.tasks.remove(task)
        if task.act == "list":
            branch.listed = now
            return Part("list", (), {}, tuple(branch.items))
        if task.act == "tell":
            bridge = self.domain.bridges[task.bridge]
            one, other = self.rng.sample(self.branches[:2], 2)
            fields = {"a": one.values[bridge.slot], "b": other.values[bridge.slot]}
            for name in ("va", "vb"):
                fields[name] = self.values.draw(bridge.type)
            branch.said[f"bridge {task.bridge}"] = now
            branch.values[f"bridge {task.bridge}"] = "|".join(fields[name] for name in ("a", "va", "b", "vb"))
            return Part("tell", (task.bridge,), fields)
        fields = {"value": branch.values[task.slot]}
        if task.act == "change":
            fields = {"old": branch.values[task.slot], "value": branch.replacing.pop(task.slot)}
            branch.old[task.slot] = fields["old"]
        else:
            branch.first_said[task.slot] = now
        branch.values[task.slot] = fields["value"]
        branch.said[task.slot] = now
        return Part(task.act, (task.slot,), fields)

    # --- Going on -----------------------------------------------------------------------------------------------------

    def _go_on(self, branch: _Branch) -> None:
        rng, now = self.rng, len(self.turns)
        parent = branch.tip
        before = self.turns[-1]
        if branch.listed == now - 1 and rng.random() < 0.6:
            return self._say(branch, "choice", [self._choose(branch)])
        task = self._due(branch, "set", "change", "list", "tell")
        if task is not None and task.due < 99 and rng.random() < 0.75:
            return self._say(branch, "go on", [self._do(branch, task)])
        untold = len(branch.told) < len(branch.traits)
        options: list[tuple[float, str]] = [(0.7, "chat"), (1.0, "short" if before.parts and before.parts[-1].act != "short" else "chat"), (1.6, "follow")]
        options += [(4.0, "trait")] * untold + [(3.0, "task")] * (task is not None)
        twin = self._twin(branch.number)
        both = twin is not None and self.branches[twin].tip is not None and not self.boths and now > 10
        options += [(1.2, "both")] * both
        if branch.chosen is not None and self.inners < 3 and now - branch.chosen_at > 1:
            options += [(1.0, "inner")]
        if branch.asked is not None and now - branch.asked[1] == 1:
            options += [(1.5, "answer")]
        match rng.choices([name for _, name in options], [weight for weight, _ in options])[0]:
            case "trait":
                self._say(branch, "go on", [self._trait(branch)])
            case "task":
                assert task is not None
                self._say(branch, "go on", [self._do(branch, task)])
            case "answer":
                self._say(branch, "pending answer", [self._answer(branch)])
            case "inner":
                return self._rechoose(branch)
            case "both":
                assert twin is not None
                self.boths += 1
                self._say(branch, "go on", [Part("both", (self.shared.pop(),), {"other": self.branches[twin].owner.name})], also=self.branches[twin].tip)
            case "short":
                self._say(branch, "go on", [Part("short", (self._next(self.shorts),))])
            case "follow" if (follow := self._follow(branch)) is not None:
                self._say(branch, "go on", [follow])
            case _:
                self._say(branch, "go on", [Part("chat", (self._next(self.chats),))])
        assert self.turns[-1].parent == parent
        return None

    @staticmethod
    def _next(deck: list[int]) -> int:
        deck.insert(0, found := deck.pop())
        return found

    def _follow(self, branch: _Branch) -> Part | None:
        free = self.follows[branch.domain.name]
        for at in free:
            if branch.domain.follows[at].kind in ("", branch.kind.name):
                free.remove(at)
                return Part("follow", (at,))
        return None

    def _answer(self, branch: _Branch) -> Part:
        assert branch.asked is not None
        number, _ = branch.asked
        branch.asked = None
        return Part("answer", (number,))

    def _choose(self, branch: _Branch, *, again: bool = False) -> Part:
        """A choice from the list of the branch, by a property that no other list of the session has."""
        others = {prop for other in self.branches if other is not branch for _, prop in other.items if other.listing is branch.listing}
        free = [at for at, (_, prop) in enumerate(branch.items) if prop not in others and at != branch.chosen]
        if not free:
            raise _StuckError
        branch.chosen = self.rng.choice(free)
        branch.chosen_at = len(self.turns)
        name, prop = branch.items[branch.chosen]
        return Part("rechoose" if again else "choose", (prop,), {"item": name})

    def _rechoose(self, branch: _Branch) -> None:
        """Back to the list, as if nothing had been chosen: a fork."""
        self.inners += 1
        self._say(branch, "earlier option", [self._choose(branch, again=True)], parent=branch.listed)

    # --- Coming back --------------------------------------------------------------------------------------------------

    def _resume(self, opened: int) -> bool:
        """A head of another branch than the active one; False when none has anything to point with."""
        others = [branch for branch in self.branches[:opened] if branch.number != self.active]
        urgent = {branch.number: min((task.due for task in branch.tasks), default=99) for branch in others}
        weights = [1.0 + (len(self.turns) - (branch.tip or 0)) / 8 + (3.0 if urgent[branch.number] < 99 else 0.0) for branch in others]
        while others:
            branch = self.rng.choices(others, weights)[0]
            heads = list(self._heads(branch))
            if heads:
                self._head(branch, self.rng.choices(heads, [HEADS[pointer] for pointer in heads])[0])
                return True
            at = others.index(branch)
            del others[at], weights[at]
        return False

    def _hintable(self, branch: _Branch) -> list[int]:
        return [trait for trait, at in branch.told.items() if branch.hints[trait] and len(self.turns) - at >= STALE]

    def _heads(self, branch: _Branch) -> Iterator[Pointer]:
        now = len(self.turns)
        state = self._due(branch, "set", "change")
        anything = state or self._due(branch, "list")
        if self._hintable(branch):
            yield "consequence"
            yield "detail"
        if branch.asked is not None:
            yield "pending answer"
        if branch.listed is not None and branch.chosen is None and now - branch.listed >= STALE:
            yield "choice"
        if branch.chosen is not None and self.inners < 3 and now - branch.chosen_at > STALE:
            yield "earlier option"
        if state and branch.later:
            yield "person in other words"
        if state and self.names < 4:
            yield "name"
        active = self.branches[self.active] if self.active is not None else None
        if anything and active is not None and active.kind is branch.kind:
            yield "contrast"
        if anything and self.seasons < 2 and self._own_season(branch):
            yield "season"
        if self._due(branch, "change"):
            yield "old value"
        if anything and self.cues < 3:
            yield "cue"

    def _dates(self, branch: _Branch) -> set[str]:
        said = {slot.name for slot in branch.kind.slots if slot.type == "date" and branch.has(slot.name)}
        return {season(branch.values[name]) for name in said} | {season(branch.old[name]) for name in said if name in branch.old}

    def _own_season(self, branch: _Branch) -> str:
        """The season that only this branch has a date in; empty when there is none."""
        mine = self._dates(branch)
        others = set().union(*(self._dates(other) for other in self.branches if other is not branch))
        return next(iter(mine)) if len(mine) == 1 and not mine & others else ""

    def _head(self, branch: _Branch, pointer: Pointer) -> None:
        rng = self.rng
        match pointer:
            case "consequence" | "detail":
                trait = rng.choice(self._hintable(branch))
                parts = [Part("hint", (trait, branch.hints[trait].pop()))]
                task = self._due(branch, "set", "change")
                if task is not None and rng.random() < (0.6 if task.due < 99 else 0.35):
                    parts.append(self._do(branch, task))
                if pointer == "detail":
                    self._say(branch, pointer, parts, lead="detail", fields={"trait": str(trait)})
                else:
                    self._say(branch, pointer, parts)
            case "pending answer":
                self._say(branch, pointer, [self._answer(branch)])
            case "choice":
                self._say(branch, pointer, [self._choose(branch)])
            case "earlier option":
                self._rechoose(branch)
            case "old value":
                self._say(branch, pointer, [self._do(branch, self._found(branch, "change"))])
            case "name":
                self.names += 1
                fields = {"later": branch.owner.name}
                self._say(branch, pointer, [self._do(branch, self._found(branch, "set", "change"))], lead="role", fields=fields)
            case "person in other words":
                later = self.bank.voice.roles[branch.owner.role].later[branch.later.pop()]
                self._say(branch, pointer, [self._do(branch, self._found(branch, "set", "change"))], lead="role", fields={"later": later})
            case _:
                part = self._do(branch, self._found(branch, "set", "change", "list"))
                fields = {"name": branch.owner.name}
                if pointer == "contrast":
                    assert self.active is not None
                    fields = {"name": self.branches[self.active].owner.name}
                elif pointer == "season":
                    self.seasons += 1
                    fields = {"season": self._own_season(branch)}
                else:
                    self.cues += 1
                self._say(branch, pointer, [part], lead={"contrast": "contrast", "season": "season"}.get(pointer, "cue"), fields=fields)  # type: ignore[arg-type]

    def _found(self, branch: _Branch, *acts: Act) -> _Task:
        task = self._due(branch, *acts)
        assert task is not None, "a head is only offered when there is something to say"
        return task

    # --- Asking -------------------------------------------------------------------------------------------------------

    def _can_ask(self, wish: _Wish) -> bool:
        """Whether everything a question needs was said, and its branch has been left."""
        branch, parallel = self.branches[wish.branch], self.branches[wish.parallel]
        if self.active == wish.branch or len(self.turns) - (branch.tip or 0) <= 2:
            return False
        if wish.dimension == "B3":
            return branch.listed is not None and parallel.listed is not None
        told = wish.dimension != "B4" or f"bridge {wish.bridge}" in self.branches[wish.teller].said
        return told and branch.has(wish.slot) and parallel.has(wish.slot) and (wish.dimension != "B2" or wish.slot in branch.old)

    def _ask(self, wish: _Wish) -> None:
        branch, parallel = self.branches[wish.branch], self.branches[wish.parallel]
        anchor: Literal["who", "later", "name"] = "name"
        if wish.dimension != "B5":
            anchor = self.rng.choices(("who", "later", "name"), (0.55, 0.25, 0.2))[0]
        place = self.rng.choice(list(branch.told)) if anchor == "who" else 0
        also = None
        evidence: tuple[int, ...]
        match wish.dimension:
            case "B3":
                assert branch.listed is not None
                name, prop = branch.items[wish.item]
                at = next(at for at, (_, other) in enumerate(parallel.items) if other == prop) if wish.by else wish.item
                asking = Asking("B3", "list", name, parallel.items[at][0], (branch.listed,), (anchor, place), nth=wish.item + 1, by=prop if wish.by else None)
            case "B4":
                teller = self.branches[wish.teller]
                told = teller.values[f"bridge {wish.bridge}"].split("|")
                by_link = {told[0]: told[1], told[2]: told[3]}
                link = branch.values[wish.slot]
                evidence = (branch.said[wish.slot], teller.said[f"bridge {wish.bridge}"])
                gold, confounder = by_link[link], by_link[parallel.values[wish.slot]]
                asking = Asking("B4", wish.slot, gold, confounder, evidence, (anchor, place), link=link, bridge=wish.bridge)
                also = teller.tip
            case dimension:
                old = branch.old.get(wish.slot, "") if dimension == "B2" else ""
                evidence = (branch.said[wish.slot],) if not old else (branch.first_said[wish.slot], branch.said[wish.slot])
                asking = Asking(dimension, wish.slot, branch.values[wish.slot], parallel.values[wish.slot], evidence, (anchor, place), old=old)
        self._add(Turn(branch.number, branch.tip, "question", also=also, question=asking))
