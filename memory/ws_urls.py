"""Addresses of sockets."""

from django.urls import path

from memory.consumers import ForestConsumer

urlpatterns = [path("ws/forests/<int:forest>/", ForestConsumer.as_asgi())]
