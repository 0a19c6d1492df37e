"""Every socket address (docs/interfaces.md)."""

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from memory.consumers import ForestConsumer

urlpatterns = [path("ws/forests/<int:forest>/", ForestConsumer.as_asgi()), re_path(r"", WebsocketDenier.as_asgi())]
