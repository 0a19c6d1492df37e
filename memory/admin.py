"""Django admin over every table, for looking and for the same actions as the page. Nothing is added, edited or deleted here directly:
what an action does goes through `memory/actions`, with their rules, their audit and no content in any log. Superusers only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from memory import models
from memory.actions.delete_person import delete_person
from memory.actions.forget import delete_forest, delete_state
from memory.actions.refine_again import refine_again
from memory.actions.revise import revise
from memory.errors import Refused

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    PeopleAdmin = UserAdmin[Any]
else:  # Django's aren't generic at run time
    ModelAdmin, PeopleAdmin = admin.ModelAdmin, UserAdmin

User = get_user_model()
PREVIEWED = 100

Act = Callable[[Any, HttpRequest, bool], dict[str, Any] | None]


def confirmed(title: str, verb: str, act: Act) -> Any:
    """An admin action that first shows what it would do (`act` with preview) and does it once confirmed."""

    @admin.action(description=title)
    def action(self: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        chosen = list(rows[: PREVIEWED + 1])
        if len(chosen) > PREVIEWED:
            self.message_user(request, f"At most {PREVIEWED} at once.", messages.ERROR)
            return None
        if request.POST.get("confirmed") == "yes":
            run(self, request, chosen, lambda row: act(row, request, False), verb)
            return None
        found = [(row, (act(row, request, True) or {}).get("counts", {})) for row in chosen]
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.model._meta,
            "rows": found,
            "action": request.POST["action"],
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "memory/confirm_action.html", context)

    action.__name__ = verb.replace(" ", "_")
    return action


def run(site: ModelAdmin, request: HttpRequest, rows: Iterable[Any], act: Callable[[Any], Any], verb: str) -> None:
    """Do it to each row, say how many it was done to and why not to the others."""
    done = 0
    for row in rows:
        try:
            act(row)
            done += 1
        except Refused as refused:
            site.message_user(request, f"{row}: {refused.message} {refused.action}", messages.WARNING)
    site.message_user(request, f"{done} × {verb}.", messages.SUCCESS if done else messages.WARNING)


def revising(do: str, title: str) -> Any:
    """An admin action that revises facts or records."""

    @admin.action(description=title)
    def action(self: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> None:
        run(self, request, rows[:1000], lambda row: revise(row, do, request.user), do)

    action.__name__ = do
    return action


class Looking(ModelAdmin):
    """A table to look at. The action bar stays on: without any, Django's change list has an inline style, which the CSP refuses."""

    list_per_page = 50
    show_full_result_count = False
    actions_on_top, actions_on_bottom = True, False
    list_select_related = True
    forest_linked = True

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_list_display(self, request: HttpRequest) -> Any:
        return [*self.list_display, "forest_link"] if self.forest_linked else self.list_display

    @admin.display(description="forest")
    def forest_link(self, row: Any) -> str:
        """The forest's own row here, and the page of its owner."""
        return format_html('<a href="{}">{}</a>', reverse("admin:memory_forest_change", args=[row.forest_id]), row.forest_id)


class NewestForests(admin.RelatedFieldListFilter):
    """The newest forests; older ones are reached by the link of their row."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: ModelAdmin) -> Any:
        return [(pk, f"{pk} · {name}") for pk, name in models.Forest.objects.order_by("-pk").values_list("pk", "name")[:50]]


OF_FOREST: list[Any] = [("forest", NewestForests)]


class InForest(Looking):
    list_filter = OF_FOREST


@admin.register(models.Forest)
class ForestAdmin(Looking):
    forest_linked = False
    list_display = ["id", "name", "owner", "time_zone", "states", "version", "sample", "created_at"]
    list_filter = ["sample", "embedder", "created_at"]
    search_fields = ["name", "owner__username"]
    actions = [confirmed("Delete with everything in them…", "deleted", lambda row, request, preview: delete_forest(row, request.user, preview=preview))]

    @admin.display(description="states")
    def states(self, row: models.Forest) -> str:
        url = reverse("admin:memory_interactionstate_changelist")
        return format_html('<a href="{}?forest__id__exact={}">{}</a>', url, row.pk, row.indexed_states)


@admin.register(models.Turn)
class TurnAdmin(InForest):
    list_display = ["id", "status", "origin", "sent_at", "answered_at", "generator", "attempt", "input_tokens", "output_tokens"]
    list_filter = ["status", "origin", "sent_at", *OF_FOREST]
    search_fields = ["=client_id", "text", "state__user_text"]


@admin.register(models.InteractionState)
class InteractionStateAdmin(InForest):
    list_display = ["id", "position", "said", "root_id", "depth", "time", "tokens", "refined_at", "refined_by"]
    list_filter = [("refined_at", admin.EmptyFieldListFilter), ("refine_error", admin.EmptyFieldListFilter), "origin", "time", *OF_FOREST]
    search_fields = ["user_text", "assistant_text", "node_summary"]
    raw_id_fields = ["parent", "turn"]
    actions = [
        confirmed(
            "Delete; their children move to their parent…",
            "deleted alone",
            lambda row, request, preview: delete_state(row, "children_to_parent", request.user, preview=preview),
        ),
        confirmed(
            "Delete with all that follows them…",
            "deleted with children",
            lambda row, request, preview: delete_state(row, "with_children", request.user, preview=preview),
        ),
        "extract_again",
    ]

    @admin.display(description="said")
    def said(self, row: models.InteractionState) -> str:
        return row.user_text[:80]

    @admin.action(description="Extract again")
    def extract_again(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        run(self, request, rows[:1000], lambda row: refine_again(row, request.user), "waiting to be extracted again")


EVIDENCE_FILTERS: list[Any] = ["status", "pinned", "made_by", "asserted", "event_time", *OF_FOREST]


class EvidenceAdmin(InForest):
    list_display = ["id", "status", "text", "slot", "value", "event_time", "known_from", "pinned", "made_by", "state_link"]
    list_filter = EVIDENCE_FILTERS
    search_fields = ["text", "=slot", "value"]
    actions = [
        revising("retract", "Retract"),
        revising("restore", "Restore"),
        revising("quarantine", "Quarantine"),
        revising("pin", "Pin"),
        revising("unpin", "Unpin"),
    ]

    @admin.display(description="state")
    def state_link(self, row: Any) -> str:
        return format_html('<a href="{}">{}</a>', reverse("admin:memory_interactionstate_change", args=[row.state_id]), row.state_id)


admin.site.register([models.AtomicFact, models.MutableState], EvidenceAdmin)


@admin.register(models.Artifact)
class ArtifactAdmin(EvidenceAdmin):
    list_display = ["id", "status", "artifact_type", "item_text", "ordinal", "topic", "known_from", "pinned", "state_link"]
    list_filter = ["artifact_type", *EVIDENCE_FILTERS]


@admin.register(models.Event)
class EventAdmin(EvidenceAdmin):
    list_display = ["id", "status", "event_type", "text", "quantity", "unit", "normalized_date", "is_negated", "pinned", "state_link"]
    list_filter = ["event_type", "is_negated", *EVIDENCE_FILTERS]


@admin.register(models.Revision)
class RevisionAdmin(InForest):
    list_display = ["id", "kind", "old_item", "new_item", "verdict", "by", "slot", "at"]
    list_filter = ["verdict", "by", "kind", "at", *OF_FOREST]
    search_fields = ["=slot"]


@admin.register(models.RoutingDecision)
class RoutingDecisionAdmin(InForest):
    list_display = ["id", "turn_id", "method", "chosen_id", "probability", "margin", "unsure", "corrected_by", "created_at"]
    list_filter = ["method", "unsure", ("corrected_by", admin.EmptyFieldListFilter), "created_at", *OF_FOREST]
    search_fields = ["why"]


@admin.register(models.ContextTrace)
class ContextTraceAdmin(InForest):
    list_display = ["id", "turn_id", "tokens", "budget", "instructions_tokens", "input_tokens", "messages_hash", "created_at"]
    search_fields = ["=messages_hash"]


@admin.register(models.Topic)
class TopicAdmin(InForest):
    list_display = ["id", "key", "order", "root_id"]
    search_fields = ["key"]


@admin.register(models.ParentChange)
class ParentChangeAdmin(InForest):
    list_display = ["id", "state_id", "old_parent_id", "new_parent_id", "at_position", "by_user", "created_at"]


@admin.register(models.Change)
class ChangeAdmin(InForest):
    list_display = ["id", "action", "by_user", "at", "at_position", "undone_at", "undone_by"]
    list_filter = ["action", "at", ("undone_at", admin.EmptyFieldListFilter), *OF_FOREST]


@admin.register(models.ChangedItem)
class ChangedItemAdmin(InForest):
    list_display = ["id", "change_id", "kind", "item", "state_id", "made", "status", "pinned"]


@admin.register(models.StateLink)
class StateLinkAdmin(InForest):
    list_display = ["id", "state_id", "parent_id", "weight"]


@admin.register(models.Posting)
class PostingAdmin(InForest):
    list_display = ["id", "kind", "term", "state_id", "count", "length"]
    list_filter = ["kind", *OF_FOREST]
    search_fields = ["=term"]


@admin.register(models.TermStat)
class TermStatAdmin(InForest):
    list_display = ["id", "kind", "term", "states"]
    list_filter = ["kind", *OF_FOREST]
    search_fields = ["=term"]


@admin.register(models.StateVector)
class StateVectorAdmin(InForest):
    list_display = ["id", "kind", "state_id", "item"]
    list_filter = ["kind", *OF_FOREST]
    exclude = ["vector"]


@admin.register(models.NewVector)
class NewVectorAdmin(InForest):
    list_display = ["id", "replaces_id", "pin"]
    exclude = ["vector"]


@admin.register(models.Job)
class JobAdmin(InForest):
    list_display = ["id", "kind", "status", "done", "total", "message", "created_at", "updated_at"]
    list_filter = ["status", "kind", *OF_FOREST]


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
    forest_linked = False
    list_display = ["id", "address", "model", "structured", "streaming_usage", "context_length", "vector_length", "probed_at"]
    search_fields = ["address", "model"]


@admin.register(models.Profile)
class ProfileAdmin(Looking):
    forest_linked = False
    list_display = ["id", "owner", "time_zone", "evidence_budget"]
    search_fields = ["owner__username"]


@admin.register(models.AuditEntry)
class AuditEntryAdmin(Looking):
    forest_linked = False
    list_display = ["id", "at", "action", "subject", "forest_number", "owner", "actor", "counts"]
    list_filter = ["action", "at", ("actor", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["=subject", "=forest_number"]


@admin.register(models.ApiKey)
class ApiKeyAdmin(Looking):
    forest_linked = False
    list_display = ["id", "prefix", "name", "owner", "scopes", "created_at", "last_used_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "created_at"]
    search_fields = ["name", "=prefix", "owner__username"]
    exclude = ["key_hash"]
    actions = ["revoke"]

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        number = rows.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())
        self.message_user(request, f"{number} × revoked.", messages.SUCCESS)


@admin.register(LogEntry)
class LogEntryAdmin(Looking):
    """What was done to people and groups here; rows of a forest are never logged, their audit is the audit entries."""

    forest_linked = False
    list_display = ["action_time", "user", "content_type", "object_id", "action_flag"]
    list_filter = ["action_flag", "content_type", "action_time"]
    fields = ["action_time", "user", "content_type", "object_id", "action_flag"]


class SuperusersOnly:
    """Permissions handed out one by one would open forests of others: people and groups are for superusers too."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    has_change_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)


admin.site.unregister([User, Group])


@admin.register(User)
class PersonAdmin(SuperusersOnly, PeopleAdmin):
    """A person is deleted by an action, with their forests, as the page deletes them."""

    actions = [confirmed("Delete with all their forests…", "deleted", lambda row, request, preview: delete_person(row, request.user, preview=preview))]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Group)
class GroupsAdmin(SuperusersOnly, GroupAdmin):
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)
