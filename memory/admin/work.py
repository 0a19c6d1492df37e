"""Work under way beside jobs, models, keys, and what was done by whom."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.http import HttpRequest

from memory import models
from memory.actions.revoke_key import revoke_key
from memory.admin.looking import OF_FOREST, InForest, Looking, each


@admin.register(models.Import)
class ImportAdmin(InForest):
    list_display = ["id", "job", "formats", "counts", "relocalize", "heartbeat_at"]


@admin.register(models.Lease)
class LeaseAdmin(InForest):
    list_display = ["id", "holder", "token", "position", "heartbeat_at", "progressed_at"]


@admin.register(models.Outbox)
class OutboxAdmin(InForest):
    list_display = ["id", "kind", "subject", "attempts", "created_at"]
    list_filter = ["kind", *OF_FOREST]


@admin.register(models.ModelCapability)
class ModelCapabilityAdmin(Looking):
    """What the model servers can do: of the service, not of anybody's memory, so the staff sees it too."""

    forest_linked = False
    list_display = ["id", "address", "model", "structured", "streaming_usage", "context_length", "vector_length", "probed_at"]
    search_fields = ["address", "model"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_staff", False))


@admin.register(models.Profile)
class ProfileAdmin(Looking):
    forest_linked = False
    list_display = ["id", "owner", "time_zone", "evidence_budget"]
    search_fields = ["owner__username"]


@admin.register(models.AuditEntry)
class AuditEntryAdmin(Looking):
    """What was deleted, moved, edited, begun and cancelled: by whom, when, how much; never what it said."""

    forest_linked = False
    list_display = ["id", "at", "action", "subject", "forest_number", "owner", "actor", "counts"]
    list_filter = ["action", "at", ("actor", admin.RelatedOnlyFieldListFilter), ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["subject", "=forest_number", "actor__username", "owner__username"]
    date_hierarchy = "at"


@admin.register(models.ApiKey)
class ApiKeyAdmin(Looking):
    forest_linked = False
    list_display = ["id", "prefix", "name", "owner", "scopes", "created_at", "last_used_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "created_at"]
    search_fields = ["name", "=prefix", "owner__username"]
    exclude = ["key_hash"]
    actions = [each(revoke_key, "Revoke", "revoked")]


@admin.register(LogEntry)
class LogEntryAdmin(Looking):
    """What was done to people and groups here; rows of a forest are never logged, their audit is the audit entries."""

    forest_linked = False
    list_display = ["action_time", "user", "content_type", "object_id", "action_flag"]
    list_filter = ["action_flag", "content_type", "action_time"]
    fields = ["action_time", "user", "content_type", "object_id", "action_flag"]
