"""Bring a file of another chat, or an export of ours, into a forest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, extend_schema
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.actions.import_chat import receive
from memory.actions.publish_outbox import publish_outbox
from memory.api import answers, requests
from memory.api.base import View

CHUNK = 64 * 1024
# What a multipart body adds to the file in it.
AROUND = 64 * 1024


class AsItIs(BaseParser):
    """The body as a stream: it may be large, and it is the file itself."""

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {"file": stream}


def _as_it_is(media: str) -> type[AsItIs]:
    return type("AsItIs", (AsItIs,), {"media_type": media})


class Import(View):
    parser_classes = [MultiPartParser, *map(_as_it_is, ("application/json", "application/x-ndjson", "application/zip", "application/octet-stream"))]

    def largest(self) -> int:
        return (settings.MAX_IMPORT_MB << 20) + AROUND

    @extend_schema(
        parameters=[requests.ImportHow],
        request={
            "multipart/form-data": OpenApiRequest(requests.ImportFile),
            "application/json": OpenApiRequest(OpenApiTypes.ANY),
            "application/zip": OpenApiRequest(OpenApiTypes.BINARY),
            "application/x-ndjson": OpenApiRequest(OpenApiTypes.BINARY),
            "application/octet-stream": OpenApiRequest(OpenApiTypes.BINARY),
        },
        responses={202: answers.Job},
    )
    def post(self, request: Request, forest: int) -> Response:
        """Take in an export of ChatGPT, Claude, Open WebUI, LibreChat or ArborWeb, or lines as `observe/` takes them; plain or in a ZIP archive.

        The worker does it; the job says how far it is, and what was left out."""
        own = self.forest(forest)
        how = self.query(requests.ImportHow)
        data = request.data
        file = data.get("file")
        if file is None or isinstance(file, str):
            raise errors.invalid("There is no file in this request.", "Send it as the field `file`, or as the body.", {"file": ["This is needed."]})
        relocalize = how["relocalize"] or str(data.get("relocalize", "")).lower() in ("1", "true", "on", "yes")
        job = receive(own, _chunks(file), relocalize=relocalize)
        publish_outbox(own.pk)
        return Response(present.job_json(job), status=202)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk
