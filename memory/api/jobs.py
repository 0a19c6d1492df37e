"""Long work."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.actions import reembed
from memory.actions.cancel_job import cancel_job
from memory.actions.publish_outbox import publish_outbox
from memory.api import answers, requests
from memory.api.base import View
from memory.models import Job

OPEN = (Job.Status.WAITING, Job.Status.RUNNING)


class Jobs(View):
    @extend_schema(operation_id="jobs_list", parameters=[requests.JobsPage], responses=answers.JobPage)
    def get(self, request: Request) -> Response:
        """Long work of your forests, newest first: what runs now, and what came of the rest."""
        asked = self.query(requests.JobsPage)
        rows = Job.objects.visible_to(request.user).filter(pk__lt=asked["before"])
        if "forest" in asked:
            rows = rows.in_forest(self.forest(asked["forest"]))
        if "kind" in asked:
            rows = rows.filter(kind=asked["kind"])
        if "status" in asked:
            rows = rows.filter(status__in=OPEN if asked["status"] == "open" else [asked["status"]])
        found = list(rows.order_by("-pk")[: asked["limit"] + 1])
        shown = found[: asked["limit"]]
        return Response({"results": present.job_list(shown), "next": shown[-1].pk if len(found) > len(shown) else None})


class OneJob(View):
    @extend_schema(responses=answers.Job)
    def get(self, request: Request, job: int) -> Response:
        """How far it is."""
        return Response(present.job_json(self.own(Job.objects.all(), job, errors.not_found())))


class CancelJob(View):
    @extend_schema(request=None, responses=answers.Job)
    def post(self, request: Request, job: int) -> Response:
        """Stop it after the step under way; what was done stays, and the job says how much. 409 when it is over."""
        own = self.own(Job.objects.all(), job, errors.not_found())
        return Response(present.job_json(cancel_job(own, request.user)))


class Reembed(View):
    @extend_schema(request=None, responses={201: answers.Job})
    def post(self, request: Request, forest: int) -> Response:
        """Move the forest to the embedder of this server; the job says how far it is. 409 when it is there already."""
        own = self.forest(forest)
        job = reembed.begin(own)
        publish_outbox(own.pk)
        return Response(present.job_json(job), status=201)
