"""Keys for programs: `Authorization: Bearer KEY`. Only the hash is kept; the key is shown once, when it is made."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from memory.models import ApiKey

READ, WRITE = "read", "write"
SCOPES = (READ, WRITE)
PREFIX_LENGTH = 8
# `last_used_at` is worth a write once in a while, not with every request.
USED_EVERY = timedelta(minutes=1)


def hash_key(key: str) -> str:
    """What is kept of a key. It is 256 random bits, so a fast hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def make_key(owner: Any, name: str, scopes: Sequence[str] = SCOPES) -> tuple[ApiKey, str]:
    """A new key and its only readable copy."""
    key = f"aw_{secrets.token_urlsafe(32)}"
    return ApiKey.objects.create(owner=owner, name=name, prefix=key[:PREFIX_LENGTH], key_hash=hash_key(key), scopes=list(scopes)), key


def find_key(key: str) -> ApiKey | None:
    """The valid key of an active person, noted as used."""
    row = ApiKey.objects.select_related("owner").filter(key_hash=hash_key(key), revoked_at__isnull=True, owner__is_active=True).first()
    now = timezone.now()
    if row is not None and (row.last_used_at is None or now - row.last_used_at > USED_EVERY):
        ApiKey.objects.filter(pk=row.pk).update(last_used_at=now)
    return row


def bearer(header: bytes) -> str | None:
    """The key in an Authorization header, None when it holds something else."""
    scheme, _, key = header.decode("latin-1").strip().partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


class ApiKeyAuthentication(BaseAuthentication):
    """Who holds a valid key is its owner. A wrong key is refused, it never falls back to the session."""

    def authenticate(self, request: Request) -> tuple[Any, ApiKey] | None:
        key = bearer(get_authorization_header(request))
        if key is None:
            return None
        row = find_key(key)
        if row is None:
            raise AuthenticationFailed
        return row.owner, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """A key does what its scopes say: `read` for what writes nothing, `write` for the rest. A session may do both."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ApiKey):
            return True
        reads = request.method in SAFE_METHODS or getattr(view, "reads_only", False)
        return (READ if reads else WRITE) in request.auth.scopes


class ApiKeyScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI document names it."""

    target_class = ApiKeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A key made by `manage.py create_api_key USER --name N`."}
