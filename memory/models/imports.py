"""What an import needs beside its job: the file it reads, how, who reads it now, and what was left out."""

from __future__ import annotations

from django.db import models

from memory.models.scoping import InForest, unique_in_forest
from memory.models.work import Job


class Import(InForest):
    """One file that is brought into a forest. The lines of its report name conversations by date and id, never by what was said: they outlive turns."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="given")
    relocalize = models.BooleanField(default=False, help_text="Every turn finds its own place instead of the one it had.")
    # Of a command the file is read where it is; an upload is kept in a folder of the job until it is done.
    path = models.TextField(blank=True, help_text="A file of the command line's; empty for an upload.")
    # Who reads it now (empty: nobody) with the last sign of life; whoever finds another name there stops.
    holder = models.CharField(max_length=100, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    formats = models.JSONField(default=list, blank=True)
    counts = models.JSONField(default=dict, blank=True, help_text="How many were taken in, were known, and were left out, by reason.")
    left_out = models.JSONField(default=list, blank=True, help_text="A line for each thing left out, up to a limit.")

    class Meta:
        constraints = [unique_in_forest("import")]
        ordering = ["-id"]
