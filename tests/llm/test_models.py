"""The two models behind one interface: the offline engine, and an endpoint on a real server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from memory.engine import query
from memory.engine.forest import Context, Decision, Interaction, Pool
from memory.llm.endpoint import EndpointModel
from memory.llm.interface import IncompleteAnswerError, LanguageModel, ModelError, get_model
from memory.llm.offline import OfflineModel

NOW = datetime(2026, 11, 15, 8, 31, tzinfo=UTC)
NEW = Decision("new_root", None, None, 0.9, 0.5, 0.0, False, "", ())
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


async def pieces(model: LanguageModel, text: str = "I live in Porto.") -> list[str]:
    stream = model.stream_answer(MESSAGES, Context((), (), 0, 0), query.read(text, NOW), NEW, Pool((), (), (), (), ()), now=NOW, zone="UTC")
    return [piece async for piece in stream]


# --- Offline ---------------------------------------------------------------------------------------------------------------


async def test_offline_answers_at_once_when_no_pace_is_set(settings: Settings) -> None:
    settings.OFFLINE_WORDS_PER_SECOND = 0
    assert await pieces(OfflineModel()) == ["Noted: You live in Porto."]


async def test_offline_answers_word_by_word_at_a_pace(settings: Settings) -> None:
    settings.OFFLINE_WORDS_PER_SECOND = 10_000
    assert await pieces(OfflineModel()) == ["Noted: ", "You ", "live ", "in ", "Porto."]


def test_offline_is_what_there_is_without_an_endpoint(settings: Settings) -> None:
    settings.OPENAI_BASE_URL = ""
    assert get_model().name == "offline"
    assert get_model() is get_model()


def test_both_read_turns_by_the_same_rules() -> None:
    turn = Interaction(1, 1, None, 1, 1, 0, NOW, "I live in Porto.", "Noted.")
    offline, endpoint = OfflineModel(), EndpointModel("http://127.0.0.1:9/v1", "m", "")
    assert offline.extract(turn, [], zone="UTC", topic="") == endpoint.extract(turn, [], zone="UTC", topic="")
    assert offline.extractors == endpoint.extractors


# --- Endpoint --------------------------------------------------------------------------------------------------------------


class Server:
    """A scripted endpoint on loopback: `lines` is what the next answer streams, `status` what it answers with."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.status = 200
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                script.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                script.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.send_response(script.status)
                self.send_header("Content-Type", "text/event-stream" if script.status == 200 else "application/json")
                self.send_header("Connection", "close")
                self.end_headers()
                body = "".join(f"{line}\n\n" for line in script.lines) if script.status == 200 else '{"error": {"message": "no: sk-secret"}}'
                self.wfile.write(body.encode())

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def say(self, *deltas: dict[str, Any] | None, finish: str | None = "stop", done: bool = True) -> None:
        chunks = [chunk([{"index": 0, "delta": delta, "finish_reason": None}] if delta is not None else []) for delta in deltas]
        if finish is not None:
            chunks.append(chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
        self.lines = [*chunks, *(["data: [DONE]"] if done else [])]


def chunk(choices: list[dict[str, Any]]) -> str:
    return "data: " + json.dumps({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices})


@pytest.fixture
def server() -> Iterator[Server]:
    scripted = Server()
    thread = threading.Thread(target=scripted.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield scripted
    scripted.server.shutdown()
    scripted.server.server_close()
    thread.join()


def model(server: Server) -> EndpointModel:
    return EndpointModel(server.url, "llama", "sk-secret")


async def test_deltas_arrive_in_order_and_the_request_is_ours(server: Server) -> None:
    server.say({"role": "assistant", "content": "Hello"}, {"content": ", "}, {"content": "Ines"})
    assert await pieces(model(server)) == ["Hello", ", ", "Ines"]
    assert server.requests[0]["messages"] == MESSAGES
    assert (server.requests[0]["model"], server.requests[0]["stream"]) == ("llama", True)
    assert server.headers[0]["authorization"] == "Bearer sk-secret"


async def test_chunks_without_choices_or_content_are_survived(server: Server) -> None:
    server.say(None, {"role": "assistant", "content": None}, {"content": "Hi"}, {"content": ""}, None)
    server.lines.insert(0, ": keep-alive")
    assert await pieces(model(server)) == ["Hi"]


async def test_a_stream_that_ends_without_a_finish_is_incomplete(server: Server) -> None:
    server.say({"content": "Hel"}, finish=None, done=False)
    with pytest.raises(IncompleteAnswerError) as raised:
        await pieces(model(server))
    assert raised.value.code == "answer_incomplete"


async def test_an_error_inside_the_stream_is_incomplete_after_the_first_word_and_a_failure_before(server: Server) -> None:
    server.say({"content": "Hel"}, finish=None, done=False)
    server.lines.append('data: {"error": {"message": "out of memory", "type": "server_error"}}')
    with pytest.raises(IncompleteAnswerError):
        await pieces(model(server))
    server.lines = server.lines[-1:]
    with pytest.raises(ModelError) as raised:
        await pieces(model(server))
    assert raised.value.code == "model_failed"


async def test_a_line_that_is_no_json_is_an_error(server: Server) -> None:
    server.lines = ["data: {nonsense"]
    with pytest.raises(ModelError):
        await pieces(model(server))


async def test_an_answer_without_a_word_is_an_error(server: Server) -> None:
    server.say({"role": "assistant", "content": ""})
    with pytest.raises(ModelError) as raised:
        await pieces(model(server))
    assert raised.value.code == "empty_answer"


@pytest.mark.parametrize(("status", "code"), [(401, "model_key"), (404, "model_unknown"), (429, "model_busy"), (500, "model_refused"), (400, "model_refused")])
async def test_refusals_have_a_code_and_what_to_do_and_never_the_key(server: Server, status: int, code: str) -> None:
    server.status = status
    with pytest.raises(ModelError) as raised:
        await pieces(model(server))
    error = raised.value
    assert error.code == code and error.action
    assert "sk-secret" not in f"{error} {error!r} {error.message} {error.action} {error.__cause__!r}"


async def test_nobody_there_is_said() -> None:
    with pytest.raises(ModelError) as raised:
        await pieces(EndpointModel("http://127.0.0.1:9/v1", "m", ""))
    assert raised.value.code == "model_unreachable"


async def test_the_endpoint_is_used_when_one_is_set(settings: Settings, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OPENAI_BASE_URL = server.url
    monkeypatch.setenv("OPENAI_MODEL", "llama")
    assert get_model().name == "llama"
