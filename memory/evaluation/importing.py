"""A made-up export of any size, and what importing it takes: memory above idle, time, and what a kill in its midst leaves behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.evaluation.measurements import ROOT
from memory.sample import turns

# Every fifth answer is regenerated, every eighth question edited; now and then a tool is called in between.
REGENERATED, EDITED, TOOLS = 5, 8, 6


def write_export(path: Path, megabytes: int, seed: int) -> int:
    """A ChatGPT export of about that size, newest conversation first; how many conversations it has."""
    rng = random.Random(f"export/{seed}")
    written, number = 0, 0
    with path.open("w", encoding="utf-8") as file:
        written += file.write("[")
        while written < megabytes << 20:
            text = json.dumps(_conversation(rng, number, 1_760_000_000 - 7_000 * number), ensure_ascii=False)
            written += file.write((",\n" if number else "") + text)
            number += 1
        file.write("]")
    return number


def _conversation(rng: random.Random, number: int, began: float) -> dict[str, Any]:
    mapping: dict[str, Any] = {}

    def add(parent: str | None, role: str | None, text: str = "") -> str:
        key = f"{number:06d}-{len(mapping):04d}-{rng.getrandbits(64):016x}"
        author: dict[str, Any] = {"role": role, "name": None, "metadata": {}}
        said = {
            "id": key,
            "author": author,
            "create_time": began + 30 * len(mapping),
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
        }
        mapping[key] = {"id": key, "parent": parent, "children": [], "message": {**said, "weight": 1.0, "metadata": {}, "recipient": "all"} if role else None}
        if parent:
            mapping[parent]["children"].append(key)
        return key

    last = add(add(None, None), "system")
    for _ in range(rng.randint(4, 24)):
        asked = add(last, "user", _text(rng, 3))
        before = add(asked, "tool", _text(rng, 20)) if rng.randrange(TOOLS) == 0 else asked
        last = add(before, "assistant", _text(rng, 24))
        if rng.randrange(REGENERATED) == 0:
            last = add(asked, "assistant", _text(rng, 24))
        if rng.randrange(EDITED) == 0:
            add(add(mapping[asked]["parent"], "user", _text(rng, 3)), "assistant", _text(rng, 24))
    return {
        "title": f"Conversation {number}",
        "create_time": began,
        "update_time": began + 9000,
        "mapping": mapping,
        "current_node": last,
        "conversation_id": f"{number:06d}",
    }


def _text(rng: random.Random, sentences: int) -> str:
    """Sentences of the sample's story with numbers of their own."""
    story = turns()
    told = (rng.choice(story) for _ in range(sentences))
    return " ".join(f"{turn.user.split('. ')[0]}, number {rng.randrange(10_000)}." for turn in told)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the import: seconds, resident memory before it began and at its peak (MiB), and whether it was killed."""

    seconds: float
    idle: float
    peak: float
    killed: bool

    @property
    def above(self) -> float:
        return self.peak - self.idle


def run_import(file: Path, forest: str, user: str, kill_when: Callable[[], bool] | None = None) -> Run:
    """Import in a process of its own, watching its memory; `kill_when` ends it with SIGKILL. Idle is what it has once Django is loaded."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "import_chat", str(file), "--forest", forest, "--user", user, "--rough"],
        cwd=ROOT,
        env=os.environ.copy(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    idle = peak = 0.0
    killed = False
    for resident in _resident(process):
        peak = max(peak, resident)
        idle = idle or (resident if _reads(process.pid, file) else 0.0)
        if kill_when is not None and kill_when():
            process.send_signal(signal.SIGKILL)
            killed = True
            break
    code = process.wait()
    if code and not killed:
        raise RuntimeError(f"The import ended with {code}.")
    return Run(time.monotonic() - began, idle, peak, killed)


def _resident(process: subprocess.Popen[bytes]) -> Iterator[float]:
    """Resident memory in MiB, twenty times a second while it runs."""
    page = os.sysconf("SC_PAGE_SIZE")
    while process.poll() is None:
        try:
            yield int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * page / 2**20
        except (OSError, IndexError):
            return
        time.sleep(0.05)


def _reads(pid: int, file: Path) -> bool:
    """Whether the process has opened the file: everything is loaded, and nothing read yet."""
    try:
        return any(os.readlink(link) == str(file.resolve()) for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False
