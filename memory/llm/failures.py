"""What went wrong at an endpoint: said in our own words (never the server's, which may quote a key or a memory), and whether to try again."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from memory.llm.interface import IncompleteAnswerError, ModelError

if TYPE_CHECKING:
    import openai

ATTEMPTS = 3
BACKOFF_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 20.0
_PASSING = (408, 409, 425, 429, 500, 502, 503, 504, 529)
_OVERFLOW = re.compile(
    r"context.{0,20}(?:length|size|window|overflow)|maximum context|exceed\w*.{0,40}\bcontext|too many (?:input )?tokens|prompt is too long", re.I
)
_LENGTHS = (
    re.compile(r"n_ctx\W{1,5}(\d{3,7})"),
    re.compile(r"(?:maximum|limit|context)[^\d.]{0,50}?(\d{3,7})", re.I),
    re.compile(r"(\d{3,7}) (?:tokens )?max", re.I),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """`error` is what a person is told. `wait`: seconds before another try makes sense, None when it makes none. `drop`: a parameter to leave out.
    `overflow`: the prompt was too long, for a context of `context_length` tokens if the server said so. `status`: of HTTP, 0 without an answer."""

    error: ModelError
    wait: float | None = None
    drop: str | None = None
    overflow: bool = False
    context_length: int | None = None
    status: int = 0


def judge(error: Exception, attempt: int, optional: Collection[str] = ()) -> Failure:
    """A failure before the first token. `attempt` counts from 1; `optional` are the parameters sent that the request can do without."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return replace(_status(error, attempt, optional), status=error.status_code)
    if isinstance(error, openai.APITimeoutError):
        told = ModelError("model_timeout", "The model endpoint didn’t answer in time.", "Try again; a slow server may need OPENAI_TIMEOUT_SECONDS.")
        return Failure(told, wait=_backoff(attempt) if attempt == 1 else None)
    if isinstance(error, openai.APIConnectionError):
        told = ModelError("model_unreachable", "The model endpoint can’t be reached.", "Check that it runs and that OPENAI_BASE_URL is right.")
        return Failure(told, wait=_backoff(attempt))
    # An error object inside a stream that began with 200, a broken connection, a line that is no JSON.
    if isinstance(error, openai.APIError) and _overflows(error):
        return _overflow(error)
    return Failure(ModelError("model_failed", "The model endpoint failed before the first word.", "Try again."), wait=_backoff(attempt))


# Where what is wrong is put right, when the model was connected in the page.
_IN_PAGE = (
    ("OPENAI_MODEL and OPENAI_BASE_URL", "the model and the address under Models"),
    ("OPENAI_BASE_URL", "the address under Models"),
    ("OPENAI_API_KEY", "the key under Models"),
    ("another OPENAI_EXTRACT_MODEL", "another model for reading under Models"),
)


def as_told(error: ModelError, *, typed: bool) -> ModelError:
    """The error, with the names of settings in what to do; `typed`: with the fields of the page instead."""
    action = error.action
    for name, words in _IN_PAGE if typed else ():
        action = action.replace(name, words)
    return ModelError(error.code, error.message, action) if action != error.action else error


def broken_off() -> IncompleteAnswerError:
    """The answer had begun."""
    return IncompleteAnswerError("answer_incomplete", "The answer broke off before its end.", "Try again, or keep the part that is here.")


def _status(error: openai.APIStatusError, attempt: int, optional: Collection[str]) -> Failure:
    status = error.status_code
    if status in (401, 403):
        return Failure(ModelError("model_key", "The model endpoint refused the key.", "Check OPENAI_API_KEY."))
    if status in (400, 413, 422) and _overflows(error):
        return _overflow(error)
    if status in (400, 404, 422) and (name := _rejected(error, optional)):
        return Failure(ModelError("model_refused", f"The model endpoint doesn’t take the parameter {name}.", "Try again."), drop=name)
    if status == 404:
        return Failure(ModelError("model_unknown", "The model endpoint doesn’t know this model or address.", "Check OPENAI_MODEL and OPENAI_BASE_URL."))
    asked = _retry_after(error)
    wait = None
    if status in _PASSING and attempt < ATTEMPTS:
        wait = _backoff(attempt) if asked is None else asked + random.uniform(0, BACKOFF_SECONDS)
        wait = wait if (asked or 0.0) <= LONGEST_WAIT_SECONDS else None
    if status == 429:
        when = f"Wait {asked:.0f} seconds, then try again." if asked and asked >= 1 else "Wait a little, then try again."
        return Failure(ModelError("model_busy", "The model endpoint takes no more requests for now.", when), wait=wait)
    told = ModelError("model_refused", f"The model endpoint answered with status {status}.", "Try again; if it stays, look at the endpoint’s log.")
    return Failure(told, wait=wait)


def _backoff(attempt: int) -> float | None:
    """Doubling, with full jitter over the upper half; None after the last attempt."""
    if attempt >= ATTEMPTS:
        return None
    longest = BACKOFF_SECONDS * 2 ** (attempt - 1)
    return random.uniform(longest / 2, longest)


def _retry_after(error: openai.APIStatusError) -> float | None:
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        raw = headers.get("retry-after")
        if raw is None:
            return None
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", raw):
            return float(raw)
        return max(0.0, (parsedate_to_datetime(raw) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _words(error: openai.APIError) -> str:
    """All the server said, to be looked at, never to be shown."""
    return f"{error.message} {error.code} {error.param} {error.body}"


def _overflows(error: openai.APIError) -> bool:
    return error.code == "context_length_exceeded" or bool(_OVERFLOW.search(_words(error)))


def _overflow(error: openai.APIError) -> Failure:
    told = ModelError(
        "context_overflow", "What the model was sent is longer than it can read.", "Try again: evidence is cut to what it can read. Or lower EVIDENCE_BUDGET."
    )
    found = _LENGTHS[0].search(_words(error)) or _LENGTHS[1].search(error.message) or _LENGTHS[2].search(error.message)
    return Failure(told, overflow=True, context_length=int(found[1]) if found else None)


def _rejected(error: openai.APIError, optional: Collection[str]) -> str | None:
    """The optional parameter that the server names in its refusal."""
    if error.param and (name := str(error.param).split(".")[0]) in optional:
        return name
    said = _words(error)
    return next((name for name in sorted(optional, key=len, reverse=True) if re.search(rf"(?<![a-z_]){re.escape(name)}(?![a-z_])", said)), None)
