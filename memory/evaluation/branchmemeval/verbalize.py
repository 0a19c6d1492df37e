"""A plan put into words from the banks of its split.

Forms are dealt like cards: none comes twice before all of its deck have. Questions and canonical answers are worded from the plan alone; rephrase.py may
have a language model reword the other turns.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, TypeVar

from memory.evaluation.branchmemeval.bank import Bank, Domain, Kind, Listing
from memory.evaluation.branchmemeval.plan import Asking, Branch, Part, Session, Turn

ORDINALS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
PRONOUNS: Final = {"f": {"he": "she", "him": "her", "his": "her", "himself": "herself"}, "m": {"he": "he", "him": "him", "his": "his", "himself": "himself"}}
REGISTERS: Final = ("plain", "plain", "terse", "chatty", "lower", "hasty")
OF_THE_MATTER: Final = ("set", "change", "hint", "answer", "trait", "tell", "choose", "rechoose")
CONNECTED: Final = ("trait", "set", "change", "list", "tell", "follow")
_WORD = re.compile(r"\b[a-z]{6,}\b")
_SENTENCE = re.compile(r"(^|[.!?]\s+)([a-z])")
_ASKS = re.compile(r"(?:which|whom?|what|where|could|can)\b[^.:?]*$", re.IGNORECASE)
_ALONE = re.compile(r"\bI\b")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Worded:
    """A turn in words. `keeps` are the strings a rewording must keep as they are."""

    user: str
    assistant: str
    time: datetime
    keeps: tuple[str, ...]


@dataclass
class Decks:
    """Forms to be dealt, by what they are for; they last over all sessions of a set."""

    rng: random.Random
    _left: dict[str, list[int]] = field(default_factory=dict)

    def deal(self, name: str, forms: Sequence[T]) -> T:
        left = self._left.get(name)
        if not left:
            left = self._left[name] = self.rng.sample(range(len(forms)), len(forms))
        return forms[left.pop()]


def words(session: Session, bank: Bank, decks: Decks) -> list[Worded]:
    """Every turn of a session in words, with its time: gaps are of one distribution, whether a branch is left or not."""
    return _Speaker(session, bank, decks).speak()


class _Speaker:
    def __init__(self, session: Session, bank: Bank, decks: Decks) -> None:
        self.session, self.bank, self.decks, self.rng = session, bank, decks, decks.rng
        self.voice = bank.voice
        self.register = self.rng.choice(REGISTERS)

    def speak(self) -> list[Worded]:
        time = self.session.start
        made: list[Worded] = []
        for at, turn in enumerate(self.session.turns):
            user, assistant, keeps = self._question(turn, turn.question) if turn.question else self._turn(at, turn, made[-1].assistant if made else "")
            made.append(Worded(user, assistant, time, keeps))
            time = _awake(time + timedelta(minutes=round(min(2160.0, self.rng.lognormvariate(4.2, 1.6))) + 1))
        return made

    # --- Turns --------------------------------------------------------------------------------------------------------

    def _turn(self, at: int, turn: Turn, before: str) -> tuple[str, str, tuple[str, ...]]:
        branch = None if turn.branch is None else self.session.branches[turn.branch]
        told = [self._part(part, branch) for part in turn.parts]
        said, answers = [user for user, _ in told], [assistant for _, assistant in told]
        if turn.lead:
            said[0] = self._led(turn, branch, said[0])
        elif turn.pointer == "go on":
            assert branch is not None
            said[0] = self._going_on(turn.parts[0], branch, said[0], before)
        last = turn.parts[-1].act
        if branch is not None and last in OF_THE_MATTER:
            answers += self._additions(at, branch)
        if turn.asks is not None:
            assert branch is not None
            answers.append(self._domain(branch).pending[turn.asks].ask)
        keeps = [value for part in turn.parts for value in part.fields.values()] + [name for part in turn.parts for name, _ in part.items]
        keeps += [value for name, value in turn.lead_fields.items() if name in ("name", "season") or turn.pointer == "name"]
        if last == "open" or turn.parts[0].act == "open":
            assert branch is not None
            keeps.append(branch.owner.name)
        return self._dressed(said, keeps, last, turn.pointer), _joined(answers), tuple(keeps)

    def _going_on(self, part: Part, branch: Branch, said: str, before: str) -> str:
        """What is said, tied to what was said before it: to a gap the last answer named, or by a connector."""
        if part.act == "set" and (noun := self._kind(branch).slot(str(part.key[0])).noun) in before:
            return self._form("frames.filled", self.voice.frames["filled"], branch, {"noun": noun, "x": said})
        tied = self.rng.random()
        if part.act in ("trait", "follow", "list") and tied < 0.4:
            frames = "about" if part.act == "trait" else "asking"
            return self._form(f"frames.{frames}", self.voice.frames[frames], branch, {"name": branch.owner.name, "x": said})
        if part.act in CONNECTED and tied < 0.75:
            return f"{self.decks.deal('turns.connectors', self.voice.turns['connectors'])} {said}"
        return said

    def _led(self, turn: Turn, branch: Branch | None, said: str) -> str:
        """What is said, behind the words that say which matter it is of."""
        fields = {**turn.lead_fields, "x": said}
        if turn.lead == "detail":
            assert branch is not None
            fields["word"] = self._domain(branch).traits[int(turn.lead_fields["trait"])].word.format(**self._fields(branch))
        return self._form(f"frames.{turn.lead}", self.voice.frames[turn.lead], branch, fields)

    def _additions(self, at: int, branch: Branch) -> list[str]:
        """What makes an answer as long as answers are: a remark, what is still open, now and then a handful of advice."""
        rng, found = self.rng, []
        if rng.random() < 0.45 and (words := self._told(at, branch)):
            found.append(self._form("additions.recap", self.voice.additions["recap"], branch, {"words": words, "name": branch.owner.name}))
        if rng.random() < 0.45:
            found.append(self._advice(branch))
        if rng.random() < 0.3:
            found.append(self.decks.deal("turns.more", self.voice.turns["more"]))
        if rng.random() < 0.45 and (nouns := self._open_points(at, branch)):
            found.append(self._form("additions.open_points", self.voice.additions["open_points"], branch, {"nouns": nouns}))
        if rng.random() < 0.13:
            tips = [f"- {self._advice(branch)}" for _ in range(rng.randint(4, 7))]
            found.append("\n".join(["\n" + self.decks.deal("additions.advice", self.voice.additions["advice"]), *tips, ""]))
        return found

    def _domain(self, branch: Branch) -> Domain:
        return self.bank.domain(branch.domain)

    def _kind(self, branch: Branch) -> Kind:
        return self._domain(branch).kind(branch.kind)

    def _advice(self, branch: Branch) -> str:
        return self.decks.deal(f"{branch.domain}.advice", self._domain(branch).advice)

    def _told(self, at: int, branch: Branch) -> str:
        """One or two of the circumstances told of a branch up to this turn."""
        number = self.session.branches.index(branch)
        told = [int(part.key[0]) for turn in self.session.turns[: at + 1] if turn.branch == number for part in turn.parts if part.act == "trait"]
        traits = self._domain(branch).traits
        return " and ".join(traits[one].word.format(**self._fields(branch)) for one in self.rng.sample(told, min(len(told), self.rng.randint(1, 2))))

    def _open_points(self, at: int, branch: Branch) -> str:
        """The slots of a branch that nothing was said about up to this turn."""
        number = self.session.branches.index(branch)
        said = {part.key[0] for turn in self.session.turns[: at + 1] if turn.branch == number for part in turn.parts if part.key}
        kind = self._kind(branch)
        nouns = [f"the {slot.noun}" for slot in kind.slots if slot.name not in said and slot.name != kind.list.slot][:3]
        return " and ".join([", ".join(nouns[:-1]), nouns[-1]] if len(nouns) > 1 else nouns)

    def _form(self, name: str, forms: Sequence[str], branch: Branch | None, values: Mapping[str, str]) -> str:
        return self.decks.deal(name, forms).format(**{**self._fields(branch), **values})

    def _fields(self, branch: Branch | None) -> dict[str, str]:
        if branch is None:
            return {}
        role = self.voice.roles[branch.owner.role]
        thing = self.rng.choice(self._kind(branch).thing)
        return {**PRONOUNS[role.sex], "person": f"{role.role} {branch.owner.name}", "thing": thing, "things": f"{thing}s", "owner": branch.owner.name}

    def _part(self, part: Part, branch: Branch | None) -> tuple[str, str]:
        """(what is said, what is answered) of one part."""
        name = f"{branch.domain}.{branch.kind}." if branch else ""
        name += f"{part.act}.{'.'.join(map(str, part.key))}"
        if part.act in ("aside", "follow", "short", "chat"):
            [at] = part.key
            if part.act in ("short", "chat"):
                user, assistant = self.voice.turns[part.act][at]
                return user, assistant
            exchanges = self.bank.domain(self.session.domain).asides if branch is None else self._domain(branch).follows
            exchange = exchanges[int(at)]
            return exchange.user, exchange.assistant
        assert branch is not None
        domain, kind = self._domain(branch), self._kind(branch)
        match part.act:
            case "open":
                return self._form(name, kind.open, branch, {}), self._form(f"{name}.reply", kind.opened, branch, {})
            case "trait":
                trait = domain.traits[int(part.key[0])]
                return self._form(name, trait.say, branch, {}), self._form(f"{name}.reply", trait.reply, branch, {})
            case "hint":
                user, assistant = domain.traits[int(part.key[0])].hint[int(part.key[1])]
                return user.format(**self._fields(branch)), assistant.format(**self._fields(branch))
            case "set" | "change":
                slot = kind.slot(str(part.key[0]))
                frames = self.voice.frames["ack" if part.act == "set" else "changed"]
                values = {**part.fields, "noun": slot.noun}
                said = self._form(name, slot.say if part.act == "set" else slot.change, branch, values)
                return said, self._form(f"frames.{part.act}", frames, branch, values)
            case "answer":
                pending = domain.pending[int(part.key[0])]
                return self._form(name, pending.answer, branch, {}), self._form(f"{name}.reply", pending.reply, branch, {})
            case "tell":
                bridge = domain.bridges[int(part.key[0])]
                return self._form(name, bridge.tell, branch, part.fields), self._form(f"{name}.reply", bridge.reply, branch, part.fields)
            case "list":
                return _asking(self._form(name, kind.list.request, branch, {})), self._list(name, kind.list, part, branch)
            case "choose" | "rechoose":
                by = kind.list.props[int(part.key[0])][1]
                frames = self.voice.frames["pick" if part.act == "choose" else "inner"]
                said = self._form(f"frames.{part.act}", frames, branch, {"by": by})
                return said, self._form("frames.picked", self.voice.frames["picked"], branch, part.fields)
            case _:
                user, assistant = self.voice.frames["shared"][int(part.key[0])]
                names = {"name": branch.owner.name, "other": part.fields["other"], "x": user}
                return self._form("frames.both", self.voice.frames["both"], branch, names), assistant

    def _list(self, name: str, listing: Listing, part: Part, branch: Branch) -> str:
        intro = self.decks.deal(f"{name}.intro", listing.intro)
        joint = self.rng.choice((": ", " – ", ", which "))
        lines = []
        for number, (item, prop) in enumerate(part.items, 1):
            extra = f"; {self.decks.deal('additions.extras', self.voice.additions['extras'])}" if self.rng.random() < 0.7 else ""
            lines.append(f"{number}. {item}{joint}{listing.props[prop][0]}{extra}")
        return "\n".join([intro, *lines, self._advice(branch), self.decks.deal("turns.more", self.voice.turns["more"])])

    # --- Questions ----------------------------------------------------------------------------------------------------

    def _question(self, turn: Turn, asking: Asking) -> tuple[str, str, tuple[str, ...]]:
        assert turn.branch is not None
        branch = self.session.branches[turn.branch]
        kind = self._kind(branch)
        values = {"for": self._anchor(branch, asking), "value": asking.gold, "nth": ORDINALS[asking.nth]}
        told = "told"
        name = f"{branch.domain}.{branch.kind}.ask.{asking.slot}"
        match asking.dimension:
            case "B3":
                told, listing = "listed", kind.list
                if asking.by is not None:
                    values["by"] = listing.props[asking.by][1]
                text = self._form(f"{name}.{asking.by is None}", listing.ask if asking.by is None else listing.asked_by, branch, values)
            case "B4":
                assert asking.bridge is not None
                text = self._form(name, self._domain(branch).bridges[asking.bridge].ask, branch, values)
            case _:
                text = self._form(name, kind.slot(asking.slot).ask, branch, values)
        if asking.dimension == "B2":
            text = self._form("frames.latest", self.voice.frames["latest"], branch, {"x": text[0].lower() + text[1:]})
        return _sentences(text), _sentences(self._form(f"frames.{told}", self.voice.frames[told], branch, values)), ()

    def _anchor(self, branch: Branch, asking: Asking) -> str:
        """“for …”: how a question names its branch."""
        how, at = asking.anchor
        if how == "who":
            return "for the one " + self._form(f"{branch.domain}.who.{at}", self._domain(branch).traits[at].who, branch, {})
        if how == "later":
            return "for " + self._form(f"later.{branch.owner.role}", self.voice.roles[branch.owner.role].later, branch, {}).rstrip(",")
        return f"for {branch.owner.name}"

    # --- Registers ----------------------------------------------------------------------------------------------------

    def _dressed(self, said: Sequence[str], keeps: Sequence[str], last: str, pointer: str) -> str:
        """What a person says, in the register of this session: brief, chatty, without capitals, in haste."""
        rng, parts = self.rng, list(said)
        if pointer != "go on" and last not in ("short", "chat", "aside") and rng.random() < 0.25 and self.register != "terse":
            parts[0] = f"{self.decks.deal('turns.openers', self.voice.turns['openers'])}, {parts[0]}"
        if self.register == "chatty" and last != "short" and rng.random() < 0.4:
            parts.append(self.decks.deal("turns.chatty", self.voice.turns["chatty"]))
        text = " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts)
        if self.register in ("terse", "lower", "hasty"):
            text = text.removesuffix(".")
        if self.register == "lower":
            return _ALONE.sub("i", text)
        if self.register == "hasty" and rng.random() < 0.35:
            text = _mistyped(text, keeps, rng)
        return _sentences(text)


def _asking(text: str) -> str:
    return f"{text}?" if _ASKS.match(text) else text


def _joined(answers: Sequence[str]) -> str:
    """Sentences after one another; what begins or ends with a line of its own keeps it."""
    return re.sub(r" ?\n ?", "\n", " ".join(_sentences(answer) for answer in answers)).strip()


def _awake(time: datetime) -> datetime:
    """Nobody writes between midnight and six."""
    return time + timedelta(hours=6) if time.hour < 6 else time


def _sentences(text: str) -> str:
    """The same with a capital at the beginning of each sentence."""
    return _SENTENCE.sub(lambda found: found[1] + found[2].upper(), text)


def _mistyped(text: str, keeps: Sequence[str], rng: random.Random) -> str:
    """Two letters of one long word swapped, never in a name or a value."""
    kept = " ".join(keeps).casefold()
    found = [match for match in _WORD.finditer(text) if match[0] not in kept]
    if not found:
        return text
    word = rng.choice(found)
    at = word.start() + rng.randrange(1, len(word[0]) - 2)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
