"""The Celery application: refinement and sweeps run in its workers, never in the web process."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")

app = Celery("arborweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
