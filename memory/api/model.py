"""The models behind this installation."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import present
from memory.actions.probe_models import probe_models
from memory.api import model_answers
from memory.api.base import View


class Model(View):
    @extend_schema(responses=model_answers.Models)
    def get(self, request: Request) -> Response:
        """Which model plays which role, and what is known of its server. Addresses are shown to the staff only, keys to nobody."""
        return Response(present.models_json(addresses=request.user.is_staff))


class TestModel(View):
    @extend_schema(request=None, responses=model_answers.ModelsTested)
    def post(self, request: Request) -> Response:
        """Try every endpoint with a few small requests and remember what its server can do (staff only)."""
        tests = probe_models(request.user)
        return Response({"tests": tests, **present.models_json(addresses=True)})
