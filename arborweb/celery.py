"""The Celery application: refinement and sweeps run in its workers, never in the web process."""

import os

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")

app = Celery("arborweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def prepare_worker(**_: object) -> None:
    """A worker takes tasks once the database is ready, and then tells that it is up (arborweb.worker, whose imports only workers need)."""
    from arborweb import gate
    from arborweb.worker import Heartbeat

    app.steps["consumer"].add(Heartbeat)
    gate.wait()
