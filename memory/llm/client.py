"""The one client of OpenAI-compatible servers: answers stream (async), structured output and probes block (sync).

Servers differ, so each call sends what is known to be accepted (`capabilities`), learns from refusals, retries only before the first token, and
turns every failure into a ModelError in our own words.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

from django.conf import settings

from memory.llm import failures
from memory.llm.capabilities import MODES, Capabilities, Memory, Mode, Remembered
from memory.llm.endpoints import Endpoint
from memory.llm.interface import IncompleteAnswerError, Message, ModelError
from memory.llm.probe import context_length, structured_mode
from memory.llm.structured import Schema, Structured, UnreadableError, read, response_format, with_instructions
from memory.llm.thinking import Piece, Splitter, without_thinking
from memory.llm.tokens import count
from memory.llm.usage import Stage, Usage, add, prompt_cut
from memory.threads import in_thread

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
LIST_SECONDS = 5.0  # for the list of models: good to have, not needed
FRAMING_TOKENS = 4  # a message's own, beside its text
RETOLD_CHARACTERS = 2_000  # of an answer that didn't fit, when it is asked for again


class EndpointClient:
    """Calls to one model. A server that needs no key gets a placeholder: the library insists on one."""

    def __init__(self, endpoint: Endpoint, memory: Memory | None = None, *, stage: Stage = "answer", timeout: float | None = None) -> None:
        self.endpoint = endpoint
        self.stage: Stage = stage
        self.memory: Memory = memory or Remembered()
        self._timeout = timeout

    # --- Answers ------------------------------------------------------------------------------------------------------

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[Piece]:
        """(“answer” or “reasoning”, text) as it comes. Raises ModelError before the first answer text, IncompleteAnswerError after it."""
        known, sent = await in_thread(self._prepare, messages)
        optional = {"stream_options": {"include_usage": True}}
        optional = {name: value for name, value in optional.items() if known.accepts(name)}
        attempt = 0
        while True:
            attempt += 1
            reply = _Reply(self.endpoint, sent)
            try:
                async for piece in self._stream_once(messages, optional, reply):
                    yield piece
                break
            except ModelError:
                raise
            except Exception as error:
                if not expected(error):
                    raise
                if reply.started:
                    raise (failures.broken_off() if reply.said else _nothing_said("model_failed")) from None
                failure = failures.judge(error, attempt, optional)
                await in_thread(self._learn_from, failure)
                if failure.drop:
                    del optional[failure.drop]
                    attempt -= 1
                elif failure.wait is None:
                    raise self._told(failure.error) from None
                else:
                    await asyncio.sleep(failure.wait)
            finally:
                if reply.started or reply.finished:
                    add(self.stage, reply.usage())
        if "stream_options" in optional and known.streaming_usage is not reply.told:
            await in_thread(self.memory.learn, self.endpoint, streaming_usage=reply.told)
        reply.check()

    async def _stream_once(self, messages: Sequence[Message], optional: Mapping[str, Any], reply: _Reply) -> AsyncIterator[Piece]:
        import openai

        splitter = Splitter()
        async with openai.AsyncOpenAI(http_client=openai.DefaultAsyncHttpxClient(verify=tls()), **self._connection()) as client:
            request: Any = {"model": self._model, "messages": list(messages), "stream": True, **optional}
            async for chunk in await client.chat.completions.create(**request):
                reply.told_usage(chunk.usage)
                for choice in chunk.choices or ():
                    delta = choice.delta
                    for thought in (getattr(delta, name, None) for name in ("reasoning_content", "reasoning")):
                        if isinstance(thought, str) and thought:
                            yield reply.heard(("reasoning", thought))
                            break
                    if delta is not None and isinstance(delta.content, str):
                        for piece in splitter.feed(delta.content):
                            yield reply.heard(piece)
                    reply.finished = choice.finish_reason or reply.finished
        for piece in splitter.end():
            yield reply.heard(piece)

    # --- Structured output --------------------------------------------------------------------------------------------

    def structured(self, messages: Sequence[Message], schema: Schema, *, name: str, max_tokens: int) -> Structured:
        """One JSON object that fits `schema` (JSON Schema, an object at the top), within `max_tokens` of answer.

        The mode is what the server is known to hold to; what it says is repaired where nothing is guessed, checked, and asked for once more when
        it doesn't fit (or was cut: then with twice the room). Blocks; raises ModelError, code `structured_invalid` when the second answer doesn't
        fit either. Never part of a result as if it were whole: a list cut twice says so in `repairs`.
        """
        mode = self._mode()
        usage = Usage()
        asked = list(messages)
        for attempt in (1, 2):
            text, finish, took, mode = self._ask(asked, schema, name, max_tokens, mode)
            usage += took
            try:
                value, repairs = read(text, schema, cut_allowed=attempt == 2)
            except UnreadableError as problem:
                log.info("structured output of %r didn't fit, attempt %s: %s", self.endpoint, attempt, problem)
                if finish == "length":
                    max_tokens *= 2
                else:
                    again = f"That doesn’t fit: {problem} Answer again with the JSON object only."
                    asked = [*messages, {"role": "assistant", "content": without_thinking(text)[:RETOLD_CHARACTERS]}, {"role": "user", "content": again}]
                continue
            return Structured(value, usage, attempt, mode, repairs)
        raise self._told(_misfit())

    def at_once(self, messages: Sequence[Message], schema: Schema, *, name: str, max_tokens: int, seconds: float) -> dict[str, Any]:
        """One JSON object that fits `schema`, within `seconds` all in all: for what can also be done without.

        Nothing is probed beforehand, nothing tried or asked again but what a server refuses at once (a parameter, a form). Blocks; raises ModelError,
        code `model_timeout` when the time is over, `structured_invalid` for what doesn't fit."""
        deadline = time.monotonic() + seconds
        text, _, _, _ = self._ask(messages, schema, name, max_tokens, self.memory.known(self.endpoint).structured or "json_schema", deadline)
        try:
            return read(text, schema)[0]
        except UnreadableError:
            raise self._told(_misfit()) from None

    def _ask(
        self, messages: Sequence[Message], schema: Schema, name: str, max_tokens: int, mode: Mode, deadline: float | None = None
    ) -> tuple[str, str, Usage, Mode]:
        """One answer in the given mode, or in a lesser one when the server refuses that."""
        while True:
            sent = list(messages) if mode == "json_schema" else with_instructions(messages, schema)
            optional = {"temperature": 0, "max_tokens": max_tokens, **response_format(mode, schema, name)}
            text, finish, usage, dropped = self.complete(sent, optional, deadline)
            if "response_format" not in dropped:
                return text, finish, usage, mode
            mode = MODES[MODES.index(mode) + 1]
            self.memory.learn(self.endpoint, structured=mode)

    def complete(self, messages: Sequence[Message], optional: Mapping[str, Any], deadline: float | None = None) -> tuple[str, str, Usage, set[str]]:
        """(text, finish reason, usage, parameters refused) of one whole answer; a refused `response_format` comes back without a text. Blocks.

        With a `deadline` (of time.monotonic) what failed isn't tried again."""
        known = self.memory.known(self.endpoint)
        sent = _renamed(optional, known.rejected)
        attempt = 0
        with self._completing(deadline) as create:
            while True:
                attempt += 1
                try:
                    return self._whole(messages, create({"model": self._model, "messages": list(messages), **sent}))
                except Exception as error:
                    if not expected(error):
                        raise
                    failure = failures.judge(error, attempt, sent)
                    if failure.drop == "response_format":
                        return "", "", Usage(), {"response_format"}
                    self._learn_from(failure)
                    if failure.drop:
                        sent = _renamed(sent, (failure.drop,))
                        attempt -= 1
                    elif failure.wait is None or deadline is not None:
                        raise self._told(failure.error) from None
                    else:
                        time.sleep(failure.wait)

    @contextmanager
    def _completing(self, deadline: float | None) -> Iterator[Callable[[Mapping[str, Any]], Any]]:
        """What makes one call: of the library as it is, or cut off at the deadline, however slowly a server connects, begins or drips."""
        import openai

        if deadline is not None:
            yield lambda request: asyncio.run(self._until(deadline, request))
            return
        with openai.OpenAI(http_client=openai.DefaultHttpxClient(verify=tls()), **self._connection()) as client:
            yield lambda request: client.chat.completions.create(**request)

    async def _until(self, deadline: float, request: Mapping[str, Any]) -> Any:
        import openai

        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                async with openai.AsyncOpenAI(http_client=openai.DefaultAsyncHttpxClient(verify=tls()), **self._connection()) as client:
                    return await client.chat.completions.create(**request)
        except TimeoutError:
            raise ModelError("model_timeout", "The model endpoint didn’t answer in time.", "Try again; a slow server may need more time.") from None

    def _whole(self, messages: Sequence[Message], answer: Any) -> tuple[str, str, Usage, set[str]]:
        reply = _Reply(self.endpoint, _tokens(messages))
        reply.told_usage(getattr(answer, "usage", None))
        choices = getattr(answer, "choices", None) or ()
        message = choices[0].message if choices else None
        text = message.content if message is not None and isinstance(message.content, str) else ""
        thought = next((part for name in ("reasoning_content", "reasoning") if isinstance(part := getattr(message, name, None), str)), "")
        if thought:
            reply.heard(("reasoning", thought))
        if text:
            reply.heard(("answer", text))
        reply.finished = (choices[0].finish_reason or "") if choices else ""
        add(self.stage, reply.usage())
        if not without_thinking(text) and thought and reply.finished != "length":
            raise _nothing_said("only_reasoning")
        return text, reply.finished, reply.usage(), set()

    def models(self) -> dict[str, Any]:
        """The server's list of models as it is, empty when it has none. Blocks; raises ModelError when the server can't be asked."""
        import openai

        try:
            with openai.OpenAI(http_client=openai.DefaultHttpxClient(verify=tls()), **connection(self.endpoint, LIST_SECONDS)) as client:
                found: Any = client.get("/models", cast_to=cast("Any", object))
        except Exception as error:
            if not expected(error):
                raise
            failure = failures.judge(error, failures.ATTEMPTS)
            if failure.status in (400, 404, 405, 501):
                return {}
            raise self._told(failure.error) from None
        return found if isinstance(found, dict) else {}

    def listed(self) -> dict[str, Any]:
        """The same, empty also when the server can't be asked."""
        try:
            return self.models()
        except ModelError:
            return {}

    # --- What both need -----------------------------------------------------------------------------------------------

    def _mode(self) -> Mode:
        known = self.known().structured
        if known is None:
            known = structured_mode(self)
            self.memory.learn(self.endpoint, structured=known)
        return known

    def known(self) -> Capabilities:
        """What is known of the server; the first time ever, its list of models is asked for the context's length. Blocks."""
        found = self.memory.known(self.endpoint)
        if found.probed_at is None:
            self.memory.learn(self.endpoint, context_length=context_length(self.listed(), self.endpoint.model))
            found = self.memory.known(self.endpoint)
        return found

    def _prepare(self, messages: Sequence[Message]) -> tuple[Capabilities, int]:
        """What is known, and the tokens to be sent. Off the event loop, like loading the library: that takes up to a second, which an offline
        installation need not spend."""
        import openai.resources.chat  # noqa: F401

        tls()
        return self.known(), _tokens(messages)

    def _told(self, error: ModelError) -> ModelError:
        return failures.as_told(error, typed=self.endpoint.typed)

    @property
    def _model(self) -> str:
        return self.endpoint.model or "default"

    def _connection(self) -> dict[str, Any]:
        return connection(self.endpoint, self._timeout or settings.OPENAI_TIMEOUT_SECONDS)

    def _learn_from(self, failure: failures.Failure) -> None:
        if failure.drop and failure.drop != "response_format":
            rejected = self.memory.known(self.endpoint).rejected
            self.memory.learn(self.endpoint, rejected=tuple(dict.fromkeys((*rejected, failure.drop))))
        if failure.context_length:
            self.memory.learn(self.endpoint, context_length=failure.context_length)


@cache
def tls() -> ssl.SSLContext:
    """One for all connections: reading the certificates takes 25 ms."""
    import httpx2

    return httpx2.create_ssl_context()


def connection(endpoint: Endpoint, timeout: float) -> dict[str, Any]:
    """How the library is told where to go. It must not retry: what may be tried again is our decision."""
    import httpx2

    return {
        "base_url": endpoint.base_url,
        "api_key": endpoint.api_key or "none",
        "timeout": httpx2.Timeout(timeout, connect=CONNECT_SECONDS),
        "max_retries": 0,
    }


class _Reply:
    """One answer as it comes in: whether it began, how it ended, what it took."""

    def __init__(self, endpoint: Endpoint, sent: int) -> None:
        self._endpoint, self._sent = endpoint, sent
        self._usage: Any = None
        self._texts: dict[str, list[str]] = {"answer": [], "reasoning": []}
        self.finished = ""

    @property
    def started(self) -> bool:
        return any(self._texts.values())

    @property
    def said(self) -> bool:
        return bool(self._texts["answer"])

    @property
    def told(self) -> bool:
        """Whether the server reported what it took."""
        return self._usage is not None

    def heard(self, piece: Piece) -> Piece:
        self._texts[piece[0]].append(piece[1])
        return piece

    def told_usage(self, usage: Any) -> None:
        if usage is not None and isinstance(getattr(usage, "prompt_tokens", None), int):
            self._usage = usage

    def usage(self) -> Usage:
        sent = self._sent
        answered, thought = (count("".join(self._texts[kind])) for kind in ("answer", "reasoning"))
        if self._usage is None:
            return Usage(sent, answered + thought, thought, 1, self._endpoint.cost(sent, answered + thought), estimated=True)
        read_tokens = self._usage.prompt_tokens
        written = self._usage.completion_tokens if isinstance(self._usage.completion_tokens, int) else answered + thought
        details = getattr(self._usage, "completion_tokens_details", None)
        told = getattr(details, "reasoning_tokens", None)
        notes = ("prompt_cut",) if prompt_cut(sent, read_tokens) else ()
        reasoning = told if isinstance(told, int) and told else thought
        return Usage(read_tokens, written, min(reasoning, written), 1, self._endpoint.cost(read_tokens, written), notes=notes)

    def check(self) -> None:
        """Raise unless this is a whole answer (M2, M3)."""
        if not self.finished:
            raise failures.broken_off() if self.said else _nothing_said("model_failed")
        if not self.said:
            raise _nothing_said("only_reasoning" if self.started else "empty_answer")
        if self.finished == "length":
            raise IncompleteAnswerError("answer_cut", "The answer reached the most tokens the server gives.", "Keep the part that is here, or try again.")
        if self.finished == "content_filter":
            raise IncompleteAnswerError("answer_filtered", "The server’s filter ended the answer.", "Say it otherwise, or keep the part that is here.")


def _tokens(messages: Sequence[Message]) -> int:
    return sum(count(message["content"]) + FRAMING_TOKENS for message in messages)


def _misfit() -> ModelError:
    return ModelError("structured_invalid", "The model’s answer didn’t have the form asked for.", "Try again, or use another OPENAI_EXTRACT_MODEL.")


def _nothing_said(code: str) -> ModelError:
    return {
        "only_reasoning": ModelError("only_reasoning", "The model thought, but said nothing.", "Try again, or give it more room for its answer."),
        "empty_answer": ModelError("empty_answer", "The model ended without an answer.", "Try again, or try another model."),
        "model_failed": ModelError("model_failed", "The model endpoint failed before the first word.", "Try again."),
    }[code]


def expected(error: Exception) -> bool:
    """Failures of a server or the way to it; anything else is a fault of ours."""
    import httpx2
    import openai

    return isinstance(error, (openai.APIError, httpx2.HTTPError, ValueError))


def _renamed(parameters: Mapping[str, Any], rejected: Sequence[str]) -> dict[str, Any]:
    """The parameters without those refused; `max_tokens` under its newer name when only that is taken."""
    kept = {name: value for name, value in parameters.items() if name not in rejected}
    if "max_tokens" in parameters and "max_tokens" in rejected and "max_completion_tokens" not in rejected:
        kept["max_completion_tokens"] = parameters["max_tokens"]
    return kept
