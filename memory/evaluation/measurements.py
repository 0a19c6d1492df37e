"""Figures that a command measured, written into docs/measurements.md with what is needed to judge and repeat them.

Each section of that page belongs to one command and is replaced whole, so the page never mixes two runs in one table.
"""

import fcntl
import os
import platform
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "measurements.md"
HEAD = "# Measurements\n\nEvery table is written by the command named under it; figures are of the machine named there and no other.\n"


def record(section: str, rows: list[tuple[str, str]], *, title: str | None = None, note: str = "", command: str | None = None, page: Path = PAGE) -> None:
    """Replace the section of that name between its markers (added at the end when new); rows are (what, figure), both plain Markdown.

    `section` is an identifier such as `boot`; `title` the heading of a new section. `command` is how to repeat it, by default the running command.
    """
    table = "\n".join(["| what | measured |", "|---|---|", *(f"| {cell(what)} | {cell(figure)} |" for what, figure in rows)])
    source = f"{datetime.now(UTC):%Y-%m-%d}, commit {commit()}, {machine()}. Again: `{command or running_command()}`"
    write(section, "\n\n".join(part for part in (note, table, source) if part), title=title, page=page, head=HEAD)


def write(section: str, text: str, *, title: str | None, page: Path, head: str) -> None:
    """Replace what stands between the markers of a section by `text`; a new section comes at the end, under its title. `head` begins a new page."""
    if not re.fullmatch(r"[a-z0-9-]+", section):
        raise ValueError(f"A section is named by a-z, 0-9 and hyphens, not {section!r}.")
    begin, end = f"<!-- begin {section} -->", f"<!-- end {section} -->"
    block = "\n\n".join((begin, text.strip(), end))
    page.parent.mkdir(parents=True, exist_ok=True)
    with page.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two commands may end at the same time
        file.seek(0)
        there = file.read() or head
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if pattern.search(there):
            there = pattern.sub(lambda _: block, there, count=1)
        else:
            there = f"{there.rstrip()}\n\n## {title or section.replace('-', ' ').capitalize()}\n\n{block}\n"
        file.seek(0)
        file.truncate()
        file.write(there)


def cell(text: str) -> str:
    """Text as a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def commit() -> str:
    """The short hash of the checkout, with a remark when files differ from it; what is written about it (docs) changes no figure."""
    try:
        short = _git("rev-parse", "--short", "HEAD")
        return f"{short} with local changes" if _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs") else short
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def machine() -> str:
    """Processor, cores this process may use, memory and system, in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{_cpu()}, {cores} cores, {memory:.0f} GB RAM, {_system()}, Python {platform.python_version()}"


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def running_command() -> str:
    """The command line of this process, absolute paths cut to their last part, since they mean nothing elsewhere."""
    program = Path(sys.argv[0]).name
    if program == "__main__.py" or (program.endswith(".py") and program != "manage.py"):
        spec = getattr(sys.modules.get("__main__"), "__spec__", None)
        start = ["python", "-m", spec.name.removesuffix(".__main__")] if spec else ["python", program]
    else:
        start = ["python", program] if program == "manage.py" else [program]
    return shlex.join([*start, *(re.sub(r"(^|=)/\S*/", r"\1", argument) for argument in sys.argv[1:])])
