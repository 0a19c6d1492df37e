"""Delete a person with all their forests."""

from __future__ import annotations

from typing import Any

from memory import present
from memory.actions.forget import delete_forest
from memory.errors import conflict
from memory.models import AuditEntry, Forest


def delete_person(person: Any, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Forest by forest, each in its own transaction, then the person with keys and profile. Raises Refused for oneself."""
    if person.pk == by.pk:
        raise conflict("You can't delete yourself.", "Ask another administrator.")
    forests = list(Forest.objects.filter(owner=person))
    counts = {"forests": len(forests), "states": sum(forest["counts"]["states"] for forest in present.forest_list(forests))}
    if not preview:
        for forest in forests:
            delete_forest(forest, by)
        AuditEntry.objects.create(actor=by, action="delete_person", subject=f"user {person.pk}", counts=counts)
        person.delete()
    return {"preview": preview, "counts": counts}
