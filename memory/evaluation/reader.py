"""Who answers questions from contexts, and who judges the answers: the models of this installation, and two different ones where they matter.

The reader is the endpoint of OPENAI_BASE_URL, with the prompt of chat, or the offline engine; the judge is JUDGE_MODEL at JUDGE_BASE_URL.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memory.engine import answer
from memory.evaluation.judge import Message
from memory.evaluation.systems.reading import Reading
from memory.llm import endpoints, usage
from memory.llm.client import EndpointClient
from memory.llm.interface import ModelError, get_model
from memory.llm.offline import OfflineModel
from memory.llm.prompts.answer import answer_messages
from memory.llm.usage import Spent


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, who gave it, the hash of everything it was asked with, tokens in and out, and what it took in ms."""

    text: str
    reader: str
    asked: str
    input: int
    output: int
    ms: float


def reader() -> str:
    """The name of the model that answers here."""
    return get_model().name


def read(given: Reading) -> Answered:
    """Answer a question from its context. Blocks; raises ModelError."""
    model = get_model()
    request = answer_messages(given.context, given.query)
    digest = hashlib.sha256(json.dumps(request.messages, ensure_ascii=False).encode()).hexdigest()[:16]
    started = time.perf_counter()
    if isinstance(model, OfflineModel):  # at once: nobody watches it write
        text = answer.compose(given.query, given.decision, given.context, given.pool, now=given.query.time, zone=given.zone)
        return Answered(text, model.name, digest, request.tokens, 0, 1000 * (time.perf_counter() - started))

    async def whole() -> str:
        pieces = model.stream_answer(request.messages, given.context, given.query, given.decision, given.pool, now=given.query.time, zone=given.zone)
        return "".join([piece async for piece in pieces])

    spent: Spent = {}
    with usage.counted(spent):
        text = asyncio.run(whole())
    took = spent.get("answer")
    return Answered(text, model.name, digest, took.input if took else request.tokens, took.output if took else 0, 1000 * (time.perf_counter() - started))


def ask_judge(messages: Sequence[Message]) -> str:
    """What the judge says. Blocks; raises ModelError, also where no judge is set."""
    endpoint = endpoints.judging()
    if endpoint is None:
        raise ModelError("no_judge", "No judge is set.", "Set JUDGE_MODEL, and JUDGE_BASE_URL unless it is at OPENAI_BASE_URL.")
    client = EndpointClient(endpoint)

    async def whole() -> str:
        return "".join([text async for kind, text in client.stream(messages) if kind == "answer"])

    return asyncio.run(whole())
