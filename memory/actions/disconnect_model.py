"""Let go of the model that was connected in the page."""

from __future__ import annotations

from typing import Any

from memory.actions.connect_model import check_may_connect, not_writable
from memory.llm import connection
from memory.models import AuditEntry


def disconnect_model(person: Any) -> None:
    """From the next call on the offline engine answers, and neither address nor key is kept. Raises Refused."""
    check_may_connect(person)
    if connection.kept() is None:
        return
    try:
        connection.forget()
    except OSError:
        raise not_writable() from None
    AuditEntry.objects.create(actor=person, action="disconnect_model", subject="model connection")
