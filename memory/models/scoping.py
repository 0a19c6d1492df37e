"""The one query layer of ownership: every row belongs to a forest, every forest to its owner.

An edge never filters by owner itself: it asks `Model.objects.visible_to(user)`, and what isn't visible doesn't exist (404).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from django.db import models

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

    from memory.models.forest import Forest

    Person = AbstractBaseUser | AnonymousUser


class OwnedQuerySet(models.QuerySet[Any]):
    """Rows that belong to a person directly, by their `owner`."""

    def visible_to(self, person: Person) -> Self:
        return self.filter(owner_id=person.pk) if person.is_authenticated else self.none()


class ForestQuerySet(models.QuerySet[Any]):
    """Rows that belong to a person through their `forest`."""

    def visible_to(self, person: Person) -> Self:
        return self.filter(forest__owner_id=person.pk) if person.is_authenticated else self.none()

    def in_forest(self, forest: Forest | int) -> Self:
        return self.filter(forest_id=getattr(forest, "pk", forest))


class InForest(models.Model):
    """What every table of a forest shares. Unique on (forest, id) too, so that it can be partitioned by forest later."""

    forest = models.ForeignKey("memory.Forest", on_delete=models.CASCADE, related_name="+")

    objects = ForestQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        # Never content: the text of a row ends up in admin log entries, which a deletion would have to find.
        return f"{self._meta.verbose_name} {self.pk}"


def unique_in_forest(table: str, *, beside: Sequence[str] = ()) -> models.UniqueConstraint:
    """The (forest, id) key of a table; `beside` it stand columns that are then read without looking at the rows."""
    return models.UniqueConstraint(fields=["forest", "id"], name=f"{table}_forest_id", include=beside)
