"""The live view: sliders, the thread that steps, the server, and the page in a real browser."""

import contextlib
import http.client
import http.server
import json
import os
import random
import shutil
import socket
import sys
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import jax
import numpy as np
import pytest

import swelltree as sw
from made_buoy import buoy_model
from support import ROOT
from swelltree.report.live.page import live_page
from swelltree.report.live.running import Frames, Running
from swelltree.report.live.server import Allowance, Server
from swelltree.report.live.sliders import (
    all_names,
    changes_of,
    chosen_sliders,
    read_slider,
    unit_of,
)
from swelltree.report.live.view import study_options
from swelltree.studies.time.stepped.stepper import stepper

tornado = pytest.importorskip("tornado.websocket", reason="skipped: no Tornado")
SEA = sw.IrregularSea(sw.Jonswap(1.0, 5.0), seed=2, components=12, ramp=2.0)
DAMPING = "ptos.pto.damping"


@pytest.fixture(scope="module")
def model():
    return buoy_model()


@pytest.fixture(scope="module")
def run(model):
    return sw.stepper(model, SEA, solver="rk4", step=0.05)


@pytest.fixture(scope="module")
def view(model):
    shown = sw.live(
        model,
        SEA,
        sliders=[f"{DAMPING}=0:1e6", "sea.spectrum.Hs=0:4", "sea.seed", "forces.pto=-1e5:1e5"],
        traces=["bob.Heave", "absorbed_power.pto"],
        browser=False,
        solver="rk4",
        step=0.05,
    )
    yield shown
    shown.close()


def frames_of(run, *traces):
    units = {name: x.attrs.get("units", "") for name, x in run.result().items()}
    return Frames(run, list(traces), units)


def until(condition, most=60.0):
    end = time.monotonic() + most
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- sliders ---------------------------------------------------------------------------------
def test_usual_sliders_are_those_of_sea_and_ptos(run, model):
    found = chosen_sliders(run, None)
    assert list(found) == [
        "sea.spectrum.Hs",
        "sea.spectrum.Tp",
        "sea.seed",
        "ptos.pto.stiffness",
        DAMPING,
    ]
    assert (found["sea.spectrum.Tp"].low, found["sea.spectrum.Tp"].high) == (2.5, 10.0)
    assert found["sea.seed"].checked(4.4) == 4.0
    assert found[DAMPING].checked(1e9) == found[DAMPING].high == 6e4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ptos.pto.dampin", "there is no 'dampin'"),
        ("sea.Hz", "the sea has no such parameter"),
        ("forces.motor=0:1", "is not a PTO"),
        (f"{DAMPING}=1", "has no two ends"),
        (f"{DAMPING}=a:b", "has no two ends"),
        (f"{DAMPING}=5:2", "5 is not below 2"),
        ("bob.inertia", "is not one number"),
        (f"{DAMPING}[0]", "Leave out what comes after"),
        ("bodies.bob.hull.radius", "shapes the hull"),
    ],
)
def test_bad_sliders_get_a_sentence(run, model, text, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        read_slider(run, text)


def test_sliders_have_the_units_of_their_fields(run):
    found = {slider.name: slider.unit for slider in chosen_sliders(run, None).values()}
    assert {unit for name, unit in found.items() if name.endswith((".height", ".Hs"))} <= {"m"}
    hinged = stepper(sw.gallery.barges().model(radiation="none"), sw.gallery.barges().sea)
    units = {name: unit_of(hinged, name) for name in all_names(hinged)}
    assert units["ptos.pto1.damping"] == "N m s/rad"
    assert units["forces.pto1"] == "N m"
    assert units["moorings.mooring.stiffness.Surge"] == "N/m"
    assert units["sea.spectrum.Tp"] == "s"
    assert units["sea.seed"] == ""
    slides = stepper(sw.gallery.rm3().model(radiation="none"), sw.gallery.rm3().sea)
    assert unit_of(slides, "ptos.pto.damping") == "N s/m"
    assert unit_of(slides, "bodies.float.mass") == "kg"


def test_every_number_of_the_description_can_have_a_slider(run):
    names = list(all_names(run))
    assert {DAMPING, "sea.spectrum.Hs", "sea.seed", "forces.pto", "water.g"} <= {*names}
    sliders = [read_slider(run, name) for name in names]
    assert [slider.name for slider in sliders] == names
    rows = [name for name in names if name.endswith("[2]")]
    assert rows
    with pytest.raises(sw.SwelltreeError, match="is not one number"):
        read_slider(run, rows[0].replace("[2]", "[9]"))
    place, _, _ = rows[0].rpartition("[")
    changed = changes_of(run, {f"{place}[2]": 5.0, f"{place}[0]": 7.0, "water.g": 9.8})
    old = np.asarray(run.model.value(place))
    assert np.array_equal(changed[place], [7.0, old[1], 5.0])
    assert changed["water.g"] == 9.8


@pytest.mark.parametrize("value", ["much", None, True, float("nan"), [1.0]])
def test_values_that_are_no_numbers_are_refused(run, model, value):
    with pytest.raises(sw.SwelltreeError, match="is not a number"):
        read_slider(run, DAMPING).checked(value)


def test_bad_views_get_a_sentence(model):
    for options, sentence in (
        ({"speed": 0.0}, "must be above zero"),
        ({"traces": ["position"]}, "more than one number"),
        ({"traces": ["bob.Hove"]}, "there is no dof 'Hove'"),
        ({"sliders": ["sea.Hz"]}, "no such parameter"),
    ):
        with pytest.raises(sw.SwelltreeError, match=sentence):
            sw.live(model, SEA, browser=False, solver="rk4", step=0.05, **options)


def test_sea_and_solver_are_those_of_a_study_of_the_case(tmp_path):
    case = sw.load(ROOT / "examples" / "moored_float.toml")
    sea, options = study_options(case, None)
    assert sea == case.study("storm").sea
    assert options["rtol"] == case.study("storm").rtol
    assert study_options(case, "storm")[0] == sea
    with pytest.raises(sw.SwelltreeError, match="study 'rest' is not a time-domain study"):
        study_options(case, "rest")
    with pytest.raises(sw.SwelltreeError, match="storn"):
        study_options(case, "storn")


def test_without_tornado_it_says_how_to_get_it(model, monkeypatch):
    monkeypatch.delitem(sys.modules, "swelltree.report.live.server", raising=False)
    monkeypatch.setitem(sys.modules, "tornado.httpserver", None)
    with pytest.raises(sw.SwelltreeError, match=r"swelltree\[live\]"):
        sw.live(model, SEA, browser=False)


def test_a_notebook_gets_the_view_in_a_frame_and_no_other_page(model, view, monkeypatch):
    html = view._repr_html_()
    assert html.startswith(f'<iframe src="{view.url}" title="live view of buoy"')
    assert f'<a href="{view.url}" target="_blank"' in html
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    kernel = SimpleNamespace(kernel=None)
    for shell, browser, count in (
        (None, None, 1),
        (SimpleNamespace(), None, 1),  # the terminal of IPython
        (kernel, None, 0),
        (kernel, True, 1),
        (None, False, 0),
    ):
        python = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", python)
        sw.live(model, SEA, browser=browser, solver="rk4", step=0.05).close()
        assert len(opened) == count, (shell, browser)
        opened.clear()


CELLS = (
    "import swelltree as sw",
    "model = sw.gallery.sphere().model()",
    "view = sw.live(model, sw.RegularWave(amplitude=0.2, period=6.0))",
    "view",
    "import time; begun = view.time; time.sleep(0.5); print(view.time > begun); view.close()",
)


@pytest.mark.slow
def test_a_kernel_of_jupyter_shows_the_view_and_goes_on(tmp_path):
    """With nbclient and ipykernel, as `make companions` has them."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    (shown,) = notebook.cells[3].outputs
    assert shown["data"]["text/html"].startswith('<iframe src="http://127.0.0.1:')
    assert notebook.cells[4].outputs[0]["text"] == "True\n"


# --- the thread ------------------------------------------------------------------------------
@contextlib.contextmanager
def compilations():
    """All compilations by XLA meanwhile."""
    found = []

    def note(event, duration, **_):
        if "backend_compile" in event:
            found.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield found
    finally:
        jax.monitoring.unregister_event_duration_listener(note)


def test_a_moved_slider_changes_the_motion_at_once_and_compiles_nothing(model):
    run = sw.stepper(model, SEA, solver="rk4", step=0.05, keep=10)
    names = [f"{DAMPING}=0:1e6", "sea.spectrum.Hs=0:4", "sea.seed", "forces.pto=-1e5:1e5"]
    sliders = chosen_sliders(run, names)
    reported = []
    running = Running(
        run,
        sliders,
        frames_of(run, "pto_control.pto"),
        reported.append,
    )
    running.start()
    try:
        until(lambda: len(reported) > 5)
        running.ask({"set": {DAMPING: 3e4, "sea.seed": 5}})  # what is compiled once is compiled now
        until(lambda: reported[-1]["values"][DAMPING] == 3e4)
        until(lambda: len(reported) > 15)
        with compilations() as found:
            for k in range(8):
                force = 1e4 * (k + 1)
                values = {DAMPING: 1e5 + k, "sea.spectrum.Hs": 1 + 0.25 * k, "sea.seed": k}
                running.ask({"set": values | {"forces.pto": force}})
                until(
                    lambda force=force: (
                        reported[-1]["rows"] and reported[-1]["rows"][-1][1] == force
                    )
                )
        assert found == []
        assert "steepness" in reported[-1]["message"]  # a warning is told to the page
        assert reported[-1]["values"] == {
            DAMPING: 1e5 + 7,
            "sea.spectrum.Hs": 2.75,
            "sea.seed": 7,
            "forces.pto": 8e4,
        }
        assert "waves" in reported[-1] or any("waves" in x for x in reported)
    finally:
        running.stop()
    assert run["pto_control.pto"] == 8e4
    assert json.dumps(reported[-1], allow_nan=False)


def test_pausing_speed_and_bad_wishes(model):
    run = sw.stepper(model, SEA, solver="rk4", step=0.05, keep=10)
    reported = []
    running = Running(run, chosen_sliders(run, [DAMPING]), frames_of(run), reported.append)
    running.start()
    try:
        until(lambda: run.time > 0.3)
        running.ask({"pause": True})
        until(lambda: reported[-1]["paused"])
        held = run.time
        time.sleep(0.3)
        assert run.time == held
        for wish, sentence in (
            (None, "an invalid message"),
            ({"set": 3}, "an invalid message"),
            ({"set": {"ptos.pto.mass": 1.0}}, "there is no slider"),
            ({"set": {DAMPING: "x"}}, "is not a number"),
        ):
            running.ask(wish)
            until(lambda sentence=sentence: sentence in reported[-1]["message"])
        running.ask({"pause": False, "speed": 20.0})
        until(lambda: run.time > held + 5.0)
        assert reported[-1]["message"] == ""
        running.ask({"reset": True})
        until(lambda: run.time < held + 5.0)
        assert running.alive
    finally:
        running.stop()


HUGE = "9" * 401
HOSTILE = [
    f'{{"speed": {HUGE}}}',
    '{"speed": 1e999}',
    '{"speed": 1e-300}',
    '{"speed": true}',
    f'{{"set": {{"{DAMPING}": {HUGE}}}}}',
    f'{{"set": {{"{DAMPING}": -{HUGE}}}}}',
    f'{{"set": {{"{DAMPING}": NaN}}}}',
    f'{{"add": "bodies.bob.com[{"1" * 5000}]"}}',
    f'{{"add": "bodies.bob.com[{"1" * 150}]"}}',
    f'{{"add": "{"[1" * 100}"}}',
    f'{{"add": "{"ptos.pto.damping" * 900}"}}',
    f'{{"trace": "{"x." * 7000}"}}',
    '{"trace": {"a": 1}}',
    '{"add": 3}',
    '{"add": "ptos.pto.damping=1e999:2"}',
    '{"add": "sea.__class__"}',
    '{"add": "sea.spectrum.__init__"}',
    '{"trace": "__class__"}',
    '{"set": [1]}',
    "[" * 8000,
    "1" * 5000,
    "nothing",
    "",
]


def test_hostile_messages_are_answered_or_ignored_and_the_run_goes_on(model):
    """Each was sent by a page; three of them ended the view, one held it for 20 s."""
    run = sw.stepper(model, SEA, solver="rk4", step=0.05, keep=10)
    reported = []
    running = Running(run, chosen_sliders(run, [DAMPING]), frames_of(run), reported.append)
    server = Server("page", running.ask)
    running.start()
    try:
        with SocketOfAPage(server) as page:
            for text in HOSTILE:
                page.send(text)
            page.send('{"pause": true}')
            until(lambda: reported and reported[-1]["paused"])
        assert running.alive
        assert 0.001 <= running.speed <= 1000.0
        assert all(abs(x) < 1e9 for x in running.values.values())
        assert len(running.sliders) <= 3
    finally:
        running.stop()
        server.close()


def mutated(rng):
    """A message of a page with something wrong in it."""
    seed = [*HOSTILE, '{"pause": false}', '{"speed": 2}', '{"reset": 1}', '{"trace": "bob.Heave"}']
    seed += [f'{{"set": {{"{DAMPING}": 1e5}}}}', '{"add": "sea.spectrum.Hs=0:4"}']
    text = bytearray(rng.choice(seed).encode())
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(text) + 1)
        part = rng.choice([b'"', b"{", b"[", b"9" * 50, b":", b"null", b"\\ud800", b"-", b".."])
        text[at : at + rng.randint(0, 3)] = part
    return text.decode(errors="replace")


@pytest.mark.slow
def test_thousands_of_mutated_messages_do_not_end_a_view(model):
    rng = random.Random(36)
    run = sw.stepper(model, SEA, solver="rk4", step=0.05, keep=10)
    reported = []
    running = Running(run, chosen_sliders(run, [DAMPING]), frames_of(run), reported.append)
    running.start()
    server = Server("page", running.ask)
    try:
        for _ in range(100):
            with SocketOfAPage(server) as page:
                for _ in range(50):
                    page.send(mutated(rng))
                count = len(reported)
                page.send('{"speed": 1}')
            until(lambda count=count: len(reported) > count)
            assert running.alive
            assert json.dumps(reported[-1], allow_nan=False)
    finally:
        running.stop()
        server.close()


def test_a_failing_step_pauses_the_run_and_says_why(model, monkeypatch):
    run = sw.stepper(model, SEA, solver="rk4", step=0.05, keep=10)
    reported = []
    running = Running(run, chosen_sliders(run, [DAMPING]), frames_of(run), reported.append)
    monkeypatch.setattr(run, "step", lambda *_: 1 / 0)  # not of the view beside it
    running.start()
    try:
        until(lambda: reported and reported[-1]["paused"])
        assert "ZeroDivisionError" in reported[-1]["message"]
        assert running.alive
    finally:
        running.stop()


def test_a_page_that_sends_without_end_is_held_back():
    allowance = Allowance(rate=5.0)
    assert sum(allowance.take() for _ in range(1000)) in (5, 6)


def test_wishes_that_nobody_fetches_take_no_memory(model):
    run = sw.stepper(model, SEA, solver="rk4", step=0.05, keep=10)
    running = Running(run, {}, frames_of(run), lambda _: None)
    for _ in range(5000):
        running.ask({"pause": True})
    assert running._asked.qsize() == 1000


class SocketOfAPage:
    """What a browser does: ask for the socket, send frames, and take what comes."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.wire = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        host = self.server.hosts[0]
        head = {
            "Host": host,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Origin": f"http://{host}",
        }
        lines = [f"GET {self.server.path}socket HTTP/1.1", *(f"{k}: {v}" for k, v in head.items())]
        self.wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert b" 101 " in self.wire.recv(4000).partition(b"\r\n")[0]
        threading.Thread(target=self._drain, daemon=True).start()
        return self

    def _drain(self):
        with contextlib.suppress(OSError):
            while self.wire.recv(65536):
                pass

    def send(self, text):
        content = text.encode()
        size = len(content)
        lengths = bytes([128 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        self.wire.sendall(b"\x81" + lengths + bytes(4) + content)  # a mask of zeros

    def __exit__(self, *_):
        time.sleep(0.1)  # what was sent arrives
        self.wire.shutdown(socket.SHUT_RDWR)
        self.wire.close()


def test_units_of_traces(run):
    frames = frames_of(run)
    assert frames.unit("bob.Heave") == "m"
    assert frames.unit("velocity.bob.Pitch") == "rad/s"
    assert frames.unit("absorbed_power.pto") == "W"


def test_names_of_a_model_are_text_in_the_page(run, model):
    page = live_page(
        run.result(), ["</script>"], ["bob.Heave"], "</script><script>alert(1)</script>"
    )
    assert "<script>alert(1)" not in page


# --- the server ------------------------------------------------------------------------------
def response(view, path=None, method="GET", **headers):
    place = urlsplit(view.url)
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=5)
    connection.putrequest(method, place.path if path is None else path, skip_host="Host" in headers)
    for key, value in headers.items():
        connection.putheader(key.replace("_", "-"), value)
    connection.endheaders()
    return connection.getresponse()


def raw(view, *lines):
    """The answer to what no library would send."""
    with socket.create_connection(("127.0.0.1", urlsplit(view.url).port), timeout=5) as wire:
        wire.sendall("\r\n".join([*lines, "", ""]).encode())
        return wire.recv(4000)


def test_the_server_has_so_many_connections_and_no_more(view, monkeypatch):
    monkeypatch.setattr("swelltree.report.live.server.MAX_CONNECTIONS", 8)
    place = ("127.0.0.1", urlsplit(view.url).port)

    def is_ended(wire):
        try:
            return wire.recv(10) == b""
        except ConnectionResetError:
            return True

    def is_answered():
        try:
            return response(view).status == 200
        except ConnectionResetError:  # those before have not ended yet
            return False

    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(socket.create_connection(place, 60)) for _ in range(12)]
        assert is_ended(wires[-1])
    until(is_answered)


def handshake(view, path=None, **headers):
    place = urlsplit(view.url)
    usual = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Origin": f"http://127.0.0.1:{place.port}",
    }
    return response(view, f"{place.path}socket" if path is None else path, **(usual | headers))


def test_the_page_is_guarded(view):
    answer = response(view)
    assert answer.status == 200
    rule = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in rule
    assert "unsafe-eval" not in rule
    assert "script-src 'sha256-" in rule
    assert "frame-ancestors http://localhost:* http://127.0.0.1:*;" in rule
    assert answer.headers["Cache-Control"] == "no-store"


def test_strangers_are_turned_away(view):
    own = urlsplit(view.url).path
    assert response(view, Host="evil.example").status == 403
    for path in ("/", "/x/", own[:-1], own[:-2] + "/", own.swapcase(), "/../etc/passwd", own + "x"):
        assert response(view, path).status == 404, path
    assert response(view, method="POST").status == 405
    two = raw(view, f"GET {own} HTTP/1.1", *(2 * [f"Host: 127.0.0.1:{urlsplit(view.url).port}"]))
    assert two.split()[1] in (b"400", b"403")
    assert handshake(view).status == 101
    assert handshake(view, Origin="http://evil.example").status == 403
    assert handshake(view, Origin="null").status == 403
    assert handshake(view, Host="evil.example").status == 403
    assert handshake(view, "/socket").status == 404
    assert handshake(view, "/x/socket").status == 404


def test_it_answers_on_the_loopback_address_only(view):
    port = urlsplit(view.url).port
    names = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for name in names - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError), socket.create_connection((name, port), timeout=1):
            pass
    with pytest.raises(sw.SwelltreeError, match=f"port {port} cannot be used"):
        sw.live(buoy_model(), browser=False, solver="rk4", step=0.05, port=port)


# --- the page in a browser -------------------------------------------------------------------
CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), ""
)
FLAGS = [
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("skipped: no Chromium")
    api = pytest.importorskip("playwright.sync_api", reason="skipped: no Playwright")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with api.sync_playwright() as play:
        try:
            found = play.chromium.launch(
                executable_path=CHROMIUM, args=[*FLAGS, *(["--no-sandbox"] if root else [])]
            )
        except api.Error as error:
            pytest.skip(f"skipped: no Chromium that starts ({str(error).splitlines()[0]})")
        yield found
        found.close()


@pytest.fixture(params=[(1280, 900), (390, 844)], ids=["desk", "phone"])
def page(request, browser, view):
    page = browser.new_page(viewport=dict(zip(("width", "height"), request.param, strict=True)))
    page.set_default_timeout(60_000)
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda note: page.wrong.append(note.text) if note.type == "error" else None)
    page.goto(view.url)
    waits(page, "!!window.swelltree?.live && swelltree.live.received > 3")
    yield page
    page.close()


def waits(page, condition, most=60.0):
    end = time.monotonic() + most
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(30)


LAST = "swelltree.live.frames.at(-1)"


def test_the_page_shows_the_run_and_its_sliders_move_it(page, view):
    assert page.wrong == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    # the drawn body is where a frame says
    waits(page, "swelltree.frames() > 3")
    page.get_by_role("button", name="Pause").click()
    waits(page, f"{LAST}.paused")
    # drawn by the next picture, however long a busy machine takes for it
    reported = f"{LAST}.bodies.slice(0, 3)"
    waits(
        page, f"{reported}.every((x, k) => Math.abs(x - swelltree.body('bob').position[k]) < 1e-5)"
    )
    page.get_by_role("button", name="Resume").click()
    # a slider that is moved by hand reaches the run
    slider = page.locator(f"[data-slider='{DAMPING}']")
    slider.fill("500000")
    waits(page, f"{LAST}.values['{DAMPING}'] === 500000")
    page.locator("[data-slider='forces.pto']").fill("60000")
    waits(page, f"{LAST}.values['forces.pto'] === 60000")
    for height in ("3", "1"):
        page.locator("[data-slider='sea.spectrum.Hs']").fill(height)
        waits(page, f"{LAST}.values['sea.spectrum.Hs'] === {height}")
    assert " J" in page.locator("#energy").inner_text().replace("kJ", " J")
    assert "work of pto" in page.locator("#energy").inner_text()
    for label, name in (("Add a parameter", "water.rho"), ("Add a channel", "elevation")):
        field = page.get_by_label(label)
        field.fill(name)
        field.press("Enter")
    waits(page, "document.querySelectorAll('#traces canvas').length === 3")
    assert page.locator("[data-slider='water.rho']").count() == 1
    waits(page, f"{LAST}.t > 2")
    waits(
        page,
        "[...document.querySelectorAll('#traces canvas')].every(c => c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.some(x => x > 0))",
    )
    assert page.wrong == []
    folder = os.environ.get("SWELLTREE_SCREENSHOTS")
    if folder:
        width = page.viewport_size["width"]
        page.wait_for_timeout(3000)
        page.screenshot(path=f"{folder}/live-{width}.png", full_page=True)


class Notebook(http.server.BaseHTTPRequestHandler):
    """Serves the pages that hang on its server."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.server.text.encode())

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def notebook(view):
    """The address of a page of this machine that shows the view as notebooks do."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notebook)
    server.text = f"<!doctype html><h1>Notebook</h1>{view._repr_html_()}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_notebook_of_this_machine_shows_the_view_and_strangers_do_not(browser, view, notebook):
    for width in (1100, 390):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(notebook)
        (frame,) = page.frames[1:]
        waits(frame, "!!window.swelltree?.live && swelltree.live.received > 3")
        assert frame.evaluate("document.documentElement.className") == "framed"
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
        frame.locator(f"[data-slider='{DAMPING}']").fill("400000")
        waits(frame, f"{LAST}.values['{DAMPING}'] === 400000")
        if folder := os.environ.get("SWELLTREE_SCREENSHOTS"):
            page.wait_for_timeout(2000)
            page.screenshot(path=f"{folder}/notebook-{width}.png", full_page=True)
        page.close()
    # a page of another origin, here one without any
    page = browser.new_page()
    page.set_content(view._repr_html_())
    page.wait_for_timeout(1500)
    assert not any(frame.evaluate("!!window.swelltree") for frame in page.frames[1:])
    page.close()


def test_a_lost_connection_ends_nothing_and_comes_back(page, view):
    before = view.time
    page.evaluate("swelltree.live.socket.close()")
    waits(page, "swelltree.live.opened >= 2")
    received = page.evaluate("swelltree.live.received")
    waits(page, f"swelltree.live.received > {received + 3}")
    assert view.time > before
    assert page.locator("#status").inner_text() == "running"


def test_a_saved_recording_replays_without_a_server(page, browser, view, tmp_path):
    page.locator(f"[data-slider='{DAMPING}']").fill("300000")
    waits(page, f"{LAST}.values['{DAMPING}'] === 300000")
    reached = view.time
    waits(page, f"{LAST}.t > {reached + 1.0}")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save recording").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    replay = browser.new_page(viewport=page.viewport_size)
    wrong, requested = [], []
    replay.on("pageerror", lambda error: wrong.append(str(error)))
    replay.on("console", lambda note: wrong.append(note.text) if note.type == "error" else None)
    replay.on("request", lambda request: requested.append(request.url))
    replay.goto(f"file://{path}")
    waits(replay, "!!window.swelltree?.live && swelltree.frames() > 0")
    frames = replay.evaluate(
        f"swelltree.live.frames.map((f) => [f.t, f.bodies[0], f.values['{DAMPING}']])"
    )
    assert frames[-1][0] > reached
    # bodies, slider values and clock are those of the frame at the time of the playback bar
    for t, x, damping in (frames[3], frames[-1]):
        replay.evaluate("t => { swelltree.set({ time: t }); swelltree.draw(); }", t)
        assert replay.evaluate("swelltree.body('bob').position[0]") == pytest.approx(x, abs=1e-6)
        slider = replay.locator(f"[data-slider='{DAMPING}']")
        assert float(slider.input_value()) == pytest.approx(damping, abs=1e3)
        assert slider.is_disabled()
    assert "work of pto" in replay.locator("#energy").inner_text()
    replay.evaluate(f"swelltree.set({{ time: {frames[0][0]} }})")
    replay.get_by_role("button", name="Play").click()
    waits(replay, f"swelltree.state.time > {frames[0][0] + 0.2}")
    assert not replay.get_by_role("button", name="Restart").is_visible()
    assert replay.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    if folder := os.environ.get("SWELLTREE_SCREENSHOTS"):
        replay.screenshot(path=f"{folder}/recording-{page.viewport_size['width']}.png")
    assert wrong == []
    assert [url for url in requested if not url.startswith(("file:", "blob:", "data:"))] == []
    replay.close()


def test_a_recording_is_saved_from_python_and_for_the_token_only(view, tmp_path):
    until(lambda: view.time > 0.2)
    path = view.save(tmp_path / "run.html")
    assert '"frames":[{' in path.read_text()
    own = urlsplit(view.url).path
    answer = response(view, f"{own}recording")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == 'attachment; filename="recording.html"'
    assert response(view, "/x/recording").status == 404
    assert response(view, f"{own}recording", Host="evil.example").status == 403
