"""What the API answers about a forest's health: figures by day, and what is pending."""

from __future__ import annotations

from rest_framework import serializers as s

from memory.api.fields import Shape


class Lag(Shape):
    at = s.DateTimeField(help_text="When the turn became a state.")
    seconds = s.FloatField(help_text="From then until its memory was written.")


class TokensOfDay(Shape):
    day = s.DateField()
    input = s.IntegerField()
    output = s.IntegerField()
    cost = s.FloatField(allow_null=True)


class ConfidenceOfDay(Shape):
    day = s.DateField()
    mean = s.FloatField(help_text="Mean probability of the places found, 0 to 1.")
    unsure = s.IntegerField()
    turns = s.IntegerField()


class CorrectionsOfDay(Shape):
    day = s.DateField()
    count = s.IntegerField()


class Health(Shape):
    lag = Lag(many=True)
    tokens = TokensOfDay(many=True)
    confidence = ConfidenceOfDay(many=True)
    corrections = CorrectionsOfDay(many=True)
    pending = s.IntegerField()
    oldest_pending = s.DateTimeField(allow_null=True)
