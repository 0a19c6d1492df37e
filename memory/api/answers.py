"""What the API answers, for the OpenAPI document. `memory.present` makes the values; a test holds every answer to these shapes."""

# Fields called `parent`, `label`, `partial` … share their names with attributes of Field, which never meets them.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from memory import models
from memory.api.fields import Shape, maybe, moment, number
from memory.api.trace_answers import Place
from memory.models.forest import Origin

KINDS = ["fact", "artifact", "event", "mutable_state"]
RECORD_KINDS = KINDS[1:]
FACT_KINDS = KINDS[:1]
HIT_KINDS = ["turn", "fact", "topic"]


class ErrorBody(Shape):
    code = s.CharField()
    message = s.CharField()
    action = s.CharField()
    fields = s.DictField(child=s.ListField(child=s.CharField()), required=False)


class Error(Shape):
    error = ErrorBody()


class Trouble(Shape):
    code = s.CharField()
    message = s.CharField()
    action = s.CharField(required=False)


class Me(Shape):
    id = number()
    username = s.CharField()
    is_staff = s.BooleanField()
    time_zone = s.CharField()
    evidence_budget = number()
    model = s.CharField(help_text="`offline`, or the name of the connected model.")
    max_turn_bytes = number()
    max_import_bytes = number()


class Counts(Shape):
    states = number()
    trees = number()
    turns = number()
    facts = number()
    pending = number()


class Forest(Shape):
    id = number()
    name = s.CharField()
    time_zone = s.CharField()
    created_at = s.DateTimeField()
    active_state = maybe()
    version = number()
    counts = Counts()
    sample = s.BooleanField()
    answer_model = s.CharField(allow_blank=True, help_text="The model that answers in it; empty: the site's.")


class ForestPage(Shape):
    results = Forest(many=True)
    next = maybe()


class ImportReport(Shape):
    formats = s.ListField(child=s.CharField())
    relocalize = s.BooleanField()
    new = number(help_text="Turns taken in by the last run.")
    known = number(help_text="Turns that were there already.")
    left_out = s.DictField(child=number(), help_text="How many remarks, by reason.")
    lines = s.ListField(child=s.CharField(), help_text="The first 200 remarks: what was left out or changed, where, and why.")


class Job(Shape):
    id = number()
    kind = s.CharField()
    status = s.ChoiceField(choices=models.Job.Status.choices)
    done = number()
    total = number()
    message = s.CharField(allow_blank=True)
    forest = maybe()
    error = Trouble(allow_null=True)
    result = s.DictField(allow_null=True, help_text="What came of it; of a `replay`: proposals and how many turns were looked at.")

    def get_fields(self) -> dict[str, s.Field[Any, Any, Any, Any]]:
        """`import` is a word of Python."""
        return {**super().get_fields(), "import": ImportReport(allow_null=True)}


class JobPage(Shape):
    results = Job(many=True)
    next = maybe()


class SampleStarted(Shape):
    forest = Forest()
    job = Job()


class Consequences(Shape):
    """What a move or deletion changes: how many of what, and the later answers that used it."""

    preview = s.BooleanField(help_text="True: nothing has changed yet.")
    counts = s.DictField(child=number())
    used_by = s.ListField(child=s.DictField(), required=False)


class Rebuilt(Shape):
    summaries = number(help_text="States that are read anew.")
    topics = number(help_text="Trees that get their name anew.")


class Staying(Shape):
    kind = s.ChoiceField(choices=[*KINDS, "state"])
    id = number()
    text = s.CharField(allow_blank=True)
    because = s.CharField(help_text="Why it stays, in plain words.")


class Restored(Shape):
    kind = s.ChoiceField(choices=KINDS)
    id = number()
    text = s.CharField(allow_blank=True)


class Quoting(Shape):
    turn = number()
    state = maybe(help_text="Null for a broken turn, whose part quotes it.")
    label = s.CharField()
    time = s.DateTimeField()
    quote = s.CharField(help_text="The first passage that repeats it.")


class Deleted(Consequences):
    """What a deletion does: what goes (`counts`), is told anew, stays, holds again; which later turns used it, and which quote it (at most 50 of each)."""

    rebuilt = Rebuilt()
    stays = Staying(many=True)
    restored = Restored(many=True)
    quoted_by = Quoting(many=True)


class Match(Shape):
    kind = s.ChoiceField(choices=[*KINDS, "state"])
    id = number()
    text = s.CharField(allow_blank=True)
    state = number()
    score = s.FloatField()


class ForgetFound(Shape):
    what = s.CharField(help_text="The words to be forgotten.")
    matches = Match(many=True)


class ForgetAsked(Shape):
    """In place of a turn: the text asks to forget something, so it was written nowhere."""

    forget = ForgetFound()


class CrumbStep(Shape):
    state = number()
    label = s.CharField()


class Decision(Shape):
    method = s.ChoiceField(choices=models.RoutingDecision.Method.choices)
    parent = maybe()
    root = maybe()
    probability = s.FloatField()
    unsure = s.BooleanField()


class Chip(Shape):
    kind = s.ChoiceField(choices=KINDS)
    id = number()
    label = s.CharField()
    state = number()
    quote = s.CharField(allow_blank=True)


class EditedFrom(Shape):
    turn = number()
    state = number()
    label = s.CharField(help_text="What the original said, in short.")
    again = s.BooleanField(help_text="Its text wasn't changed: it was asked again.")


class Turn(Shape):
    id = number()
    client_id = s.CharField()
    origin = s.ChoiceField(choices=Origin.choices)
    status = s.ChoiceField(choices=models.Turn.Status.choices)
    text = s.CharField()
    answer = s.CharField(allow_blank=True)
    partial = s.CharField(allow_blank=True)
    seq = number()
    state = maybe()
    sent_at = s.DateTimeField()
    answered_at = moment()
    refined_at = moment()
    error = Trouble(allow_null=True)
    crumb = CrumbStep(many=True)
    decision = Decision(allow_null=True)
    chips = Chip(many=True)
    edited_from = EditedFrom(allow_null=True)


class TurnPage(Shape):
    results = Turn(many=True)
    next = maybe()


class ObservedResult(Shape):
    id = s.CharField(allow_null=True)
    state = number()
    parent = s.CharField(allow_null=True, help_text="The id given, else a state's id; null: a new root.")
    root = s.CharField(allow_null=True)
    method = s.ChoiceField(choices=models.RoutingDecision.Method.choices)
    probability = s.FloatField()
    ms = s.FloatField()


class ObservedResults(Shape):
    results = ObservedResult(many=True)


class StateRow(Shape):
    id = number()
    turn = number()
    position = number()
    parent = maybe()
    root = number()
    depth = number()
    time = s.DateTimeField()
    label = s.CharField()
    facts = number(help_text="Facts it supports, whatever their status: those `states/{id}/` lists.")
    list = number(help_text="Items of an artifact list; 0 = none.")
    replaced = s.BooleanField(help_text="It gave a value that was replaced.")
    new_value = s.BooleanField(help_text="It gave a value that replaced another.")
    pending = s.BooleanField()
    unsure = s.BooleanField()
    moved_from = maybe()
    second = maybe()
    entities = s.ListField(child=s.CharField())


class TreeRow(Shape):
    root = number()
    order = number()
    topic = s.CharField()
    variants = s.ListField(child=s.CharField())


class StatePage(Shape):
    results = StateRow(many=True)
    trees = TreeRow(many=True)
    active = maybe()
    total = number()
    version = number()
    next = maybe()


class RevisionEnd(Shape):
    kind = s.ChoiceField(choices=KINDS)
    id = number()
    text = s.CharField()


class Revision(Shape):
    id = number()
    old = RevisionEnd(allow_null=True)
    new = RevisionEnd(allow_null=True)
    verdict = s.ChoiceField(choices=models.Revision.Verdict.choices)
    by = s.ChoiceField(choices=models.Revision.By.choices)
    at = s.DateTimeField()
    words = s.CharField()


class RevisionPage(Shape):
    results = Revision(many=True)
    next = maybe()


class Evidence(Shape):
    id = number()
    text = s.CharField()
    slot = s.CharField(allow_blank=True)
    attribute_tag = s.CharField(allow_blank=True)
    status = s.ChoiceField(choices=models.EvidenceRow.Status.choices)
    valid_from = s.DateTimeField()
    valid_to = moment()
    known_from = number()
    known_until = maybe()
    pinned = s.BooleanField()
    state = number()
    position = number()
    evidence = s.CharField(allow_blank=True)
    entities = s.ListField(child=s.CharField())
    supersedes = s.ListField(child=number())
    superseded_by = maybe()
    revisions = Revision(many=True)


class Fact(Evidence):
    kind = s.ChoiceField(choices=FACT_KINDS)


class Record(Evidence):
    kind = s.ChoiceField(choices=RECORD_KINDS)
    fields = s.DictField(help_text="The typed columns of its kind.")


class Item(Evidence):
    """A fact, or a record with its typed `fields`."""

    kind = s.ChoiceField(choices=KINDS)
    fields = s.DictField(required=False)


class RevisedItem(Item):
    change = number(help_text="What undoes it.")


class FactPage(Shape):
    results = Fact(many=True)
    next = maybe()


class RecordPage(Shape):
    results = Record(many=True)
    next = s.CharField(allow_null=True)


class Use(Shape):
    turn = number()
    state = number()
    label = s.CharField()
    time = s.DateTimeField()


class StateDetail(Shape):
    id = number()
    turn = number()
    position = number()
    parent = maybe()
    root = number()
    depth = number()
    time = s.DateTimeField()
    label = s.CharField()
    user = s.CharField()
    assistant = s.CharField(allow_blank=True)
    node_summary = s.CharField(allow_blank=True)
    path_summary = s.CharField(allow_blank=True)
    topic = s.CharField(allow_blank=True)
    entities = s.ListField(child=s.CharField())
    keywords = s.ListField(child=s.CharField())
    tokens = number()
    refined_at = moment()
    extraction = s.DictField()
    origin = s.ChoiceField(choices=Origin.choices)
    facts = Fact(many=True)
    records = Record(many=True)
    used_by = Use(many=True)


class Moved(Consequences):
    state = StateRow(required=False)
    tree = TreeRow(required=False)
    trees = TreeRow(many=True, required=False, help_text="Preview: the trees that are told anew.")
    evidence = number(required=False, help_text="Preview: facts and records that are read anew.")
    later = number(required=False, help_text="Preview: later turns that localization placed, and that may be placed anew.")
    change = number(required=False, help_text="Done: what undoes it.")


class MovedMany(Shape):
    moved = number()
    change = number()


class ChangedItem(Shape):
    kind = s.ChoiceField(choices=KINDS)
    id = number()


class Change(Shape):
    id = number()
    action = s.ChoiceField(choices=models.Change.Action.choices)
    words = s.CharField()
    by = s.CharField(allow_null=True)
    at = s.DateTimeField()
    state = maybe()
    item = ChangedItem(allow_null=True)
    undone_at = moment()
    undoable = s.BooleanField()


class ChangePage(Shape):
    results = Change(many=True)
    next = maybe()


class MoveMade(Shape):
    at = s.DateTimeField()
    by = s.CharField(allow_null=True)
    to = Place(allow_null=True)
    change = maybe()
    undone = s.BooleanField()

    def get_fields(self) -> dict[str, s.Field[Any, Any, Any, Any]]:
        """`from` is a word of Python."""
        return {**super().get_fields(), "from": Place(allow_null=True)}


class MovePage(Shape):
    results = MoveMade(many=True)
    next = maybe()


class SearchHit(Shape):
    state = number()
    kind = s.ChoiceField(choices=HIT_KINDS)
    id = number()
    text = s.CharField()
    score = s.FloatField()


class SearchResults(Shape):
    results = SearchHit(many=True)
    took_ms = s.FloatField()
