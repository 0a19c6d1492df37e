"""Facts, records, revisions, and a person's word on them."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import errors, present
from memory.actions.revise import revise
from memory.api import answers, requests
from memory.api.base import View, page
from memory.models import EVIDENCE_MODELS, EvidenceRow, Forest, Revision
from memory.store.as_of import evidence_then, known_revisions, revisions_then

# As-of rows are looked at in portions of so many.
SOME = 200
RECORDS = [kind for kind in EVIDENCE_MODELS if kind != "fact"]
KIND = OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=list(EVIDENCE_MODELS))


def chosen(kind: str, forest: Forest, asked: dict[str, Any]) -> QuerySet[Any]:
    """Rows of one kind by state, slot and status."""
    rows: QuerySet[Any] = EVIDENCE_MODELS[kind].objects.in_forest(forest)
    if "state" in asked:
        rows = rows.filter(sources__contains=[asked["state"]])
    if "slot" in asked:
        rows = rows.filter(slot=asked["slot"])
    if "as_of" in asked:  # its status then is told by more than its row: `window` looks
        return rows.filter(known_from__lte=asked["as_of"])
    return rows if asked["status"] == "all" else rows.filter(status=asked["status"])


def window(kind: str, forest: Forest, asked: dict[str, Any], after: int, limit: int) -> tuple[list[Any], int | None]:
    """The first rows after an id that were chosen, and the cursor of the next ones."""
    rows = chosen(kind, forest, asked).select_related("state")
    if "as_of" not in asked:
        return page(rows.filter(pk__gt=after), limit)
    found: list[Any] = []
    while len(found) <= limit and (some := list(rows.filter(pk__gt=after).order_by("pk")[:SOME])):
        stood = evidence_then(forest.pk, kind, some, asked["as_of"])  # type: ignore[arg-type]
        found += [row for row in some if asked["status"] in ("all", stood[row.pk].status)]
        after = some[-1].pk
    return found[:limit], found[limit - 1].pk if len(found) > limit else None


class Facts(View):
    @extend_schema(parameters=[requests.FactsPage], responses=answers.FactPage)
    def get(self, request: Request, forest: int) -> Response:
        """Atomic facts; those that hold now unless another status is asked for."""
        own, asked = self.forest(forest), self.query(requests.FactsPage)
        rows, cursor = window("fact", own, asked, asked["after"], asked["limit"])
        return Response({"results": present.evidence_list(rows, asked.get("as_of")), "next": cursor})


class Records(View):
    @extend_schema(parameters=[requests.RecordsPage], responses=answers.RecordPage)
    def get(self, request: Request, forest: int) -> Response:
        """Artifacts, events and mutable states, kind by kind."""
        own, asked = self.forest(forest), self.query(requests.RecordsPage)
        kinds = [asked["kind"]] if "kind" in asked else RECORDS
        first, _, after = asked.get("after", f"{kinds[0]}.0").partition(".")
        results: list[Any] = []
        for kind in kinds[kinds.index(first) :] if first in kinds else []:
            found, _ = window(kind, own, asked, int(after) if kind == first else 0, asked["limit"] + 1 - len(results))
            results += present.evidence_list(found, asked.get("as_of"))
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
        rows: QuerySet[Revision] = Revision.objects.in_forest(own).filter(**{name: asked[name] for name in ("slot", "kind") if name in asked})
        if "state" in asked:
            about = Q(state=asked["state"])
            for kind, model in EVIDENCE_MODELS.items():
                items = model.objects.in_forest(own).filter(sources__contains=[asked["state"]]).values("pk")
                about |= Q(kind=kind) & (Q(old_item__in=items) | Q(new_item__in=items))
            rows = rows.filter(about)
        if "as_of" in asked:
            rows = known_revisions(rows, own.pk, asked["as_of"])
        found, cursor = page(rows.filter(pk__gt=asked["after"]), asked["limit"])
        if "as_of" in asked:
            found = revisions_then(Revision.objects.filter(pk__in=[row.pk for row in found]), own.pk, asked["as_of"])
        return Response({"results": present.revision_list(found), "next": cursor})


class OneItem(View):
    @extend_schema(parameters=[KIND], responses=answers.Item)
    def get(self, request: Request, kind: str, item: int) -> Response:
        """One fact or record with its revisions."""
        return Response(present.evidence_json(self.item(kind, item)))

    def item(self, kind: str, item: int) -> EvidenceRow:
        if kind not in EVIDENCE_MODELS:
            raise errors.unknown_item()
        found: EvidenceRow = self.own(EVIDENCE_MODELS[kind].objects.select_related("state"), item, errors.unknown_item())
        return found


class ReviseItem(OneItem):
    http_method_names = ["post", "options"]

    @extend_schema(parameters=[KIND], request=requests.Revise, responses=answers.RevisedItem)
    def post(self, request: Request, kind: str, item: int) -> Response:
        """Take it back, bring it back, pin it, set it aside, or change it (a new row; the old one stays readable)."""
        own, asked = self.item(kind, item), self.body(requests.Revise)
        return Response(revise(own, asked.pop("do"), request.user, **asked))
