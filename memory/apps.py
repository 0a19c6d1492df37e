"""The one Django app: forests, their engine, and its edges."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = "Memory"

    def ready(self) -> None:
        from memory import checks, shut_out  # noqa: F401 - they register with Django's checks and signals
