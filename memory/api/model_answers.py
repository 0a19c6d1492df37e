"""What the API answers about models: what turns took, and what the servers behind can do."""

# Fields called `source`, `label` … share their names with attributes of Field, which never meets them.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from memory.llm.capabilities import MODES


class StageUse(s.Serializer[Any]):
    """What the calls of one stage took: answer, extract, embed, rerank, route (where the turn goes)."""

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


class Connection(s.Serializer[Any]):
    """Who says which model answers, and what was said."""

    source = s.ChoiceField(choices=["environment", "page", "none"])
    base_url = s.CharField(allow_null=True, help_text="Null: none, or not shown to you.")
    has_key = s.BooleanField(help_text="Whether a key is kept. The key itself is shown to nobody.")
    model = s.CharField(allow_blank=True, help_text="Empty: the server's own choice.")
    extract_model = s.CharField(allow_blank=True, help_text="Empty: the one that answers.")


class Models(s.Serializer[Any]):
    localizer = s.CharField()
    roles = Role(many=True)
    connection = Connection()
    choices = s.ListField(child=s.CharField(), help_text="Models that a forest may choose to answer; empty when the server lists none.")


class CheckDone(s.Serializer[Any]):
    check = s.ChoiceField(choices=["list", "stream", "structured", "embed", "rerank"])
    ms = s.FloatField()
    error = s.DictField(child=s.CharField(), allow_null=True, help_text="code, message, action")


class Tested(s.Serializer[Any]):
    role = s.CharField()
    model = s.CharField()
    works = s.BooleanField()
    ms = s.FloatField()
    error = s.DictField(child=s.CharField(), allow_null=True, help_text="code, message, action")
    checks = CheckDone(many=True, help_text="Up to the first that failed.")


class ModelsTested(Models):
    tests = Tested(many=True)
    models = s.ListField(child=s.CharField(), help_text="What the server that was tried lists.")
