"""Signing in without a password: a link for one person that works once."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.urls import reverse
from sesame.utils import get_query_string


def first_person() -> AbstractUser:
    """The oldest active administrator; on a new installation `owner` is made, who signs in by link only."""
    people = get_user_model().objects
    person = people.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return person or people.create_superuser("owner", password=None)


def sign_in_link(address: str, person: AbstractUser) -> str:
    """A link to the site at `address`, valid once and for SESAME_MAX_AGE seconds."""
    return f"{address.rstrip('/')}{reverse('sign-in-link')}{get_query_string(person)}"
