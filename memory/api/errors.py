"""One shape for every error: `{"error": {"code", "message", "action", "fields"?}}`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import redis
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from memory import errors
from memory.errors import Refused
from memory.llm.interface import ModelError
from memory.models import Forest, InteractionState, Turn

log = logging.getLogger(__name__)


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler. What isn't known here stays an exception: a 500 with a log entry, nothing of it in the answer."""
    refused = refusal(error)
    if refused is None:
        return None
    set_rollback()
    if refused.status == 503:
        view = type(context.get("view")).__name__
        log.warning("%s: unavailable (%s)", view, type(error).__name__)
    headers = {}
    if isinstance(error, exceptions.APIException):
        if getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
        if getattr(error, "wait", None):
            headers["Retry-After"] = f"{error.wait:.0f}"  # type: ignore[attr-defined]
    return Response({"error": refused.as_dict()}, status=refused.status, headers=headers)


def refusal(error: Exception) -> Refused | None:
    """What to tell a person of an exception; None for a fault of ours."""
    match error:
        case Refused():
            return error
        case exceptions.ValidationError():
            return errors.invalid("Some of what was sent isn't valid.", "Correct the fields named and send it again.", fields=dict(_fields(error.detail)))
        case exceptions.ParseError():
            return errors.invalid("The request isn't valid JSON.", "Send a JSON object, encoded as UTF-8.")
        case exceptions.UnsupportedMediaType():
            return errors.invalid("Only JSON is understood here.", "Send the header Content-Type: application/json.")
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return errors.not_signed_in()
        case exceptions.PermissionDenied() | PermissionDenied():
            return _forbidden(str(error))
        case exceptions.Throttled():
            return errors.too_many_requests(getattr(error, "wait", None))
        case exceptions.MethodNotAllowed():
            return Refused("invalid", "This can't be done here.", "Look the method up at /api/docs/.", 405)
        case exceptions.NotFound() | Http404():
            return errors.not_found()
        case Forest.DoesNotExist():  # these were there a moment ago and were deleted meanwhile
            return errors.unknown_forest()
        case Turn.DoesNotExist():
            return errors.unknown_turn()
        case InteractionState.DoesNotExist():
            return errors.unknown_state()
        case RequestDataTooBig():
            return errors.too_large("The request is too large.")
        case OperationalError() | InterfaceError():  # psycopg's and its pool's time-out are wrapped in these
            return errors.unavailable("The database isn't reachable.")
        case redis.RedisError():
            return errors.unavailable("Valkey, which passes messages on, isn't reachable.")
        case ModelError():
            return errors.unavailable(error.message, error.action)
    return None


def _forbidden(reason: str) -> Refused:
    if "CSRF" in reason:
        return errors.forbidden("The CSRF token is missing or wrong.", "Reload the page; programs use a key instead of a session.")
    return errors.forbidden("This key may not do that.", "Use a key with the scope it needs.")


def _fields(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Nested validation problems as flat `a.0.b` names."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = path if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from _fields(inner, own)
    elif isinstance(detail, list) and any(isinstance(inner, Mapping | list) for inner in detail):
        for number, inner in enumerate(detail):
            yield from _fields(inner, f"{path}.{number}" if path else str(number))
    else:
        # What was sent may be named in it, and hold half of a surrogate pair, which no answer can.
        yield path or "request", [str(problem).encode(errors="replace").decode() for problem in (detail if isinstance(detail, list) else [detail])]
