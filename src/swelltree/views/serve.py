"""Results in the browser: one page, served to this machine only.

The server answers on the loopback address at a port the system chooses, knows one page and
nothing else, and takes no data.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from swelltree.views.report import page

HOST = "127.0.0.1"


class Served:
    """A page that is being served; `close()` ends it."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self._server = server
        self.url = f"http://{HOST}:{server.server_port}/"
        self._thread = threading.Thread(target=server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Serve until the keyboard says stop."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<page at {self.url}>"


def view(results: Any, *, note: str = "", browser: bool = True) -> Served:
    """Show results in the browser.

    Args:
        results: as for `write_report`.
        note: a sentence or two under the heading.
        browser: open it; otherwise only serve.
    """
    served = serve(page(results, note=note))
    if browser:
        import webbrowser

        webbrowser.open(served.url)
    return served


def serve(text: str) -> Served:
    """Serve one page on the loopback address."""
    content = text.encode()

    class Handler(BaseHTTPRequestHandler):
        """Answers GET and HEAD of the page."""

        server_version = "swelltree"
        sys_version = ""

        def do_GET(self) -> None:
            if self._start():
                self.wfile.write(content)

        def do_HEAD(self) -> None:
            self._start()

        def _start(self) -> bool:
            # a page of the internet that points its name here is turned away
            port = served_port
            if self.headers.get("Host", "") not in (f"{HOST}:{port}", f"localhost:{port}"):
                self.send_error(403)
                return False
            if self.path != "/":
                self.send_error(404)
                return False
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            return True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer((HOST, 0), Handler)
    served_port = server.server_port
    return Served(server)
