"""A conversation whose facts are known beforehand, taken through the whole app with a real model, and what of it ended up in memory.

The scripts are ours: 30 turns over three interleaved matters, what each must teach, and questions for the end. Prompts and checks are developed on
`planted_b.json`; `planted.json` is only run to report. Turns are answered as in a web process and refined as in the worker; only the queue between
the two is left out.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory import generation
from memory.actions.observe import observe_one, parse_time
from memory.actions.refine import drain
from memory.actions.send_turn import send_turn
from memory.models import EVIDENCE_MODELS, ContextTrace, EvidenceRow, Forest, InteractionState, Turn
from memory.threads import in_thread

HERE = Path(__file__).parent
SCRIPTS = {"a": HERE / "planted.json", "b": HERE / "planted_b.json"}
ANSWER_SECONDS = 300.0
Told = Callable[[str], None]


@dataclass(slots=True)
class Outcome:
    """What came of one run; shares are made from these lists and sums."""

    turns: int = 0
    planted: int = 0
    stored: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    wrong_status: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    rows: int = 0
    shown: int = 0
    answered: int = 0
    questions: int = 0
    failed: list[str] = field(default_factory=list)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    extract_seconds: float = 0.0
    answer_seconds: float = 0.0
    dropped: Counter[str] = field(default_factory=Counter)


def script(name: str = "a") -> dict[str, Any]:
    """A scripted conversation: “a” to report, “b” to develop on."""
    loaded: dict[str, Any] = json.loads(SCRIPTS[name].read_text(encoding="utf-8"))
    return loaded


def run(
    forest: Forest, given: Mapping[str, Any], *, turns: int | None = None, questions: bool = True, stream: bool = True, tell: Told = lambda line: None
) -> Outcome:
    """Take a script through the app. `stream` False: the scripted answers are given and only the reading is the model's."""
    chosen = given["turns"][:turns]
    outcome = Outcome(turns=len(chosen), planted=sum(len(turn["planted"]) for turn in chosen))
    asyncio.run(_talk(forest, chosen, outcome, stream, tell))
    _judge(forest, chosen, outcome)
    if questions and turns is None:
        asyncio.run(_ask(forest, given["questions"], outcome, tell))
    return outcome


async def _talk(forest: Forest, turns: Sequence[Mapping[str, Any]], outcome: Outcome, stream: bool, tell: Told) -> None:
    await generation.startup()
    try:
        for number, turn in enumerate(turns, 1):
            started = time.perf_counter()
            if stream:
                failed = await _answered(forest, turn["user"], turn["id"], turn["time"])
                if failed:
                    outcome.failed.append(f"{turn['id']}: {failed}")
                    continue
            else:
                await in_thread(observe_one, forest, {key: turn[key] for key in ("id", "user", "assistant", "time")}, tell=False)
            answered = time.perf_counter()
            await in_thread(drain, forest.pk)
            outcome.answer_seconds += answered - started
            outcome.extract_seconds += time.perf_counter() - answered
            tell(f"{number}/{len(turns)} {turn['id']}: answered in {answered - started:.1f} s, read in {time.perf_counter() - answered:.1f} s")
    finally:
        await generation.shutdown()


async def _answered(forest: Forest, text: str, client_id: str, sent_at: str | None = None) -> str:
    """Send a turn and wait for its answer; what went wrong, empty when nothing did."""
    turn, _ = await in_thread(send_turn, forest, text, client_id=client_id)
    if sent_at:
        await in_thread(lambda: Turn.objects.filter(pk=turn.pk).update(sent_at=parse_time(sent_at)))
    generation.kick(forest.pk)
    deadline = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < deadline:
        await in_thread(turn.refresh_from_db)
        if turn.status in Turn.COMMITTED:
            return ""
        if turn.status in Turn.BROKEN:
            return str((turn.error or {}).get("code", turn.status))
        await asyncio.sleep(0.1)
    return "no answer in time"


async def _ask(forest: Forest, questions: Sequence[Mapping[str, Any]], outcome: Outcome, tell: Told) -> None:
    await generation.startup()
    try:
        for number, question in enumerate(questions, 1):
            outcome.questions += 1
            failed = await _answered(forest, question["text"], f"question {number}")
            evidence, answer = ("", failed) if failed else await in_thread(_told, forest, f"question {number}")
            outcome.shown += _has(evidence, question["answer"])
            right = not failed and _has(answer, question["answer"])
            outcome.answered += right
            tell(f"{'right' if right else 'wrong'}: {question['text']} → {' '.join(answer.split())[:200]}")
    finally:
        await generation.shutdown()


def _told(forest: Forest, client_id: str) -> tuple[str, str]:
    turn = Turn.objects.select_related("state").get(forest=forest, client_id=client_id)
    trace = ContextTrace.objects.get(turn=turn)
    return " ".join(item["text"] for block in trace.blocks for item in block["items"]), turn.state.assistant_text


# --- Judging -----------------------------------------------------------------------------------------------------------------


def _judge(forest: Forest, turns: Iterable[Mapping[str, Any]], outcome: Outcome) -> None:
    rows: dict[str, list[EvidenceRow]] = {}
    for model in EVIDENCE_MODELS.values():
        for row in model.objects.in_forest(forest).select_related("state__turn"):
            rows.setdefault(row.state.turn.client_id, []).append(row)
    for state in InteractionState.objects.in_forest(forest).select_related("turn"):
        report = state.extraction_report
        outcome.calls += report.get("calls", 0)
        outcome.input_tokens += report.get("input_tokens", 0)
        outcome.output_tokens += report.get("output_tokens", 0)
        outcome.dropped.update(report.get("dropped", {}))
        if state.refine_error:
            outcome.failed.append(f"{state.turn.client_id}: {state.refine_error['code']}")
    heard = ""
    for turn in turns:
        heard = f"{heard} {turn['user']}"
        # Artifacts are the assistant's: what it made up is its own, and not judged here.
        learned = [row for row in rows.get(turn["id"], []) if not hasattr(row, "item_text")]
        outcome.rows += len(learned)
        for planted in turn["planted"]:
            found = [row for row in learned if all(_plain(word) in _plain(f"{row.text} {row.value}") for word in planted["says"])]
            (outcome.stored if found else outcome.missed).append(f"{turn['id']} {planted['name']}")
            slotted = [row for row in found if row.slot]
            if planted.get("replaced") and slotted and all(row.status == "current" for row in slotted):
                outcome.wrong_status.append(f"{turn['id']} {planted['name']} in {', '.join(sorted({row.slot for row in slotted}))}")
        outcome.unsupported += [f"{turn['id']} {row.text}" for row in learned if turn.get("nothing") or not _backed(row, turn["user"], heard)]


def _backed(row: EvidenceRow, said: str, heard: str) -> bool:
    """By other means than the engine's own check: each number of a row was said in its turn, each name in it or before."""
    numbers = {_digits(number) for number in re.findall(r"\d[\d.,:]*", row.text)} - {""}
    names = re.findall(r"(?<=\s)[A-ZÀ-Þ][\w-]+", row.text)
    return numbers <= {_digits(number) for number in re.findall(r"\d[\d.,:]*", said)} and all(_plain(name) in _plain(heard) for name in names)


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _has(text: str, wanted: Sequence[Sequence[str]]) -> bool:
    return all(any(_plain(way) in _plain(text) for way in ways) for ways in wanted)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
