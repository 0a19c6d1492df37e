"""A kitchen with a fork, and a garden: what moves and deletions are tried on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.forests import plant, say


class Home:
    """kitchen → quotes → hood → filters; quotes → tiles; and garden."""

    def __init__(self, ines: Any) -> None:
        self.forest = plant(ines)
        self.kitchen = say(self.forest, "Plan the kitchen", "Yes", topic="Kitchen", words="plan kitchen", path_summary="p")
        self.quotes = say(self.forest, "Quotes", "Three", self.kitchen, words="quotes kitchen", path_summary="p")
        self.hood = say(self.forest, "Hood", "Recirculating", self.quotes, words="hood", path_summary="p")
        self.garden = say(self.forest, "Garden", "Yes", topic="Garden", words="garden plan")
        self.tiles = say(self.forest, "Tiles", "White", self.quotes, words="tiles", path_summary="p")
        self.filters = say(self.forest, "Filters", "Coal", self.hood, words="filters hood", path_summary="p")


@pytest.fixture
def committing(request, monkeypatch, django_capture_on_commit_callbacks):
    """Have functions of the test's module do what they do after their commit, though the test's own transaction is rolled back."""

    def wrapped(do: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            with django_capture_on_commit_callbacks(execute=True):
                return do(*args, **more)

        return call

    def wrap(*names: str) -> None:
        for name in names:
            monkeypatch.setattr(request.module, name, wrapped(getattr(request.module, name)))

    return wrap


@pytest.fixture
def home(ines):
    return Home(ines)
