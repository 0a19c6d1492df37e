"""Forests, their turns and states, and what holds them together."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from memory import generation, models
from memory.actions.cancel_turn import cancel_turn
from memory.actions.drop_turn import drop_turn
from memory.actions.keep_turn import keep_turn
from memory.actions.publish_outbox import publish_outbox
from memory.actions.retry_turn import retry_turn
from memory.admin import health
from memory.admin.bulk import bulk
from memory.admin.filters import STATE_FILTERS
from memory.admin.looking import OF_FOREST, InForest, Looking, each
from memory.admin.moving import Moved


@admin.register(models.Forest)
class ForestAdmin(Looking):
    forest_linked = False
    list_display = ["id", "name", "owner", "time_zone", "states", "version", "sample", "created_at", "health_link"]
    list_filter = ["sample", "embedder", "created_at"]
    search_fields = ["name", "owner__username"]
    actions = [
        bulk("reembed", "forest", "Embed anew, with the embedder of this server"),
        bulk("delete", "forest", "Delete with everything in them"),
    ]

    def get_urls(self) -> list[URLPattern]:
        return [path("health/", self.admin_site.admin_view(health.page), name="memory_health"), *super().get_urls()]

    @admin.display(description="states")
    def states(self, row: models.Forest) -> str:
        url = reverse("admin:memory_interactionstate_changelist")
        return format_html('<a href="{}?forest__id__exact={}">{}</a>', url, row.pk, row.indexed_states)

    @admin.display(description="health")
    def health_link(self, row: models.Forest) -> str:
        return format_html('<a href="{}?forest={}">Health</a>', reverse("admin:memory_health"), row.pk)


def _retry(turn: models.Turn, by: Any) -> None:
    retry_turn(turn)
    generation.kick(turn.forest_id)


def _cancel(turn: models.Turn, by: Any) -> None:
    cancel_turn(turn)
    generation.cancel(turn.pk)


def _keep(turn: models.Turn, by: Any) -> None:
    keep_turn(turn)
    publish_outbox(turn.forest_id)


@admin.register(models.Turn)
class TurnAdmin(InForest):
    list_display = ["id", "status", "origin", "sent_at", "answered_at", "generator", "attempt", "input_tokens", "output_tokens", "state_link"]
    list_filter = ["status", "origin", "sent_at", *OF_FOREST]
    search_fields = ["=client_id", "text", "state__user_text"]
    list_select_related = ["forest", "state"]
    shown_at = (("turn", "pk"),)
    actions = [
        each(_cancel, "Stop", "stopped"),
        each(_retry, "Try again", "tried again"),
        each(_keep, "Keep the part that was written", "kept"),
        each(lambda turn, by: drop_turn(turn), "Drop", "dropped"),
    ]

    @admin.display(description="state")
    def state_link(self, row: models.Turn) -> str:
        state = getattr(row, "state", None)
        return format_html('<a href="{}">{}</a>', reverse("admin:memory_interactionstate_change", args=[state.pk]), state.pk) if state else "–"


@admin.register(models.InteractionState)
class InteractionStateAdmin(Moved):
    list_display = ["id", "position", "said", "time", "root_id", "depth", "tokens", "refined_at", "refined_by"]
    list_filter = [*STATE_FILTERS, "time", ("refine_error", admin.EmptyFieldListFilter), "origin", *OF_FOREST]
    search_fields = ["user_text", "assistant_text", "node_summary"]
    raw_id_fields = ["parent", "turn"]
    shown_at = (("state", "pk"),)
    actions = [
        bulk("re-extract", "state", "Extract again"),
        bulk("delete", "state", "Delete; their children move to their parent"),
        bulk("delete-below", "state", "Delete with all that follows them"),
    ]

    @admin.display(description="said")
    def said(self, row: models.InteractionState) -> str:
        return row.user_text[:80]


@admin.register(models.Topic)
class TopicAdmin(InForest):
    list_display = ["id", "key", "order", "root_id"]
    search_fields = ["key"]
    shown_at = (("state", "root_id"),)


@admin.register(models.Forgotten)
class ForgottenAdmin(InForest):
    list_display = ["id", "state_id", "at"]
    exclude = ["salt", "marks"]


@admin.register(models.ParentChange)
class ParentChangeAdmin(InForest):
    list_display = ["id", "state_id", "old_parent_id", "new_parent_id", "at_position", "by_user", "created_at"]
    list_filter = ["created_at", *OF_FOREST]
    shown_at = (("state", "state_id"),)


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
    shown_at = (("state", "state_id"),)


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


@admin.register(models.PieceVector)
class PieceVectorAdmin(InForest):
    list_display = ["id", "state_id", "number"]
    list_filter = OF_FOREST
    exclude = ["vector"]


@admin.register(models.NewVector)
class NewVectorAdmin(InForest):
    list_display = ["id", "replaces_id", "pin"]
    exclude = ["vector"]
