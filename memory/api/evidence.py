"""Facts, records, revisions, and a person's word on them."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.actions.forget_item import delete_item
from memory.actions.revise import revise
from memory.api import answers, requests
from memory.api.base import View, page
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, Revision

RECORDS = [kind for kind in EVIDENCE_MODELS if kind != "fact"]
KIND = OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=list(EVIDENCE_MODELS))


def chosen(kind: str, forest: Forest, asked: dict[str, Any]) -> QuerySet[Any]:
    """Rows of one kind by state, slot and status."""
    rows: QuerySet[Any] = EVIDENCE_MODELS[kind].objects.in_forest(forest)
    if "state" in asked:
        rows = rows.filter(sources__contains=[asked["state"]])
    if "slot" in asked:
        rows = rows.filter(slot=asked["slot"])
    return rows if asked["status"] == "all" else rows.filter(status=asked["status"])


class Facts(View):
    @extend_schema(parameters=[requests.FactsPage], responses=answers.FactPage)
    def get(self, request: Request, forest: int) -> Response:
        """Atomic facts; those that hold now unless another status is asked for."""
        own, asked = self.forest(forest), self.query(requests.FactsPage)
        rows, cursor = page(chosen("fact", own, asked).filter(pk__gt=asked["after"]).select_related("state"), asked["limit"])
        return Response({"results": present.evidence_list(rows), "next": cursor})


class Records(View):
    @extend_schema(parameters=[requests.RecordsPage], responses=answers.RecordPage)
    def get(self, request: Request, forest: int) -> Response:
        """Artifacts, events and mutable states, kind by kind."""
        own, asked = self.forest(forest), self.query(requests.RecordsPage)
        kinds = [asked["kind"]] if "kind" in asked else RECORDS
        first, _, after = asked.get("after", f"{kinds[0]}.0").partition(".")
        results: list[Any] = []
        for kind in kinds[kinds.index(first) :] if first in kinds else []:
            rows = chosen(kind, own, asked).filter(pk__gt=int(after) if kind == first else 0).select_related("state")
            found, _ = page(rows, asked["limit"] + 1 - len(results))
            results += present.evidence_list(found)
            if len(results) > asked["limit"]:
                break
        shown = results[: asked["limit"]]
        more = len(results) > asked["limit"]
        return Response({"results": shown, "next": f"{shown[-1]['kind']}.{shown[-1]['id']}" if more else None})


class Revisions(View):
    @extend_schema(parameters=[requests.RevisionsPage], responses=answers.RevisionPage)
    def get(self, request: Request, forest: int) -> Response:
        """What replaced what, oldest first."""
        own, asked = self.forest(forest), self.query(requests.RevisionsPage)
        rows = Revision.objects.in_forest(own).filter(**{name: asked[name] for name in ("slot", "kind") if name in asked})
        if "state" in asked:
            about = Q(state=asked["state"])
            for kind, model in EVIDENCE_MODELS.items():
                items = model.objects.in_forest(own).filter(sources__contains=[asked["state"]]).values("pk")
                about |= Q(kind=kind) & (Q(old_item__in=items) | Q(new_item__in=items))
            rows = rows.filter(about)
        found, cursor = page(rows.filter(pk__gt=asked["after"]), asked["limit"])
        return Response({"results": present.revision_list(found), "next": cursor})


class OneItem(View):
    @extend_schema(parameters=[KIND], responses=answers.Item)
    def get(self, request: Request, kind: str, item: int) -> Response:
        """One fact or record with its revisions."""
        return Response(present.evidence_json(self.item(kind, item)))

    @extend_schema(parameters=[KIND, requests.Deletion], responses=answers.Deleted)
    def delete(self, request: Request, kind: str, item: int) -> Response:
        """Delete it for good; its turn stays, with its words, and doesn't teach it anew. `preview=1` only tells what would change."""
        asked = self.query(requests.Deletion)
        return Response(delete_item(self.item(kind, item), request.user, preview=asked["preview"], redact_quotes=asked["redact"]))

    def item(self, kind: str, item: int) -> EvidenceRow:
        if kind not in EVIDENCE_MODELS:
            raise errors.unknown_item()
        found: EvidenceRow = self.own(EVIDENCE_MODELS[kind].objects.select_related("state"), item, errors.unknown_item())
        return found


class ReviseItem(OneItem):
    http_method_names = ["post", "options"]

    @extend_schema(parameters=[KIND], request=requests.Revise, responses=answers.Item)
    def post(self, request: Request, kind: str, item: int) -> Response:
        """Take it back, bring it back, pin it, set it aside, or change it (a new row; the old one stays readable)."""
        own, asked = self.item(kind, item), self.body(requests.Revise)
        return Response(revise(own, asked.pop("do"), request.user, **asked))
