"""Why a turn went where it went, and what the model saw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from memory.models.forest import InteractionState, Turn
from memory.models.scoping import InForest, unique_in_forest


class RoutingDecision(InForest):
    """The localization of one turn, with every candidate, channel and score part (paper §3.2)."""

    class Method(models.TextChoices):
        CONTINUATION = "continuation", "continuation cue"
        TEMPORAL = "temporal", "temporal return"
        RECALL = "recall", "hybrid recall"
        NEW_ROOT = "new_root", "new root"
        ASKED = "asked", "chosen with the language model"
        GIVEN = "given", "given by the sender"
        CORRECTED = "corrected", "corrected by a person"

    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="decision")
    method = models.CharField(max_length=12, choices=Method.choices)
    chosen = models.ForeignKey(InteractionState, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    probability = models.FloatField()
    margin = models.FloatField(help_text="Probability of the winner less that of the runner-up.")
    threshold = models.FloatField(help_text="τ, on the scale of the score.")
    unsure = models.BooleanField(default=False)
    candidates = models.JSONField(default=list)
    why = models.TextField(blank=True)
    ranker = models.CharField(max_length=64, blank=True, help_text="Version of the weights.")
    corrected_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    corrected_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [unique_in_forest("decision")]


class ContextTrace(InForest):
    """Block by block what one answer was given, what was cut and why (R5)."""

    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="context")
    budget = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    instructions_tokens = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    blocks = models.JSONField(default=list)
    cut = models.JSONField(default=list)
    messages = models.JSONField(default=list)
    messages_hash = models.CharField(max_length=64)
    # Kept beside the blocks so that “where was this used?” is an index look-up.
    sources = ArrayField(models.BigIntegerField(), default=list, editable=False, help_text="Ids of the states its items rest on.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [unique_in_forest("context")]
        indexes = [GinIndex(fields=["sources"], name="context_sources")]

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Save, with `sources` read off the blocks."""
        self.sources = sorted({source for block in self.blocks for item in block["items"] for source in item["sources"]})
        if update_fields is not None and "blocks" in (fields := set(update_fields)):
            update_fields = fields | {"sources"}
        super().save(*args, update_fields=update_fields, **kwargs)
