"""The site: settings, ASGI and Celery entry points, and the embedded services."""

from arborweb.celery import app as celery_app

__all__ = ["celery_app"]
