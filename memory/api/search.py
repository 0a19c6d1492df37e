"""Search as you type."""

from __future__ import annotations

import time

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import answers, requests
from memory.api.base import View
from memory.present.search import search


class SearchForest(View):
    @extend_schema(parameters=[requests.Search], responses=answers.SearchResults)
    def get(self, request: Request, forest: int) -> Response:
        """Turns, facts and topics that hold these words, best first; the last word may be unfinished."""
        own, asked = self.forest(forest), self.query(requests.Search)
        started = time.perf_counter()
        results = search(own, asked["q"], asked["limit"])
        return Response({"results": results, "took_ms": round((time.perf_counter() - started) * 1000, 1)})
