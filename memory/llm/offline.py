"""The offline engine: answers by quoting what memory holds, and reads turns by rule. Deterministic, and honest about itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from django.conf import settings

from memory.engine import answer, commit
from memory.engine.ask import Question
from memory.engine.forest import Context, Decision, Evidence, Extraction, Interaction, Pool
from memory.engine.query import Query
from memory.llm.interface import Message, ModelError

NAME = "offline"
_WORD = re.compile(r"\S+\s*|\s+")


class OfflineModel:
    """The LanguageModel in use when no endpoint is set."""

    name = NAME
    extractors = commit.EXTRACTORS
    wants_known = False
    chooses = False

    async def stream_answer(
        self, messages: Sequence[Message], context: Context, query: Query, decision: Decision, pool: Pool, *, now: datetime, zone: str
    ) -> AsyncIterator[str]:
        """Word by word at settings.OFFLINE_WORDS_PER_SECOND (0 = at once); the answer is composed from `context` and `pool`, `messages` aren't read."""
        # Off the event loop: reading a long path takes seconds, in which no answer of this process would show a sign of life.
        text = await asyncio.to_thread(answer.compose, query, decision, context, pool, now=now, zone=zone)
        pace = settings.OFFLINE_WORDS_PER_SECOND
        if pace <= 0:
            yield text
            return
        for word in _WORD.findall(text):
            yield word
            await asyncio.sleep(1 / pace)

    def context_length(self) -> int | None:
        return None

    def choose(self, asked: Question, *, seconds: float) -> int:
        """Never called: what rules can say of a place, ranking has said."""
        raise ModelError("no_model", "The offline engine isn’t asked where a turn goes.", "Set OPENAI_BASE_URL.")

    def extract(self, interaction: Interaction, path: Sequence[Interaction], *, zone: str, topic: str, known: Sequence[Evidence] = ()) -> Extraction:
        return commit.extract(interaction, path, zone, topic)
