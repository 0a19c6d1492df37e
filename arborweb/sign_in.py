"""Signing in by name and password, a few tries at a time (docs/decisions/0016-sign-in.md).

Every password that is tried anywhere (the sign-in page, the admin's) comes through `PasswordBackend`. One-time links don't: whoever has the machine gets in.
"""

from __future__ import annotations

import ipaddress
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

import redis
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from arborweb.health import valkey

log = logging.getLogger(__name__)

WINDOW_SECONDS = 15 * 60


@dataclass(frozen=True, slots=True)
class Limit:
    """So many tries in a window, of one kind of sender."""

    kind: str
    tries: int


# One person who mistypes, one machine that goes through names, many machines that go through one name's passwords.
PAIR, ADDRESS, NAME = Limit("pair", 5), Limit("address", 30), Limit("name", 60)

# One step, so that tries at the same moment are all counted: count, and begin the window with the first.
_COUNT = """
local tries = redis.call('INCR', KEYS[1])
if tries == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return {tries, redis.call('TTL', KEYS[1])}
"""
# One that was forgotten meanwhile isn't begun again below nothing.
_TAKE_BACK = "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DECR', KEYS[1]) end"


class Wait(Exception):  # noqa: N818 - what to do, in one word
    """Too many tries: again after so many seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"wait {seconds} s")
        self.seconds = seconds


def sender(request: HttpRequest | None) -> str:
    """Where a request came from: an IPv4 address, or the network of an IPv6 one, of which anybody has 2⁶⁴."""
    given = (request.META.get("REMOTE_ADDR") or "") if request is not None else ""
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def _key(limit: Limit, *parts: str) -> str:
    """Names are kept as a keyed hash: people type passwords into the name's field."""
    return f"{settings.REDIS_PREFIX}:sign-in:{limit.kind}:{salted_hmac('sign-in', repr(parts)).hexdigest()[:32]}"


def keys(name: str, address: str) -> dict[Limit, str]:
    """What a try counts towards."""
    folded = name.strip().casefold()[:150]
    return {PAIR: _key(PAIR, folded, address), ADDRESS: _key(ADDRESS, address), NAME: _key(NAME, folded)}


def count(name: str, address: str) -> None:
    """Count a try before its password is looked at, so that tries side by side don't slip through. Raises Wait when there were too many.

    A try that is refused counts no further: one machine can't use up what a name has for many."""
    for limit, key in keys(name, address).items():
        tries, left = _counted(key)
        if tries > limit.tries:
            raise Wait(left)


def forgive(name: str, address: str) -> None:
    """The password was right: this person at this machine begins anew, and the try counts against nobody."""
    found = keys(name, address)
    try:
        with valkey() as client:
            client.delete(found[PAIR])
            for limit in (ADDRESS, NAME):
                client.eval(_TAKE_BACK, 1, found[limit])
    except redis.RedisError:
        _here.forgive(found[PAIR])


def _counted(key: str) -> tuple[int, int]:
    """How many tries with this one, and the seconds until they are forgotten. Without Valkey each process counts for itself."""
    try:
        with valkey() as client:
            tries, left = client.eval(_COUNT, 1, key, WINDOW_SECONDS)
        return int(tries), max(1, int(left))
    except redis.RedisError as error:
        log.warning("tries to sign in are counted in this process only: Valkey does not answer (%s)", type(error).__name__)
        return _here.count(key)


class _Here:
    """Counts of this process, for as long as Valkey doesn't answer."""

    MOST = 10_000

    def __init__(self) -> None:
        self.lock, self.counts = threading.Lock(), dict[str, tuple[int, float]]()

    def count(self, key: str) -> tuple[int, int]:
        now = time.monotonic()
        with self.lock:
            if len(self.counts) >= self.MOST:
                self.counts = {one: kept for one, kept in self.counts.items() if kept[1] > now}
            tries, ends = self.counts.get(key, (0, 0.0))
            if ends <= now:
                tries, ends = 0, now + WINDOW_SECONDS
            self.counts[key] = (tries + 1, ends)
        return tries + 1, max(1, int(ends - now))

    def forgive(self, key: str) -> None:
        with self.lock:
            self.counts.pop(key, None)


_here = _Here()


class PasswordBackend(ModelBackend):
    """Django's, with a limit: beyond it a password isn't looked at, be it right or wrong, be there such a name or not."""

    def authenticate(self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **more: Any) -> Any:
        name = username if username is not None else more.get("username")
        if name is None or password is None:
            return None
        address = sender(request)
        try:
            count(str(name), address)
        except Wait as wait:
            if request is not None:
                request.sign_in_wait = wait.seconds  # type: ignore[attr-defined]
            log.warning("too many tries to sign in from %s", address)
            raise PermissionDenied from None
        person = super().authenticate(request, username=username, password=password, **more)
        if person is not None:
            forgive(str(name), address)
        return person

    async def aauthenticate(self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **more: Any) -> Any:
        """The same: Django's own asynchronous twin would know no limit."""
        return await sync_to_async(self.authenticate)(request, username, password, **more)


class _SaysHowLong:
    """A sign-in form that says how long to wait."""

    request: HttpRequest | None

    def get_invalid_login_error(self) -> ValidationError:
        seconds = getattr(self.request, "sign_in_wait", None)
        if seconds is None:
            return super().get_invalid_login_error()  # type: ignore[misc]
        return ValidationError(f"Too many tries. Wait {-(-seconds // 60)} min, or use a sign-in link.", code="wait")


class SignInForm(_SaysHowLong, AuthenticationForm):
    """Of the sign-in page."""


class AdminSignInForm(_SaysHowLong, AdminAuthenticationForm):
    """Of the admin's."""
