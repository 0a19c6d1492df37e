"""Bulk work: an action shows what it would do to the rows chosen, and makes a job of it that the worker does and this page watches."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from memory import models
from memory.actions import bulk as in_bulk
from memory.actions.cancel_bulk import cancel_bulk
from memory.actions.cancel_job import cancel_job
from memory.admin.looking import InForest, Looking, ModelAdmin, is_administrator
from memory.errors import Refused
from memory.store.jobs import OVER

SALT = "memory.admin.bulk"
# How long a preview may be looked at before it is confirmed.
PREVIEW_SECONDS = 3600
USES_SHOWN = 5


def bulk(action: str, target: str, title: str) -> Any:
    """An admin action that first shows what it would do, row by row, and begins a bulk job once confirmed. The rows are those that were shown and
    counted, whatever matches the filters by then: they come along signed."""

    @admin.action(description=f"{title}…")
    def ask(self: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        ids = list(rows.order_by("pk").values_list("pk", flat=True).distinct()[: in_bulk.MOST + 1])
        if len(ids) > in_bulk.MOST:
            self.message_user(request, f"At most {in_bulk.MOST:,} at once: narrow the list down.", messages.ERROR)
            return None
        chosen = {"action": action, "target": target, "ids": ids, "by": request.user.pk, "key": uuid.uuid4().hex}
        shown = in_bulk.preview(action, target, ids, request.user)
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.model._meta,
            "rows": [_shown(row, found) for row, found in shown],
            "total": len(ids),
            "chosen": signing.dumps(chosen, salt=SALT, compress=True),
        }
        return TemplateResponse(request, "admin/memory/bulk_confirm.html", context)

    ask.__name__ = action.replace("-", "_")
    return ask


def _shown(row: Any, found: in_bulk.Preview) -> dict[str, Any]:
    """A row of the preview: what it is, how much of what, and the first later answers that used it of how many."""
    uses = found.get("used_by", [])
    text = getattr(row, "text", "") or getattr(row, "user_text", "") or getattr(row, "name", "") or getattr(row, "username", "")
    counts = {name.replace("_", " "): number for name, number in found.get("counts", {}).items() if name != "used_by" and number}
    number = found.get("counts", {}).get("used_by", len(uses))
    return {"row": row, "text": text[:120], "counts": counts, "refused": found.get("refused"), "uses": uses[:USES_SHOWN], "used": number}


class Progress(Looking):
    """Long work: how far it is, seen as it goes on, and a way to stop it."""

    change_form_template = "admin/memory/progress.html"
    ordering = ["-id"]

    class Media:
        js = ["admin-progress.js"]

    def get_urls(self) -> list[URLPattern]:
        name = f"memory_{self.model._meta.model_name}_cancel"
        return [path("<int:pk>/cancel/", self.admin_site.admin_view(require_POST(self.cancel)), name=name), *super().get_urls()]

    def stop(self, row: Any, by: Any) -> None:
        raise NotImplementedError

    def cancel(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Stop it before its next step; back to its page."""
        if not is_administrator(request):
            raise PermissionDenied
        row = get_object_or_404(self.model, pk=pk)
        try:
            self.stop(row, request.user)
            self.message_user(request, "Cancelled. What was done stays.", messages.SUCCESS)
        except Refused as refused:
            self.message_user(request, f"{refused.message} {refused.action}", messages.WARNING)
        return HttpResponseRedirect(reverse(f"admin:memory_{self.model._meta.model_name}_change", args=[pk]))

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        row = self.get_object(request, object_id)
        more: dict[str, Any] = {}
        if row is not None and self.has_view_permission(request, row):
            more = {"job": row, "open": row.status not in OVER, "trouble": getattr(row, "error", None), "why_not": getattr(row, "refused", [])}
            more["cancel_url"] = reverse(f"admin:memory_{self.model._meta.model_name}_cancel", args=[row.pk])
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})

    @admin.display(description="progress")
    def progress(self, row: Any) -> str:
        return format_html('<progress value="{}" max="{}" aria-label="progress"></progress> {} of {}', row.done, row.total or 1, row.done, row.total)


@admin.register(models.Bulk)
class BulkAdmin(Progress):
    forest_linked = False
    list_display = ["id", "action", "target", "status", "progress", "message", "owner", "created_at", "updated_at"]
    list_filter = ["status", "action", "target", "created_at"]
    fields = ["action", "target", "owner", "status", "message", "counts", "created_at", "updated_at", "heartbeat_at"]

    def get_urls(self) -> list[URLPattern]:
        return [path("begin/", self.admin_site.admin_view(require_POST(self.begin)), name="memory_bulk_begin"), *super().get_urls()]

    def begin(self, request: HttpRequest) -> HttpResponse:
        """Make a job of what was shown and confirmed; its page. Confirmed twice it begins once."""
        if not is_administrator(request):
            raise PermissionDenied
        try:
            chosen = signing.loads(request.POST.get("chosen", ""), salt=SALT, max_age=PREVIEW_SECONDS)
        except signing.BadSignature:
            self.message_user(request, "This preview is too old. Choose the rows again.", messages.ERROR)
            return HttpResponseRedirect(reverse("admin:index"))
        if chosen["by"] != request.user.pk:
            raise BadRequest
        try:
            job = in_bulk.begin(chosen["action"], chosen["target"], chosen["ids"], request.user, chosen["key"])
        except Refused as refused:
            self.message_user(request, f"{refused.message} {refused.action}", messages.ERROR)
            return HttpResponseRedirect(reverse("admin:index"))
        return HttpResponseRedirect(reverse("admin:memory_bulk_change", args=[job.pk]))

    def stop(self, row: Any, by: Any) -> None:
        cancel_bulk(row, by)


@admin.register(models.Job)
class JobAdmin(Progress, InForest):
    list_display = ["id", "kind", "status", "progress", "message", "created_at", "updated_at"]
    list_filter = ["status", "kind", "created_at", *InForest.list_filter]

    def stop(self, row: Any, by: Any) -> None:
        cancel_job(row, by)
