"""The models behind this installation: which they are, connecting them, trying them."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import present
from memory.actions.connect_model import check_typed, connect_model
from memory.actions.disconnect_model import disconnect_model
from memory.actions.probe_models import check_staff, probe_models
from memory.api import model_answers, requests
from memory.api.base import View


class Model(View):
    @extend_schema(responses=model_answers.Models)
    def get(self, request: Request) -> Response:
        """Which model plays which role, what is known of it, and which may be chosen to answer. Addresses are shown to the staff only, keys to nobody."""
        return Response(present.models_json(addresses=request.user.is_staff))


class ModelConnection(View):
    @extend_schema(request=requests.ConnectionNew, responses=model_answers.Models)
    def put(self, request: Request) -> Response:
        """Connect the models of a server, for the whole site and at once (staff only; 409 where the environment of the server names one).

        Without `api_key` the kept one stays, but only for the address it was given for; an empty one forgets it."""
        connect_model(request.user, **self.body(requests.ConnectionNew))
        return Response(present.models_json(addresses=True))

    @extend_schema(responses=model_answers.Models)
    def delete(self, request: Request) -> Response:
        """Back to the offline engine; address and key are forgotten (staff only)."""
        disconnect_model(request.user)
        return Response(present.models_json(addresses=True))


class TestModel(View):
    @extend_schema(request=requests.ConnectionTried, responses=model_answers.ModelsTested)
    def post(self, request: Request) -> Response:
        """Try every endpoint with a few small requests and remember what its server can do (staff only); with a `base_url`, the models given here
        instead, which connects nothing. `list_only`: only ask which models there are."""
        check_staff(request.user)
        asked = self.body(requests.ConnectionTried)
        list_only = asked.pop("list_only")
        typed = check_typed(**{"api_key": None, "model": "", "extract_model": "", **asked}) if "base_url" in asked else None
        found = probe_models(request.user, typed, list_only=list_only)
        return Response({**found, **present.models_json(addresses=True)})
