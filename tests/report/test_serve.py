"""The server: one page, this machine only."""

import contextlib
import http.client
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from swelltree.describe.errors import SwelltreeError
from swelltree.report.serve import serve


@pytest.fixture
def served():
    page = serve("<p>hello</p>")
    yield page
    page.close()


def ask(served, method="GET", path=None, **headers):
    answer = response(served, method, path, **headers)
    return answer.status, answer.read().decode()


def response(served, method="GET", path=None, **headers):
    place = urlsplit(served.url)
    path = place.path if path is None else path
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for key, value in headers.items():
        connection.putheader(key, value)
    connection.endheaders()
    return connection.getresponse()


def test_the_page_is_served_on_the_loopback_address(served):
    assert served.url.startswith("http://127.0.0.1:")
    assert ask(served) == (200, "<p>hello</p>")
    assert ask(served, "HEAD") == (200, "")


def test_there_is_nothing_else(served):
    own = urlsplit(served.url).path
    near = (own[:-1], own[:-2] + "/", own + "x", own + "?list", own.swapcase())
    for path in ("/", "/x", "/..", "/../../etc/passwd", "/?list", "/index.html", *near):
        assert ask(served, path=path)[0] == 404
    for method in ("POST", "PUT", "DELETE"):
        assert ask(served, method)[0] == 501


def test_other_names_for_this_machine_are_turned_away(served):
    assert ask(served, Host="evil.example")[0] == 403


def test_ports_differ_from_page_to_page(served):
    other = serve("x")
    assert other.url != served.url
    other.close()
    assert len({urlsplit(page.url).path for page in (other, served)}) == 2
    assert len(urlsplit(served.url).path) > 30


@pytest.mark.parametrize("path", [None, "/"])
def test_the_browser_is_told_to_load_nothing_and_to_show_no_frame(served, path):
    heads = response(served, path=path).headers
    rule = heads["Content-Security-Policy"]
    assert "default-src 'none'" in rule
    assert "frame-ancestors 'none'" in rule
    assert heads["X-Frame-Options"] == "DENY"
    assert heads["Referrer-Policy"] == "no-referrer"
    assert heads["X-Content-Type-Options"] == "nosniff"


def test_the_port_can_be_chosen(served):
    taken = urlsplit(served.url).port
    for port in (taken, 70_000):
        with pytest.raises(SwelltreeError, match=f"port {port} cannot be used"):
            serve("<p>again</p>", port)
    other = serve("<p>other</p>")
    free = urlsplit(other.url).port
    other.close()
    again = serve("<p>again</p>", free)
    try:
        assert urlsplit(again.url).port == free
        assert ask(again) == (200, "<p>again</p>")
    finally:
        again.close()


def raw(served, text, most=4000):
    with socket.create_connection(("127.0.0.1", urlsplit(served.url).port), timeout=60) as wire:
        wire.sendall(text.encode())
        return wire.recv(most)


def test_two_names_of_one_machine_are_one_too_many(served):
    place = urlsplit(served.url)
    host = f"Host: 127.0.0.1:{place.port}\r\n"
    assert raw(served, f"GET {place.path} HTTP/1.1\r\n{host}\r\n").split()[1] == b"200"
    assert raw(served, f"GET {place.path} HTTP/1.1\r\n{host}{host}\r\n").split()[1] == b"403"
    assert raw(served, f"GET {place.path} HTTP/1.0\r\n\r\n").split()[1] == b"403"


def test_connections_that_say_nothing_give_way(monkeypatch):
    monkeypatch.setattr("swelltree.report.serve.MAX_CONNECTIONS", 4)
    page = serve("<p>hello</p>")
    place = ("127.0.0.1", urlsplit(page.url).port)
    threads = threading.active_count()
    try:
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(socket.create_connection(place)) for _ in range(20)]
            assert ask(page) == (200, "<p>hello</p>")
            wires[0].settimeout(60)
            assert wires[0].recv(10) == b""  # the oldest went
            end = time.monotonic() + 60.0
            while threading.active_count() > threads + 5:  # their threads end, if not at once
                assert time.monotonic() < end
                time.sleep(0.05)
    finally:
        page.close()


def test_a_browser_that_does_not_ask_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("swelltree.report.serve.PATIENCE", 0.2)
    page = serve("<p>hello</p>")
    try:
        with socket.create_connection(("127.0.0.1", urlsplit(page.url).port), timeout=20) as wire:
            wire.sendall(b"GET / HT")
            assert wire.recv(10) == b""
    finally:
        page.close()
