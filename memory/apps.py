"""The one Django app: forests, their engine, and its edges."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = "Memory"

    def ready(self) -> None:
        from memory import shut_out  # noqa: F401 - it listens to Django's signals
