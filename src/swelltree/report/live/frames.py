"""What pages receive of a run: where bodies and lines are, traces, energy balance."""

from __future__ import annotations

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
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
