"""`live`: a running simulation in the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from swelltree.describe.casefile.case import Case
from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.notebook import in_notebook
from swelltree.describe.options import SolverOptions, StepperOptions, options_of
from swelltree.describe.values import NamedValues
from swelltree.model.model import Model
from swelltree.report.live.page import live_page
from swelltree.report.live.running import FASTEST, Frames, Running
from swelltree.report.live.sliders import chosen_sliders
from swelltree.studies.time.stepped.run import SteppedRun
from swelltree.studies.time.stepped.stepper import stepper

if TYPE_CHECKING:
    from swelltree.report.live.server import Server

MAX_SAMPLES = 200  # samples that the run keeps
FRAME = 820  # height of the view in a notebook [px]
MOST_TRACES = 4  # that are made where none is asked for


class Live:
    """A live view; `close()` ends it."""

    def __init__(
        self, running: Running, server: Server, title: str, recording: Callable[[], str]
    ) -> None:
        self._running, self._server, self._title = running, server, title
        self._recording = recording

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def time(self) -> float:
        """Current time of the run [s]."""
        return self._running.run.time

    def save(self, path: str | Path) -> Path:
        """Save the run since its last restart as one HTML file that replays it.

        The file contains the scene, the traces, the slider values and the energy balance, and opens
        in a browser without a server. Long runs are thinned to some thousand frames.

        Args:
            path: of the file, usually ending in .html; an older file is replaced.
        """
        return write_atomic(Path(path), self._recording())

    def close(self) -> None:
        self._running.stop()
        self._server.close()

    def wait(self) -> None:
        """Block until the keyboard interrupts."""
        try:
            while self._running.alive:
                self._running.join(0.5)
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<live view at {self.url}>"

    def _repr_html_(self) -> str:
        """Embedded view for notebooks, and its address."""
        name = escape(f"live view of {self._title}")
        return (
            f'<iframe src="{self.url}" title="{name}" width="100%" height="{FRAME}" '
            'style="border: 1px solid #8884; border-radius: 8px"></iframe>'
            f'<p><a href="{self.url}" target="_blank" rel="noopener">{name}</a>, '
            "until view.close()</p>"
        )


def live(
    model: Model,
    sea: Sea | None = None,
    *,
    sliders: list[str] | None = None,
    traces: list[str] | None = None,
    speed: float = 1.0,
    port: int = 0,
    browser: bool | None = None,
    **options: Unpack[StepperOptions],
) -> Live:
    """Show a running simulation in the browser, with sliders for its parameters.

    Args:
        model: from `compile`.
        sea: a described sea; still water if not given.
        sliders: parameters with a slider: "ptos.pto.damping" or "ptos.pto.damping=0:1e6", of the
            sea "sea.spectrum.Hs", "sea.seed", of winches "forces.winch"; if not given height,
            period and seed of the sea, damping and stiffness of PTOs, lengths of lines, speeds of
            winches.
        traces: channels shown in time, by the names of a stepper: "float.Heave",
            "absorbed_power.pto"; a few if not given.
        speed: of the run, relative to real time; pages can change it.
        port: on the loopback address; 0: any that is free.
        browser: open it; if not given, everywhere but in a notebook, which shows the view below
            the cell.
        options: of `stepper`.
    """
    try:
        from swelltree.report.live.server import Server
    except ImportError:
        raise SwelltreeError(
            "a live view needs Tornado. Install it with: pip install 'swelltree[live]'"
        ) from None
    if not 0.0 < speed <= FASTEST:
        raise SwelltreeError(f"speed {shown(speed)} must be above zero and at most {FASTEST:g}.")
    options.setdefault("keep", MAX_SAMPLES)
    run = stepper(model, sea, **options)
    moved = chosen_sliders(run, sliders)
    shown_traces = usual_traces(run) if traces is None else [str(name) for name in traces]
    moment = run.result()
    units = {str(name): str(x.attrs.get("units", "")) for name, x in moment.items()}
    frames = Frames(run, shown_traces, units)
    system = model.described.system
    title = "Live" if system is None else system.name
    servers: list[Server] = []
    running = Running(run, moved, frames, lambda message: servers[0].notify(message), speed)
    page = partial(live_page, moment, running.names(), list(run.single_channels), title)

    def recording() -> str:
        return page(list(running.recording.frames))

    servers.append(Server(page(), running.ask, port, recording))
    running.start()
    view = Live(running, servers[0], title, recording)
    if not in_notebook() if browser is None else browser:
        import webbrowser

        webbrowser.open(view.url)
    return view


def study_options(case: Case, name: str | None) -> tuple[Sea | None, NamedValues]:
    """Sea and options of `stepper` that a study of a case has; its first in time by default.

    Args:
        case: loaded.
        name: of the study.
    """
    studies = case.studies if name is None else (case.study(name),)
    runs = [study.in_time for study in studies if study.in_time is not None]
    if name is not None and not runs:
        raise SwelltreeError(f"study '{name}' is not a time-domain study. Name one.")
    if not runs:
        return None, {}
    specified = runs[0].arguments()
    options = {
        key: specified[key] for key in options_of(SolverOptions) if specified.get(key) is not None
    }
    return runs[0].sea, options


def usual_traces(run: SteppedRun) -> list[str]:
    """The sea, power of PTOs, tension of lines, and heave of bodies."""
    names = ["elevation"] if "elevation" in run else []
    for variable, dim in (("absorbed_power", "pto"), ("fairlead_tension", "line")):
        if variable in run:
            names += [f"{variable}.{label}" for label in run.labels(dim)[:1]]
    names += [f"{body}.Heave" for body in run.labels("body")]
    return [name for name in names if isinstance(run[name], float)][:MOST_TRACES]
