"""Results in the browser: one page, served to this machine only.

The server answers on the loopback address at a port the system chooses, knows one page and
nothing else, and takes no data. The address holds a token, so that neither other users of the
machine nor pages of the internet find it; the browser is instructed to load nothing from elsewhere
and to show the page in no frame.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from swelltree.describe.errors import SwelltreeError
from swelltree.report.report import page

if TYPE_CHECKING:
    from swelltree.report.report import Results

HOST = "127.0.0.1"
# beside the rule in the head of the page, which says what may run in it
GUARDS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


MAX_CONNECTIONS = 32  # at the same time; the one that took longest gives way to another
PATIENCE = 10.0  # s that a browser may take to ask, and to take what it is given


Request = socket.socket | tuple[bytes, socket.socket]


class Bounded(ThreadingHTTPServer):
    """A server with a maximum number of connections."""

    daemon_threads = True

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], most: int
    ) -> None:
        super().__init__(address, handler)
        self._most = most
        self._open: dict[socket.socket, None] = {}  # in the order in which they came
        self._lock = threading.Lock()

    def process_request(self, request: Request, client_address: object) -> None:
        assert isinstance(request, socket.socket)  # pairs are of datagrams
        with self._lock:
            self._open[request] = None
            oldest = next(iter(self._open)) if len(self._open) > self._most else None
        if oldest is not None:
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)  # its thread ends
            with self._lock:
                self._open.pop(oldest, None)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Request) -> None:
        assert isinstance(request, socket.socket)
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore broken connections."""


class Served:
    """A served page; `close()` ends it."""

    def __init__(self, server: ThreadingHTTPServer, path: str) -> None:
        self._server = server
        self.url = f"http://{HOST}:{server.server_port}{path}"
        self._thread = threading.Thread(target=server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Serve until the keyboard interrupts."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<page at {self.url}>"


def view(results: Results, *, note: str = "", browser: bool = True, port: int = 0) -> Served:
    """Show results in the browser.

    Args:
        results: as for `write_report`.
        note: a line or two of text under the heading.
        browser: open it; otherwise only serve.
        port: on the loopback address; 0: any that is free.
    """
    served = serve(page(results, note=note), port)
    if browser:
        import webbrowser

        webbrowser.open(served.url)
    return served


def serve(text: str, port: int = 0) -> Served:
    """Serve one page on the loopback address.

    Args:
        text: the page.
        port: 0: any that is free.
    """
    content, path = text.encode(), f"/{secrets.token_urlsafe(24)}/"

    class Handler(BaseHTTPRequestHandler):
        """Handles GET and HEAD requests of the page."""

        server_version = "swelltree"
        sys_version = ""
        timeout = PATIENCE

        def do_GET(self) -> None:
            if self._start():
                self.wfile.write(content)

        def do_HEAD(self) -> None:
            self._start()

        def _start(self) -> bool:
            # a page of the internet that points its name here is turned away
            port = served_port
            names = self.headers.get_all("Host", [])
            if len(names) != 1 or names[0] not in (f"{HOST}:{port}", f"localhost:{port}"):
                self.send_error(403)
                return False
            # as long in coming for a token that is nearly right
            if not secrets.compare_digest(self.path.encode(), path.encode()):
                self.send_error(404)
                return False
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            return True

        def end_headers(self) -> None:
            for name, value in GUARDS.items():
                self.send_header(name, value)
            super().end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        server = Bounded((HOST, port), Handler, MAX_CONNECTIONS)
    except (OSError, OverflowError) as error:
        raise port_refused(port, error) from None
    served_port = server.server_port
    return Served(server, path)


def port_refused(port: int, error: Exception) -> SwelltreeError:
    """Error for a port that is in use, privileged or invalid."""
    why = getattr(error, "strerror", None) or error
    return SwelltreeError(
        f"port {port} cannot be used: {why}. Give another, or 0 for any that is free."
    )
