"""Make an empty forest, pinned to the embedder of this server (R4)."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django.db import IntegrityError, transaction

from memory.errors import Refused, conflict, invalid
from memory.llm.embed import embedder
from memory.models import Forest, Profile


def check_time_zone(name: str) -> str:
    """An IANA zone name, as given. Raises Refused for any other."""
    if name not in available_timezones():
        raise invalid(f"“{name[:64]}” is no time zone.", "Use an IANA name such as Europe/Berlin.", {"time_zone": ["Unknown time zone."]})
    return name


def name_taken(name: str) -> Refused:
    """What to say when a person has used a name already."""
    return conflict(f"You have a forest called “{name}” already.", "Choose another name.")


def create_forest(owner: Any, name: str, *, time_zone: str | None = None, sample: bool = False) -> Forest:
    """A new forest of `owner`, in their time zone unless another is given. Raises Refused for a name they have used already."""
    name = name.strip()
    if not name or len(name) > 120:
        raise invalid("A forest needs a name of 1 to 120 characters.", fields={"name": ["1 to 120 characters."]})
    if time_zone is None:
        profile = Profile.objects.filter(owner=owner).first()
        time_zone = profile.time_zone if profile else "UTC"
    pinned = embedder()
    try:
        with transaction.atomic():
            return Forest.objects.create(
                owner=owner,
                name=name,
                time_zone=check_time_zone(time_zone),
                embedder=pinned.identity,
                dimensions=pinned.dimensions,
                weights_hash=pinned.weights_hash,
                sample=sample,
            )
    except IntegrityError:
        raise name_taken(name) from None
