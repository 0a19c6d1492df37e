"""What a person changed by hand and can undo: by ids, states of being and times alone, never by content (D1: what is forgotten goes from here too)."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.models.evidence import EvidenceRow
from memory.models.forest import InteractionState
from memory.models.scoping import InForest, unique_in_forest


class Change(InForest):
    """One thing that a person did to the forest: its moves are `ParentChange` rows, what it did to facts and records `ChangedItem` rows."""

    class Action(models.TextChoices):
        MOVE = "move", "a turn moved"
        MOVES = "moves", "several turns moved"
        RETRACT = "retract", "taken back"
        RESTORE = "restore", "brought back"
        PIN = "pin", "pinned"
        UNPIN = "unpin", "no longer pinned"
        QUARANTINE = "quarantine", "set aside"
        EDIT = "edit", "edited"
        BULK = "bulk", "several items at once"

    action = models.CharField(max_length=10, choices=Action.choices)
    by_user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    at_position = models.PositiveBigIntegerField(help_text="Position of the newest state then.")
    revisions = ArrayField(models.BigIntegerField(), default=list, blank=True, help_text="Ids of the revisions it brought about.")
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [unique_in_forest("change")]
        ordering = ["-id"]


class ChangedItem(InForest):
    """A fact or record that a change touched, as it was before; a row an edit made wasn't there before (`made`)."""

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=13)
    item = models.BigIntegerField()
    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="+")
    made = models.BooleanField(default=False)
    status = models.CharField(max_length=11, choices=EvidenceRow.Status.choices, default=EvidenceRow.Status.CURRENT)
    superseded_by = models.BigIntegerField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    known_until = models.PositiveBigIntegerField(null=True, blank=True)
    pinned = models.BooleanField(default=False)
    # The revision that says the same as this change and was there before, with the time it had: it says when last.
    noted = models.BigIntegerField(null=True, blank=True)
    noted_at = models.DateTimeField(null=True, blank=True)
    noted_position = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            unique_in_forest("changed_item"),
            models.UniqueConstraint(fields=["change", "kind", "item"], name="changed_item_once"),
        ]
        indexes = [models.Index(fields=["forest", "kind", "item"], name="changed_item_of")]
        ordering = ["id"]
