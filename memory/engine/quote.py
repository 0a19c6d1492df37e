"""Where one text repeats the wording of another: what later answers still say of something that is forgotten.

Two rules, both over words as the index knows them (folded, stemmed, numbers normalized, function words left out), so that “The budget is € 21,500.00” and
“budget: 21500 eur” are the same:

* a *run*: RUN words of the source in its order with nothing but function words between them (DENSE_RUN characters of a script without blanks), two of
  them more than small talk; of a source shorter than that all its words, from PAIR on;
* a *value*: a name or exact value of the source – a capitalized name, a quotation, an amount, a product-like word, a handle, a number of three digits –
  wherever it stands.

Neither counts when the rest of memory says it as well (`elsewhere`): then it isn't a quote of this source alone. What is told, and redacted, is the passage,
the whole sentence or line a match stands in, since half a sentence still says what it spoke of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory.engine import terms
from memory.engine.text import sentence_places

# Stands where a passage was; an item that is nothing else is learned by nobody.
MARKER = "(deleted)"
RUN, DENSE_RUN, PAIR = 4, 8, 2

Terms = tuple[str, ...]
_SMALL = frozenset(terms.stem(word) for word in terms.COMMON)


class Wording:
    """The wording of some texts, without what `elsewhere` says too."""

    def __init__(self, texts: Iterable[str], elsewhere: Iterable[str] = ()) -> None:
        sources = [(text, _terms(text)) for text in texts if text.strip()]
        self.values = {value for text, words in sources for value in _values(text, words)}
        self.runs: set[Terms] = {run for _, words in sources for run in _runs(words)}
        self._first: dict[str, list[Terms]] = {}
        self._index()
        for other in elsewhere:
            placed = terms.placed(other)
            self.runs.difference_update(run for run, _, _ in self._runs_in(placed))
            self.values.difference_update([found for found, _, _ in self._values_in(placed)])
        self._index()

    def _index(self) -> None:
        self._first = {}
        for value in self.values:
            self._first.setdefault(value[0], []).append(value)
        for run in self.runs:
            if len(run) not in (RUN, DENSE_RUN):  # a short source, whole
                self._first.setdefault(run[0], []).append(run)

    def __bool__(self) -> bool:
        return bool(self.runs or self.values)

    def passages(self, text: str) -> list[tuple[int, int]]:
        """The sentences and lines (start, end) that repeat the wording, in order, neighbours joined."""
        if not self or not text:
            return []
        placed = terms.placed(text)
        hits = [(start, end) for _, start, end in (*self._values_in(placed), *self._runs_in(placed))]
        found: list[tuple[int, int]] = []
        for start, end in sentence_places(text):
            if not any(first < end and last > start for first, last in hits):
                continue
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return [(start, start + len(text[start:end].rstrip())) for start, end in found]

    def quoted(self, text: str) -> str:
        """The first passage; empty when there is none."""
        return next((text[start:end].strip() for start, end in self.passages(text)), "")

    def without(self, text: str) -> str:
        """The text with MARKER in place of every passage."""
        for start, end in reversed(self.passages(text)):
            lead = len(text[start:end]) - len(text[start:end].lstrip())
            text = text[: start + lead] + MARKER + text[end:]
        return text

    def _runs_in(self, placed: Sequence[tuple[str, int, int]]) -> Iterator[tuple[Terms, int, int]]:
        words = tuple(term for term, _, _ in placed)
        for length in (RUN, DENSE_RUN):
            for at in range(len(words) - length + 1):
                if (run := words[at : at + length]) in self.runs:
                    yield run, placed[at][1], placed[at + length - 1][2]

    def _values_in(self, placed: Sequence[tuple[str, int, int]]) -> list[tuple[Terms, int, int]]:
        found = []
        for at, (term, start, _) in enumerate(placed):
            for value in self._first.get(term, ()):
                if tuple(word for word, _, _ in placed[at : at + len(value)]) == value:
                    found.append((value, start, placed[at + len(value) - 1][2]))
        return found


def only_marker(text: str) -> bool:
    """Whether nothing is left of a text but markers."""
    return MARKER in text and not terms.placed(text.replace(MARKER, " "))


def value_terms(text: str) -> list[Terms]:
    """The names and exact values of a text, each as the words it is looked up by."""
    return list(dict.fromkeys(_values(text, _terms(text))))


def _terms(text: str) -> Terms:
    return tuple(term for term, _, _ in terms.placed(text))


def _dense(term: str) -> bool:
    return len(term) == 1 and not term.isascii()


def _runs(words: Terms) -> set[Terms]:
    if PAIR <= len(words) < RUN and not all(_dense(word) for word in words):
        return {words} if len({word for word in words if word not in _SMALL}) >= PAIR else set()
    return _windows(words)


def _windows(words: Terms) -> set[Terms]:
    """Every stretch of RUN words, and of DENSE_RUN characters where a stretch has nothing else."""
    found: set[Terms] = set()
    for length in (RUN, DENSE_RUN):
        for at in range(len(words) - length + 1):
            run = words[at : at + length]
            dense = all(_dense(word) for word in run)
            if dense == (length == DENSE_RUN) and len({word for word in run if word not in _SMALL}) >= PAIR:
                found.add(run)
    return found


def _values(text: str, words: Terms) -> Iterable[Terms]:
    for span in terms.entity_spans(text):
        value = _terms(span)
        if value and not all(_weak(word) for word in value):
            yield value
    yield from ((word,) for word in words if any(letter.isdigit() for letter in word) and not _weak(word))


def _weak(word: str) -> bool:
    """Too common to point at one source by itself: small talk, a letter, a number of one or two digits."""
    return word in _SMALL or len(word) < 2 or (word.isdigit() and len(word) < 3)
