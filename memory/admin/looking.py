"""What every table of the admin shares: it is looked at by superusers, never edited directly, and each row leads to its forest and to the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from memory import models
from memory.errors import Refused
from memory.llm.interface import ModelError

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:  # Django's isn't generic at run time
    ModelAdmin = admin.ModelAdmin

AT_ONCE = 100


def is_administrator(request: HttpRequest) -> bool:
    """Who may look at rows of others: superusers. The staff run the service without reading in it (docs/decisions/0014-administration.md)."""
    return bool(request.user.is_active and request.user.is_superuser)


class Looking(ModelAdmin):
    """A table to look at. The action bar stays on: without any, Django's change list has an inline style, which the CSP refuses."""

    list_per_page = 50
    show_full_result_count = False
    actions_on_top, actions_on_bottom = True, False
    list_select_related: ClassVar[bool | list[str]] = True
    forest_linked = True
    # Where the page shows a row: `#KEY=ID`, with the columns the ids are in.
    shown_at: tuple[tuple[str, str], ...] = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With a mark on the rows that the page shows to whoever asks: their own."""
        rows = super().get_queryset(request)
        owner = "owner" if self.model is models.Forest else "forest__owner"
        return rows.annotate(is_own=ExpressionWrapper(Q(**{owner: request.user.pk}), BooleanField())) if self._shown() else rows

    def _shown(self) -> bool:
        return bool(self.shown_at) or self.model is models.Forest

    def get_list_display(self, request: HttpRequest) -> Any:
        links = [*(["page_link"] if self._shown() else []), *(["forest_link"] if self.forest_linked else [])]
        return [self.list_display[0], *links, *self.list_display[1:]]

    @admin.display(description="forest")
    def forest_link(self, row: Any) -> str:
        """The forest's own row here."""
        return format_html('<a href="{}">{}</a>', reverse("admin:memory_forest_change", args=[row.forest_id]), row.forest_id)

    @admin.display(description="page")
    def page_link(self, row: Any) -> str:
        """The page at this very row; of others' forests it shows nothing, not even to an administrator."""
        if not row.is_own:
            return "its owner’s"
        forest = row.pk if self.model is models.Forest else row.forest_id
        where = "&".join(f"{key}={getattr(row, column)}" for key, column in self.shown_at if getattr(row, column) is not None)
        return format_html('<a href="{}{}">Open</a>', reverse("forest", args=[forest]), f"#{where}" if where else "")


class NewestForests(admin.RelatedFieldListFilter):
    """The newest forests; older ones are reached by the link of their row."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: ModelAdmin) -> Any:
        return [(pk, f"{pk} · {name}") for pk, name in models.Forest.objects.order_by("-pk").values_list("pk", "name")[:50]]


OF_FOREST: list[Any] = [("forest", NewestForests)]


class InForest(Looking):
    list_filter = OF_FOREST


def each(do: Callable[[Any, Any], Any], title: str, verb: str) -> Any:
    """An admin action for a few rows at once, done right away: `do(row, by)`. What many rows or much work needs is a bulk job."""

    @admin.action(description=title)
    def action(self: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> None:
        chosen = list(rows[: AT_ONCE + 1])
        if len(chosen) > AT_ONCE:
            self.message_user(request, f"At most {AT_ONCE} at once.", messages.ERROR)
            return
        run(self, request, chosen, lambda row: do(row, request.user), verb)

    action.__name__ = verb.replace(" ", "_")
    return action


def run(site: ModelAdmin, request: HttpRequest, rows: Iterable[Any], act: Callable[[Any], Any], verb: str) -> None:
    """Do it to each row, say how many it was done to and why not to the others."""
    done = 0
    for row in rows:
        try:
            act(row)
            done += 1
        except (Refused, ModelError) as refused:
            site.message_user(request, f"{row}: {refused.message} {refused.action}", messages.WARNING)
    site.message_user(request, f"{done} × {verb}.", messages.SUCCESS if done else messages.WARNING)
