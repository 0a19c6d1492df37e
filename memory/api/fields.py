"""The fields that the shapes of answers are made of."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

Shape = s.Serializer[Any]


def number(**more: Any) -> s.IntegerField:
    return s.IntegerField(**more)


def maybe(**more: Any) -> s.IntegerField:
    """A whole number or null."""
    return s.IntegerField(allow_null=True, **more)


def moment(**more: Any) -> s.DateTimeField:
    """A time or null."""
    return s.DateTimeField(allow_null=True, **more)
