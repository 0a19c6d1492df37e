"""Calls that are no chat: embeddings and reranking. One JSON request, one JSON answer, with the same patience and the same words for failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from memory.llm import failures
from memory.llm.client import connection, expected, tls
from memory.llm.endpoints import Endpoint
from memory.llm.failures import Failure
from memory.llm.interface import ModelError

TIMEOUT_SECONDS = 60.0  # a turn waits for these


def post(endpoint: Endpoint, path: str, body: Mapping[str, Any], failed: Callable[[Failure], None], *, settings: str, optional: tuple[str, ...] = ()) -> Any:
    """What the server answers, whatever JSON that is. `failed` hears of every failure first and may raise; `settings` is what the names of this
    endpoint's settings begin with. Blocks; raises ModelError."""
    import openai

    sent = dict(body)
    attempt = 0
    with openai.OpenAI(http_client=openai.DefaultHttpxClient(verify=tls()), **connection(endpoint, TIMEOUT_SECONDS)) as client:
        while True:
            attempt += 1
            try:
                return client.post(path, body=sent, cast_to=cast("Any", object))
            except Exception as raised:
                if not expected(raised):
                    raise
                failure = failures.judge(raised, attempt, [name for name in optional if name in sent])
                failed(failure)
                if failure.drop:
                    del sent[failure.drop]
                    attempt -= 1
                elif failure.wait is None:
                    error = failure.error
                    raise ModelError(error.code, error.message.replace("model", settings.lower(), 1), error.action.replace("OPENAI", settings)) from None
                else:
                    time.sleep(failure.wait)


def answered_nonsense(what: str) -> ModelError:
    return ModelError("model_nonsense", f"The {what} endpoint answered in a form that can’t be read.", "Look at the endpoint’s log; try POST /api/model/test/.")
