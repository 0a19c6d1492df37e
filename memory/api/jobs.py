"""Long work."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.api import answers
from memory.api.base import View
from memory.models import Job


class OneJob(View):
    @extend_schema(responses=answers.Job)
    def get(self, request: Request, job: int) -> Response:
        """How far it is."""
        return Response(present.job_json(self.own(Job.objects.all(), job, errors.not_found())))
