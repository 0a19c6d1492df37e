"""`GET /healthz` when parts are missing; test_up.py has it with all of them there."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from arborweb import health
from memory.llm import connection
from memory.llm.connection import Connection

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(health, "_model_asked", (float("-inf"), "", False))


@pytest.fixture
def endpoint():
    """A model server that knows nobody."""

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(401)
            self.end_headers()

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def test_without_a_worker_the_site_is_up_but_not_all_of_it(client):
    health.forget_heartbeat()
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (
        200,
        {"status": "degraded", "parts": {"database": "up", "redis": "up", "worker": "down", "model": "offline"}},
    )
    assert client.get("/healthz?all=1").status_code == 503
    assert "no-store" in response["cache-control"]


def test_with_a_worker_all_of_it_is(client, worker):
    assert client.get("/healthz?all=1").status_code == 200


def test_without_valkey_it_still_answers(client, settings):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    response = client.get("/healthz")
    assert (response.status_code, response.json()["parts"]["redis"]) == (200, "down")


def test_a_model_that_answers_is_up_even_when_it_knows_no_key(client, settings, endpoint):
    settings.OPENAI_BASE_URL = endpoint
    assert client.get("/healthz").json()["parts"]["model"] == "up"


def test_a_model_connected_in_the_page_is_asked_as_well(client, settings, endpoint, tmp_path):
    settings.CONNECTION_FILE = tmp_path / "connection.json"
    connection.keep(Connection(f"http://127.0.0.1:{free_port()}/v1"))
    assert client.get("/healthz").json()["parts"]["model"] == "down"
    connection.keep(Connection(endpoint))
    assert client.get("/healthz").json()["parts"]["model"] == "up"
    connection.forget()
    assert client.get("/healthz").json()["parts"]["model"] == "offline"


def test_a_model_that_does_not_answer_is_down(client, settings):
    settings.OPENAI_BASE_URL = f"http://127.0.0.1:{free_port()}/v1"
    assert client.get("/healthz").json()["parts"]["model"] == "down"
    assert client.get("/healthz?all=1").status_code == 503
