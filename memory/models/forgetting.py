"""What must not come back: keyed hashes, never a word of what was forgotten."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.models.forest import InteractionState
from memory.models.scoping import InForest, unique_in_forest


class Forgotten(InForest):
    """A deleted fact or record of a turn that stays, or (`state` null) a deleted turn that an export could bring again. Goes with its turn and its forest."""

    state = models.ForeignKey(InteractionState, null=True, blank=True, on_delete=models.CASCADE, related_name="forgotten")
    salt = models.CharField(max_length=32, help_text="Random, one for a forest.")
    marks = ArrayField(models.CharField(max_length=64), default=list, help_text="Keyed hashes (engine/forgotten.py).")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [unique_in_forest("forgotten")]
        verbose_name_plural = "forgotten"
