"""Delete a person with all their forests: by another administrator, or by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction

from memory import present
from memory.actions import consequences
from memory.actions.forget import delete_forest, quiet_turns, reach_valkey
from memory.errors import conflict, invalid
from memory.models import ApiKey, AuditEntry, Forest


def delete_person(person: Any, by: Any, *, preview: bool = False) -> dict[str, Any]:
    """Delete another person. Raises Refused for oneself (`delete_oneself` asks for the name), and as `_delete` does."""
    if person.pk == by.pk:
        raise conflict("You can't delete yourself here.", "Delete your account on the page, or ask another administrator.")
    return _delete(person, by, preview=preview)


def delete_oneself(person: Any, username: str = "", *, preview: bool = False) -> dict[str, Any]:
    """Delete one's own account, confirmed by one's own name. Raises Refused."""
    if not preview and username != person.get_username():
        raise invalid("This isn't your name.", "Write your name as it is shown, to confirm.", {"username": ["Not your name."]})
    return _delete(person, person, preview=preview)


def _delete(person: Any, by: Any, *, preview: bool) -> dict[str, Any]:
    """All forests, keys, sessions, the profile and the person, in one transaction; admin log entries about them lose their name.

    Raises Refused while a turn of one of their forests is being answered, and for the last superuser: nobody could let people in any more."""
    User = get_user_model()  # noqa: N806 - a class
    administrators = User.objects.filter(is_superuser=True, is_active=True)
    _keep_one(person, administrators.values_list("pk", flat=True))
    forests = list(Forest.objects.filter(owner=person))
    told = present.forest_list(forests)
    counts = {
        "forests": len(forests),
        **{name: sum(forest["counts"][name] for forest in told) for name in ("states", "trees", "turns", "facts")},
        "keys": ApiKey.objects.filter(owner=person).count(),
    }
    if preview:
        return consequences.answer(preview=True, counts=counts)
    reach_valkey()
    with transaction.atomic():
        # Forests first, as every deletion does; then the person, and with them the other administrators, of whom two might leave at once.
        forests = list(Forest.objects.select_for_update().filter(owner=person).order_by("pk"))
        admins = list(administrators.select_for_update().order_by("pk").values_list("pk", flat=True)) if person.is_superuser else []
        _keep_one(person, admins)
        locked = User.objects.select_for_update().filter(pk=person.pk).first()
        if locked is None or Forest.objects.filter(owner=person).count() != len(forests):
            raise conflict("Something changed meanwhile.", "Reload and try again.")
        for forest in forests:  # all are quiet, or none is deleted
            quiet_turns(forest)
        for forest in forests:
            delete_forest(forest, by)
        _end_sessions(person.pk)
        LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(person.pk)).update(
            object_repr=f"user {person.pk}", change_message=""
        )
        AuditEntry.objects.create(actor=None if person.pk == by.pk else by, action="delete_person", subject=f"user {person.pk}", counts=counts)
        locked.delete()
    return consequences.answer(preview=False, counts=counts)


def _keep_one(person: Any, administrators: Iterable[int]) -> None:
    if person.is_superuser and not set(administrators) - {person.pk}:
        raise conflict("The last administrator can't be deleted.", "Make another one first.")


def _end_sessions(person: int) -> None:
    """Sign the person out everywhere. A session names its person only inside, so all are looked at."""
    if settings.SESSION_ENGINE != "django.contrib.sessions.backends.db":
        return  # kept elsewhere; without its person a session lets nobody in
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    gone = [session.pk for session in Session.objects.iterator(chunk_size=500) if store.decode(session.session_data).get("_auth_user_id") == str(person)]
    Session.objects.filter(pk__in=gone).delete()
