"""A model server on loopback that does what real ones were seen to do: a queue of scripted answers over real HTTP.

Each answer is the head and the pieces of one response; a piece that is a number is a pause in seconds. Named scripts below build them.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-7391"


@dataclass
class Answer:
    """One response; `cut`: the connection breaks after the last piece, in the middle of the transfer."""

    pieces: Sequence[str | float] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    cut: bool = False


@dataclass
class Request:
    path: str
    body: dict[str, Any]
    headers: dict[str, str]


Scripted = Answer | Callable[[dict[str, Any]], Answer]


class Hostile:
    """`script` what comes next, look at `requests` afterwards (`lists`: those for the list of models). `always` is given when nothing is scripted."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.lists: list[Request] = []
        self.queue: list[Scripted] = []
        self.always: Scripted | None = None
        self.models: Answer = Answer(['{"error": {"message": "no such page"}}'], status=404)
        self._lock = threading.Lock()
        hostile = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hostile.lists.append(Request(self.path, {}, {name.lower(): value for name, value in self.headers.items()}))
                hostile._reply(self, hostile.models)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with hostile._lock:
                    hostile.requests.append(Request(self.path, body, {name.lower(): value for name, value in self.headers.items()}))
                    scripted = hostile.queue.pop(0) if hostile.queue else hostile.always
                if scripted is None:
                    scripted = failure(500, "nothing is scripted")
                hostile._reply(self, scripted if isinstance(scripted, Answer) else scripted(body))

            def log_message(self, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args: object) -> None:
                pass  # a client that gave up

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def script(self, *answers: Scripted) -> None:
        self.queue.extend(answers)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    def _reply(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_response(answer.status)
        handler.send_header("Content-Type", answer.content_type)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Connection", "close")
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        for piece in answer.pieces:
            if isinstance(piece, (int, float)):
                time.sleep(piece)
                continue
            raw = piece.encode()
            handler.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            handler.wfile.flush()
        if not answer.cut:
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = True


@contextmanager
def hostile_server() -> Iterator[Hostile]:
    hostile = Hostile()
    thread = threading.Thread(target=hostile.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hostile
    finally:
        hostile.server.shutdown()
        hostile.server.server_close()
        thread.join()


# --- Streams --------------------------------------------------------------------------------------------------------------


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> str:
    """One line of a stream; `delta` None: a chunk with empty `choices`."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return "data: " + json.dumps({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}) + "\n\n"


DONE = "data: [DONE]\n\n"


def usage(prompt: int, completion: int, **details: int) -> dict[str, Any]:
    told: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {**told, "completion_tokens_details": details} if details else told


def stream(*pieces: str | float, cut: bool = False) -> Answer:
    return Answer(pieces, content_type="text/event-stream", cut=cut)


def said(*texts: str, finish: str = "stop", told: dict[str, Any] | None = None) -> Answer:
    """A well-behaved stream."""
    last = [chunk(None, usage=told)] if told else []
    return stream(*[chunk({"content": text}) for text in texts], chunk({}, finish), *last, DONE)


def empty_choices() -> Answer:
    return stream(chunk(None), chunk({"content": "Hi"}), chunk(None), chunk({}, "stop"), DONE)


def null_choices() -> Answer:
    return stream('data: {"id": "1", "object": "chat.completion.chunk", "choices": null}\n\n', chunk({"content": "Hi"}), chunk({}, "stop"), DONE)


def null_content() -> Answer:
    return stream(chunk({"role": "assistant", "content": None}), chunk({"content": "Hi"}), chunk({"content": ""}), chunk({"content": None}, "stop"), DONE)


def usage_only() -> Answer:
    """Usage in chunks without `choices`, as it goes and at the end."""
    return stream(chunk(None, usage=usage(9, 0)), chunk({"content": "Hi"}), chunk({}, "stop"), chunk(None, usage=usage(9, 1)), DONE)


def keep_alives() -> Answer:
    return stream(": keep-alive\n\n", ": OPENROUTER PROCESSING\n\n", chunk({"content": "H"}), ":\n\n", chunk({"content": "i"}), chunk({}, "stop"), DONE)


def empty_finish() -> Answer:
    """`finish_reason: ""` in every chunk: not an end."""
    return stream(chunk({"content": "H"}, ""), chunk({"content": "i"}, ""), chunk({}, "stop"), DONE)


def only_empty_finishes() -> Answer:
    return stream(chunk({"content": "Half an ans"}, ""), chunk({}, ""))


def error_inside(*before: str) -> Answer:
    lines = [chunk({"content": text}) for text in before]
    return stream(*lines, 'data: {"error": {"message": "out of memory for sk-secret-7391", "type": "server_error", "code": 500}}\n\n')


def cut_stream(*before: str) -> Answer:
    """The connection breaks."""
    return stream(*[chunk({"content": text}) for text in before], cut=True)


def ended_early(*before: str) -> Answer:
    """The stream ends in good order, without a finish."""
    return stream(*[chunk({"content": text}) for text in before])


def no_json() -> Answer:
    return stream("data: {nonsense\n\n")


def thinking_split() -> Answer:
    """`<think>` and its end split over chunks."""
    return said("<th", "ink>", "The canary is zyzzyva", ", hmm</th", "ink", ">\n\nIt is ", "blue <b.")


def reasoning_field(name: str) -> Answer:
    return stream(chunk({name: "zyzzyva, "}), chunk({name: "hmm", "content": None}), chunk({"content": "Blue"}), chunk({}, "stop"), DONE)


def only_reasoning(name: str = "reasoning_content") -> Answer:
    return stream(chunk({name: "zyzzyva"}), chunk({"content": ""}), chunk({}, "stop"), DONE)


# --- Whole answers ----------------------------------------------------------------------------------------------------------


def whole(content: str | None, finish: str = "stop", told: dict[str, Any] | None = None, **message: Any) -> Answer:
    """A completion that isn't streamed."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    body: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Answer([json.dumps({**body, "usage": told} if told else body)])


def failure(status: int, message: str = f"no, says {KEY}", headers: dict[str, str] | None = None, **error: Any) -> Answer:
    """An error as servers tell it; by default its message quotes the key."""
    return Answer([json.dumps({"error": {"message": message, **error}})], status=status, headers=headers or {})


def refusing(parameter: str, then: Answer, status: int = 400, words: str = "Unsupported parameter: '{}' is not supported with this model.") -> Scripted:
    """Refuses requests with a parameter, answers others."""
    return lambda body: failure(status, words.format(parameter)) if parameter in body else then


def silence(seconds: float) -> Answer:
    """Says nothing for a while."""
    return Answer([float(seconds), "{}"])
