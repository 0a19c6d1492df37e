"""Interaction states: the drawing's window, one state, moving and deleting it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import present
from memory.actions.forget import delete_state
from memory.actions.reroute import reroute
from memory.api import answers, requests
from memory.api.base import View
from memory.models import InteractionState


class States(View):
    @extend_schema(parameters=[requests.StatesWindow], responses=answers.StatePage)
    def get(self, request: Request, forest: int) -> Response:
        """The drawing's rows in order of position, labels only, with the trees they belong to."""
        own, asked = self.forest(forest), self.query(requests.StatesWindow)
        states = InteractionState.objects.in_forest(own)
        # The window's end first, so that the rows are read by a range of positions rather than by a list of ids.
        ends = list(states.filter(position__gt=asked["after"]).order_by("position").values_list("position", flat=True)[: asked["limit"] + 1])
        last = ends[: asked["limit"]][-1] if ends else asked["after"]
        rows = present.state_rows(own, states.filter(position__gt=asked["after"], position__lte=last))
        return Response(
            {
                "results": rows,
                "trees": present.tree_rows(own, {row["root"] for row in rows}),
                "active": own.active_state_id,
                "total": states.count(),
                "version": own.version,
                "next": last if len(ends) > asked["limit"] else None,
            }
        )


class OneState(View):
    @extend_schema(responses=answers.StateDetail)
    def get(self, request: Request, state: int) -> Response:
        """Everything about one state."""
        return Response(present.state_json(self.state(state)))

    @extend_schema(parameters=[requests.StateDeletion], responses=answers.Deleted)
    def delete(self, request: Request, state: int) -> Response:
        """Delete it with what only it supported; its children move to its parent, or go with it. `preview=1` only tells what would change."""
        asked = self.query(requests.StateDeletion)
        return Response(delete_state(self.state(state), asked["mode"], request.user, preview=asked["preview"], redact_quotes=asked["redact"]))


class MoveState(View):
    @extend_schema(request=requests.Move, parameters=[requests.Preview], responses=answers.Moved)
    def post(self, request: Request, state: int) -> Response:
        """Put it, with all that follows it, under another state or to a root of its own."""
        own, asked = self.state(state), self.body(requests.Move)
        parent = self.state(asked["parent"]) if "parent" in asked else None
        return Response(reroute(own, parent, request.user, preview=self.query(requests.Preview)["preview"]))
