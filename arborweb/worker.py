"""A Celery worker's sign of life, renewed from the loop that takes tasks: a worker whose loop hangs is down. Only workers import this."""

import contextlib
import os
from typing import Any

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks
from redis import RedisError

from arborweb.health import HEARTBEAT_LIFE_SECONDS, HEARTBEAT_SECONDS, heartbeat_key, valkey


class Heartbeat(bootsteps.StartStopStep):
    """Begins once the worker's consumer listens, and again whenever it has reconnected."""

    requires = (Tasks,)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.valkey = valkey()
        self.timer: Any = None

    def start(self, parent: Any) -> None:
        self.beat()
        self.timer = parent.timer.call_repeatedly(HEARTBEAT_SECONDS, self.beat)

    def beat(self) -> None:
        with contextlib.suppress(RedisError):  # the consumer notices a lost connection itself and begins anew
            self.valkey.set(heartbeat_key(), os.getpid(), ex=HEARTBEAT_LIFE_SECONDS)

    def stop(self, parent: Any) -> None:
        if self.timer:
            self.timer.cancel()
            self.timer = None

    shutdown = stop
