"""What reading a text costs, so that a busy machine cannot fail a test of it.

The least of three runs, in this thread's own time of the processor: other processes and threads do not count, and neither
does the collector, which in a process of a thousand tests may stop a run for a second. Each run has a text of its own,
or a cache would answer the second.
"""

import gc
import time
from collections.abc import Callable


def seconds(read: Callable[[str], object], text: str) -> float:
    """Seconds of this thread's processor time that ``read`` takes for ``text``, at best."""
    spent = []
    gc.disable()
    try:
        for run in range(3):
            of_its_own = f"{text} {run}"
            began = time.thread_time()
            read(of_its_own)
            spent.append(time.thread_time() - began)
            if spent[-1] < 0.25:
                break  # nobody's limit is lower
    finally:
        gc.enable()
    return min(spent)
