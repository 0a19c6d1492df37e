"""Set a person's time zone and token budget."""

from __future__ import annotations

from typing import Any

from memory.models import Profile


def update_profile(owner: Any, *, time_zone: str | None = None, evidence_budget: int | None = None) -> Profile:
    """What isn't given stays."""
    given = {name: value for name, value in (("time_zone", time_zone), ("evidence_budget", evidence_budget)) if value is not None}
    profile, _ = Profile.objects.update_or_create(owner=owner, defaults=given)
    return profile
