"""Work under way, keys, settings of a person, and the audit log."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.models.scoping import InForest, OwnedQuerySet, unique_in_forest


class Outbox(InForest):
    """Something to tell the worker, written in the transaction it belongs to; ids only, deleted once published."""

    kind = models.CharField(max_length=20, default="refine")
    subject = models.BigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [unique_in_forest("outbox")]
        ordering = ["id"]
        verbose_name_plural = "outbox"


class Lease(InForest):
    """Who refines a forest now. The token fences: a write under an older one is refused (DESIGN “Consistency” 3)."""

    holder = models.CharField(max_length=100, blank=True, help_text="host:process:thread, empty when nobody refines.")
    last_holder = models.CharField(max_length=100, blank=True)
    token = models.PositiveBigIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    # Position of the last state it finished: progress, not only life.
    position = models.PositiveBigIntegerField(default=0)
    progressed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [unique_in_forest("lease"), models.UniqueConstraint(fields=["forest"], name="lease_forest")]


class Job(InForest):
    """Progress of long work: a sample growing, an import, a re-embedding, a replay, pieces that get their vectors."""

    class Status(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    kind = models.CharField(max_length=20)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.CharField(max_length=300, blank=True)
    error = models.JSONField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True, help_text="What came of it, by ids and numbers; no content.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [unique_in_forest("job")]
        ordering = ["-id"]


class Bulk(models.Model):
    """The same done to many rows, asked for in the admin. Ids only, never what the rows say; it belongs to no forest, since it may delete some."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", help_text="Who asked for it.")
    key = models.CharField(max_length=32, unique=True, help_text="Of the page that asked, so that asking twice begins once.")
    action = models.CharField(max_length=20)
    target = models.CharField(max_length=13, help_text="What kind of row: fact, state, forest …")
    ids = ArrayField(models.BigIntegerField())
    # A row and this number are written in one transaction, so that whoever goes on after a killed worker does each row once.
    done = models.PositiveIntegerField(default=0, help_text="How many of the ids have had their turn.")
    counts = models.JSONField(default=dict, blank=True, help_text="How many were done, were refused, were gone, failed.")
    refused = models.JSONField(default=list, blank=True, help_text="Why some weren't done, up to a limit.")
    status = models.CharField(max_length=9, choices=Job.Status.choices, default=Job.Status.WAITING)
    message = models.CharField(max_length=300, blank=True)
    holder = models.CharField(max_length=100, blank=True, help_text="Who does it now; empty: nobody.")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "bulk job"

    def __str__(self) -> str:
        return f"bulk job {self.pk}"

    @property
    def total(self) -> int:
        return len(self.ids)


class ApiKey(models.Model):
    """A key for programs; only its hash is kept."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    key_hash = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="api_key_owner_name")]

    def __str__(self) -> str:
        return f"API key {self.prefix}…"


class ModelCapability(models.Model):
    """What a server can do with a model, found out once; without keys. Null or empty where nothing is known yet."""

    address = models.CharField(max_length=500, help_text="Without user, password and query.")
    model = models.CharField(max_length=200, blank=True)
    structured = models.CharField(max_length=11, blank=True, help_text="json_schema, json_object or prompted.")
    streaming_usage = models.BooleanField(null=True, blank=True)
    rejected = ArrayField(models.CharField(max_length=60), default=list, blank=True, help_text="Request parameters it doesn't take.")
    context_length = models.PositiveIntegerField(null=True, blank=True)
    vector_length = models.PositiveIntegerField(null=True, blank=True)
    probed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["address", "model"], name="model_capability_once")]
        verbose_name_plural = "model capabilities"

    def __str__(self) -> str:
        return f"model capability {self.pk}"


class Profile(models.Model):
    """A person's zone and budgets."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile")
    time_zone = models.CharField(max_length=64, default="UTC")
    evidence_budget = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens; empty = the installation's.")

    objects = OwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"profile {self.pk}"


class AuditEntry(models.Model):
    """That something was deleted, moved or edited, by whom and when; never what it said (D5)."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    # A number, not a relation: the entry outlives the forest.
    forest_number = models.BigIntegerField(null=True, blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=60, help_text="Model and id.")
    counts = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"audit entry {self.pk}"
