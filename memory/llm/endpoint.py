"""Answers from any OpenAI-compatible endpoint, through the interface the offline engine has. Turns are read by rule here too, for now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, cast

from memory.engine import commit
from memory.engine.forest import Context, Decision, Extraction, Interaction, Pool
from memory.engine.query import Query
from memory.llm.interface import IncompleteAnswerError, Message, ModelError

TIMEOUT_SECONDS = 120.0


class EndpointModel:
    """A LanguageModel at `base_url`. A server that needs no key gets a placeholder: the client insists on one."""

    extractors = commit.EXTRACTORS

    def __init__(self, base_url: str, model: str, api_key: str) -> None:
        self.base_url = base_url
        self.model = model
        self._api_key = api_key or "none"

    @property
    def name(self) -> str:
        return self.model or "default"

    async def stream_answer(
        self, messages: Sequence[Message], context: Context, query: Query, decision: Decision, pool: Pool, *, now: datetime, zone: str
    ) -> AsyncIterator[str]:
        """Deltas as the server sends them. Raises ModelError before the first one, IncompleteAnswerError after it or at an end without a finish."""
        import openai  # here: it takes half a second, which an offline installation need not spend

        started = finished = False
        try:
            async with openai.AsyncOpenAI(base_url=self.base_url, api_key=self._api_key, timeout=TIMEOUT_SECONDS, max_retries=0) as client:
                stream = await client.chat.completions.create(model=self.name, messages=cast("Any", list(messages)), stream=True)
                async for chunk in stream:
                    for choice in chunk.choices or ():
                        if choice.delta is not None and choice.delta.content:
                            started = True
                            yield choice.delta.content
                        finished = finished or bool(choice.finish_reason)
        except openai.APIStatusError as error:
            raise _refused(error.status_code) from None
        except openai.APIConnectionError:
            raise _unreachable(started) from None
        except (openai.APIError, ValueError):
            # An error object inside a stream that began with 200, a broken connection, a line that is no JSON.
            raise _broken(started) from None
        if not finished:
            raise _broken(started)
        if not started:
            raise ModelError("empty_answer", "The model ended without an answer.", "Try again, or try another model.")

    def extract(self, interaction: Interaction, path: Sequence[Interaction], *, zone: str, topic: str) -> Extraction:
        return commit.extract(interaction, path, zone, topic)


def _refused(status: int) -> ModelError:
    if status in (401, 403):
        return ModelError("model_key", "The model endpoint refused the key.", "Check OPENAI_API_KEY.")
    if status == 404:
        return ModelError("model_unknown", "The model endpoint doesn’t know this model or address.", "Check OPENAI_MODEL and OPENAI_BASE_URL.")
    if status == 429:
        return ModelError("model_busy", "The model endpoint takes no more requests for now.", "Wait a little, then try again.")
    return ModelError("model_refused", f"The model endpoint answered with status {status}.", "Try again; if it stays, look at the endpoint’s log.")


def _unreachable(started: bool) -> ModelError:
    return (
        _broken(True)
        if started
        else ModelError("model_unreachable", "The model endpoint can’t be reached.", "Check that it runs and that OPENAI_BASE_URL is right.")
    )


def _broken(started: bool) -> ModelError:
    if started:
        return IncompleteAnswerError("answer_incomplete", "The answer broke off before its end.", "Try again, or keep the part that is here.")
    return ModelError("model_failed", "The model endpoint failed before the first word.", "Try again.")
