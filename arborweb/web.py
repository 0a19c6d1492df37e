"""One web process: `python -m arborweb.web [--fd N]`, on a socket its parent bound, or on HOST and PORT.

uvicorn's own --fd takes every socket for a UNIX one, and then leaves Nagle's algorithm on, which holds back small deltas; hence this start.
There is no access log: sign-in links are addresses, and keys never reach a log.
"""

import argparse
import gc
import os
import socket
import sys

import uvicorn

from arborweb import gate
from memory.engine import wording

DRAIN_SECONDS = 10
LARGEST_FRAME = 64 * 1024


def main(arguments: list[str]) -> None:
    """Serve until SIGTERM, then stop accepting, let requests end, drain running answers (the lifespan's end), and return."""
    parser = argparse.ArgumentParser(prog="python -m arborweb.web", description=__doc__)
    parser.add_argument("--fd", type=int, help="a listening socket inherited from the parent")
    inherited = parser.parse_args(arguments).fd
    config = uvicorn.Config(
        "arborweb.asgi:application",
        host=os.environ.get("HOST") or "127.0.0.1",
        port=int(os.environ.get("PORT") or 8000),
        ws="websockets",
        ws_max_size=LARGEST_FRAME,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    config.load()
    settle()
    gate.wait()
    server = uvicorn.Server(config)
    server.run(sockets=None if inherited is None else [socket.socket(fileno=inherited)])
    if not server.started:
        sys.exit(3)


def settle() -> None:
    """Read what every turn needs, and take all that stays out of the garbage collector's sight.

    Otherwise it walks through a third of a million objects now and then, and the turn that it falls on waits a sixth of a second for it. A turn makes some
    ten thousand, nearly all of which are gone when it ends: to look through the young ones more often finds nothing."""
    wording.languages()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


if __name__ == "__main__":
    main(sys.argv[1:])
