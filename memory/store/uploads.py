"""Files that wait to be imported: a folder for each job under settings.UPLOADS_DIR, gone when the job is."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

NAME = "upload"
PLAIN = "plain"
# A folder that no job knows yet is being written; after so long it was left behind.
ABANDONED_SECONDS = 3600


def new_folder() -> Path:
    """An empty folder for what arrives now; `keep` gives it to its job."""
    folder = Path(settings.UPLOADS_DIR) / f"new-{uuid.uuid4().hex}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


def keep(folder: Path, job: int) -> None:
    folder.rename(folder_of(job))


def discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def folder_of(job: int) -> Path:
    return Path(settings.UPLOADS_DIR) / f"job-{job}"


def plain_folder(job: int) -> Path:
    """An empty folder for what is in an archive; what an interrupted run left there is dropped."""
    folder = folder_of(job) / PLAIN
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return folder


def drop(jobs: Iterable[int]) -> None:
    """Delete the files of these jobs."""
    for job in jobs:
        shutil.rmtree(folder_of(job), ignore_errors=True)


def kept() -> set[int]:
    """Numbers of the jobs whose files are here; folders that nobody came for are deleted on the way."""
    root = Path(settings.UPLOADS_DIR)
    if not root.is_dir():
        return set()
    found = set()
    for folder in root.iterdir():
        kind, _, number = folder.name.partition("-")
        if kind == "job" and number.isdigit():
            found.add(int(number))
        elif kind == "new" and time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    return found
