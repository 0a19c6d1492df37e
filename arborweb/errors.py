"""What is answered where no view answers: under /api/ the API's own shape, elsewhere a page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from django.views.csrf import csrf_failure as csrf_page

from memory import errors
from memory.errors import Refused


def _said(request: HttpRequest, refused: Refused) -> JsonResponse | None:
    """The refusal as JSON for the API's callers, None for everybody else."""
    if not f"{request.path}/".startswith("/api/"):
        return None
    return JsonResponse({"error": refused.as_dict()}, status=refused.status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: what Django itself refuses, such as an unknown host, or too many fields."""
    return _said(request, errors.invalid("The request isn't valid.")) or defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return _said(request, errors.forbidden("This isn't open to you.", "Sign in as somebody who may do it.")) or defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return _said(request, errors.not_found("There is nothing at this address.", "Look the address up at /api/docs/.")) or defaults.page_not_found(
        request, exception
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a fault of ours, which is in the log and not in the answer."""
    failed = Refused("failed", "Something failed on our side.", "Try again; if it fails once more, the log of the web process says why.", 500)
    return _said(request, failed) or defaults.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "", **more: Any) -> HttpResponse:
    """A form without its token."""
    return _said(request, errors.forbidden("The CSRF token is missing or wrong.", "Reload the page; programs use a key instead of a session.")) or csrf_page(
        request, reason
    )
