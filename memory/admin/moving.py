"""Moving a turn: a place is chosen, what the move does is shown, and then it is made, by the action that the page uses."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from memory import models
from memory.actions.reroute import reroute
from memory.admin.looking import InForest, is_administrator
from memory.errors import Refused
from memory.present.states import labels

UNDER, ROOT = "under", "root"


class Place(forms.Form):
    """Where a turn goes: under a state of its forest, or to a root of its own."""

    where = forms.ChoiceField(
        choices=[(UNDER, "under the state with this number:"), (ROOT, "to a root of its own")], initial=UNDER, widget=forms.RadioSelect, label="Move it"
    )
    parent = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, label="State", help_text="It must be of the same forest, and an earlier one.")

    def __init__(self, forest: int, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.forest = forest
        self.found: models.InteractionState | None = None

    def clean(self) -> dict[str, Any] | None:
        given = super().clean()
        if given and given.get("where") == UNDER and "parent" in given:
            self.found = models.InteractionState.objects.in_forest(self.forest).filter(pk=given["parent"]).first()
            if self.found is None:
                self.add_error("parent", "There is no such state in this forest.")
        return given


class Moved(InForest):
    """A table of states, each of which can be moved."""

    change_form_template = "admin/memory/state.html"

    def get_urls(self) -> list[URLPattern]:
        return [path("<int:pk>/move/", self.admin_site.admin_view(self.move), name="memory_interactionstate_move"), *super().get_urls()]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        more = {"move_url": reverse("admin:memory_interactionstate_move", args=[object_id])} if object_id.isascii() and object_id.isdigit() else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})

    def move(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The form; what the move would do, once a place is given; the move itself, once that is confirmed."""
        if not is_administrator(request):
            raise PermissionDenied
        row = get_object_or_404(models.InteractionState, pk=pk)
        form = Place(row.forest_id, request.POST or None)
        shown = None
        if request.method == "POST" and form.is_valid():
            confirmed = "confirmed" in request.POST
            try:
                shown = reroute(row, form.found, request.user, preview=not confirmed)
            except Refused as refused:
                self.message_user(request, f"{refused.message} {refused.action}", messages.ERROR)
            else:
                if confirmed:
                    self.message_user(request, "Moved. What its path taught is read anew; its owner can undo it on the page.", messages.SUCCESS)
                    return HttpResponseRedirect(reverse("admin:memory_interactionstate_change", args=[pk]))
        context = {**self.admin_site.each_context(request), "title": f"Move {row}", "opts": self.model._meta, "row": row, "form": form, "shown": shown}
        return TemplateResponse(request, "admin/memory/move.html", {**context, **_around(row, form.found)})


def _around(row: models.InteractionState, chosen: models.InteractionState | None) -> dict[str, Any]:
    """Where it hangs, where it would, and the places that localization weighed, with their labels."""
    decision = models.RoutingDecision.objects.filter(turn=row.turn_id).first()
    weighed = [candidate["state"] for candidate in (decision.candidates if decision else []) if candidate["state"] not in (None, row.parent_id, row.pk)]
    named = labels([pk for pk in (row.pk, row.parent_id, chosen and chosen.pk, *weighed) if pk])
    return {
        "label": named.get(row.pk, ""),
        "now": (row.parent_id, named.get(row.parent_id, "")) if row.parent_id else None,
        "then": (chosen.pk, named.get(chosen.pk, "")) if chosen else None,
        "weighed": [(pk, named[pk]) for pk in weighed if pk in named],
    }
