"""The simulation behind a live view: a thread that steps, paced by real time.

Pages send requests (`ask`) and receive messages (`send`). Whatever they ask for takes effect
between two steps; a step is as long as some hundredths of a second of real time allow.

What pages receive of a run: where bodies and lines are, traces, energy balance.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import warnings
from collections.abc import Callable

import numpy as np

from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.describe.values import NamedValues
from swelltree.report.live.recording import Recording
from swelltree.report.live.sliders import FORCES, Slider, all_names, changes_of, read_slider
from swelltree.report.scene import drawn_waves
from swelltree.studies.time.stepped.run import SteppedRun

MOST_ROWS = 1500  # of traces that wait to be sent, or are kept for pages that come later


class Frames:
    """Frames of a run, for JSON; a trace has a row for every step, whenever frames are sent.

    Args:
        run: that is stepped.
        traces: names of channels.
        units: of all variables, as results have them.
    """

    def __init__(self, run: SteppedRun, traces: list[str], units: dict[str, str]) -> None:
        self.run, self._units = run, units
        self.traces: list[str] = []
        for name in traces:
            self.add(name)
        self._waves = run.waves  # those that pages know
        self._rows: list[list[float | None]] = []
        self._anew = False
        self._first = self._energy()

    def add(self, name: str) -> None:
        if not isinstance(self.run[name], float):
            raise SwelltreeError(f"trace '{name}' is more than one number. Name one of them.")
        if name not in self.traces:
            self.traces.append(name)

    def unit(self, name: str) -> str:
        """Unit of a channel; of two, that of its label."""
        variable, *labels = name.split(".")
        units = self._units.get(variable, self._units["position"]).split(",")
        turns = labels[-1:] and labels[-1].endswith(("Roll", "Pitch", "Yaw"))
        return units[-1 if turns else 0].strip()

    def sample(self) -> None:
        """Append a row of the traces."""
        row = [number(self.run[name]) for name in self.traces]
        self._rows = [*self._rows[-MOST_ROWS:], [round(self.run.time, 6), *row]]

    def begin_again(self) -> None:
        """Reset to the start of the run."""
        self._rows, self._anew = [], True
        self._first = self._energy()

    def now(self) -> NamedValues:
        """Everything to draw, and new rows of the traces."""
        run = self.run
        place = np.concatenate([run["position"][:, :3], run["quaternion"]], axis=1)
        frame: NamedValues = {
            "t": run.time,
            "bodies": numbers(place),
            "traces": [[name, self.unit(name)] for name in self.traces],
            "rows": self._rows,
            "energy": self._energy_terms(),
        }
        self._rows = []
        if self._anew:
            frame["anew"], self._anew = True, False
        if run.waves is not self._waves:
            self._waves = run.waves
            frame["waves"] = drawn_waves(run.waves)
        if "line_position" in run:
            frame["lines"] = numbers(run["line_position"])
            frame["tension"] = numbers(segment_tension(run))
        return frame

    def _energy(self) -> np.ndarray:
        """Kinetic and stored energy [J]."""
        names = ("kinetic_energy", "potential_energy")
        return np.array([self.run[name].sum() if name in self.run else 0.0 for name in names])

    def _energy_terms(self) -> NamedValues:
        """Energy balance since the start [J]."""
        run = self.run
        if "work" not in run:
            return {}
        kinetic, stored = self._energy() - self._first
        labels = run.labels("element")
        work = {name: number(x) for name, x in zip(labels, run["work"], strict=True)}
        return {
            "kinetic": number(kinetic),
            "stored": number(stored),
            "work": work,
            "changes": number(run["work_of_changes"]),
            "residual": number(run["energy_residual"]),
        }


def merged(before: NamedValues, after: NamedValues) -> NamedValues:
    """Two frames merged: the later one, with the rows of both and the latest sea."""
    rows = [] if after.get("anew") else before.get("rows", [])
    return before | after | {"rows": [*rows, *after["rows"]][-MOST_ROWS:]}


def segment_tension(run: SteppedRun) -> np.ndarray:
    """Tension of segments (line, segment) [N]; for catenaries from their nodes."""
    if "line_node_tension" not in run:
        return run["line_tension"]
    at_nodes = run["line_node_tension"]
    means = 0.5 * (at_nodes[:, 1:] + at_nodes[:, :-1])
    if "line_tension" not in run:
        return means
    between = run["line_tension"]
    return np.where(np.isfinite(between), between, means)


def number(value: float) -> float | None:
    """A number for JSON."""
    return float(f"{float(value):.7g}") if np.isfinite(value) else None


def numbers(values: np.ndarray) -> list[float | None]:
    return [number(x) for x in np.asarray(values, float).reshape(-1)]


STEP = 0.04  # s of real time: a step, and what lies between two messages to pages
LONGEST = 0.25  # s of the run between two samples
FASTEST = 1000.0  # times real time: as fast as the computer can
MAX_NAME = 200  # letters of a name that a page sends
MAX_SLIDERS, MAX_TRACES = 200, 50  # that pages can add
MAX_WISHES = 1000  # that wait; more are ignored
BEHIND = 0.3  # s of real time that a slow computer may fall behind and catch up again


class Running:
    """A run in a thread of its own.

    Args:
        run: to be stepped.
        sliders: by name.
        frames: what pages receive of it.
        notify: is given every message for the pages, in the thread of the run.
        speed: relative to real time.
    """

    def __init__(
        self,
        run: SteppedRun,
        sliders: dict[str, Slider],
        frames: Frames,
        notify: Callable[[NamedValues], None],
        speed: float = 1.0,
    ) -> None:
        self.run, self.sliders, self.notify = run, dict(sliders), notify
        self.speed, self.paused, self.message = speed, False, ""
        self.values = {name: slider.value for name, slider in sliders.items()}
        self.frames, self.recording = frames, Recording()
        self._asked: queue.Queue[object] = queue.Queue(MAX_WISHES)
        self._ends, self._woken = threading.Event(), threading.Event()
        self._given_forces: dict[str, float] = {}
        self._steps: list[tuple[float, float]] = []  # recent real time and time of the run
        self._cost = 0.0  # seconds of real time per simulated second
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ends.set()
        self._woken.set()
        self._thread.join()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait for the end of the run with a timeout."""
        self._thread.join(seconds)

    def ask(self, wish: object) -> None:
        """Queue a request of a page for the next step; ignored if the queue is full."""
        with contextlib.suppress(queue.Full):
            self._asked.put_nowait(wish)
        self._woken.set()

    # --- the thread ------------------------------------------------------------------------
    def _loop(self) -> None:
        wall, begun, reported = time.monotonic(), self.run.time, 0.0
        while not self._ends.is_set():
            changed = self._obey()
            if changed or self.paused:
                wall, begun = time.monotonic(), self.run.time
            stepped = not self.paused
            if stepped:
                self._step()
            halted = stepped and self.paused
            due = not self.paused and time.monotonic() - reported >= 0.8 * STEP
            if changed or halted or due:
                reported = time.monotonic()
                message = self.message_to_pages()
                self.recording.add(message)
                self.notify(message)
            if self.paused:
                self._woken.wait(1.0)
                continue
            ahead = (self.run.time - begun) / self.speed - (time.monotonic() - wall)
            if ahead > 0.0:
                self._woken.wait(ahead)
            elif ahead < -BEHIND:  # the computer is slower than was asked for
                wall, begun = time.monotonic(), self.run.time

    def _step(self) -> None:
        began = time.monotonic()
        duration = min(STEP * self.speed, LONGEST, STEP / max(self._cost, 1e-9))
        fixed = self.run.step_multiple
        if fixed is not None:
            duration = fixed * max(1, round(duration / fixed))
        try:
            self.run.step(duration, self._given_forces)
        except Exception as error:  # the run halts, the view does not
            self.paused, self.message = True, said(error)
            return
        self.frames.sample()
        now = time.monotonic()
        self._cost += 0.3 * ((now - began) / duration - self._cost)
        self._steps = [*self._steps[-40:], (now, self.run.time)]

    def _obey(self) -> bool:
        """Apply queued requests; returns whether there were any."""
        wishes = []
        self._woken.clear()
        while not self._asked.empty():
            wishes.append(self._asked.get_nowait())
        moved: dict[str, float] = {}
        for wish in wishes:
            self._try(lambda wish=wish: moved.update(self._do(wish)))
        # of a slider that was drawn along, only where it is now
        self._try(lambda: self._move(moved))
        return bool(wishes)

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # whatever a page sent, the view goes on
            self.message = said(error)

    def _do(self, wish: object) -> dict[str, float]:
        """Apply one request; slider values are collected."""
        if not isinstance(wish, dict) or not isinstance(wish.get("set", {}), dict):
            raise SwelltreeError("a page sent an invalid message.")
        names = [*wish.get("set", {}), wish.get("add", ""), wish.get("trace", "")]
        if any(not isinstance(name, str) or len(name) > MAX_NAME for name in names):
            raise SwelltreeError(f"a page sent a name that is not a text of {MAX_NAME} letters.")
        if len(self.sliders) >= MAX_SLIDERS and "add" in wish:
            raise SwelltreeError(f"there are {MAX_SLIDERS} sliders already.")
        if len(self.frames.traces) >= MAX_TRACES and "trace" in wish:
            raise SwelltreeError(f"there are {MAX_TRACES} traces already.")
        if "pause" in wish:
            self.paused, self.message = bool(wish["pause"]), ""
        if "reset" in wish:
            self._reset()
        speed = wish.get("speed")
        if isinstance(speed, int | float) and speed > 0.0:
            # never so slow that a step takes a thousand seconds of real time
            self.speed, self._steps = float(min(max(speed, 1.0 / FASTEST), FASTEST)), []
        if "add" in wish:
            slider = read_slider(self.run, str(wish["add"]))
            self.sliders[slider.name], self.values[slider.name] = slider, slider.value
        if "trace" in wish:
            self.frames.add(str(wish["trace"]))
        moved = {}
        for name, value in wish.get("set", {}).items():
            if name not in self.sliders:
                raise SwelltreeError(f"there is no slider '{name}'.")
            moved[name] = self.sliders[name].checked(value)
        return moved

    def _reset(self) -> None:
        """Restart the run; held values are released, changed parameters stay."""
        self.run.reset()
        self._given_forces, self._steps = {}, []
        of_forces = [name for name in self.values if name.startswith(FORCES)]
        self.values |= {name: self.run.forces[name.removeprefix(FORCES)] for name in of_forces}
        self.frames.begin_again()
        self.paused, self.message = False, ""

    def _move(self, moved: dict[str, float]) -> None:
        numbers = {name: x for name, x in moved.items() if not name.startswith(FORCES)}
        warned = self._change(numbers) if numbers else ""
        self._given_forces |= {
            k.removeprefix(FORCES): x for k, x in moved.items() if k not in numbers
        }
        if moved:
            self.values |= moved
            self.message = warned

    def _change(self, numbers: dict[str, float]) -> str:
        """Change parameters; returns warnings."""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", SwelltreeWarning)
            self.run.change(changes_of(self.run, numbers))
        mine = [str(x.message) for x in found if issubclass(x.category, SwelltreeWarning)]
        return mine[-1] if mine else ""

    # --- what pages receive ----------------------------------------------------------------
    def names(self) -> list[str]:
        """Names of all parameters that can have a slider."""
        return list(all_names(self.run))

    def message_to_pages(self) -> NamedValues:
        """Present state of the run."""
        return self.frames.now() | {
            "sliders": [slider.as_text() for slider in self.sliders.values()],
            "values": dict(self.values),
            "paused": self.paused,
            "speed": self.speed,
            "achieved": self._achieved(),
            "message": self.message,
        }

    def _achieved(self) -> float | None:
        """Recent speed of the run relative to real time."""
        if self.paused or len(self._steps) < 3:
            return None
        (wall, begun), (now, time_now) = self._steps[0], self._steps[-1]
        return round((time_now - begun) / max(now - wall, 1e-9), 2)


def said(error: Exception) -> str:
    """Message of an error for the pages."""
    text = str(error) if isinstance(error, SwelltreeError) else f"{type(error).__name__}: {error}"
    return text[:1000]
