"""`manage.py sign_in_link [USER]`: a new link, when the one that `up` printed was used or is too old."""

import os
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from memory.actions.sign_in_link import first_person, sign_in_link


class Command(BaseCommand):
    help = "Print a link that signs a person in: once, within 15 minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", help="user name; without it the first administrator")
        parser.add_argument("--address", default=f"http://127.0.0.1:{os.environ.get('PORT') or 8000}", help="where the site is, default %(default)s")

    def handle(self, *args: Any, user: str | None, address: str, **options: Any) -> None:
        people = get_user_model().objects
        person = people.filter(username=user, is_active=True).first() if user else first_person()
        if person is None:
            raise CommandError(f"There is no active user {user!r}.")
        self.stdout.write(sign_in_link(address, person))
