"""Facts and records, what replaced what, and a person's word on them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from memory import models
from memory.actions.revise import revise
from memory.admin.bulk import bulk
from memory.admin.filters import ITEM_FILTERS
from memory.admin.looking import OF_FOREST, InForest, is_administrator
from memory.errors import Refused
from memory.llm.interface import ModelError

EVIDENCE_FILTERS: list[Any] = ["status", "pinned", "made_by", "asserted", "event_time", *ITEM_FILTERS, *OF_FOREST]


class Edit(forms.Form):
    """What the row shall say; the old row stays, superseded."""

    text = forms.CharField(max_length=2000, widget=forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField", "dir": "auto"}))
    value = forms.CharField(max_length=500, required=False, help_text="What its slot says then; empty: as before.")


def _actions(kind: str) -> list[Any]:
    return [
        bulk("retract", kind, "Retract"),
        bulk("restore", kind, "Restore"),
        bulk("quarantine", kind, "Quarantine"),
        bulk("pin", kind, "Pin"),
        bulk("unpin", kind, "Unpin"),
        bulk("delete", kind, "Delete for good"),
    ]


class EvidenceAdmin(InForest):
    change_form_template = "admin/memory/item.html"
    list_display = ["id", "status", "text", "slot", "value", "event_time", "known_from", "pinned", "made_by", "state_link"]
    list_filter = EVIDENCE_FILTERS
    search_fields = ["text", "=slot", "value"]
    list_select_related = ["forest", "state"]

    def __init__(self, model: Any, site: Any) -> None:
        super().__init__(model, site)
        self.kind = models.KIND_OF[model]
        self.actions = _actions(self.kind)
        self.shown_at = (("state", "state_id"), (self.kind, "pk"))

    def get_urls(self) -> list[URLPattern]:
        name = f"memory_{self.model._meta.model_name}_edit"
        return [path("<int:pk>/edit/", self.admin_site.admin_view(self.edit), name=name), *super().get_urls()]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        edit = f"admin:memory_{self.model._meta.model_name}_edit"
        more = {"edit_url": reverse(edit, args=[object_id])} if object_id.isascii() and object_id.isdigit() else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})

    def edit(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A new row in this one's place, as the page does it."""
        if not is_administrator(request):
            raise PermissionDenied
        row = get_object_or_404(self.model, pk=pk)
        form = Edit(request.POST or None, initial={"text": row.text, "value": row.value})
        if request.method == "POST" and form.is_valid():
            try:
                answer = revise(row, "edit", request.user, text=form.cleaned_data["text"], value=form.cleaned_data["value"] or None)
            except (Refused, ModelError) as refused:
                self.message_user(request, f"{refused.message} {refused.action}", messages.ERROR)
            else:
                self.message_user(request, "Edited. What it said before stays, superseded.", messages.SUCCESS)
                return HttpResponseRedirect(reverse(f"admin:memory_{self.model._meta.model_name}_change", args=[answer["id"]]))
        context = {**self.admin_site.each_context(request), "title": f"Edit {row}", "opts": self.model._meta, "row": row, "form": form}
        return TemplateResponse(request, "admin/memory/edit.html", context)

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
    shown_at = (("state", "state_id"),)
