"""The language model at an OpenAI-compatible endpoint, behind the interface the offline engine has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from memory.engine.forest import Context, Decision, Evidence, Extraction, Interaction, Pool
from memory.engine.query import Query
from memory.llm import extraction
from memory.llm.client import EndpointClient
from memory.llm.interface import Message


class EndpointModel:
    """A LanguageModel of up to two models: one answers, one (by default the same) reads turns."""

    def __init__(self, answers: EndpointClient, extracts: EndpointClient) -> None:
        self.answers, self.extracts = answers, extracts

    @property
    def name(self) -> str:
        return self.answers.endpoint.model or "default"

    def context_length(self) -> int | None:
        return self.answers.known().context_length

    async def stream_answer(
        self, messages: Sequence[Message], context: Context, query: Query, decision: Decision, pool: Pool, *, now: datetime, zone: str
    ) -> AsyncIterator[str]:
        """The answer as the server sends it; what the model thinks is counted and goes no further (W5)."""
        async for kind, text in self.answers.stream(messages):
            if kind == "answer":
                yield text

    @property
    def extractors(self) -> str:
        return extraction.version(extraction.mode(), self.extracts.endpoint.model)

    @property
    def wants_known(self) -> bool:
        return extraction.mode() != "rules"

    def extract(self, interaction: Interaction, path: Sequence[Interaction], *, zone: str, topic: str, known: Sequence[Evidence] = ()) -> Extraction:
        """By settings.EXTRACTION: one call of the model, one a part, or by rule. Blocks; raises ModelError."""
        model = self.extracts.endpoint.model
        return extraction.extract(self.extracts, model, extraction.mode(), interaction, path, known, zone=zone, topic=topic)
