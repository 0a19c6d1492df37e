"""What the API takes: bodies and query parameters, with their limits."""

# Fields called `parent`, `label`, `partial` … share their names with attributes of Field, which never meets them.
# mypy: disable-error-code="assignment"

from __future__ import annotations

import contextlib
import zoneinfo
from datetime import MAXYEAR, MINYEAR, UTC
from typing import Any

from django.conf import settings
from django.utils.dateparse import parse_datetime
from rest_framework import serializers

from memory import errors
from memory.models import EvidenceRow, Job

PAGE = 200
STATES_PAGE = 5000
INTERACTIONS = 200
MAX_ID = 2**63 - 1
# Three quarters of it may be the path; below some hundred tokens no block holds anything.
BUDGETS = (256, 200_000)


class ZoneField(serializers.CharField):
    """The name of a time zone, such as Europe/Lisbon."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=64, **more)

    def to_internal_value(self, data: Any) -> str:
        name = str(super().to_internal_value(data))
        try:
            zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise serializers.ValidationError(f"{name[:64]!r} is not a time zone. Names look like Europe/Lisbon.") from None
        return name


class TurnTextField(serializers.CharField):
    """What a person says: kept as it is, at most 32 KiB of UTF-8."""

    def __init__(self, **more: Any) -> None:
        super().__init__(trim_whitespace=False, **more)

    def to_internal_value(self, data: Any) -> str:
        text = str(super().to_internal_value(data))
        if (size := len(text.encode("utf-8", "surrogatepass"))) > settings.MAX_TURN_BYTES:
            limit = settings.MAX_TURN_BYTES // 1024
            raise errors.too_large(f"A turn takes at most {limit} KiB of text; this one has {size / 1024:.1f} KiB.", "Send it in parts.")
        return text


class MomentField(serializers.DateTimeField):
    """A time with its offset; without one it says nothing."""

    def to_internal_value(self, value: Any) -> Any:
        with contextlib.suppress(ValueError):
            parsed = parse_datetime(value) if isinstance(value, str) else None
            if parsed is not None and parsed.tzinfo is None:
                raise serializers.ValidationError("A time needs its offset, as in 2026-03-09T14:00:00+01:00.")
        try:
            moment = super().to_internal_value(value).astimezone(UTC)
        except OverflowError:
            moment = None
        if moment is None or not MINYEAR < moment.year < MAXYEAR:  # the day before or after must exist, for every zone
            raise serializers.ValidationError("This time is out of range.")
        return moment


def id_field(**more: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=MAX_ID, **more)


def as_of_field() -> serializers.IntegerField:
    return serializers.IntegerField(required=False, min_value=0, max_value=MAX_ID, help_text="A position: what was known then, with the status it had then.")


# --- Bodies


class MeChange(serializers.Serializer[Any]):
    time_zone = ZoneField(required=False)
    evidence_budget = serializers.IntegerField(required=False, min_value=BUDGETS[0], max_value=BUDGETS[1])


class ForestNew(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    time_zone = ZoneField(required=False)


class ForestChange(ForestNew):
    answer_model = serializers.CharField(required=False, max_length=200, allow_blank=True, help_text="One of the choices of model/; empty: the site's.")


class ConnectionNew(serializers.Serializer[Any]):
    base_url = serializers.CharField(max_length=500, help_text="Such as http://127.0.0.1:11434/v1; without a name or a key in it.")
    api_key = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096, write_only=True, style={"input_type": "password"})
    model = serializers.CharField(required=False, allow_blank=True, max_length=200, help_text="Answers; empty: the server's own choice.")
    extract_model = serializers.CharField(required=False, allow_blank=True, max_length=200, help_text="Reads turns; empty: the one that answers.")


class ConnectionTried(ConnectionNew):
    base_url = serializers.CharField(required=False, max_length=500, help_text="Nothing given: the models in use are tried.")
    list_only = serializers.BooleanField(required=False, default=False)


class Placed(serializers.Serializer[Any]):
    """Where a turn goes: under a state, to a new root, or (neither given) to its own place."""

    new_root = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("parent") is not None and attrs.get("new_root"):
            raise serializers.ValidationError({"new_root": ["Not together with parent."]})
        return attrs


class TurnPlaced(Placed):
    """… or, for an edited turn, beside the turn it was edited from."""

    parent = id_field(required=False, allow_null=True)
    edit_of = id_field(required=False, allow_null=True, help_text="A turn that is part of memory: the new one becomes its sibling.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("edit_of") is not None and (attrs.get("parent") is not None or attrs.get("new_root")):
            raise serializers.ValidationError({"edit_of": ["Not together with parent or new_root."]})
        return super().validate(attrs)


AS_TURN = "Send it as a turn even though it asks to forget something."


class TurnNew(TurnPlaced):
    text = TurnTextField()
    as_turn = serializers.BooleanField(required=False, default=False, help_text=AS_TURN)
    client_id = serializers.CharField(required=False, max_length=200)
    wait = serializers.BooleanField(required=False, default=False, help_text="Answer when the turn has ended, after 60 s at most.")


class TurnSend(TurnPlaced):
    """`turn.send` of the socket: the client id isn't optional, so that sending again after a reconnect sends once."""

    text = TurnTextField()
    client_id = serializers.CharField(max_length=200)
    as_turn = serializers.BooleanField(required=False, default=False, help_text=AS_TURN)


class TurnCancel(serializers.Serializer[Any]):
    turn = id_field()


class TurnResume(serializers.Serializer[Any]):
    turn = id_field()
    after = serializers.IntegerField(min_value=0, max_value=MAX_ID)


class Interaction(Placed):
    id = serializers.CharField(required=False, max_length=200, help_text="Yours; later interactions may name it as parent.")
    user = TurnTextField()
    assistant = TurnTextField(required=False, allow_blank=True, default="")
    time = MomentField()
    parent = serializers.CharField(required=False, allow_null=True, max_length=200, help_text="An id given before, or a state's id.")


class Observed(serializers.Serializer[Any]):
    interactions = Interaction(many=True, allow_empty=False)

    def validate_interactions(self, interactions: list[Any]) -> list[Any]:
        if len(interactions) > INTERACTIONS:
            raise errors.too_large(f"At most {INTERACTIONS} interactions at once; these are {len(interactions)}.", "Send them in parts, in order.")
        return interactions


class RecallAsked(serializers.Serializer[Any]):
    text = TurnTextField()
    time = MomentField(required=False, allow_null=True, default=None)
    budget = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=BUDGETS[0], max_value=BUDGETS[1])
    as_of = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MAX_ID, help_text="A position; what came later isn't seen."
    )


class ForgetAsked(serializers.Serializer[Any]):
    text = TurnTextField()


class AccountDeletion(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150, help_text="Your own name, to confirm.")


class Move(Placed):
    parent = id_field(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("parent") is None and not attrs.get("new_root"):
            raise serializers.ValidationError({"parent": ["Name a parent, or new_root."]})
        return super().validate(attrs)


class OneMove(serializers.Serializer[Any]):
    state = id_field()
    parent = id_field(allow_null=True, help_text="Null: to a root of its own.")


class Moves(serializers.Serializer[Any]):
    moves = OneMove(many=True, allow_empty=False, help_text="At most 200, in the order they are made.")


class Replay(serializers.Serializer[Any]):
    after = serializers.IntegerField(min_value=0, max_value=MAX_ID, help_text="A position: later turns are localized again.")


class Revise(serializers.Serializer[Any]):
    """A person's word on a fact or record. Nothing is overwritten: an edit is a new row, the old one stays readable."""

    do = serializers.ChoiceField(choices=["retract", "restore", "pin", "unpin", "quarantine", "edit"])
    text = serializers.CharField(required=False, max_length=2000, help_text="For edit: the new sentence.")
    value = serializers.CharField(required=False, max_length=500, allow_blank=True, help_text="For edit: the new value of its slot.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["do"] == "edit" and "text" not in attrs:
            raise serializers.ValidationError({"text": ["An edit needs its new text."]})
        return attrs


# --- Query parameters


class Page(serializers.Serializer[Any]):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE)
    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_ID, help_text="The cursor `next` of the page before.")


class TurnsPage(serializers.Serializer[Any]):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE)
    before = serializers.IntegerField(required=False, default=MAX_ID, min_value=1, max_value=MAX_ID, help_text="The cursor `next` of the newer page.")


class StatesWindow(serializers.Serializer[Any]):
    limit = serializers.IntegerField(required=False, default=STATES_PAGE, min_value=1, max_value=STATES_PAGE)
    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_ID, help_text="A position.")


class JobsPage(serializers.Serializer[Any]):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE)
    before = serializers.IntegerField(required=False, default=MAX_ID, min_value=1, max_value=MAX_ID, help_text="The cursor `next` of the newer page.")
    forest = id_field(required=False)
    kind = serializers.CharField(required=False, max_length=20)
    status = serializers.ChoiceField(choices=[*Job.Status.values, "open"], required=False, help_text="`open`: waiting or running.")


class ExportHow(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=["json", "markdown"], required=False, default="json", help_text="`markdown`: to be read, not to be imported.")
    state = id_field(required=False, help_text="With `markdown`: the path from its root to this state alone.")


class ImportHow(serializers.Serializer[Any]):
    relocalize = serializers.BooleanField(required=False, default=False, help_text="Let every turn find its own place instead of keeping the one it had.")


class ImportFile(ImportHow):
    file = serializers.FileField()


class Preview(serializers.Serializer[Any]):
    preview = serializers.BooleanField(required=False, default=False, help_text="1: what would change; nothing does.")


class Deletion(Preview):
    redact = serializers.BooleanField(required=False, default=False, help_text="1: passages of later answers that quote it go too.")


class StateDeletion(Deletion):
    mode = serializers.ChoiceField(choices=["with_children", "children_to_parent"], default="children_to_parent")


class EvidenceFilter(serializers.Serializer[Any]):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE)
    state = id_field(required=False)
    slot = serializers.CharField(required=False, max_length=200)
    status = serializers.ChoiceField(choices=[*EvidenceRow.Status.values, "all"], default="current")
    as_of = as_of_field()


class FactsPage(EvidenceFilter):
    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_ID)


class RecordsPage(EvidenceFilter):
    kind = serializers.ChoiceField(choices=["artifact", "event", "mutable_state"], required=False)
    after = serializers.RegexField(r"^(artifact|event|mutable_state)\.\d{1,18}$", required=False, help_text="The cursor `next` of the page before.")


class RevisionsPage(Page):
    state = id_field(required=False)
    slot = serializers.CharField(required=False, max_length=200)
    kind = serializers.ChoiceField(choices=["fact", "artifact", "event", "mutable_state"], required=False)
    as_of = as_of_field()


class Search(serializers.Serializer[Any]):
    q = serializers.CharField(max_length=200)
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE)
