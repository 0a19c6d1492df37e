"""The site: settings, ASGI and Celery entry points, and the embedded services."""

import os

# Before numpy is loaded: its matrices here are small, and threads that wait for each other's parts of them take the second core from the database.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
