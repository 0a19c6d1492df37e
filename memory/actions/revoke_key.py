"""Shut a key out for good."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from memory import shut_out
from memory.errors import conflict
from memory.models import ApiKey, AuditEntry


def revoke_key(key: ApiKey, by: Any) -> None:
    """From now on it opens nothing; its row stays, for what was done with it. Raises Refused for one that is revoked."""
    with transaction.atomic():
        if not ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
            raise conflict("This key is revoked already.", "There is nothing to do.")
        AuditEntry.objects.create(owner_id=key.owner_id, actor=by, action="revoke_key", subject=f"key {key.pk}", counts={"keys": 1})
        shut_out.look_again(key.owner_id)
