"""Forests: list, plant, rename, delete, and what is asked of a whole one (observe, recall, export)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import IO

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present, turn
from memory.actions.create_forest import create_forest
from memory.actions.export_forest import export_forest
from memory.actions.export_markdown import export_markdown
from memory.actions.find_to_forget import asked_to_forget, find_to_forget
from memory.actions.forget import delete_forest
from memory.actions.grow_sample import grow_sample
from memory.actions.observe import observe
from memory.actions.publish_outbox import publish_outbox
from memory.actions.update_forest import update_forest
from memory.api import answers, health_answers, requests, trace_answers
from memory.api.base import View, page
from memory.models import Forest
from memory.threads import in_thread

CHUNK = 64 * 1024


class Forests(View):
    @extend_schema(operation_id="forests_list", parameters=[requests.Page], responses=answers.ForestPage)
    def get(self, request: Request) -> Response:
        """Your forests, oldest first."""
        asked = self.query(requests.Page)
        rows, cursor = page(Forest.objects.visible_to(request.user).filter(pk__gt=asked["after"]), asked["limit"])
        return Response({"results": present.forest_list(rows), "next": cursor})

    @extend_schema(request=requests.ForestNew, responses={201: answers.Forest})
    def post(self, request: Request) -> Response:
        """Plant an empty forest."""
        return Response(present.forest_json(create_forest(request.user, **self.body(requests.ForestNew))), status=201)


class SampleForest(View):
    @extend_schema(request=None, responses={201: answers.SampleStarted})
    def post(self, request: Request) -> Response:
        """Grow the sample forest; the job says how far it is."""
        forest, job = grow_sample(request.user)
        return Response({"forest": present.forest_json(forest), "job": present.job_json(job)}, status=201)


class OneForest(View):
    @extend_schema(responses=answers.Forest)
    def get(self, request: Request, forest: int) -> Response:
        """One forest with its counts."""
        return Response(present.forest_json(self.forest(forest)))

    @extend_schema(request=requests.ForestChange, responses=answers.Forest)
    def patch(self, request: Request, forest: int) -> Response:
        """Rename it, set its time zone, or choose the model that answers in it."""
        own = self.forest(forest)
        return Response(present.forest_json(update_forest(own, **self.body(requests.ForestChange, partial=True))))

    @extend_schema(parameters=[requests.Preview], responses=answers.Deleted)
    def delete(self, request: Request, forest: int) -> Response:
        """Delete it with everything in it; `preview=1` only counts what would go."""
        asked = self.query(requests.Preview)
        return Response(delete_forest(self.forest(forest), request.user, preview=asked["preview"]))


class Observe(View):
    @extend_schema(request=requests.Observed, responses=answers.ObservedResults)
    def post(self, request: Request, forest: int) -> Response:
        """Take in given interactions; nothing is generated. Each finds its own place unless its parent is given."""
        own = self.forest(forest)
        results = observe(own, self.body(requests.Observed)["interactions"])
        publish_outbox(own.pk)
        return Response({"results": results})


class Recall(View):
    reads_only = True

    @extend_schema(request=requests.RecallAsked, responses=trace_answers.Recall)
    def post(self, request: Request, forest: int) -> Response:
        """Where a text would go and what an answer to it would be given. Writes nothing."""
        own = self.forest(forest)
        return Response(turn.recall(own, **self.body(requests.RecallAsked)))


class Forget(View):
    reads_only = True

    @extend_schema(request=requests.ForgetAsked, responses=answers.ForgetFound)
    def post(self, request: Request, forest: int) -> Response:
        """What of the forest some words mean, to be deleted then. Changes nothing, is no turn, and is written nowhere."""
        own, asked = self.forest(forest), self.body(requests.ForgetAsked)
        return Response(asked_to_forget(own, asked["text"]) or find_to_forget(own, asked["text"]))


class Health(View):
    @extend_schema(responses=health_answers.Health)
    def get(self, request: Request, forest: int) -> Response:
        """How its memory keeps up: commit lag, tokens, confidence and corrections by day (in its time zone, at most 90), and what is pending."""
        return Response(present.health_json(self.forest(forest)))


class Export(View):
    @extend_schema(
        parameters=[requests.ExportHow],
        responses={
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "The whole forest, format arborweb-forest"),
            (200, "text/markdown"): OpenApiResponse(OpenApiTypes.STR, "What was said and what is remembered, to be read"),
        },
    )
    def get(self, request: Request, forest: int) -> StreamingHttpResponse:
        """Everything of the forest that isn't derived from the rest, as one JSON document; or what was said, to be read: whole, or the path to a turn."""
        own, asked = self.forest(forest), self.query(requests.ExportHow)
        if asked["format"] == "markdown":
            state = self.state(asked["state"]) if "state" in asked else None
            if state and state.forest_id != own.pk:
                raise errors.unknown_state()
            name = f"forest-{own.pk}-turn-{state.position}" if state else f"forest-{own.pk}"
            return _download(export_markdown(own, state), "text/markdown; charset=utf-8", f"{name}.md", request)
        return _download(export_forest(own), "application/json", f"forest-{own.pk}.json", request)


def _download(file: IO[bytes], kind: str, name: str, request: Request) -> StreamingHttpResponse:
    body: Iterator[bytes] | AsyncIterator[bytes] = _chunks_later(file) if hasattr(request._request, "scope") else _chunks(file)
    return StreamingHttpResponse(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk


async def _chunks_later(file: IO[bytes]) -> AsyncIterator[bytes]:
    """As `_chunks`, off the event loop: otherwise Django would read it all into memory first."""
    with file:
        while chunk := await in_thread(file.read, CHUNK):
            yield chunk
