"""The worker fixture and its sign of life."""

from arborweb.health import worker_is_up


def test_a_started_worker_is_seen(worker):
    assert worker_is_up()
