"""Why a turn went where it went, and what the model saw: to be read, not changed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html

from memory import models
from memory.admin.looking import OF_FOREST, InForest
from memory.present.turns import part_list


class TraceAdmin(InForest):
    list_select_related = ["forest", "turn__state"]
    shown_at = (("turn", "turn_id"),)

    @admin.display(description="turn")
    def turn_link(self, row: Any) -> str:
        return format_html('<a href="{}">{}</a>', reverse("admin:memory_turn_change", args=[row.turn_id]), row.turn_id)


@admin.register(models.RoutingDecision)
class RoutingDecisionAdmin(TraceAdmin):
    list_display = ["id", "turn_link", "method", "chosen_id", "probability", "margin", "unsure", "corrected_by", "created_at"]
    list_filter = ["method", "unsure", ("corrected_by", admin.EmptyFieldListFilter), "created_at", *OF_FOREST]
    search_fields = ["why"]
    fields = ["turn", "why", "method", "chosen", "probability", "margin", "threshold", "unsure", "ranker", "corrected_by", "created_at", "compared"]

    @admin.display(description="candidates")
    def compared(self, row: models.RoutingDecision) -> str:
        """Each with its probability, its score part by part, and where each channel ranked it."""
        parts = [(part["key"], part["label"]) for part in part_list(row.candidates)]
        candidates = [
            {
                **candidate,
                "said": [candidate["parts"].get(key) for key, _ in parts],
                "found": [(name, hit["rank"], hit["score"]) for name, hit in candidate["channels"].items() if hit],
                "chosen": candidate["state"] == row.chosen_id,
            }
            for candidate in row.candidates
        ]
        return render_to_string("admin/memory/candidates.html", {"parts": [label for _, label in parts], "candidates": candidates})


@admin.register(models.ContextTrace)
class ContextTraceAdmin(TraceAdmin):
    list_display = ["id", "turn_link", "tokens", "budget", "instructions_tokens", "input_tokens", "messages_hash", "created_at"]
    list_filter = ["created_at", *OF_FOREST]
    search_fields = ["=messages_hash"]
    fields = ["turn", "budget", "tokens", "instructions_tokens", "input_tokens", "created_at", "shown", "left_out", "sent", "messages_hash"]

    @admin.display(description="what the model saw")
    def shown(self, row: models.ContextTrace) -> str:
        blocks = [{"block": block, "share": round(100 * block["tokens"] / row.budget) if row.budget else 0} for block in row.blocks]
        return render_to_string("admin/memory/blocks.html", {"blocks": blocks})

    @admin.display(description="left out")
    def left_out(self, row: models.ContextTrace) -> str:
        return render_to_string("admin/memory/cut.html", {"cut": row.cut})

    @admin.display(description="messages sent")
    def sent(self, row: models.ContextTrace) -> str:
        return render_to_string("admin/memory/messages.html", {"messages": row.messages})
