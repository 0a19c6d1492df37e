"""What the API answers of a trace and of a recall: where a turn was put and why, and what the model was shown."""

# Fields called `parent`, `label` … share their names with attributes of Field, which never meets them.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from rest_framework import serializers as s

from memory import models
from memory.api.fields import Shape, maybe, moment, number
from memory.api.model_answers import TokenUse


class Part(Shape):
    key = s.CharField()
    label = s.CharField()


class ChannelHit(Shape):
    rank = number()
    score = s.FloatField()


class Sign(Shape):
    """What spoke for a place most in one part of its score."""

    kind = s.CharField()
    quotes = s.ListField(child=s.CharField(), help_text="At most three, each on one line.")
    state = maybe(help_text="Whose text is quoted; null: the words are the turn's own.")


class TraceCandidate(Shape):
    state = maybe()
    root = maybe()
    label = s.CharField(allow_blank=True)
    tree = s.CharField(allow_null=True)
    active = s.BooleanField()
    score = s.FloatField()
    probability = s.FloatField()
    parts = s.DictField(child=s.FloatField())
    channels = s.DictField(child=ChannelHit(allow_null=True))
    signs = s.DictField(child=Sign(), help_text="By part, where there is something to name.")


class Weighed(Shape):
    """“Why not that one?”: a branch and the one that was chosen, scored alike."""

    state = number(help_text="The one that was asked about; the candidate is where its branch ended then.")
    candidate = TraceCandidate()
    winner = TraceCandidate()
    parts = Part(many=True)
    words = s.CharField()
    changed = s.BooleanField(help_text="The winner scores otherwise than the trace says: the forest was corrected since.")


class Place(Shape):
    state = maybe(help_text="Null: deleted since.")
    label = s.CharField()


class Difference(Shape):
    key = s.CharField(help_text="The part.")
    label = s.CharField()
    by = s.FloatField(help_text="Above 0 it speaks for the place that was chosen, below for the next.")
    words = s.CharField(help_text="What spoke for the one it favours, which “there” is.")


class TraceDecision(Shape):
    method = s.ChoiceField(choices=models.RoutingDecision.Method.choices)
    chosen = maybe()
    root = maybe()
    probability = s.FloatField()
    margin = s.FloatField()
    unsure = s.BooleanField()
    threshold = s.FloatField()
    why = s.CharField(allow_blank=True)
    corrected_by = s.CharField(allow_null=True)
    corrected_at = moment()
    corrected_from = Place(allow_null=True, help_text="Where localization or the sender had put it; null: it had begun a topic, or nobody moved it.")
    parts = Part(many=True)
    candidates = TraceCandidate(many=True)
    next = Place(allow_null=True, help_text="What it is contrasted with: the likeliest place of another branch; state null: a new topic.")
    contrast = Difference(many=True, help_text="The first candidate against `next`, longest first; empty where a person chose or either was deleted.")


class ContextItem(Shape):
    kind = s.CharField()
    id = maybe()
    text = s.CharField()
    tokens = number()
    sources = s.ListField(child=number())
    status = s.CharField(allow_null=True)


class ContextBlock(Shape):
    name = s.CharField()
    label = s.CharField()
    tokens = number()
    note = s.CharField(allow_blank=True)
    items = ContextItem(many=True)


class Cut(Shape):
    block = s.CharField()
    count = number()
    reason = s.CharField()


class PromptMessage(Shape):
    role = s.CharField()
    content = s.CharField(allow_blank=True)


class Context(Shape):
    budget = number()
    tokens = number()
    instructions_tokens = number()
    input_tokens = number()
    blocks = ContextBlock(many=True)
    cut = Cut(many=True)
    messages_hash = s.CharField()
    messages = PromptMessage(many=True)


class Trace(Shape):
    turn = number()
    position = maybe()
    text = s.CharField()
    time = s.DateTimeField()
    answered_by = s.CharField(allow_null=True, help_text="The model that answers or answered, `offline` without one; null: given, or nobody yet.")
    decision = TraceDecision(allow_null=True)
    context = Context(allow_null=True)
    timings = s.DictField(child=s.FloatField(allow_null=True))
    tokens = TokenUse()


class RecallCandidate(Shape):
    parent = s.JSONField(allow_null=True)
    score = s.FloatField()
    probability = s.FloatField()


class Localization(Shape):
    parent = s.JSONField(allow_null=True)
    root = s.JSONField(allow_null=True)
    probability = s.FloatField()
    method = s.ChoiceField(choices=models.RoutingDecision.Method.choices)
    asks = s.BooleanField(help_text="Ranking is unsure: in chat the language model would be asked as well.")
    candidates = RecallCandidate(many=True)


class RecallItem(Shape):
    kind = s.CharField()
    text = s.CharField()
    tokens = number()
    sources = s.ListField(child=s.JSONField())


class RecallBlock(Shape):
    name = s.CharField()
    tokens = number()
    items = RecallItem(many=True)


class Recall(Shape):
    localization = Localization()
    tokens = number()
    blocks = RecallBlock(many=True)
