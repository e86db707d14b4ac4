"""The server of a live view: one page and one socket, for this machine only.

It answers on the loopback address; the address holds a token. The names under which a browser
reached it, and the page that opened the socket, are checked, so that neither other users of the
machine nor pages of the internet can watch or control the run. A page that is lost, closed or slow
does not stop the run, and it reconnects automatically.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import tornado.httpserver
import tornado.iostream
import tornado.netutil
import tornado.web
import tornado.websocket

from swelltree.describe.values import NamedValues
from swelltree.report.live.page import script_rule
from swelltree.report.live.running import merged
from swelltree.report.serve import GUARDS, HOST, port_refused

# pages that may show the view in a frame: notebooks of this machine, which are given the token
NOTEBOOKS = "http://localhost:* http://127.0.0.1:*"
MAX_MESSAGE_BYTES = 16_384  # bytes of a message from a page; a longer one ends its connection
MAX_RATE = 200.0  # messages of a page in a second; more are ignored
MAX_PAGES = 32  # that look on at the same time
MAX_CONNECTIONS = 64
PATIENCE = 10.0  # s that a browser may take to ask


@runtime_checkable
class Page(Protocol):
    """Interface of a connected page."""

    def send(self, message: NamedValues) -> None: ...

    def close(self) -> None: ...


class Server:
    """Page, socket and recording, served in a separate thread.

    Args:
        text: the page.
        ask: is given what pages send.
        port: on the loopback address; 0: any that is free.
        recording: returns the page that replays the run, for download.
    """

    def __init__(
        self,
        text: str,
        ask: Callable[[object], None],
        port: int = 0,
        recording: Callable[[], str] = str,
    ) -> None:
        self._pages: set[Page] = set()
        self._path = f"/{secrets.token_urlsafe(24)}/"
        try:
            (self._socket,) = tornado.netutil.bind_sockets(port, HOST)
        except (OSError, OverflowError) as error:
            raise port_refused(port, error) from None
        self.port = self._socket.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}{self._path}"
        self._last: NamedValues = {}
        self._app = _application(self, text, ask, recording)
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()

    @property
    def hosts(self) -> tuple[str, ...]:
        return f"{HOST}:{self.port}", f"localhost:{self.port}"

    @property
    def path(self) -> str:
        return self._path

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._server = Bounded(
            self._app,
            idle_connection_timeout=PATIENCE,
            body_timeout=PATIENCE,
            max_header_size=MAX_MESSAGE_BYTES,
            max_body_size=MAX_MESSAGE_BYTES,
        )
        self._server.add_socket(self._socket)
        self._loop.call_soon(ready.set)
        self._loop.run_forever()

    def notify(self, message: NamedValues) -> None:
        """Send a message to all pages; thread-safe."""
        self._loop.call_soon_threadsafe(self._send, message)

    def _send(self, message: NamedValues) -> None:
        self._last = merged(self._last, message)  # for pages that come later
        for page in list(self._pages):
            page.send(message)

    def joined(self, page: Page) -> None:
        """Register a page and send it the latest messages."""
        self._pages.add(page)
        if self._last:
            page.send(self._last | {"anew": True})

    def left(self, page: Page) -> None:
        self._pages.discard(page)

    @property
    def watched(self) -> int:
        return len(self._pages)

    def close(self) -> None:

        async def end() -> None:
            self._server.stop()
            for page in list(self._pages):
                page.close()
            await self._server.close_all_connections()
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(end(), self._loop)
        self._thread.join()
        self._loop.close()


class Bounded(tornado.httpserver.HTTPServer):
    """A server with a maximum number of connections."""

    def handle_stream(self, stream: tornado.iostream.IOStream, address: tuple) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            stream.close()
            return
        super().handle_stream(stream, address)


class Allowance:
    """Rate limit of messages from a page."""

    def __init__(self, rate: float = MAX_RATE) -> None:
        self._rate, self._left, self._at = rate, rate, time.monotonic()

    def take(self) -> bool:
        """Whether another message is allowed."""
        now = time.monotonic()
        self._left = min(self._rate, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


def _application(
    server: Server, text: str, ask: Callable[[object], None], recording: Callable[[], str]
) -> tornado.web.Application:
    content = text.encode()
    sockets = " ".join(f"ws://{host}" for host in server.hosts)
    rule = (
        f"default-src 'none'; script-src {script_rule()}; style-src 'unsafe-inline'; "
        f"img-src data: blob:; connect-src {sockets}; frame-ancestors {NOTEBOOKS}; "
        "base-uri 'none'; form-action 'none'"
    )
    guards = GUARDS | {"Content-Security-Policy": rule, "Cache-Control": "no-store"}
    del guards["X-Frame-Options"]  # it knows no pages of another port

    def refuse_strangers(handler: tornado.web.RequestHandler) -> None:
        # a page of the internet that points its name here is turned away
        names = handler.request.headers.get_list("Host")
        if len(names) != 1 or names[0] not in server.hosts:
            raise tornado.web.HTTPError(403)

    class Guarded(tornado.web.RequestHandler):
        """404 response with all security headers."""

        file = ""  # of the address, after the token

        def set_default_headers(self) -> None:
            self.set_header("Server", "swelltree")
            for name, value in guards.items():
                self.set_header(name, value)

        def prepare(self) -> None:
            refuse_strangers(self)
            # as long in coming for a token that is nearly right
            requested = f"{server.path}{self.file}"
            if not secrets.compare_digest(self.request.path.encode(), requested.encode()):
                raise tornado.web.HTTPError(404)

        def write_error(self, status_code: int, **_: object) -> None:
            self.finish(f"{status_code}\n")

    class Page(Guarded):
        def get(self) -> None:
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.finish(content)

        head = get

    class Download(Guarded):
        """The recording as a file."""

        file = "recording"

        def get(self) -> None:
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.set_header("Content-Disposition", 'attachment; filename="recording.html"')
            self.finish(recording())

    class Socket(tornado.websocket.WebSocketHandler):
        """Sends frames and receives requests."""

        def prepare(self) -> None:
            refuse_strangers(self)
            requested = f"{server.path}socket"
            if not secrets.compare_digest(self.request.path.encode(), requested.encode()):
                raise tornado.web.HTTPError(404)
            if server.watched >= MAX_PAGES:
                raise tornado.web.HTTPError(503)

        def check_origin(self, origin: str) -> bool:
            return origin in tuple(f"http://{host}" for host in server.hosts)

        def initialize(self) -> None:
            self.waiting: NamedValues = {}
            self.busy = False
            self.allowance = Allowance()

        def open(self, *_: str, **__: str) -> None:
            self.set_nodelay(True)
            server.joined(self)

        def on_message(self, message: str | bytes) -> None:
            if not self.allowance.take():
                return
            try:
                ask(json.loads(message))
            except (ValueError, RecursionError):
                ask(None)  # reported as a bad message

        def on_close(self) -> None:
            server.left(self)

        def send(self, message: NamedValues) -> None:
            """Send a message; messages during a transfer are merged."""
            self.waiting = merged(self.waiting, message) if self.waiting else message
            if not self.busy:
                self.delivery = asyncio.ensure_future(self.deliver())

        async def deliver(self) -> None:
            """Send what waits, until nothing does."""
            self.busy = True
            try:
                while self.waiting:
                    text, self.waiting = json.dumps(self.waiting, allow_nan=False), {}
                    await self.write_message(text)
            except (tornado.websocket.WebSocketClosedError, tornado.iostream.StreamClosedError):
                server.left(self)
            finally:
                self.busy = False

    return tornado.web.Application(
        [(r"/[\w-]+/", Page), (r"/[\w-]+/recording", Download), (r"/[\w-]+/socket", Socket)],
        default_handler_class=Guarded,
        websocket_max_message_size=MAX_MESSAGE_BYTES,
        websocket_ping_interval=20,
        log_function=lambda handler: None,
    )
