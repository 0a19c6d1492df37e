"""manage.py recall: what an answer to a text would be given, without giving it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.actions.observe import parse_time
from memory.errors import Refused
from memory.llm.interface import ModelError
from memory.models import Forest
from memory.turn import recall


class Command(BaseCommand):
    help = "Show where a text would go and what the model would see. Writes nothing."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("forest", help="name of the forest")
        parser.add_argument("text")
        parser.add_argument("--budget", type=int, default=None, metavar="N", help="tokens for the evidence blocks")
        parser.add_argument("--as-of", type=int, default=None, metavar="POSITION", help="what the forest knew then")
        parser.add_argument("--time", default=None, help="when the text is said, ISO 8601; now when left out")
        parser.add_argument("--user", default=None, help="owner of the forest, when two share its name")
        parser.add_argument("--json", action="store_true", help="the answer of the recall endpoint")

    def handle(self, **options: Any) -> None:
        forests = Forest.objects.filter(name=options["forest"])
        if options["user"]:
            forests = forests.filter(owner__username=options["user"])
        found = list(forests[:2])
        if len(found) != 1:
            raise CommandError("There is no forest of that name." if not found else "Several people have a forest of that name: say whose with --user.")
        try:
            time = parse_time(options["time"]) if options["time"] else None
            answer = recall(found[0], options["text"], time=time, budget=options["budget"], as_of=options["as_of"])
        except (Refused, ModelError) as error:
            raise CommandError(f"{error} {error.action}") from error
        if options["json"]:
            self.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2))
            return
        place = answer["localization"]
        where = f"continues {place['parent']}" if place["parent"] is not None else "begins a new topic"
        asks = "; in chat the language model would be asked" if place["asks"] else ""
        self.stdout.write(f"{where} ({place['method']}, {place['probability']:.0%}{asks}), {answer['tokens']} tokens")
        for block in answer["blocks"]:
            self.stdout.write(f"\n## {block['name']} ({block['tokens']} tokens)")
            for item in block["items"]:
                self.stdout.write(item["text"])
