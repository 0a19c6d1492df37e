"""The page to try the API on."""

from __future__ import annotations

from typing import Any

from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response


class Docs(SpectacularSwaggerSplitView):
    """Swagger from its sidecar. Its own template has a style element, which the content security policy refuses; its errors are JSON, like all of the API's."""

    template_name = "memory/api_docs.html"
    throttle_classes = []

    def handle_exception(self, exc: Exception) -> Any:
        answer = super().handle_exception(exc)
        if isinstance(answer, Response):
            self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return answer
