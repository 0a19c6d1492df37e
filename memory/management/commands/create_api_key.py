"""`manage.py create_api_key USER --name N`: a key for programs, printed once."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.api.authentication import SCOPES, make_key
from memory.models import ApiKey


class Command(BaseCommand):
    help = "Make an API key and print it. It is shown this once: only its hash is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="Whose key it is: the name to sign in with.")
        parser.add_argument("--name", required=True, help="What the key is for, e.g. “notebook”.")
        parser.add_argument("--scope", action="append", choices=SCOPES, help="What it may do; both unless given.")

    def handle(self, *args: Any, **options: Any) -> None:
        person = get_user_model().objects.filter(username=options["user"], is_active=True).first()
        if person is None:
            raise CommandError(f"There is nobody called {options['user']!r} here.")
        if ApiKey.objects.visible_to(person).filter(name=options["name"]).exists():
            raise CommandError(f"{options['user']} already has a key called {options['name']!r}. Choose another --name.")
        _, key = make_key(person, options["name"], options["scope"] or SCOPES)
        self.stdout.write(key)
