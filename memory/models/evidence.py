"""The evidence store `M_t` (paper §3.1): atomic facts and structured records, with provenance and revision metadata."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from memory.models.forest import InteractionState
from memory.models.scoping import InForest, unique_in_forest


class EvidenceRow(InForest):
    """What facts and records share: a slot, a source, two times (when it held, when we knew it) and a status."""

    class Status(models.TextChoices):
        CURRENT = "current", "holds now"
        SUPERSEDED = "superseded", "replaced"
        RETRACTED = "retracted", "retracted"
        QUARANTINED = "quarantined", "quarantined"

    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="%(class)s_set")
    # Equal extractions of further turns add themselves here; the row lives while one source does (D1).
    sources = ArrayField(models.BigIntegerField(), default=list, help_text="Ids of the states that support it, the first included.")
    number = models.PositiveSmallIntegerField(default=0, help_text="Which of its state's extractions, so that a redelivered commit writes it once.")
    text = models.TextField()
    slot = models.CharField(max_length=200, blank=True, help_text="subject|attribute: what a later value replaces; empty = coexists with everything.")
    subject = models.CharField(max_length=200, blank=True)
    value = models.TextField(blank=True)
    asserted = models.BooleanField(default=True, help_text="Stated as so: not a plan, a hypothetical, a question or an assistant's suggestion (W6).")
    attribute_tag = models.CharField(max_length=4, blank=True)
    entities = ArrayField(models.TextField(), default=list, blank=True)
    evidence = models.TextField(blank=True, help_text="The words of the turn that it rests on.")
    event_time = models.DateTimeField(help_text="When it became so in the world; the turn's time unless it says another.")
    valid_to = models.DateTimeField(null=True, blank=True)
    known_from = models.PositiveBigIntegerField(help_text="Position of the state that taught it.")
    known_until = models.PositiveBigIntegerField(null=True, blank=True, help_text="Position of the state that replaced it.")
    status = models.CharField(max_length=11, choices=Status.choices, default=Status.CURRENT)
    # A row replaced by one of its own table.
    superseded_by_id: int | None
    superseded_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes")
    pinned = models.BooleanField(default=False)
    made_by = models.CharField(max_length=10, default="rule", help_text="rule, model or user")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["known_from", "id"]


def evidence_constraints(table: str) -> list[models.BaseConstraint]:
    return [unique_in_forest(table), models.UniqueConstraint(fields=["state", "number", "made_by"], name=f"{table}_once")]


def evidence_indexes(table: str) -> list[models.Index]:
    return [
        models.Index(fields=["forest", "slot"], condition=~models.Q(slot=""), name=f"{table}_slot"),
        models.Index(fields=["forest", "status", "known_from"], name=f"{table}_status"),
        GinIndex(fields=["sources"], name=f"{table}_sources"),
    ]


class AtomicFact(EvidenceRow):
    """One self-contained sentence with exact values (ARBORMEM §4)."""

    class Meta(EvidenceRow.Meta):
        constraints = evidence_constraints("fact")
        indexes = evidence_indexes("fact")
        verbose_name = "fact"


class Artifact(EvidenceRow):
    """Something the assistant made: one item of a list, a link, a recipe, a step (ARBORMEM §4)."""

    artifact_type = models.CharField(max_length=20)
    topic = models.CharField(max_length=200, blank=True)
    item_text = models.CharField(max_length=120)
    ordinal = models.PositiveIntegerField(null=True, blank=True, help_text="From 1, for “the second one”.")

    class Meta(EvidenceRow.Meta):
        constraints = evidence_constraints("artifact")
        indexes = evidence_indexes("artifact")


class Event(EvidenceRow):
    """Something that happened in the user's world; dated, countable or summable (ARBORMEM §4)."""

    event_type = models.CharField(max_length=40)
    object = models.CharField(max_length=200, blank=True)
    quantity = models.DecimalField(max_digits=20, decimal_places=6, null=True, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    canonical_action = models.CharField(max_length=60, blank=True)
    canonical_object = models.CharField(max_length=120, blank=True)
    date_text = models.CharField(max_length=80, blank=True)
    normalized_date = models.DateField(null=True, blank=True)
    is_negated = models.BooleanField(default=False)
    countable = models.BooleanField(default=True)

    class Meta(EvidenceRow.Meta):
        constraints = evidence_constraints("event")
        indexes = [*evidence_indexes("event"), models.Index(fields=["forest", "canonical_action", "canonical_object"], name="event_action")]


class MutableState(EvidenceRow):
    """A value that changes over time under a canonical key, such as home_city (ARBORMEM §4)."""

    key = models.CharField(max_length=60)

    class Meta(EvidenceRow.Meta):
        constraints = evidence_constraints("mutable")
        indexes = evidence_indexes("mutable")
        verbose_name = "mutable state"


class Revision(InForest):
    """Old → new of one slot: why the old one no longer holds. Never deletes, never overwrites (W1)."""

    class Verdict(models.TextChoices):
        SUPERSEDED = "superseded", "same thing, other value"
        COEXIST = "coexist", "both hold"
        RETRACTED = "retracted", "taken back"
        RESTORED = "restored", "brought back"
        EDITED = "edited", "edited"

    class By(models.TextChoices):
        RULE = "rule", "rule"
        MODEL = "model", "model"
        USER = "user", "user"

    kind = models.CharField(max_length=13)
    old_item = models.BigIntegerField(null=True, blank=True)
    new_item = models.BigIntegerField(null=True, blank=True)
    slot = models.CharField(max_length=200, blank=True)
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    by = models.CharField(max_length=5, choices=By.choices, default=By.RULE)
    state = models.ForeignKey(InteractionState, null=True, blank=True, on_delete=models.CASCADE, related_name="revisions")
    at = models.DateTimeField(auto_now_add=True)
    at_position = models.PositiveBigIntegerField(default=0, help_text="Position from which it is known: of the later value, or of the newest state then.")

    class Meta:
        constraints = [
            unique_in_forest("revision"),
            models.UniqueConstraint(fields=["kind", "old_item", "new_item", "verdict"], nulls_distinct=False, name="revision_once"),
        ]
        ordering = ["id"]
