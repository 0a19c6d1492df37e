"""Phrases of a language as data, all of them found in one pass over a text's tokens.

A phrase is words with blanks between them, written as people write. `(a|b c)` is either, `[a]` may be missing, `*` is any one word, `…` up to three,
`#` a number, `{list}` an entry of a named list, `{!list}` one word that isn't in it, `begin~` and `~end` a word that begins or ends so, `<name>` a word
written with a capital (any word where a script has none). A `,` or `:` in a phrase must stand in the text; those of the text alone are passed over.
Scripts without blanks go by the character. Matching is Glushkov's automaton: a position of a phrase is a node, so the time is bounded by text × phrase,
whatever the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache

from memory.engine.terms import DENSE, fold

PAUSES = frozenset(",:")
STOPS = frozenset(".?!")
_TOKEN = re.compile(rf"[{DENSE}]|[^\W\d_{DENSE}]+|\d+(?:[.,:/]\d+)*|[?？؟]+|[!！]+|[.。…\n]+|[,，、;；،]|[:：]|(?<= )[-–—](?= )")
_NORMAL = str.maketrans("？؟！。…\n，、;；،：–—-", "??!...,,,,,::::")
_PHRASE = re.compile(r"\{!?\w+\}|<name>|[()\[\]|*…#,:]|[^\s()\[\]|{}<>*…#,:]+")


def tokens(text: str) -> list[str]:
    """The words of a text (folded; characters of scripts without blanks; numbers) and its punctuation: `,` `:` `.` `?` `!`, one for many."""
    return [token for token, _, _ in placed(fold(text))]


def placed(folded: str) -> list[tuple[str, int, int]]:
    """The tokens of a folded text, each with where it begins and ends."""
    return [(token if (token := match.group())[0].isalnum() else token[0].translate(_NORMAL), *match.span()) for match in _TOKEN.finditer(folded)]


@cache
def split(text: str) -> tuple[str, ...]:
    """The tokens of a text that is read again and again: the words of phrases."""
    return tuple(tokens(text))


class _Any:
    def __contains__(self, token: object) -> bool:
        return token not in PAUSES and token not in STOPS


class _Number:
    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and token[0].isdigit()


class _Except:
    def __init__(self, words: Container[str]) -> None:
        self.words = words

    def __contains__(self, token: object) -> bool:
        return token not in self.words and token not in PAUSES and token not in STOPS


class _Begins:
    def __init__(self, beginning: str) -> None:
        self.beginning = beginning

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and token.startswith(self.beginning)


class _Ends:
    def __init__(self, ending: str) -> None:
        self.ending = ending

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and token.endswith(self.ending)


class _Node:
    """One place of a phrase: which tokens may stand there, what may follow, which tags are complete after it."""

    __slots__ = ("follow", "named", "tags", "words")

    def __init__(self, words: Container[str], named: bool = False) -> None:
        self.words = words
        self.named = named
        self.follow = _Nodes()
        self.tags: list[str] = []


class _Nodes:
    """Nodes that may come next, found by the token: most of them say which words they take. The index is made when it is first needed."""

    __slots__ = ("_by_word", "_others", "all")

    def __init__(self) -> None:
        self.all: list[_Node] = []
        self._by_word: dict[str, list[_Node]] | None = None
        self._others: list[_Node] = []

    def extend(self, nodes: Iterable[_Node]) -> None:
        self.all.extend(nodes)
        self._by_word = None

    def taking(self, token: str, names: Container[str]) -> list[_Node]:
        """Those that take a token."""
        if self._by_word is None:
            self._by_word, self._others = defaultdict(list), []
            for node in dict.fromkeys(self.all):
                if isinstance(node.words, frozenset):
                    for word in node.words:
                        self._by_word[word].append(node)
                else:
                    self._others.append(node)
        listed = self._by_word.get(token)
        if not self._others:
            return listed or []
        others = [node for node in self._others if (not node.named or _is_name(token, names)) and token in node.words]
        return listed + others if listed else others


class _Piece:
    """A part of a phrase: the nodes it may begin and end with, and whether it may be empty."""

    __slots__ = ("empty", "first", "last")

    def __init__(self, first: list[_Node], last: list[_Node], empty: bool) -> None:
        self.first, self.last, self.empty = first, last, empty

    def then(self, after: _Piece) -> _Piece:
        for node in self.last:
            node.follow.extend(after.first)
        return _Piece(self.first + after.first if self.empty else self.first, self.last + after.last if after.empty else after.last, self.empty and after.empty)

    def either(self, other: _Piece) -> _Piece:
        return _Piece(self.first + other.first, self.last + other.last, self.empty or other.empty)


class Phrases:
    """Phrases with tags, to be found in tokens. `lists` are named lists of alternatives, `a|b c|…`, that phrases call `{name}`."""

    def __init__(self, lists: Mapping[str, str] | None = None) -> None:
        self.lists = dict(lists or {})
        self._first = _Nodes()

    def add(self, phrase: str, tag: str) -> None:
        """Add a phrase under a tag. Raises ValueError, saying what is wrong, for one that can't be read or could match nothing at all."""
        symbols = _PHRASE.findall(phrase)
        if "".join(symbols) != "".join(phrase.split()):
            raise ValueError(f"“{phrase}” has a character that means nothing in a phrase")
        piece, rest = self._choice(symbols, 0)
        if rest < len(symbols):
            raise ValueError(f"“{phrase}” closes a bracket that was never opened")
        if piece.empty or not piece.first:
            raise ValueError(f"“{phrase}” would match without a word")
        for node in piece.last:
            node.tags.append(tag)
        self._first.extend(piece.first)

    def at(self, place: int, text: Sequence[str], names: Container[str] = frozenset()) -> Iterator[tuple[str, int]]:
        """Tags of the phrases that begin at a place, each with the place after its end; `names`: the words written with a capital."""
        nodes: Collection[_Node] = self._first.taking(text[place], names)
        while nodes:
            place += 1
            for node in nodes:
                for tag in node.tags:
                    yield tag, place
            following: dict[_Node, None] = {}
            while place < len(text):
                token = text[place]
                for node in nodes:
                    if node.follow.all:
                        for after in node.follow.taking(token, names):
                            following[after] = None
                if following or token not in PAUSES:
                    break
                place += 1
            nodes = following

    def find(self, text: Sequence[str], names: Container[str] = frozenset()) -> Iterator[tuple[str, int, int]]:
        """All phrases in a text, as tag, first token, token after the last."""
        for place in range(len(text)):
            for tag, end in self.at(place, text, names):
                yield tag, place, end

    # A phrase is read by descent: a choice of rows of parts.

    def _choice(self, symbols: Sequence[str], place: int) -> tuple[_Piece, int]:
        rows: list[_Piece] = []
        while True:
            row, place = self._row(symbols, place)
            rows.append(row)
            if place == len(symbols) or symbols[place] != "|":
                break
            place += 1
        return _together(rows), place

    def _row(self, symbols: Sequence[str], place: int) -> tuple[_Piece, int]:
        row = _Piece([], [], True)
        while place < len(symbols) and symbols[place] not in ("|", ")", "]"):
            symbol = symbols[place]
            if symbol in ("(", "["):
                part, place = self._choice(symbols, place + 1)
                if place == len(symbols) or symbols[place] != {"(": ")", "[": "]"}[symbol]:
                    raise ValueError(f"“{' '.join(symbols)}” opens a bracket that is never closed")
                part = _Piece(part.first, part.last, part.empty or symbol == "[")
            else:
                part = self._part(symbol)
            row = row.then(part)
            place += 1
        return row, place

    def _part(self, symbol: str) -> _Piece:
        if symbol == "…":
            some = _Piece([], [], True)
            for _ in range(3):
                one = self._part("*")
                some = some.then(_Piece(one.first, one.last, True))
            return some
        if symbol.startswith("{"):
            name = symbol.strip("{!}")
            if name not in self.lists:
                raise ValueError(f"there is no list “{name}”")
            if symbol.startswith("{!"):
                return _one(_Node(_Except(frozenset(word for entry in self.lists[name].split("|") for word in tokens(entry)))))
            return self._choice(_PHRASE.findall(self.lists[name]), 0)[0]
        if symbol in ("*", "#", "<name>"):
            return _one(_Node(_Number() if symbol == "#" else _Any(), named=symbol == "<name>"))
        row = _Piece([], [], True)
        words = split(symbol)
        if not words:
            raise ValueError(f"“{symbol}” is no word")
        for word in words[:-1]:
            row = row.then(_one(_Node(frozenset([word]))))
        last: Container[str] = frozenset([words[-1]])
        if symbol.endswith("~"):
            last = _Begins(words[-1])
        elif symbol.startswith("~"):
            last = _Ends(words[-1])
        return row.then(_one(_Node(last)))


def _one(node: _Node) -> _Piece:
    return _Piece([node], [node], False)


def _together(rows: Sequence[_Piece]) -> _Piece:
    """A choice; its single words become one node, so that what follows is written once."""
    words: set[str] = set()
    others = []
    for row in rows:
        node = row.first[0] if len(row.first) == 1 and not row.empty else None
        if node is not None and row.last == [node] and isinstance(node.words, frozenset) and not node.follow.all:
            words |= node.words
        else:
            others.append(row)
    if words:
        others.append(_one(_Node(frozenset(words))))
    made = others[0]
    for row in others[1:]:
        made = made.either(row)
    return made


def _is_name(token: str, names: Container[str]) -> bool:
    """Whether a word is written with a capital, or in a script that has none."""
    return token in names or (not token.isascii() and token.isalpha() and token.upper() == token.lower())
