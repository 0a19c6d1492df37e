"""`manage.py corrections PERSON --out FILE`: a person's corrections as labelled dialogues, to fit weights of their own on."""

from __future__ import annotations

import os
import tarfile
from argparse import ArgumentParser
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from memory.evaluation.corrections import streams


class Command(BaseCommand):
    help = (
        "Write the forests in which a person moved a turn as streams with gold parents, as fit_localization reads them: one stream a forest, in a tar archive."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="Whose corrections; nobody else's are written.")
        parser.add_argument("--out", type=Path, required=True, help="The tar archive to write, outside the project: it holds what the person said.")

    def handle(self, *args: Any, **options: Any) -> None:
        person = get_user_model().objects.filter(username=options["person"]).first()
        if person is None:
            raise CommandError(f"There is nobody called {options['person']!r}.")
        out: Path = options["out"].resolve()
        if out.is_relative_to(Path(settings.BASE_DIR).resolve()):
            raise CommandError("This holds what a person said: write it outside the project's folder.")
        found = list(streams(person))
        if not found:
            raise CommandError(f"{options['person']} hasn't moved a turn.")
        # For the person's eyes: nobody else on this machine may read it.
        with os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
            for forest, _, lines in found:
                content = "".join(f"{line}\n" for line in lines).encode()
                member = tarfile.TarInfo(f"forest-{forest.pk}.jsonl")
                member.size = len(content)
                archive.addfile(member, BytesIO(content))
        moved = sum(number for _, number, _ in found)
        self.stdout.write(f"{moved} corrections in {len(found)} forests, {sum(len(lines) for *_, lines in found)} turns.")
