"""Every address of the site. What is under api/ is documented in docs/interfaces.md; sockets are in memory/ws_urls.py."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from django.views.generic import RedirectView

from arborweb import views
from arborweb.sign_in import AdminSignInForm

admin.site.login_form = AdminSignInForm

# Where no view answers; under /api/ these speak its JSON.
handler400 = "arborweb.errors.bad_request"
handler403 = "arborweb.errors.permission_denied"
handler404 = "arborweb.errors.page_not_found"
handler500 = "arborweb.errors.server_error"

urlpatterns = [
    path("", views.page, name="page"),
    path("forests/<int:forest>/", views.page, name="forest"),
    path("api/", include("memory.api.urls")),
    path("admin/", admin.site.urls),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/link/", views.SignInLink.as_view(), name="sign-in-link"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("healthz", views.healthz, name="healthz"),
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}favicon.svg")),  # asked for by pages that name no icon, as the admin's
]
