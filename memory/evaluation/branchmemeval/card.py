"""The data card: what the frozen testing set is, its hash, and the figures that describe a set. The page is docs/branchmemeval.md."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from memory.evaluation.branchmemeval import dataset, difficulty
from memory.evaluation.branchmemeval.dataset import Row
from memory.evaluation.branchmemeval.difficulty import Difficulty, Figures
from memory.evaluation.measurements import ROOT

FROZEN: Final = Path(__file__).parent / "card.json"
PAGE: Final = ROOT / "docs" / "branchmemeval.md"


def frozen() -> dict[str, Any]:
    """Format, split, seed, sessions and SHA-256 of the testing set."""
    card: dict[str, Any] = json.loads(FROZEN.read_text(encoding="utf-8"))
    return card


def of(rows: Sequence[Row]) -> dict[str, Any]:
    """The card of a set."""
    return {key: rows[0][key] for key in ("format", "split", "seed", "sessions")} | {"sha256": dataset.digest(rows)}


def figures(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """What a set is made of, as (what, figure)."""
    sessions = rows[1:]
    turns = [turn for session in sessions for turn in session["turns"]]
    questions = [turn["question"] for turn in turns if "question" in turn]
    back = [session["turns"][at] for session in sessions for at in difficulty.resumptions(session)]
    answers = sorted(len(turn["assistant"].split()) for turn in turns)
    lengths = [len(session["turns"]) for session in sessions]
    return [
        ("sessions; questions; other interactions", f"{len(sessions)}; {len(questions)}; {len(turns) - len(questions)}"),
        ("turns a session, mean (least–most)", f"{statistics.mean(lengths):.2f} ({min(lengths)}–{max(lengths)})"),
        ("branches a session, asides not counted", _counted(len(session["branches"]) for session in sessions)),
        ("sessions by family", _counted(session["family"] for session in sessions)),
        ("questions by dimension", _counted(question["dimension"] for question in questions)),
        ("how questions name their branch", _counted(question["anchor"] for question in questions)),
        ("resumptions, questions included", str(len(back))),
        ("how resumptions point", _counted(turn["gold"]["pointer"] for turn in back)),
        ("forks: turns whose parent is an earlier state of their tree", str(sum(turn["gold"]["pointer"] == "earlier option" for turn in turns))),
        ("turns with a second parent", str(sum(turn["gold"]["also"] is not None for turn in turns))),
        ("asides", str(sum(turn["gold"]["branch"] is None for turn in turns))),
        ("words of an answer, mean / median / longest", f"{statistics.mean(answers):.0f} / {answers[len(answers) // 2]} / {answers[-1]}"),
        ("messages that are word for word unique", f"{len({turn['user'] for turn in turns}) / len(turns):.3f}"),
    ]


def _counted(values: Iterable[Any]) -> str:
    return " · ".join(f"{value} {count}" for value, count in sorted(Counter(values).items()))


def hardness(measured: Difficulty) -> list[tuple[str, str]]:
    """How hard a set is for similarity alone, as (what, figure)."""
    return [
        ("turns judged; of them resumptions", f"{measured.turns}; {measured.resumptions}"),
        ("previous turn: overall / resumptions", f"{measured.previous_turn:.3f} / 0"),
        ("TF-IDF to the path: overall / resumptions / resumptions when it never says “new” / questions", _four(measured.lexical)),
        ("nearest state by embedding: the same", _four(measured.nearest)),
        ("TF-IDF by how the turn points", _by_pointer(measured.lexical)),
        ("embedding by how the turn points", _by_pointer(measured.nearest)),
        (f"both below {difficulty.BAR:g} on resumptions", "yes" if measured.hard else "no"),
    ]


def _four(figures: Figures) -> str:
    return f"{figures.overall:.3f} / {figures.resumptions:.3f} / {figures.never_new:.3f} / {figures.questions:.3f}"


def _by_pointer(figures: Figures) -> str:
    return " · ".join(f"{pointer} {accuracy:.2f} of {count}" for pointer, (accuracy, count) in figures.by_pointer.items())
