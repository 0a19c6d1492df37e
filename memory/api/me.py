"""The signed-in person."""

from __future__ import annotations

from django.contrib.auth import logout
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.actions.delete_person import delete_oneself
from memory.actions.update_profile import update_profile
from memory.api import answers, requests
from memory.api.base import View
from memory.models import ApiKey


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

    @extend_schema(parameters=[requests.Preview], request=requests.AccountDeletion, responses=answers.Deleted)
    def delete(self, request: Request) -> Response:
        """Delete your account with all your forests; `{"username"}` confirms it. `preview=1` only tells what would go. Not with a key."""
        if self.query(requests.Preview)["preview"]:
            return Response(delete_oneself(request.user, preview=True))
        if isinstance(request.auth, ApiKey):
            raise errors.forbidden("A key can't delete the account it belongs to.", "Sign in and delete it there.")
        done = delete_oneself(request.user, self.body(requests.AccountDeletion)["username"])
        logout(request._request)
        return Response(done)
