"""What a line of many-party chat says beside its words: who speaks, to whom, what kind of line it is, which of its words are rare.

Lines are those of Ubuntu IRC (`<ana> ben: try the other kernel`, `=== ana has joined #ubuntu`). A person keeps one number through changes of name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

NOBODY: Final = -1
UNSEEN: Final = -2  # somebody is addressed whom nobody has seen

_SPOKEN: Final = re.compile(r"<([^>\s]+)>\s?(.*)", re.DOTALL)
_ACTION: Final = re.compile(r"(?:===|\*)\s+([^\s\[]+)\s+(.*)", re.DOTALL)
_RENAMED: Final = re.compile(r"===\s+(\S+)\s+is now known as\s+(\S+)")
_CAME: Final = re.compile(r"===\s+(\S+)\s+(?:\[[^\]]*\]\s+)?has (?:joined|left|quit)\b")
_SERVER: Final = re.compile(
    r"===\s*(?:(?:\S+\s+)?(?:\[[^\]]*\]\s+)?has (?:joined|left|quit)\b|(?:\S+\s+)?is now known as\b|mode/|\S*\[?(?:topic|mode|freenode-info)\b"
    r"|(?:\S+\s+)?(?:was kicked|changed the topic|sets? mode)\b|join \S+\.\S+)"
)
_LEADING: Final = re.compile(r"\s*@?([^\s:,;]{2,30})\s*(?:([:,;])|(?=\s|$))(?:\s+|$)")
_WORD: Final = re.compile(r"[a-z0-9][a-z0-9_.+/'-]*[a-z0-9+]|[a-z0-9]")
_NAME: Final = re.compile(r"[\w\[\]\\`^{}|-]{2,30}")
_TAIL: Final = re.compile(r"(?<=\w)[_`^|-]+$|(?<=\w)[|_-](?:away|afk|work|laptop|home|zzz|sleep|off)\w*$")
_BOTS: Final = re.compile(r"(?:u[bp]o[t]+[ouw]\d?|ubotu2?|ubottu|dpkg|ubugtu|floodbot\d|chanserv)_?$")


def _has(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b")


def _begins(words: str, *, behind: str = "") -> re.Pattern[str]:
    return re.compile(rf"^{behind}\W*(?:{words})\b")


# What is looked for in the text of a message, in small letters, without whom it begins by addressing.
MARKS: Final[Mapping[str, re.Pattern[str]]] = {
    "question": re.compile(r"\?"),
    "asks": _has(
        "how (?:do|can|to|should|would)|what(?:'s| is| are| do)|where|why|which|is there|are there|can i|could i|does|any ?body|any ?one|some ?one|some ?body"
        "|any ?1|any idea"
    ),
    "all": _has("any ?(?:body|one)|some ?(?:body|one)|every ?(?:body|one)|guys|all|folks|people"),
    "hello": _begins("hi+|hello+|hey+|hiya|yo|greetings|good (?:morning|evening|day|afternoon)|morning|evening|'?sup|re|howdy"),
    "thanks": _has("thanks?|thx|tnx|ty|cheers|thank ?you|appreciated?"),
    "agrees": _begins(
        "yes|yeah|yep|yup|ya|ok|okay|k|right|sure|cool|great|ah+|oh+|i see|indeed|exactly|correct|true|agreed|got it|nice|good|hm+|lol|haha+|heh",
        behind=r"(?:\W*\S+[:,])?",
    ),
    "denies": _begins("no+|nope|nah|not|never|don'?t|doesn'?t|didn'?t|i don'?t|it doesn'?t", behind=r"(?:\W*\S+[:,])?"),
    "advises": _has("try|use|run|you (?:need|can|could|should|have|want|might|may)|sudo|apt-get|install|check|look|see|edit|type|go to|that'?s|it'?s|just"),
    "mine": _has("i|i'?m|i'?ve|my|me|mine"),
    "yours": _has("you|your|u|ur|you'?re"),
    "tries": _has("i (?:am |'m )?(?:trying|want|need|have|just|get|got)|i'?m (?:trying|having|getting|using)|problems?|trouble|issues?|help|error"),
    "points": _has("it|that|this|they|them|those|these|he|she"),
    "goes_on": _begins("and|but|or|so|because|cause|then|also|which|though|however|well|anyway|btw|plus|like|with|in|on|to|for|as"),
    "link": re.compile(r"https?://|www\.|paste|ftp://"),
    "path": re.compile(r"(?:^|\s)[~/.]?/\w+|--?\w+\b|\w+\.\w{2,4}\b|sudo|\$"),
    "smiles": re.compile(r"[:;=]-?[)(DPp/|]|\blol\b|\bhaha|\bheh|\brofl"),
    "command": re.compile(r"^\s*(?:\S+[:,]\s*)?!\w"),
    "number": re.compile(r"\d"),
    "ends": re.compile(r"[.!?]\W*$"),
    "open": re.compile(r"(?:\.\.+|,|:|-)\s*$"),
    "mends": re.compile(r"^\W*(?:s/\S+/|\*\S|\S+\*$|i mean|er+m?\b|oops|sorry)"),
}
# And: says what it does (`=== ana waves`), is by a bot, log of its number of words, its rarest word, how much its words are those of starts.
OF_MESSAGE: Final = (*MARKS, "action", "bot", "long", "rare", "lean")


@dataclass(frozen=True, slots=True)
class Words:
    """How rare words are: −log of the share of messages that have them; `rarest` for those not listed. lean: how much a word speaks for the start of a
    thread (a log ratio, 0 where it says nothing). Counted over the files that the ranker is fitted on."""

    rarity: Mapping[str, float]
    lean: Mapping[str, float]
    rarest: float

    def rare(self, word: str) -> float:
        return self.rarity.get(word, self.rarest)


@dataclass(frozen=True, slots=True)
class Message:
    """One line. speaker: a person's number, or NOBODY. server: the server speaks. addressed: who it begins by addressing, NOBODY, or UNSEEN; `also` everybody
    it begins with. mentioned: whom it names elsewhere, and how surely that is a name. words: its words and their rarity. marks: OF_MESSAGE."""

    minute: float
    speaker: int
    server: bool
    addressed: int
    also: frozenset[int]
    mentioned: Mapping[int, float]
    words: Mapping[str, float]
    marks: NDArray[np.float64]


class People:
    """Who has been heard of, by any of their names. A person keeps one number through changes of name, and through tails such as `_` and `|away`."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._persons = 0
        self._last: dict[int, int] = {}  # person → the line that last told of them
        self._lines = self._said = self._named = 0

    @staticmethod
    def key(name: str) -> str:
        return _TAIL.sub("", name.casefold()) or name.casefold()

    def known(self, name: str) -> int:
        """The number of a person, or NOBODY."""
        return self._numbers.get(self.key(name), NOBODY)

    def number(self, name: str) -> int:
        """The number of a person, for a new name the one they will have."""
        return self._numbers.get(self.key(name), self._persons)

    def nearly(self, name: str) -> int:
        """Whoever is meant by an abbreviated or mistyped name, of several the one heard of last; UNSEEN if nobody is."""
        name = self.key(name)
        if len(name) < 3:
            return UNSEEN
        meant = [number for key, number in self._numbers.items() if key.startswith(name) or (len(key) > 3 and (name.startswith(key) or _one_off(key, name)))]
        return max(meant, key=lambda number: self._last[number], default=UNSEEN)

    def tell(self, named: bool) -> bool:
        """Whether the chat says who speaks: most of what was said does, a line to come (`named` or not) counted in."""
        return 2 * (self._named + named) > self._said + 1

    def hear(self, line: str) -> None:
        """Take in a line: whoever speaks in it, comes, goes or has a new name."""
        self._lines += 1
        if by_server(line):
            if found := _RENAMED.match(line):
                self._seen(found[1])
                self._numbers[self.key(found[2])] = self.number(found[1])
            elif found := _CAME.match(line):
                self._seen(found[1])
            return
        name, _, action = spoken(line)
        named = bool(name) and not action
        if name and self.tell(named):
            self._seen(name)
        self._said += 1
        self._named += named

    def _seen(self, name: str) -> None:
        number = self._numbers.setdefault(self.key(name), self._persons)
        self._persons = max(self._persons, number + 1)
        self._last[number] = self._lines


def _one_off(one: str, other: str) -> bool:
    """Whether one letter was left out, added, changed, or two were swapped."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1 or one == other:
        return False
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    return one[at + 1 :] == other[at + 1 :] or (one[at + 2 :] == other[at + 2 :] and one[at : at + 2] == other[at : at + 2][::-1])


def tokens(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in _WORD.findall(text.casefold())]


def spoken(line: str) -> tuple[str, str, bool]:
    """(who speaks, "" where that isn't said; what they say; whether they tell what they do)."""
    if found := _SPOKEN.match(line):
        return found[1], found[2], False
    if not by_server(line) and (found := _ACTION.match(line)):
        return found[1], found[2], True
    return "", line, False


def by_server(line: str) -> bool:
    """Whether the server speaks. Old logs write `=== ana waves` as well, which ana says."""
    return line.startswith("===") and (_SERVER.match(line) is not None or _ACTION.match(line) is None)


def read(line: str, time: datetime, people: People, words: Words) -> Message:
    """A line, after `people` have heard all those before it."""
    minute = time.timestamp() / 60
    if by_server(line):
        return Message(minute, NOBODY, True, NOBODY, frozenset(), {}, {}, np.zeros(len(OF_MESSAGE)))
    name, said, action = spoken(line)
    if not people.tell(bool(name) and not action):
        name = ""
    speaker = people.number(name) if name else NOBODY
    leading, rest = _leading(said, people, words)
    leading = [number for number in leading if number != speaker]
    mentioned: dict[int, float] = {}
    for word in _NAME.findall(rest):
        number = people.known(word)
        if number not in (NOBODY, speaker, *leading):
            mentioned[number] = max(mentioned.get(number, 0.0), words.rare(word.casefold()) / words.rarest)
    # What is somebody's name says whom, not what, unless it is a common word too.
    rarity = {word: words.rare(word) for word in tokens(rest) if people.known(word) == NOBODY or words.rare(word) < words.rarest}
    leans = [words.lean.get(word, 0.0) for word in rarity]
    marks = [float(mark.search(rest.casefold().strip()) is not None) for mark in MARKS.values()]
    marks += [float(action), float(_BOTS.match(name.casefold()) is not None), math.log1p(len(rest.split())), max(rarity.values(), default=0.0)]
    marks.append(sum(leans) / math.sqrt(len(leans)) if leans else 0.0)
    seen = frozenset(number for number in leading if number >= 0)
    return Message(minute, speaker, False, leading[0] if leading else NOBODY, seen, mentioned, rarity, np.array(marks))


def _leading(said: str, people: People, words: Words) -> tuple[list[int], str]:
    """Whom a text begins by addressing, and the rest of it: `ben: …`, `dora, ben: …`, `ben try …`; UNSEEN for a name that nobody has."""
    found: list[int] = []
    while (begins := _LEADING.match(said)) and len(found) < 4:
        name, mark = begins[1], begins[2]
        number = people.known(name)
        if number == NOBODY:
            common = words.rare(name.casefold()) < 0.9 * words.rarest
            if not mark or common or "/" in name or name.startswith("!"):
                break
            number = people.nearly(name)
        elif not mark and (found or words.rare(name.casefold()) < 0.6 * words.rarest):
            break
        found.append(number)
        said = said[begins.end() :]
        if mark != ",":
            break
    return found, said


def count(files: Iterable[Iterable[tuple[str, bool | None]]], *, least: int = 20, imagined: int = 20) -> Words:
    """The words of files of (line, whether it begins a thread; None where that isn't known). What is somebody's name in a file isn't counted there.

    least: words in fewer messages aren't listed. imagined: so many messages that start as often as all do are added to each word before its lean is taken."""
    having, starting, labelled = Counter[str](), Counter[str](), Counter[str]()
    total = started = known = 0
    for file in files:
        said = [(*spoken(line)[:2], start) for line, start in file if not by_server(line)]
        names = {People.key(name) for name, _, _ in said}
        for _, text, start in said:
            mine = {word for word in tokens(text) if People.key(word) not in names}
            having.update(mine)
            total += 1
            if start is not None:
                labelled.update(mine)
                starting.update(mine if start else ())
                known, started = known + 1, started + start
    rarity = {word: math.log(total / number) for word, number in having.items() if number >= least}
    rate = started / max(1, known)
    lean = {word: _odds((starting[word] + imagined * rate) / (labelled[word] + imagined)) - _odds(rate) for word in rarity} if 0 < rate < 1 else {}
    return Words(rarity, lean, math.log(max(2.0, total / least)))


def _odds(share: float) -> float:
    return math.log(share / (1 - share))
