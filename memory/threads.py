"""The one way from the event loop to blocking work, and the sign of life of whoever does long work.

Channels' default runs every ORM call of a process in a single thread; here each call takes one of a few, and closes its
connection afterwards, or the pool would run dry (docs/decisions/0002-processes.md).
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import DatabaseError, connection, connections

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Pool:
    """A few threads of this process. A forked child begins with none: those of its parent don't live on in it, and what it gave them would wait for ever."""

    def __init__(self, name: str, most: int | None = None) -> None:
        self._name, self._most = name, most
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.executor = ThreadPoolExecutor(self._most, thread_name_prefix=self._name)

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self.executor.submit(function, *args, **kwargs)


_blocking = Pool("blocking", 8)
_helpers = Pool("beside", 4)  # wait for no connection but their own


def _then_close(call: Callable[[], T]) -> T:
    try:
        return call()
    finally:
        connections.close_all()


def beside(function: Callable[[], T]) -> Callable[[], T]:
    """Begin blocking work beside the caller's, on a connection of its own; what comes back waits for it, and hands on what it returned or raised.

    Within a transaction, whose changes no other connection sees, the caller does it when it asks for it."""
    if connection.in_atomic_block:
        return function
    return _helpers.submit(partial(contextvars.copy_context().run, partial(_then_close, function))).result


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking `function` in a bounded pool of threads and hand back its connection to the database pool.

    Raises what the function raises; a cancelled caller stops waiting, the thread finishes (threads can't be killed).
    """
    context = contextvars.copy_context()
    call: Callable[[], T] = partial(context.run, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_blocking.executor, partial(_then_close, call))


@contextmanager
def pulse(beat: Callable[[], object], seconds: float, of: str) -> Iterator[None]:
    """While the block runs, `beat` is called every so many seconds, also while one step of it takes long; no more once it returns False.

    `of` is who is alive, for the log."""
    stop = threading.Event()

    def go() -> None:
        try:
            while not stop.wait(seconds):
                try:
                    if beat() is False:
                        return
                except DatabaseError as error:
                    log.warning("%s: no sign of life (%s)", of, type(error).__name__)
        finally:
            connections.close_all()

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
