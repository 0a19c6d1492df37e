"""Whoever may listen no more is told so at once: a session that ended, a person who was changed (a new password, no longer active) or went.

By Django's own signals, since these rows are written in many places that aren't ours: the admin, `manage.py changepassword`, the sign-out page.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils import timezone

from memory import messages


def look_again(person_id: int) -> None:
    """After the commit, every socket of the person finds out whether it may still listen."""
    transaction.on_commit(partial(messages.look_again, messages.group_of_person(person_id)))


@receiver(post_delete, sender=Session)
def session_ended(instance: Session, **_: Any) -> None:
    person = instance.get_decoded().get("_auth_user_id")
    if person is not None and instance.expire_date > timezone.now():  # one that expired had let nobody in any more
        look_again(int(person))


@receiver(post_save, sender=get_user_model())
def person_changed(instance: Any, created: bool, update_fields: frozenset[str] | None = None, **_: Any) -> None:
    if not created and set(update_fields or ()) != {"last_login"}:
        look_again(instance.pk)


@receiver(post_delete, sender=get_user_model())
def person_went(instance: Any, **_: Any) -> None:
    look_again(instance.pk)
