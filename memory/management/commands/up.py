"""`manage.py up`: all of ArborWeb on this machine, until Ctrl-C."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, SystemCheckError

from arborweb import database, supervisor
from memory.actions.sign_in_link import first_person, sign_in_link
from memory.checks import localization_weights
from memory.llm.build_model import is_built


class Command(BaseCommand):
    help = "Run ArborWeb here: services, migrations, web, worker and beat. Settings are in docs/settings.md; Ctrl-C stops everything."
    requires_system_checks = ()  # migrations and checks would load everything twice; `manage.py check` does it apart, but for what no turn goes without

    def handle(self, *args: Any, **options: Any) -> None:
        if errors := localization_weights():
            raise SystemCheckError("\n".join(map(str, errors)))
        for warning in missing():
            self.stderr.write(warning)
        supervisor.prepare().run(database.migrate, lambda address: sign_in_link(address, first_person()))


def missing() -> list[str]:
    """What `make setup` builds and isn't there: without it ArborWeb runs, but not as it should."""
    page = settings.BASE_DIR / "static" / "build" / "app.js"
    gaps = []
    if not page.exists():
        gaps.append("The page is not built, so only the interfaces work. Run `make setup`, then start again.")
    if not is_built(settings.MODEL_DIR):
        gaps.append("The embedding model is not built, so no turn can be placed. Run `make setup`, then start again.")
    return gaps
