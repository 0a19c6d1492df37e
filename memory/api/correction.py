"""Put routing right: why not another place, the moves of a turn, several moves, replaying later turns; and undo of whatever was changed by hand."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present, why_not
from memory.actions import replay_turns
from memory.actions.publish_outbox import publish_outbox
from memory.actions.reroute import Move, reroute_many
from memory.actions.undo import blocked, undo
from memory.api import answers, requests, trace_answers
from memory.api.base import View
from memory.models import Change, ParentChange
from memory.present.turns import part_list
from memory.store.write import candidate_json


class WhyNot(View):
    @extend_schema(responses=trace_answers.Weighed)
    def get(self, request: Request, turn: int, state: int) -> Response:
        """“Why not that one?”: the branch of a state, scored again as the forest stood just before the turn, beside the place that was chosen."""
        own, asked = self.turn(turn), self.state(state)
        if own.forest_id != asked.forest_id:
            raise errors.unknown_state()
        weighed = why_not.weigh(own, asked)
        candidate, winner = candidate_json(weighed.candidate), candidate_json(weighed.winner)
        parts = part_list([candidate, winner])
        return Response({"state": asked.pk, "candidate": candidate, "winner": winner, "parts": parts, "words": weighed.words, "changed": weighed.changed})


class StateMoves(View):
    @extend_schema(responses=answers.MovePage)
    def get(self, request: Request, state: int) -> Response:
        """Where a state was moved, by whom and when, newest first."""
        moves = ParentChange.objects.filter(state=self.state(state)).select_related("by_user", "change").order_by("-pk")
        return Response({"results": present.move_list(moves), "next": None})


class Moves(View):
    @extend_schema(request=requests.Moves, responses=answers.MovedMany)
    def post(self, request: Request, forest: int) -> Response:
        """Move several states as one change: all of them or, when one can't be, none."""
        own, asked = self.forest(forest), self.body(requests.Moves)
        return Response(reroute_many(own, [Move(move["state"], move["parent"]) for move in asked["moves"]], request.user))


class Replay(View):
    @extend_schema(request=requests.Replay, responses={202: answers.Job})
    def post(self, request: Request, forest: int) -> Response:
        """Localize the later turns again that localization had placed. Moves nothing: the job's `result` has the proposals."""
        own, asked = self.forest(forest), self.body(requests.Replay)
        job = replay_turns.begin(own, asked["after"])
        publish_outbox(own.pk)
        return Response(present.job_json(job), status=202)


class Changes(View):
    @extend_schema(parameters=[requests.TurnsPage], responses=answers.ChangePage)
    def get(self, request: Request, forest: int) -> Response:
        """What was changed by hand, newest first, and what of it can be undone."""
        own, asked = self.forest(forest), self.query(requests.TurnsPage)
        rows = Change.objects.in_forest(own).filter(pk__lt=asked["before"]).exclude(items=None, moves=None).select_related("by_user")
        found = list(rows.order_by("-pk")[: asked["limit"] + 1])
        shown = found[: asked["limit"]]
        undoable = {pk for pk, refused in blocked(shown).items() if refused is None}
        return Response({"results": present.change_list(shown, undoable), "next": shown[-1].pk if len(found) > len(shown) else None})


class UndoChange(View):
    @extend_schema(request=None, responses=answers.Change)
    def post(self, request: Request, change: int) -> Response:
        """Undo a change. 409 when a later one rests on it."""
        own = self.own(Change.objects.all(), change, errors.not_found("This change doesn't exist.", "Reload the list of changes."))
        return Response(present.change_json(undo(own, request.user), undoable=False))
