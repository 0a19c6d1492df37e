#!/usr/bin/env python
"""Every command of ArborWeb. Services that the environment doesn't name are attached to, or started for as long as the command runs."""

import contextlib
import os
import sys

# These start nothing: `up` runs its own services, the others need none.
WITHOUT_SERVICES = {"up", "help", "version", "check", "collectstatic", "findstatic", "diffsettings", "startapp", "measure_boot"}


def starts(arguments: list[str], command: str) -> bool:
    """Whether the command line runs this command, not its help."""
    return arguments[:1] == [command] and not {"-h", "--help"} & set(arguments)


def needs_services(arguments: list[str]) -> bool:
    """Whether the command line names a command that uses the database or Valkey."""
    if not arguments or arguments[0].startswith("-") or {"-h", "--help"} & set(arguments):
        return False
    return arguments[0] not in WITHOUT_SERVICES or "--database" in arguments


def is_ours(command: str) -> bool:
    """Whether the command is one of ArborWeb's own, which need the tables of this version."""
    import django
    from django.core.management import get_commands

    django.setup()
    return get_commands().get(command) == "memory"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")
    from arborweb.embedded import attach_or_start
    from arborweb.home import ServiceError

    try:
        if starts(sys.argv[1:], "up"):
            from arborweb import supervisor

            supervisor.prepare()
        embedded = "DATABASE_URL" not in os.environ
        with attach_or_start() if needs_services(sys.argv[1:]) else contextlib.nullcontext():
            from django.core.management import execute_from_command_line

            if needs_services(sys.argv[1:]) and is_ours(sys.argv[1]):
                from arborweb import database

                database.require(embedded=embedded)
            execute_from_command_line(sys.argv)
    except ServiceError as error:
        sys.exit(f"ArborWeb: {error}")


if __name__ == "__main__":
    main()
