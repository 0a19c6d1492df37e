"""Signing in, the errors a person can meet, and what every page promises."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from memory.actions.sign_in_link import first_person, sign_in_link
from memory.models import Forest

pytestmark = pytest.mark.django_db
ADDRESS = "http://testserver"


@pytest.fixture
def signed_in(ines):
    client = Client()
    client.force_login(ines)
    return client


def test_a_stranger_is_asked_to_sign_in(client):
    response = client.get("/")
    assert (response.status_code, response["location"]) == (302, "/sign-in/?next=/")


def test_name_and_password_sign_in(client):
    User.objects.create_user("ines", password="a long wooden table")
    assert b"match an account" in client.post("/sign-in/", {"username": "ines", "password": "wrong"}).content
    response = client.post("/sign-in/", {"username": "ines", "password": "a long wooden table", "next": "/forests/3/"})
    assert (response.status_code, response["location"]) == (302, "/forests/3/")


def test_signing_in_never_leads_to_another_site(client):
    User.objects.create_user("ines", password="a long wooden table")
    response = client.post("/sign-in/", {"username": "ines", "password": "a long wooden table", "next": "https://elsewhere.example/"})
    assert response["location"] == "/"


def test_a_link_works_once_and_then_says_where_to_get_another(client, ines):
    link = sign_in_link(ADDRESS, ines).removeprefix(ADDRESS)
    response = client.get(link)
    assert (response.status_code, response["location"], response["cache-control"]) == (302, "/", "no-store")
    assert client.session["_auth_user_id"] == str(ines.pk)
    again = Client().get(link)
    assert again.status_code == 403
    assert b"manage.py sign_in_link" in again.content
    assert client.get(link)["location"] == "/", "who is signed in just goes on"


@pytest.mark.django_db(transaction=True)
def test_a_link_opened_many_times_at_once_signs_in_once(ines):
    link = sign_in_link(ADDRESS, ines).removeprefix(ADDRESS)
    start = Barrier(8)

    def opened(_: int) -> int:
        start.wait()
        try:
            return Client().get(link).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(opened, range(8))) == [302, *[403] * 7]


def test_looking_at_a_link_does_not_use_it_up(client, ines):
    link = sign_in_link(ADDRESS, ines).removeprefix(ADDRESS)
    assert Client().head(link).status_code == 405
    assert client.get(link).status_code == 302


def test_the_first_person_is_made_once_and_has_no_password(db):
    owner = first_person()
    assert (owner.username, owner.is_superuser, owner.has_usable_password()) == ("owner", True, False)
    assert first_person() == owner


def test_signing_out_needs_a_post(signed_in):
    assert signed_in.get("/sign-out/").status_code == 405
    assert signed_in.post("/sign-out/")["location"] == "/sign-in/"


def test_the_forest_of_someone_else_is_not_found(signed_in, omar):
    his = Forest.objects.create(owner=omar, name="Omar's", embedder="none", weights_hash="0")
    response = signed_in.get(f"/forests/{his.pk}/")
    assert response.status_code == 404
    assert b"Nothing grows here" in response.content


def test_a_form_without_its_token_is_refused_in_words():
    response = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "ines", "password": "x"})
    assert response.status_code == 403
    assert b"open too long" in response.content


@pytest.mark.parametrize("path", ["/sign-in/", "/sign-in/link/", "/nowhere", "/admin/login/"])
def test_no_page_has_anything_inline(client, path):
    response = client.get(path)
    policy = response["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    html = response.content.decode()
    assert not re.search(r"\sstyle=|<style|\son\w+=|javascript:", html)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))


def test_styles_are_served_by_us(client):
    response = client.get("/static/pages.css")
    assert response.status_code == 200
    assert b"prefers-color-scheme: dark" in b"".join(response.streaming_content)
