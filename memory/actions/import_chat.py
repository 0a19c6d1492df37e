"""Import the conversations of another chat, or a forest of ours: idempotent, resumable, and with a word for all that was left out (RELIABILITY X1).

An upload is kept in a folder of its job until the job is done. Whoever runs it holds the import's row by name; a run that was killed is taken up by the
next sweep, reads the file again and goes on after the turns that are there already: the ids of the export are their client ids.
"""

from __future__ import annotations

import logging
import os
import socket
import time
import traceback
import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memory import imports, messages, steps
from memory.actions.refine import drain
from memory.actions.restore_forest import restore
from memory.errors import Refused, invalid, too_large
from memory.imports import Given, Note
from memory.imports.reading import ARBORWEB, format_of
from memory.llm.embed import embedder
from memory.models import Forest, Import, InteractionState, Job, Outbox, Turn
from memory.models.forest import Origin
from memory.store import bulk, forgotten, jobs, texts, uploads
from memory.store.write import lock

log = logging.getLogger(__name__)

KIND = "import"
BATCH = 32
LINES = 200
STALE_SECONDS = 30
BEAT_SECONDS = 2.0
UNKNOWN = "Import conversations.json of ChatGPT or Claude, a chat export of Open WebUI or LibreChat, an export of ArborWeb, or JSON lines with a turn each."


class LostError(Exception):
    """Another process imports this file now, or its forest is gone."""


def limits() -> imports.Limits:
    packed = settings.MAX_IMPORT_MB << 20
    return imports.Limits(packed=packed, unpacked=5 * packed)


def receive(forest: Forest, chunks: Iterable[bytes], *, relocalize: bool = False) -> Job:
    """Write an upload down and leave its import to the worker. Raises Refused for one that is too large or holds nothing we know."""
    folder = uploads.new_folder()
    try:
        size = 0
        with (folder / uploads.NAME).open("wb") as file:
            for chunk in chunks:
                size += file.write(chunk)
                if size > limits().packed:
                    raise too_large(f"An import takes at most {settings.MAX_IMPORT_MB} MiB.", "Import it in parts.")
        if size == 0:
            raise invalid("The file is empty.", UNKNOWN)
        check(folder / uploads.NAME)
        with transaction.atomic():
            job = Job.objects.create(forest=forest, kind=KIND, message="Waiting for the worker")
            Import.objects.create(forest=forest, job=job, relocalize=relocalize)
            Outbox.objects.create(forest=forest, kind=KIND, subject=job.pk)
            uploads.keep(folder, job.pk)
    except BaseException:
        uploads.discard(folder)
        raise
    return job


def check(path: Path) -> None:
    """Refuse at once what can't be an import: neither an archive nor a file of a format we know. What is in an archive is looked at by the worker."""
    try:
        if not imports.is_archive(path):
            with path.open("rb") as file:
                if format_of(file) is None:
                    raise invalid("This file holds no conversations of a format we know.", UNKNOWN)
    except imports.Refusal as refusal:
        raise (too_large if refusal.large else invalid)(str(refusal), UNKNOWN) from None


def begin(forest: Forest, path: Path, *, relocalize: bool = False) -> Job:
    """A job for a file of the command line's, which runs it itself."""
    check(path)
    with transaction.atomic():
        job = Job.objects.create(forest=forest, kind=KIND, message="Reading")
        Import.objects.create(forest=forest, job=job, relocalize=relocalize, path=str(path.resolve()))
    return job


def unfinished() -> list[int]:
    """Jobs of uploads that nobody works on: waiting without a word to the worker, or left by a killed one. Their files' leftovers are dropped."""
    now = timezone.now()
    stale = now - timedelta(seconds=STALE_SECONDS)
    kept = uploads.kept()  # first: a job that begins meanwhile has its row before its folder
    open_now = Import.objects.filter(job__status__in=(Job.Status.WAITING, Job.Status.RUNNING))
    read_now = Import.objects.filter(heartbeat_at__gte=stale).exclude(holder="")  # a cancelled one, until who reads it has noticed
    uploads.drop(kept - set((open_now | read_now).values_list("job_id", flat=True)))
    left = open_now.filter(Q(heartbeat_at__lt=stale) | Q(heartbeat_at=None, job__created_at__lt=stale), path="")
    jobs = list(left.values_list("job_id", flat=True)[:20])
    Import.objects.filter(job__in=jobs).update(holder="", heartbeat_at=now)  # so that the next sweep doesn't tell of them again
    return jobs


def run(job_id: int) -> None:
    """Import the file of a job; nothing happens when it is done, gone, or another process imports it now."""
    given = _claim(job_id)
    if given is None:
        return
    at_work = _Run(given)
    try:
        try:
            _go(at_work)
        except jobs.CancelledError:
            at_work.cancelled()
    except LostError:
        log.info("job %s: another process imports it, or it is gone", job_id)
        return
    except Forest.DoesNotExist:
        log.info("job %s: its forest is gone", job_id)
    uploads.drop([job_id])


def _go(at_work: _Run) -> None:
    """Import, and say at the end what came of it; also when it fails."""
    try:
        at_work.go()
    except (jobs.CancelledError, LostError, Forest.DoesNotExist):
        raise
    except (Refused, imports.Refusal) as refusal:
        action = refusal.action if isinstance(refusal, Refused) else UNKNOWN
        code = refusal.code if isinstance(refusal, Refused) else "too_large" if refusal.large else "invalid"
        at_work.end(Job.Status.FAILED, "Not imported", {"code": code, "message": str(refusal), "action": action})
    except Exception as error:
        # Never the error's own words: a database quotes the row.
        log.error("job %s could not be imported (%s)\n%s", at_work.job.pk, type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        message = f"The import stopped ({type(error).__name__}); what was taken in before stays."
        at_work.end(Job.Status.FAILED, "Stopped", {"code": "failed", "message": message, "action": "Import the file again: it goes on where it stopped."})


def _claim(job_id: int) -> Import | None:
    """Take the import's row, unless someone who is alive holds it."""
    holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    now = timezone.now()
    free = Q(holder="") | Q(heartbeat_at__isnull=True) | Q(heartbeat_at__lt=now - timedelta(seconds=STALE_SECONDS))
    mine = Import.objects.filter(free, job=job_id, job__status__in=(Job.Status.WAITING, Job.Status.RUNNING))
    if not mine.update(holder=holder, heartbeat_at=now):
        return None
    return Import.objects.select_related("job", "forest").get(job=job_id)


class _Run:
    """One run of an import: its batch under way, its report, and its signs of life."""

    def __init__(self, given: Import) -> None:
        self.given, self.job, self.forest = given, given.job, given.forest
        self.counts = {"new": 0, "known": 0}
        self.left_out: dict[str, int] = {}
        self.lines: list[str] = []
        self.batch: list[Given] = []
        self.asked: dict[str, int | None] = {}  # question → the parent that localization found for it
        self.done = 0
        self.last_time: datetime = self.job.created_at
        self.beaten = time.monotonic()

    # --- Life and report

    def beat(self) -> None:
        """A sign of life, now and then. Raises LostError when the import isn't ours any more, CancelledError when nobody wants it any more."""
        if time.monotonic() - self.beaten > BEAT_SECONDS:
            self.save()

    def save(self, status: str = Job.Status.RUNNING, **more: Any) -> None:
        self._save_report()
        try:
            jobs.report(self.job.pk, status=status, done=self.done, total=self.job.total, **more)
        except Job.DoesNotExist:
            raise LostError from None

    def _save_report(self) -> None:
        self.beaten = time.monotonic()
        report = {"counts": {**self.counts, "left_out": dict(sorted(self.left_out.items()))}, "left_out": self.lines, "heartbeat_at": timezone.now()}
        if not Import.objects.filter(pk=self.given.pk, holder=self.given.holder).update(**report):
            raise LostError

    def note(self, notes: Iterable[Note]) -> None:
        for note in notes:
            self.left_out[note.reason] = self.left_out.get(note.reason, 0) + 1
            if len(self.lines) < LINES:
                self.lines.append(str(note)[:400])

    def end(self, status: str, message: str, error: dict[str, str] | None = None) -> None:
        """The last word, in one transaction with what the worker is to do next; watching pages are told once."""
        with transaction.atomic():
            self.save(status, message=message, error=error)
            self._let_go()

    def cancelled(self) -> None:
        """The same of an import that was cancelled: what was taken in before stays."""
        with transaction.atomic():
            self._save_report()
            jobs.last_words(self.job.pk, f"Cancelled: {self._words('turns')}", done=self.counts["new"] + self.counts["known"], total=self.job.total)
            self._let_go()

    def _let_go(self) -> None:
        Import.objects.filter(pk=self.given.pk).update(holder="", formats=self.given.formats)
        if self.counts["new"]:
            Outbox.objects.create(forest_id=self.forest.pk, kind="refine", subject=0)
        transaction.on_commit(partial(messages.announce, self.forest.pk, "forest.changed", {"why": KIND, "job": self.job.pk}))

    # --- The import

    def go(self) -> None:
        steps.check_embedder(self.forest)
        self.save(message="Reading the file", error=None)
        path = Path(self.given.path) if self.given.path else uploads.folder_of(self.job.pk) / uploads.NAME
        if not path.is_file():
            raise invalid("The file isn't there any more.", "Import it again.")
        files, notes = imports.unpack(path, uploads.plain_folder(self.job.pk), limits(), path.name if self.given.path else "The file", self.beat)
        self.note(notes)
        surveyed = imports.survey(files, self.beat)
        self.note(surveyed.notes)
        self.given.formats = sorted(surveyed.formats)
        if ARBORWEB in surveyed.formats:
            self._restore(surveyed)
        elif not surveyed.formats:
            raise invalid("There are no conversations of a format we know in this file.", UNKNOWN)
        else:
            self._take_in(surveyed)

    def _restore(self, surveyed: imports.Survey) -> None:
        for path in surveyed.files:
            with path.open("rb") as file:
                if format_of(file) == ARBORWEB:
                    counts, notes = restore(self.forest, file, self._told)
                    self.note(notes)
                    self.counts = {**self.counts, **counts}
        self.end(Job.Status.DONE, self._words("states"))

    def _told(self, done: int, total: int) -> None:
        self.done, self.job.total = done, total
        self.beat()

    def _take_in(self, surveyed: imports.Survey) -> None:
        self.job.total = surveyed.total
        self.save(message="Taking in the turns")
        for found in surveyed.found:
            try:
                conversation = imports.read(surveyed, found)
            except ValueError as error:
                self.note([Note("unreadable", f"conversation {found.number}", f"left out: {error}")])
                continue
            self.note(conversation.notes)
            for given in conversation.given:
                self.batch.append(self._sound(given))
                if len(self.batch) >= BATCH:
                    self._flush()
        self._flush()
        self.end(Job.Status.DONE, self._words("turns"))

    def _words(self, what: str) -> str:
        left = sum(self.left_out.values())
        known = f", {self.counts['known']:,} were there already" if self.counts["known"] else ""
        return f"{self.counts['new']:,} {what} taken in{known}" + (f"; {left:,} remarks on what was left out or changed" if left else "")

    def _sound(self, given: Given) -> Given:
        """With a time, and texts of a length we keep."""
        if given.time is None:
            self.note([Note("no time", given.id[:60], "it has no time and gets that of the turn before it")])
        self.last_time = given.time or self.last_time
        return replace(given, time=self.last_time, user=self._cut(given, given.user), assistant=self._cut(given, given.assistant))

    def _cut(self, given: Given, text: str) -> str:
        size = len(text.encode())
        if size <= settings.MAX_TURN_BYTES:
            return text
        self.note([Note("too long", given.id[:60], f"a text of {size / 1024:.0f} KiB is cut after {settings.MAX_TURN_BYTES // 1024} KiB")])
        return text.encode()[: settings.MAX_TURN_BYTES].decode("utf-8", "ignore")

    def _flush(self) -> None:
        batch, self.batch = self.batch, []
        known = bulk.known_ids(self.forest.pk, [given.id for given in batch])
        deleted = forgotten.turns(self.forest.pk, [given.id for given in batch if given.id not in known])
        self.note(Note("deleted here", "", "a turn that was deleted in this forest isn't taken in again") for _ in deleted)
        known |= deleted
        fresh = [given for given in batch if given.id not in known]
        self.counts["known"] += len(batch) - len(fresh)
        self.done += len(batch) - len(fresh)
        told: list[Given] = []
        for given in fresh:
            if self.given.relocalize or given.free:
                self._commit(told)
                told = []
                self._find_place(given)
            else:
                told.append(given)
        self._commit(told)
        self.beat()

    def _commit(self, batch: list[Given]) -> None:
        if not batch:
            return
        vectors = embedder().embed([texts.of_turn(given.user, given.assistant) for given in batch])
        incoming = [
            bulk.Incoming(
                given.id, given.parent, steps.rough(given.user, given.assistant, given.time or self.last_time, Origin.IMPORTED, vector), given.answered
            )
            for given, vector in zip(batch, vectors, strict=True)
        ]
        named = {given.parent for given in batch if given.parent} - {given.id for given in batch}
        gone = named - bulk.known_ids(self.forest.pk, named)
        self.note(Note("unknown parent", parent[:60], "it isn't here; what continues it begins a tree") for parent in sorted(gone))
        self.done += len(batch)
        with transaction.atomic():
            self.save()  # in the same transaction: who has lost the import writes nothing
            self.counts["new"] += len(bulk.commit(self.forest.pk, incoming))

    def _find_place(self, given: Given) -> None:
        """Let localization say where it goes. A regenerated answer goes where the first answer to its question went."""
        sent_at = given.time or self.last_time
        self.done += 1
        while not self._place(given, sent_at):
            self.beat()

    def _place(self, given: Given, sent_at: datetime) -> bool:
        """Localize a turn and write it; False when the forest changed in between: what was found may have been deleted."""
        as_found = Forest.objects.get(pk=self.forest.pk)
        place = steps.localize_text(as_found, given.user or given.assistant, sent_at)  # may ask an endpoint: not while the forest is held
        with transaction.atomic():  # a turn without its state would be answered
            forest = lock(self.forest.pk)
            if forest.version != as_found.version:
                return False
            if given.question in self.asked:
                place = steps.given(place, InteractionState.objects.in_forest(forest).filter(pk=self.asked[given.question]).first())
            self.save()
            turn, _ = Turn.objects.get_or_create(
                forest=forest, client_id=given.id, defaults={"origin": Origin.IMPORTED, "text": given.user, "sent_at": sent_at}
            )
            state = steps.commit(turn, place, given.assistant, generator="")
        self.asked[given.question] = state.parent_id
        self.counts["new"] += 1
        drain(forest.pk, amid_import=True)  # the next one is localized by what this one taught
        return True
