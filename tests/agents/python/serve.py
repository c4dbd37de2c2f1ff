"""Serves an app on loopback and says when its port is open."""

import contextlib
import socket

import uvicorn


def main(argv, app):
    port = int(argv[1])
    base = argv[2] if len(argv) > 2 else ""
    listener = socket.create_server(("127.0.0.1", port))
    port = listener.getsockname()[1]
    print(f"ready {port}", flush=True)
    config = uvicorn.Config(app(f"http://127.0.0.1:{port}{base}/", base), log_level="warning")
    # Ctrl-C ends it without a word.
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
