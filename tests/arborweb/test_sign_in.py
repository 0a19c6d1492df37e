"""Passwords are tried a few at a time; who has the machine gets in by a link."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client, RequestFactory
from redis import Redis

from arborweb import sign_in
from arborweb.sign_in import ADDRESS, NAME, PAIR
from memory.actions.sign_in_link import sign_in_link

pytestmark = pytest.mark.django_db
PASSWORD = "a long wooden table"


@pytest.fixture(autouse=True)
def forgotten(settings):
    """Every test begins with nothing counted."""

    address = settings.REDIS_URL  # a test may set another

    def forget():
        with Redis.from_url(address) as valkey:
            for key in valkey.scan_iter(match=f"{settings.REDIS_PREFIX}:sign-in:*"):
                valkey.delete(key)
        sign_in._here.counts.clear()

    forget()
    yield
    forget()


@pytest.fixture
def known(db):
    return User.objects.create_user("known", password=PASSWORD)


def tried(name, password, address="192.0.2.1", path="/sign-in/"):
    return Client(REMOTE_ADDR=address).post(path, {"username": name, "password": password})


def test_after_five_wrong_passwords_even_the_right_one_waits(known):
    assert [tried("known", "wrong").status_code for _ in range(PAIR.tries)] == [200] * PAIR.tries
    refused = tried("known", PASSWORD)
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= sign_in.WINDOW_SECONDS
    assert "Too many tries" in refused.content.decode() and "sessionid" not in refused.cookies
    assert "match an account" not in refused.content.decode()


@pytest.mark.parametrize("path", ["/sign-in/", "/admin/login/"])
def test_both_doors_count_together(django_user_model, path):
    django_user_model.objects.create_superuser("root", password=PASSWORD)
    for _ in range(PAIR.tries):
        tried("root", "wrong")
    answer = tried("root", PASSWORD, path=path)
    assert "Too many tries" in answer.content.decode() and "sessionid" not in answer.cookies


def test_a_name_that_does_not_exist_is_refused_alike(known):
    for _ in range(PAIR.tries):
        tried("nobody", "wrong")
    assert tried("nobody", "wrong").status_code == 429


def test_the_right_password_begins_anew(known):
    for _ in range(3):
        assert [tried("known", "wrong").status_code for _ in range(PAIR.tries - 1)] == [200] * (PAIR.tries - 1)
        assert tried("known", PASSWORD).status_code == 302


def test_somebody_elsewhere_is_not_kept_out_by_it(known):
    for _ in range(PAIR.tries + 1):
        tried("known", "wrong", "192.0.2.66")
    assert tried("known", PASSWORD, "192.0.2.1").status_code == 302


def test_one_machine_does_not_go_through_many_names(known):
    answers = [tried(f"name{number}", "password1").status_code for number in range(ADDRESS.tries + 1)]
    assert answers == [200] * ADDRESS.tries + [429]
    assert tried("known", PASSWORD).status_code == 429
    assert tried("known", PASSWORD, "192.0.2.2").status_code == 302


def test_many_machines_do_not_go_through_one_name(known):
    answers = [tried("Known" if number % 2 else " known", "wrong", f"198.51.100.{number}").status_code for number in range(NAME.tries + 1)]
    assert answers == [200] * NAME.tries + [429]


def test_one_machine_does_not_keep_a_name_out_everywhere(known):
    for _ in range(NAME.tries + ADDRESS.tries):
        tried("known", "wrong")
    assert tried("known", PASSWORD, "203.0.113.9").status_code == 302


def test_the_addresses_of_one_network_count_as_one(known):
    for number in range(PAIR.tries):
        tried("known", "wrong", f"2001:db8::{number + 1:x}")
    assert tried("known", "wrong", "2001:db8::ffff").status_code == 429
    assert tried("known", "wrong", "2001:db8:0:1::1").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_tries_side_by_side_are_all_counted():
    start = Barrier(12)

    def one(_):
        start.wait()
        try:
            return tried("nobody", "wrong").status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(12) as threads:
        assert sorted(threads.map(one, range(12))) == [200] * PAIR.tries + [429] * (12 - PAIR.tries)


def test_a_link_gets_in_whatever_was_tried(known):
    for _ in range(ADDRESS.tries + 1):
        tried("known", "wrong", "127.0.0.1")
    assert tried("known", PASSWORD, "127.0.0.1").status_code == 429
    link = sign_in_link("http://testserver", known).removeprefix("http://testserver")
    assert Client(REMOTE_ADDR="127.0.0.1").get(link).status_code == 302


def test_without_valkey_the_process_counts_for_itself(known, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert tried("known", PASSWORD).status_code == 302
    for _ in range(PAIR.tries):
        tried("known", "wrong")
    assert tried("known", PASSWORD).status_code == 429


def test_no_name_that_was_typed_is_kept(known, settings):
    tried("my secret typed into the wrong field", "wrong")
    with Redis.from_url(settings.REDIS_URL) as valkey:
        found = list(valkey.scan_iter(match=f"{settings.REDIS_PREFIX}:sign-in:*"))
        assert len(found) == 3 and not any(b"secret" in key for key in found)
        assert all(0 < valkey.ttl(key) <= sign_in.WINDOW_SECONDS for key in found)


def test_a_success_after_the_window_leaves_nothing_that_lasts(known, settings):
    with Redis.from_url(settings.REDIS_URL) as valkey:
        sign_in.forgive("known", "192.0.2.1")
        assert not list(valkey.scan_iter(match=f"{settings.REDIS_PREFIX}:sign-in:*"))


def test_the_asynchronous_way_is_limited_too(known):
    from asgiref.sync import async_to_sync
    from django.contrib.auth import aauthenticate

    request = RequestFactory(REMOTE_ADDR="192.0.2.9").post("/")
    for _ in range(PAIR.tries):
        assert authenticate(request, username="known", password="wrong") is None
    assert async_to_sync(aauthenticate)(request, username="known", password=PASSWORD) is None
