"""Filters of the lists that mirror the page: what a state taught, how sure its place was, its topic, its entities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Count, QuerySet, TextField
from django.http import HttpRequest

from memory.models import EVIDENCE_MODELS, KIND_OF, AtomicFact, EvidenceRow, ParentChange, Revision, Topic
from memory.present.words import Unnest

CHOICES = 50


class YesNo(SimpleListFilter):
    """All, those that have it, those that don't."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "Yes"), ("0", "No")]

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("0", "1"):
            return rows
        having = self.having(self.of_forest(request, rows.model._default_manager.all())).values("pk").order_by()
        return rows.filter(pk__in=having) if self.value() == "1" else rows.exclude(pk__in=having)

    def of_forest(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Only those of the forest that is looked at, so that a filter never works out the others'."""
        forest = chosen_forest(request)
        return rows.filter(forest=forest) if forest else rows


def chosen_forest(request: HttpRequest) -> int | None:
    """The forest that the list is narrowed to."""
    given = request.GET.get("forest__id__exact", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) < 2**63 else None


def _sources(rows: QuerySet[Any], forest: int | None) -> QuerySet[Any]:
    """Ids of the states that these facts or records rest on."""
    return (rows.filter(forest=forest) if forest else rows).order_by().annotate(source=Unnest("sources")).values("source")


class HasFacts(YesNo):
    title, parameter_name = "has facts", "facts"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(pk__in=_sources(AtomicFact.objects.all(), chosen_forest(self.request)))


class Superseded(YesNo):
    """States that gave a value which was replaced since."""

    title, parameter_name = "superseded", "superseded"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        found = rows.none()
        for model in EVIDENCE_MODELS.values():
            found = found | rows.filter(pk__in=_sources(model.objects.filter(status=EvidenceRow.Status.SUPERSEDED), chosen_forest(self.request)))
        return found


class LowConfidence(YesNo):
    title, parameter_name = "low confidence", "unsure"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(turn__decision__unsure=True)


class Corrected(YesNo):
    """States that a person moved."""

    title, parameter_name = "corrected", "corrected"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(pk__in=ParentChange.objects.values("state"))


class Pending(YesNo):
    title, parameter_name = "pending", "pending"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(refined_at__isnull=True)


class CorrectedItem(YesNo):
    """Facts and records that a person edited, took back or brought back."""

    title, parameter_name = "corrected", "corrected"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        by_user = Revision.objects.filter(kind=KIND_OF[rows.model], by=Revision.By.USER)
        return rows.filter(pk__in=by_user.filter(old_item__isnull=False).values("old_item")) | rows.filter(
            pk__in=by_user.filter(new_item__isnull=False).values("new_item")
        )


class PendingItem(YesNo):
    """What comes of turns that are being read again."""

    title, parameter_name = "pending", "pending"

    def having(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(state__refined_at__isnull=True)


class OfTopic(SimpleListFilter):
    """The trees of the forest looked at, or the newest ones of all."""

    title, parameter_name = "topic", "topic"
    column = "root_id"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        forest = chosen_forest(request)
        topics = Topic.objects.filter(forest=forest).order_by("order") if forest else Topic.objects.order_by("-pk")
        return [(str(root), key or f"tree {root}") for root, key in topics.values_list("root_id", "key")[:CHOICES]]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        given = self.value() or ""
        return rows.filter(**{self.column: int(given)}) if given.isascii() and given.isdigit() and int(given) < 2**63 else rows

    def choices(self, changelist: Any) -> Iterator[Any]:
        """The one chosen by hand in the address too, though the list doesn't name it."""
        yield from super().choices(changelist)
        if self.value() and self.value() not in {str(value) for value, _ in self.lookup_choices}:
            yield {"selected": True, "query_string": changelist.get_query_string({self.parameter_name: self.value()}), "display": f"tree {self.value()}"}


class OfTopicItem(OfTopic):
    column = "state__root_id"


class OfEntity(SimpleListFilter):
    """The most frequent entities of the forest looked at; for all forests together there would be too many to choose from."""

    title, parameter_name = "entity", "entity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        forest = chosen_forest(request)
        if forest is None:
            return [(given, given)] if (given := request.GET.get(self.parameter_name)) else []
        rows: QuerySet[Any] = model_admin.model._default_manager.filter(forest=forest).order_by()
        counted = rows.annotate(entity=Unnest("entities", output_field=TextField())).values("entity").annotate(n=Count("id")).order_by("-n", "entity")
        return [(entity, f"{entity} ({number})") for entity, number in counted.values_list("entity", "n")[:CHOICES]]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(entities__contains=[self.value()]) if self.value() else rows


STATE_FILTERS: list[Any] = [HasFacts, Superseded, LowConfidence, Corrected, Pending, OfTopic, OfEntity]
ITEM_FILTERS: list[Any] = [CorrectedItem, PendingItem, OfTopicItem, OfEntity]
