"""The tables this version needs: made by `up`, and by the first command of ours on the embedded default."""

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from arborweb.home import ServiceError


def migrate() -> None:
    """Bring the database up to date; quick when it is. Raises ServiceError when it doesn't answer."""
    if is_behind():
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    connection.close()


def require(*, embedded: bool) -> None:
    """Before a command of ours: the embedded database is brought up to date; one that the environment names is its keeper's to migrate.

    Raises ServiceError for such a one that is behind."""
    if embedded:
        migrate()
    elif is_behind():
        raise ServiceError("The database of DATABASE_URL lacks tables of this version. Run `manage.py migrate`, then again.")


def is_behind() -> bool:
    """Whether the database lacks migrations of this version. Raises ServiceError when it doesn't answer."""
    import psycopg

    try:
        psycopg.connect(settings.DATABASE_URL, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        raise ServiceError(f"The database of DATABASE_URL doesn't answer: {error}") from None
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
