"""The ASGI application: pages and REST, sockets, and the start and end of the process's running answers."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")
pages = get_asgi_application()  # first: it loads the apps that the imports below need

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from memory import generation, ws_urls  # noqa: E402

Message = dict[str, Any]


async def lifespan(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
    """At the start of a web process its share of running answers begins; at its end they are drained."""
    await receive()
    try:
        await generation.startup()
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": f"{type(error).__name__}: {error}"})
        raise
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await generation.shutdown()
    await send({"type": "lifespan.shutdown.complete"})


application = ProtocolTypeRouter(
    {
        "http": pages,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(ws_urls.urlpatterns))),
        "lifespan": lifespan,
    }
)
