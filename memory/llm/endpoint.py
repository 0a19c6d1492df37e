"""The language model at an OpenAI-compatible endpoint, behind the interface the offline engine has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from memory.engine.ask import Question
from memory.engine.forest import Context, Decision, Evidence, Extraction, Interaction, Pool
from memory.engine.query import Query
from memory.llm import extraction
from memory.llm.client import EndpointClient
from memory.llm.interface import Message
from memory.llm.prompts import route


class EndpointModel:
    """A LanguageModel of up to two models: one answers, one (by default the same) reads turns and, by a client of its own, says where one goes."""

    def __init__(self, answers: EndpointClient, extracts: EndpointClient, routes: EndpointClient) -> None:
        self.answers, self.extracts, self.routes = answers, extracts, routes

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

    chooses = True

    def choose(self, asked: Question, *, seconds: float) -> int:
        messages, schema = route.route_messages(asked)
        return route.chosen(self.routes.at_once(messages, schema, name="place", max_tokens=route.ANSWER_TOKENS, seconds=seconds))

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
