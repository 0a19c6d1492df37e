"""Turns: what was sent, its answer, its trace."""

from __future__ import annotations

import time

from django.db import close_old_connections
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import generation, present
from memory.actions.cancel_turn import cancel_turn
from memory.actions.drop_turn import drop_turn
from memory.actions.find_to_forget import asked_to_forget
from memory.actions.keep_turn import keep_turn
from memory.actions.publish_outbox import publish_outbox
from memory.actions.retry_turn import retry_turn
from memory.actions.send_turn import send_turn
from memory.api import answers, requests, trace_answers
from memory.api.base import View
from memory.models import Turn
from memory.present.turns import SHOWN_WITH

WAIT_SECONDS = 60.0
LOOK_EVERY = (0.02, 0.25)
ENDED = (*Turn.COMMITTED, *Turn.BROKEN)


class Turns(View):
    @extend_schema(parameters=[requests.TurnsPage], responses=answers.TurnPage)
    def get(self, request: Request, forest: int) -> Response:
        """The conversation, newest last; `next` leads back in time."""
        own, asked = self.forest(forest), self.query(requests.TurnsPage)
        newest = Turn.objects.in_forest(own).filter(pk__lt=asked["before"]).select_related(*SHOWN_WITH)
        rows = list(newest.order_by("-pk")[: asked["limit"] + 1])
        more = len(rows) > asked["limit"]
        rows = rows[: asked["limit"]][::-1]
        return Response({"results": present.turn_list(rows), "next": rows[0].pk if more else None})

    @extend_schema(
        request=requests.TurnNew, responses={201: answers.Turn, 200: PolymorphicProxySerializer("TurnOrForget", [answers.Turn, answers.ForgetAsked], None)}
    )
    def post(self, request: Request, forest: int) -> Response:
        """Send a turn. The same `client_id` again gives the turn it gave before (200). A text that asks to forget something is no turn: what is meant (200)."""
        own, asked = self.forest(forest), self.body(requests.TurnNew)
        wait = asked.pop("wait")
        if not asked.pop("as_turn") and (found := asked_to_forget(own, asked["text"], client_id=asked.get("client_id"))):
            return Response({"forget": found})
        turn, created = send_turn(own, **asked)
        generation.kick(own.pk)
        if wait:
            wait_for(turn.pk)
        return Response(present.turn_json(self.turn(turn.pk)), status=201 if created else 200)


def wait_for(turn: int) -> None:
    """Until the turn has ended, 60 s at most. Holds no connection while it sleeps: the pool is small."""
    deadline, pause = time.monotonic() + WAIT_SECONDS, LOOK_EVERY[0]
    while time.monotonic() < deadline and not Turn.objects.filter(pk=turn, status__in=ENDED).exists():
        close_old_connections()
        time.sleep(pause)
        pause = min(pause * 1.5, LOOK_EVERY[1])


class OneTurn(View):
    @extend_schema(responses=answers.Turn)
    def get(self, request: Request, turn: int) -> Response:
        """One turn as it is now."""
        return Response(present.turn_json(self.turn(turn)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, turn: int) -> Response:
        """Drop a turn that isn't part of memory."""
        drop_turn(self.turn(turn))
        return Response(status=204)


class TurnTrace(View):
    @extend_schema(responses=trace_answers.Trace)
    def get(self, request: Request, turn: int) -> Response:
        """Why it went there, what the model saw, what it took."""
        return Response(present.trace_json(self.turn(turn)))


class RetryTurn(View):
    @extend_schema(request=None, responses=answers.Turn)
    def post(self, request: Request, turn: int) -> Response:
        """Answer a broken turn anew."""
        own = retry_turn(self.turn(turn))
        generation.kick(own.forest_id)
        return Response(present.turn_json(self.turn(own.pk)))


class CancelTurn(View):
    @extend_schema(request=None, responses=answers.Turn)
    def post(self, request: Request, turn: int) -> Response:
        """Stop it; what was written stays readable."""
        own = self.turn(turn)
        cancel_turn(own)
        generation.cancel(own.pk)
        return Response(present.turn_json(self.turn(own.pk)))


class KeepTurn(View):
    @extend_schema(request=None, responses=answers.Turn)
    def post(self, request: Request, turn: int) -> Response:
        """Make the part that was written a state of the forest."""
        own = self.turn(turn)
        keep_turn(own)
        publish_outbox(own.forest_id)
        return Response(present.turn_json(self.turn(own.pk)))
