"""The pages that aren't the interface of the memory: the one page itself, signing in, and the health check."""

import asyncio

from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.db import connection, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from sesame.views import LoginView as SesameLoginView

from arborweb import health
from arborweb.sign_in import SignInForm
from memory.models import Forest
from memory.threads import Pool

_LINK_LOCK = 0x41_72_62_6C  # any number, the same in every process


@never_cache
@login_required
@ensure_csrf_cookie
def page(request: HttpRequest, forest: int | None = None) -> HttpResponse:
    """Chat, forest and inspector. Someone else's forest is not found."""
    if forest is not None and not Forest.objects.visible_to(request.user).filter(pk=forest).exists():
        raise Http404
    return render(request, "app.html", {"forest": forest})


class SignIn(LoginView):
    """By name and password, a few tries at a time."""

    template_name = "sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Too many tries are a 429, with how long to wait."""
        response = super().form_invalid(form)
        if (seconds := getattr(self.request, "sign_in_wait", None)) is not None:
            response.status_code, response["Retry-After"] = 429, str(seconds)
        return response


class SignInLink(SesameLoginView):
    """By a link that works once. The redirect takes its token out of the address bar."""

    http_method_names = ["get"]  # a preview of the link (HEAD) doesn't use it up

    def get(self, request: HttpRequest) -> HttpResponseBase:
        with transaction.atomic(), connection.cursor() as cursor:
            # One after the other: two at once would both find the link unused.
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LINK_LOCK])
            response = super().get(request)
        response["Cache-Control"] = "no-store"
        response["Referrer-Policy"] = "no-referrer"
        return response

    def login_failed(self) -> HttpResponse:
        if self.request.user.is_authenticated:  # the link of a moment ago, opened again
            return redirect(self.get_success_url())
        return render(self.request, "link_expired.html", status=403)


_CHECKS = {"database": health.database_is_up, "redis": health.redis_is_up, "worker": health.worker_is_up, "model": health.model_is_up}
_threads = Pool("health", 2 * len(_CHECKS))


@never_cache
async def healthz(request: HttpRequest) -> JsonResponse:
    """200 when web and database are up; with `?all=1` only when every part is. A model that isn't asked for (`offline`) counts as up."""
    parts = dict(zip(_CHECKS, await asyncio.gather(*(_state(name) for name in _CHECKS)), strict=True))
    down = [name for name, state in parts.items() if state == "down"]
    failed = bool(down) if request.GET.get("all") == "1" else parts["database"] == "down"
    status = "ok" if not down else "down" if parts["database"] == "down" else "degraded"
    return JsonResponse({"status": status, "parts": parts}, status=503 if failed else 200)


async def _state(name: str) -> str:
    """`up`, `down`, or the word a check answers with. A check that fails or hangs is down."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(health.LIMIT_SECONDS):
            answer = await loop.run_in_executor(_threads.executor, _CHECKS[name])
    except Exception:  # whatever it is, and it may be anything: this part doesn't work
        return "down"
    return answer if isinstance(answer, str) else "up" if answer else "down"
