"""What every view of the API shares: who may come in, how much they may send, and how rows of theirs are found."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, TypeVar

import redis
from django.conf import settings
from django.db.models import Model, QuerySet
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from memory import errors
from memory.api.authentication import HasScope
from memory.errors import Refused
from memory.models import Forest, InteractionState, Turn

log = logging.getLogger(__name__)
M = TypeVar("M", bound=Model)


class PersonRate(UserRateThrottle):
    """Requests of a person a minute, sockets included. With Valkey down nobody is counted: chat goes on (S4)."""

    def allow_request(self, request: Any, view: Any) -> bool:
        try:
            return bool(super().allow_request(request, view))
        except redis.RedisError as error:
            log.warning("requests are not counted: %s", type(error).__name__)
            return True


class AlwaysJson(BaseContentNegotiation):
    """JSON, whatever a browser's Accept header prefers."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        sent = (request.content_type or "").split(";")[0].strip()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def select_renderer(self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None) -> tuple[Any, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class View(APIView):
    """A view for signed-in people and their keys."""

    permission_classes = [IsAuthenticated, HasScope]
    throttle_classes = [PersonRate]
    content_negotiation_class = AlwaysJson
    # A POST that writes nothing: a key that may only read can use it.
    reads_only = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        length = request.META.get("CONTENT_LENGTH") or "0"
        limit = self.largest()
        if not length.isdigit() or int(length) > limit:
            raise errors.too_large(f"A request takes at most {limit // 1024 // 1024} MiB.")
        super().initial(request, *args, **kwargs)

    def largest(self) -> int:
        """Bytes a request may have."""
        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def body(self, serializer: type[Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """The request's JSON, validated."""
        try:
            sent = self.request.data
        except RecursionError:
            raise errors.invalid("The request is nested too deeply.", "Send a JSON object as the API's document describes it.") from None
        checked = serializer(data=sent, partial=partial)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def query(self, serializer: type[Serializer[Any]]) -> dict[str, Any]:
        """The query parameters, validated."""
        checked = serializer(data=self.request.query_params)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def own(self, rows: QuerySet[M], pk: int, missing: Refused) -> Any:
        """The row with this id if it belongs to the caller; otherwise it doesn't exist."""
        row = rows.visible_to(self.request.user).filter(pk=pk).first() if pk < 2**63 else None  # type: ignore[attr-defined]
        if row is None:
            raise missing
        return row

    def forest(self, pk: int) -> Forest:
        found: Forest = self.own(Forest.objects.all(), pk, errors.unknown_forest())
        return found

    def turn(self, pk: int) -> Turn:
        found: Turn = self.own(Turn.objects.select_related("forest", "state", "decision__chosen"), pk, errors.unknown_turn())
        return found

    def state(self, pk: int) -> InteractionState:
        found: InteractionState = self.own(InteractionState.objects.select_related("forest"), pk, errors.unknown_state())
        return found


def page(rows: QuerySet[M], limit: int) -> tuple[list[M], int | None]:
    """The first rows by id, and the cursor of the next page (the last id) if there is one."""
    found = list(rows.order_by("pk")[: limit + 1])
    return found[:limit], found[limit - 1].pk if len(found) > limit else None


class Unknown(View):
    """Any other address: the error shape instead of a page."""

    schema = None

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        raise errors.not_found("There is nothing at this address.", "Look the address up at /api/docs/.")
