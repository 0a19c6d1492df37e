"""A web process before it serves."""

import gc

from arborweb import web
from memory.engine import wording


def test_what_stays_is_out_of_the_garbage_collectors_sight() -> None:
    wording.languages.cache_clear()
    before = gc.get_freeze_count()
    try:
        web.settle()
        assert gc.get_freeze_count() > before + 100_000
        assert wording.languages.cache_info().currsize == 1
    finally:
        gc.unfreeze()
