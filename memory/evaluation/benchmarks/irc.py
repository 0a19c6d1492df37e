"""Ubuntu IRC disentanglement (Kummerfeld et al. 2019): many-party chat, each message linked by hand to what it answers. An outside check of localization.

`NAME.ascii.txt` holds a message a line (`[03:10] <ana> ben: try the other kernel`, `=== ana has joined #ubuntu`), numbered from 0; `NAME.annotation.txt`
has `A B -` = B replies to A, `A A -` = A begins a thread. A message may have several antecedents. The annotated range follows some 1,000 lines of context.

Every message is one observed state. Gold is given in the annotated range; of the context, the last CONTEXT lines are observed without gold, as many as the
published systems look back. A link that reaches further back stays in the gold, where nobody finds it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from memory.evaluation.benchmarks.files import WrongFileError, documents, read
from memory.evaluation.cases import Benchmark, Case, Given, Gold, Step
from memory.evaluation.threads import components

EXPECTED: Final = "the Ubuntu IRC corpus: NAME.ascii.txt beside NAME.annotation.txt, in a directory or a tar archive (jkkummerfeld/irc-disentanglement)"
CONTEXT: Final = 100
MEASURED: Final = ("dev", "test")

_SAID = re.compile(r"\[(\d\d):(\d\d)\]\s?(.*)")
_SPEAKER = re.compile(r"<[^>]*>\s?|\*\s*\S+\s?")
_ADDRESSED = re.compile(r"[^\s:,]{1,30}[:,]\s+")
_FILE = re.compile(r"(.*)\.(ascii|annotation)\.txt")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def load(path: Path, *, parts: tuple[str, ...] = MEASURED, speakers: bool = True, context: int = CONTEXT) -> Iterator[Case]:
    """The annotated files of a directory or archive. Raises WrongFileError.

    parts: which of the folders train, dev and test are read where there are such folders; train is for fitting and must be asked for.
    speakers: without, messages lose who speaks and whom a message begins by addressing (“text only”).
    """
    waiting: dict[str, dict[str, str]] = defaultdict(dict)
    made = False
    for name, file in documents(path, ".txt"):
        found = _FILE.fullmatch(name)
        if not found or not _wanted(name, parts):
            continue
        pair = waiting[found[1]]
        pair[found[2]] = read(name, file)
        if len(pair) == 2:
            del waiting[found[1]]
            made = True
            yield _case(found[1], pair["ascii"], pair["annotation"], speakers, context)
    if not made:
        raise WrongFileError(f"{path} has no pair of an ascii and an annotation file among {', '.join(parts)}. Expected {EXPECTED}.")


def _wanted(name: str, parts: tuple[str, ...]) -> bool:
    folders = set(Path(name).parts[:-1]) & {"train", "dev", "test"}
    return not folders or bool(folders & set(parts))


def _case(name: str, ascii: str, annotation: str, speakers: bool, context: int) -> Case:
    lines = ascii.removesuffix("\n").split("\n")
    antecedents = _antecedents(name, annotation, len(lines))
    first, last = min(antecedents), max(antecedents)
    start = max(0, first - context)
    notes = _notes(antecedents, lines, first, last, start)
    times = _times(name, lines, first)
    links = frozenset((str(number), str(other)) for number, others in antecedents.items() for other in others)
    threads = components(links)
    steps = []
    for number in range(start, last + 1):
        text = lines[number] if speakers else _bare(lines[number])
        gold = None
        if number in antecedents:
            gold = _gold(number, antecedents[number], start, str(threads[str(number)]))
        steps.append(Step(Given(str(number), _SAID.sub(r"\3", text).strip(), "", times[number]), gold))
    return Case(name, tuple(steps), notes=tuple(notes))


def _gold(number: int, antecedents: set[int], start: int, tree: str) -> Gold:
    """The latest observed antecedent is the parent. A message may be marked as a start and as an answer: its link to itself then stays a gold link."""
    if antecedents == {number}:
        return Gold(None, tree)
    earlier = sorted(antecedents - {number}, reverse=True)
    parent = str(earlier[0]) if earlier[0] >= start else None
    others = [str(other) for other in earlier if str(other) != parent] + [str(number)] * (number in antecedents)
    return Gold(parent, tree, tuple(others))


def is_server(text: str) -> bool:
    """Whether a line is the server's (somebody joined, left, is now called …)."""
    return text.startswith("===")


def _antecedents(name: str, annotation: str, total: int) -> dict[int, set[int]]:
    """Message → what it answers; itself where it begins a thread."""
    found: dict[int, set[int]] = defaultdict(set)
    for line in annotation.splitlines():
        if not line.strip():
            continue
        numbers = [int(part) for part in line.split() if part.isdigit()]
        if len(numbers) != 2 or max(numbers) >= total:
            raise WrongFileError(f"{name}.annotation.txt has the line {line!r}; expected `A B -` with two line numbers below {total}.")
        found[max(numbers)].add(min(numbers))
    if not found:
        raise WrongFileError(f"{name}.annotation.txt has no links. Expected {EXPECTED}.")
    return found


def _notes(antecedents: dict[int, set[int]], lines: list[str], first: int, last: int, start: int) -> list[str]:
    notes = [f"lines {first} to {last} are annotated; of the {first} lines before, the last {first - start} are observed as context"]
    if far := sum(other < start for others in antecedents.values() for other in others):
        notes.append(f"{far} links reach further back than the context; they stay in the gold")
    if several := sum(len(others) > 1 for others in antecedents.values()):
        notes.append(f"{several} messages have several antecedents: the latest is the gold parent, all are gold links")
    if bare := sum(number not in antecedents for number in range(first, last + 1)):
        notes.append(f"{bare} messages of the range have no annotation: observed without gold")
    if len(lines) > last + 1:
        notes.append(f"{len(lines) - last - 1} lines after the range are left out")
    return notes


def _bare(line: str) -> str:
    """A message without who speaks and whom it begins by addressing; a line of the server without the name it is about."""
    if is_server(line):
        return re.sub(r"^===\s+\S+(?:\s+\[[^\]]*\])?", "===", line)
    said = _SPEAKER.sub("", _SAID.sub(r"\3", line), count=1)
    return _ADDRESSED.sub("", said, count=1) or said or "…"  # nothing but a name was said, or nothing at all


def _times(name: str, lines: list[str], first: int) -> list[datetime]:
    """The time of every line: minutes of a clock without a date. The file's date is that of the first annotated line; a line of the server has the time of the
    line before; a clock that falls by more than half a day has passed midnight, by less it was only late."""
    clocks: list[timedelta] = []
    day, now = timedelta(), timedelta()
    for line in lines:
        if found := _SAID.match(line):
            told = day + timedelta(hours=int(found[1]), minutes=int(found[2]))
            if now - told > timedelta(hours=12):
                day += timedelta(days=1)
                told += timedelta(days=1)
            now = max(now, told)
        clocks.append(now)
    dated = _DAY.search(name)
    date = datetime(int(dated[1]), int(dated[2]), int(dated[3]), tzinfo=UTC) if dated else datetime(2008, 1, 1, tzinfo=UTC)
    return [date + clock - timedelta(days=clocks[first].days) for clock in clocks]


BENCHMARK: Final = Benchmark(
    name="irc",
    title="Ubuntu IRC",
    load=load,
    measures=frozenset({"links"}),
    source="Kummerfeld et al. 2019, jkkummerfeld/irc-disentanglement, CC BY 4.0",
    unit="one message",
)

TEXT_ONLY: Final = Benchmark(
    name="irc-text",
    title="Ubuntu IRC, text only",
    load=partial(load, speakers=False),
    measures=BENCHMARK.measures,
    source=BENCHMARK.source,
    unit=BENCHMARK.unit,
)
