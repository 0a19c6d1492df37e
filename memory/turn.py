"""THE PAGE: what happens to a turn. Localize → assemble → answer → commit (paper §3).

Each step is a function of `memory/steps.py` (blocking, run in a thread) or of the language model (streamed here); what a step found is said
to the pages that watch before the next begins. Turn t reads the memory that t−1 left; all writing happens after the answer.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from memory import present, steps
from memory.actions.publish_outbox import publish_outbox
from memory.models import Forest, Turn
from memory.store.write import ParentGoneError
from memory.threads import in_thread
from memory.voice import Voice


async def take_turn(turn: Turn, voice: Voice) -> None:
    """Answer one claimed turn and make it part of memory. Raises what broke; the caller marks the turn."""
    await voice.say("turn.accepted", client_id=turn.client_id, text=turn.text)
    await steps.settle(turn)

    place = await in_thread(steps.localize_turn, turn)
    await voice.localized(place.decision)

    evidence = await in_thread(steps.assemble_turn, turn, place)
    await voice.assembled(evidence.context)

    started = perf_counter()
    first = None
    async for words in evidence.model.stream_answer(
        evidence.request.messages, evidence.context, place.query, place.decision, evidence.pool, now=turn.sent_at, zone=evidence.zone
    ):
        first = first or perf_counter()
        await voice.delta(words)
    await voice.flush()
    timings = {"first_delta_ms": 1000 * ((first or started) - started), "answer_ms": 1000 * (perf_counter() - started)}

    voice.committing = True
    write = partial(steps.commit, generator=turn.generator, timings=timings, evidenced=evidence, spent=voice.spent, seq=voice.seq)
    try:
        state = await in_thread(write, turn, place, voice.text)
    except ParentGoneError:  # deleted while the answer was written: the answer stands, its place is sought again
        place = await in_thread(steps.localize_turn, turn)
        state = await in_thread(write, turn, place, voice.text)
    await voice.state_added(state.pk)
    await in_thread(publish_outbox, turn.forest_id)


def recall(forest: Forest, text: str, *, time: datetime | None = None, budget: int | None = None, as_of: int | None = None) -> dict[str, Any]:
    """What an answer to `text` would be given: the first two steps alone, in a read-only transaction (docs/interfaces.md). Writes nothing."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        place = steps.localize_text(forest, text, time or timezone.now(), as_of=as_of)
        context, pool = steps.assemble(forest, place, settings.EVIDENCE_BUDGET if budget is None else budget, as_of)
        return present.recalled(forest, place.decision, context, pool, asks=steps.would_ask(place))
