"""Blocking work beside the caller's: on a connection of its own, but never apart from a transaction."""

import threading
from multiprocessing import get_context
from typing import Any

import pytest
from django.db import connection, transaction

from memory.models import Forest
from memory.threads import Pool, beside


def backend() -> tuple[int, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0], threading.current_thread().name


@pytest.mark.django_db(transaction=True)
def test_it_runs_on_a_connection_of_its_own() -> None:
    own = backend()
    other = beside(backend)()
    assert other[0] != own[0] and other[1] != own[1]


@pytest.mark.django_db(transaction=True)
def test_what_goes_wrong_is_raised_where_it_is_asked_for() -> None:
    asked = beside(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        asked()


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_it_sees_what_the_transaction_wrote(ines: Any) -> None:
    with transaction.atomic():
        forest = Forest.objects.create(owner=ines, name="Unseen by others")
        assert beside(lambda: Forest.objects.filter(pk=forest.pk).exists())()
        assert beside(backend)() == backend()


def test_a_forked_child_has_threads_of_its_own() -> None:
    """Fits and benches fork; a pool that went along had counted on threads that don't exist there."""
    pool = Pool("test")
    assert pool.submit(int, "7").result(timeout=5) == 7
    child = get_context("fork").Process(target=lambda: pool.submit(int, "7").result(timeout=5))
    child.start()
    child.join(timeout=20)
    alive = child.is_alive()
    child.kill()
    child.join()
    assert (alive, child.exitcode) == (False, 0)
