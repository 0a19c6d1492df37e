"""What the API answers about models: what turns took, and what the servers behind can do."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from memory.llm.capabilities import MODES


class StageUse(s.Serializer[Any]):
    """What the calls of one stage took: answer, extract, embed, rerank."""

    input = s.IntegerField()
    output = s.IntegerField()
    reasoning = s.IntegerField()
    calls = s.IntegerField()
    cost = s.FloatField(allow_null=True)
    estimated = s.BooleanField(help_text="Counted here: the server told nothing.")
    notes = s.ListField(child=s.CharField())


class UseNote(s.Serializer[Any]):
    code = s.CharField()
    words = s.CharField()


class TokenUse(s.Serializer[Any]):
    input = s.IntegerField()
    output = s.IntegerField()
    cost = s.FloatField(allow_null=True, help_text="Of all stages; null without a price.")
    stages = s.DictField(child=StageUse())
    notes = UseNote(many=True)


class Role(s.Serializer[Any]):
    """A model in one of its roles. What isn't known (yet) is null."""

    role = s.ChoiceField(choices=["answer", "extract", "embed", "rerank"])
    model = s.CharField()
    address = s.CharField(allow_null=True, help_text="Null: local, or not shown to you.")
    local = s.BooleanField()
    structured = s.ChoiceField(choices=MODES, allow_null=True)
    streaming_usage = s.BooleanField(allow_null=True)
    rejected = s.ListField(child=s.CharField())
    context_length = s.IntegerField(allow_null=True)
    vector_length = s.IntegerField(allow_null=True)
    price_input = s.FloatField(allow_null=True)
    price_output = s.FloatField(allow_null=True)
    probed_at = s.DateTimeField(allow_null=True)


class Models(s.Serializer[Any]):
    localizer = s.CharField()
    roles = Role(many=True)


class Tested(s.Serializer[Any]):
    role = s.CharField()
    model = s.CharField()
    works = s.BooleanField()
    ms = s.FloatField()
    error = s.DictField(child=s.CharField(), allow_null=True, help_text="code, message, action")


class ModelsTested(s.Serializer[Any]):
    tests = Tested(many=True)
    localizer = s.CharField()
    roles = Role(many=True)
