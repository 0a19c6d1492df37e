"""`manage.py openapi`: write docs/openapi.yml from the code, or (--check) say whether it is up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema


class Command(BaseCommand):
    help = "Write the OpenAPI document of the API to docs/openapi.yml."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="Write nothing; fail when the file isn't what the code says.")
        parser.add_argument("--file", type=Path, default=settings.BASE_DIR / "docs" / "openapi.yml")

    def handle(self, *args: Any, **options: Any) -> None:
        schema = SchemaGenerator().get_schema(request=None, public=True)
        validate_schema(schema)
        document = OpenApiYamlRenderer().render(schema, renderer_context={})
        file: Path = options["file"]
        if not options["check"]:
            file.write_bytes(document)
        elif not file.exists() or file.read_bytes() != document:
            raise CommandError(f"{file.name} isn't what the code says. Run `manage.py openapi` and commit it.")
