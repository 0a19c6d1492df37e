"""The signed-in person."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import present
from memory.actions.update_profile import update_profile
from memory.api import answers, requests
from memory.api.base import View


class Me(View):
    @extend_schema(responses=answers.Me)
    def get(self, request: Request) -> Response:
        """Who you are, and the limits of this installation."""
        return Response(present.me_json(request.user))

    @extend_schema(request=requests.MeChange, responses=answers.Me)
    def patch(self, request: Request) -> Response:
        """Set your time zone and the token budget of the evidence block."""
        update_profile(request.user, **self.body(requests.MeChange))
        return Response(present.me_json(request.user))
