"""Long work."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.actions import reembed
from memory.actions.publish_outbox import publish_outbox
from memory.api import answers
from memory.api.base import View
from memory.models import Job


class OneJob(View):
    @extend_schema(responses=answers.Job)
    def get(self, request: Request, job: int) -> Response:
        """How far it is."""
        return Response(present.job_json(self.own(Job.objects.all(), job, errors.not_found())))


class Reembed(View):
    @extend_schema(request=None, responses={201: answers.Job})
    def post(self, request: Request, forest: int) -> Response:
        """Move the forest to the embedder of this server; the job says how far it is. 409 when it is there already."""
        own = self.forest(forest)
        job = reembed.begin(own)
        publish_outbox(own.pk)
        return Response(present.job_json(job), status=201)
