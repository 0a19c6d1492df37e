"""What of ArborWeb is up, asked with hard time limits so that an answer always comes.

Workers show that they take tasks by renewing a key with a short life (arborweb.worker); one key for all, since one worker is enough to be up.
"""

import os
import sys
import time
import urllib.error
import urllib.request

from django.conf import settings
from django.db import connection
from redis import Redis

from memory.llm import endpoints

LIMIT_SECONDS = 2.0
MODEL_ASKED_EVERY_SECONDS = 5.0
HEARTBEAT_SECONDS = 1.0
HEARTBEAT_LIFE_SECONDS = 5


def valkey() -> Redis:
    """A client that gives up soon: nobody waits for a health check."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=1.0, socket_connect_timeout=1.0)


def heartbeat_key() -> str:
    return f"{settings.REDIS_PREFIX}:worker-heartbeat"


def forget_heartbeat() -> None:
    """Make the next sign of life a new one, for whoever waits for a worker just started."""
    with valkey() as client:
        client.delete(heartbeat_key())


def database_is_up() -> bool:
    """Whether the database answers a query."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 1500; SELECT 1")
        return True
    finally:
        connection.close()


def redis_is_up() -> bool:
    """Whether Valkey answers."""
    with valkey() as client:
        return bool(client.ping())


def worker_is_up() -> bool:
    """Whether at least one worker takes tasks."""
    with valkey() as client:
        return bool(client.exists(heartbeat_key()))


_model_asked: tuple[float, str, bool] = (float("-inf"), "", False)


def model_is_up() -> bool | str:
    """Whether the model endpoint answers at all (without our key: any answer below 500 will do); `offline` when none is connected."""
    global _model_asked
    endpoint = endpoints.answering()
    if endpoint is None:
        return "offline"
    asked, address, up = _model_asked
    if address != endpoint.base_url or time.monotonic() - asked > MODEL_ASKED_EVERY_SECONDS:
        up = _answers(endpoint.base_url.rstrip("/") + "/models")
        _model_asked = (time.monotonic(), endpoint.base_url, up)
    return up


def _answers(url: str) -> bool:
    if not url.startswith(("http://", "https://")):
        return False
    try:
        with urllib.request.urlopen(url, timeout=1.5):  # noqa: S310 (its scheme is checked above)
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def main(part: str) -> int:
    """`python -m arborweb.health worker`, for a container's health check: exit code 0 when the part is up."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")
    django.setup()
    return 0 if {"database": database_is_up, "redis": redis_is_up, "worker": worker_is_up}[part]() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
