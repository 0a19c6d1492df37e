"""The site: settings, ASGI and Celery entry points, and the embedded services."""
