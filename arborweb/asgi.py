"""The ASGI application: pages and REST, sockets, and the start and end of the process's running answers."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")
pages = get_asgi_application()  # first: it loads the apps that the imports below need

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from django.conf import settings  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.http.request import split_domain_port, validate_host  # noqa: E402
from django.middleware.csrf import CsrfViewMiddleware  # noqa: E402
from django.utils.http import is_same_domain  # noqa: E402

from memory import generation, ws_urls  # noqa: E402

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


async def lifespan(scope: Message, receive: Receive, send: Send) -> None:
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


class OurPages:
    """Lets sockets in from our own pages, from those of CSRF_TRUSTED_ORIGINS, and from programs, which send a key and, unlike every browser, no Origin.

    A page on another port of this machine isn't ours: the session's cookie would come with it."""

    def __init__(self, application: Application) -> None:
        self.application, self.refuse = application, WebsocketDenier.as_asgi()
        self.trusted = CsrfViewMiddleware(lambda request: HttpResponse())

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        known = validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
        welcome = known and self._is_ours(headers.get(b"origin"), host, has_key=b"authorization" in headers)
        await (self.application if welcome else self.refuse)(scope, receive, send)

    def _is_ours(self, origin: str | None, host: str, *, has_key: bool) -> bool:
        if origin is None:
            return has_key
        scheme, _, site = origin.partition("://")
        domains = self.trusted.allowed_origin_subdomains.get(scheme, ())
        return site == host or origin in self.trusted.allowed_origins_exact or any(is_same_domain(site, domain) for domain in domains)


application = ProtocolTypeRouter(
    {
        "http": pages,
        "websocket": OurPages(AuthMiddlewareStack(URLRouter(ws_urls.urlpatterns))),
        "lifespan": lifespan,
    }
)
