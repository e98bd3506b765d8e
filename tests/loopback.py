"""A web server on the loopback interface that can be told to misbehave."""

from __future__ import annotations

import io
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Behaviour = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range")))
        with suppress(BrokenPipeError, ConnectionResetError):  # the client goes away, as some tests want
            self.server.behaviours[self.path](self)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def start(self) -> int:
        """The first byte asked for."""
        return int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    def head(self, status: int, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours: dict[str, Behaviour] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.released = threading.Event()  # lets a body that hangs go on

    def at(self, path: str, behaviour: Behaviour) -> str:
        """Answer a path in a certain way, and return its address."""
        self.behaviours[path] = behaviour
        return f"http://127.0.0.1:{self.server_port}{path}"


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join()


def whole(content: bytes, **headers: str) -> Behaviour:
    """All of it, whatever part is asked for."""

    def answer(handler: Handler) -> None:
        handler.head(200, len(content), **headers)
        handler.wfile.write(content)

    return answer


def ranges(content: bytes, most: int | None = None, pause: float = 0.0, hang: bool = False) -> Behaviour:
    """The part asked for; the connection closes, or hangs, after `most` bytes."""

    def answer(handler: Handler) -> None:
        start = handler.start()
        body = content[start:]
        if start >= len(content):
            return handler.head(416, 0)
        if start:
            span = f"bytes {start}-{len(content) - 1}/{len(content)}"
            handler.head(206, len(body), Content_Range=span)
        else:
            handler.head(200, len(body))
        for offset in range(0, len(body[:most]), 1000):
            handler.wfile.write(body[:most][offset : offset + 1000])
            time.sleep(pause)
        if hang:
            handler.server.released.wait(30)

    return answer


def status(code: int, **headers: str) -> Behaviour:
    """Nothing but a status."""
    return lambda handler: handler.head(code, 0, **headers)


def tarball(files: dict[str, bytes]) -> bytes:
    """Files packed for being served."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
