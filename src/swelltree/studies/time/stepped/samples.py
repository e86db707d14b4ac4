"""Samples of a run by hand: taken as they come, looked at when asked for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.stepper import Stepper, gathered
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.results.displacement import following
from swelltree.results.sea import finished
from swelltree.studies.time.stepped.native_steps import Row
from swelltree.studies.time.task import Task
from swelltree.waves.sea import elevation

if TYPE_CHECKING:
    from swelltree.multibody.formulations.base import Phase

CHANGES = "work_of_changes"
TORN = 1e-6  # m, rad: what a change of numbers may open a joint by


@dataclass
class Sample:
    """One sample, with what observes it; what is found of it is kept."""

    time: float
    values: Tree
    stepper: Stepper
    task: Task
    changes: float  # energy that changed numbers have brought so far [J]
    observed: dict[str, np.ndarray] = field(default_factory=dict)
    joints: np.ndarray | None = None  # joint coordinates, continuous from sample to sample
    named: dict[str, np.ndarray] = field(default_factory=dict)  # by their names in results

    def channels(self) -> dict[str, np.ndarray]:
        """Raw channels, one row each."""
        if not self.observed:
            by_row = isinstance(self.values, Row)
            self.observed = self.values.channels() if by_row else self.observed_by(self.stepper)
        return self.observed

    def observed_by(self, stepper: Stepper) -> dict[str, np.ndarray]:
        """Channels as a stepper of the same layout observes them."""
        values = self.values.sample if isinstance(self.values, Row) else self.values
        raw = stepper.observe(np.array([self.time]), values)
        return {name: np.asarray(x) for name, x in raw.items()}

    def surface(self) -> np.ndarray:
        """Free surface at the origin, one row [m]."""
        waves = self.task.waves
        assert waves is not None  # asked where there is a sea
        return np.asarray(elevation(waves, np.array([self.time]), 0.0, 0.0))


def energy(raw: dict[str, np.ndarray]) -> float:
    """Kinetic and stored energy of one sample [J]."""
    return float(raw["kinetic_energy"].sum() + raw["potential_energy"].sum())


def balance(sample: Sample) -> float:
    """Energy less work and the energy of parameter changes [J]."""
    raw = sample.channels()
    return energy(raw) - float(raw["work"].sum()) - sample.changes


@dataclass(frozen=True)
class Samples:
    """All samples so far. Every step makes another object; they share one list as long as they can.

    Args:
        model: whose layout they have.
        keep: how many latest ones are kept; None: all.
        near: joint coordinates before the first one.
        taken: in time; those behind `count` belong to another object.
        count: of mine.
        first: the first of all, where the energy balance begins.
        changes: energy that changed numbers have brought so far [J].
    """

    model: Model
    keep: int | None
    near: Mapping[str, float] | np.ndarray
    taken: list[Sample] = field(default_factory=list)
    count: int = 0
    first: Sample | None = None
    changes: float = 0.0

    @property
    def stored(self) -> list[Sample]:
        begin = 0 if self.keep is None else max(0, self.count - self.keep)
        return self.taken[begin : self.count]

    @property
    def last(self) -> Sample:
        return self.taken[self.count - 1]

    @property
    def times(self) -> np.ndarray:
        """Of all that are kept [s]."""
        return np.array([sample.time for sample in self.stored])

    def then(self, time: float, values: Phase | Row, task: Task, stepper: Stepper) -> Samples:
        """Samples with one more."""
        new = Sample(time, values, stepper, task, self.changes)
        taken = self.taken
        crowded = self.keep is not None and len(taken) > 2 * self.keep
        if len(taken) != self.count or crowded:
            self._follow()
            taken = self.stored
        taken.append(new)
        return replace(self, taken=taken, count=len(taken), first=self.first or new)

    def changed(self, after: Stepper, names: Iterable[str]) -> Samples:
        """After a change of numbers, which may change the energy of the last sample.

        Args:
            after: with the new numbers.
            names: of these, for a message where they open a joint.
        """
        raw, before = self.last.observed_by(after), self.last.channels()
        gap = float(np.max(raw.get("closure", 0.0))), float(np.max(before.get("closure", 0.0)))
        if gap[0] > max(TORN, 10.0 * gap[1]):
            raise SwelltreeError(
                f"change: {', '.join(repr(name) for name in names)} would open a joint or coupling "
                f"by {gap[0]:.3g} m or rad, and bodies would jump to close it. Prescribe that "
                "motion at a joint (motion=...), or begin another run."
            )
        jump = float(np.max(np.abs(raw["position"] - before["position"]), initial=0.0))
        if jump > TORN:
            raise SwelltreeError(
                f"change: {', '.join(repr(name) for name in names)} would move a body by "
                f"{jump:.3g} m within no time. Prescribe that motion at a joint (motion=...), or "
                "begin another run."
            )
        brought = energy(raw) - energy(before)
        return replace(self, changes=self.changes + brought)

    def named(self) -> dict[str, np.ndarray]:
        """All present channels by their names in results."""
        last = self.last
        if last.named:
            return last.named
        self._follow()
        if isinstance(last.values, Row):
            named = last.values.named()
        else:
            values = finished(self.model, last.channels())
            named = {name: np.asarray(x)[0] for name, x in values.items()}
        if last.joints is not None:
            named["joint_coordinate"] = last.joints
        if self.first is not None and "work" in last.channels():
            named["energy_residual"] = np.asarray(balance(last) - balance(self.first))
        if last.task.waves is not None:
            named["elevation"] = last.surface()[0]
        last.named = named | {CHANGES: np.asarray(last.changes)}
        return last.named

    def channels(self) -> dict[str, np.ndarray]:
        """Raw channels of all stored samples, time first."""
        stored = self.stored
        raw = gathered((sample.channels() for sample in stored), len(stored))
        changes = np.array([sample.changes for sample in stored])
        return raw | ({CHANGES: changes} if changes.any() else {})

    def over_time(self) -> dict[str, np.ndarray]:
        """Channels that depend on previous samples or on changed seas, time first."""
        self._follow()
        stored, rows = self.stored, {}
        if stored[0].joints is not None:
            rows["joint_coordinate"] = np.stack([np.asarray(sample.joints) for sample in stored])
        if stored[0].task.waves is not None:
            rows["elevation"] = np.concatenate([sample.surface() for sample in stored])
        return rows

    def _follow(self) -> None:
        """Joint coordinates of all samples, with continuous turns."""
        mine = self.taken[: self.count]
        if not mine or "coordinate" not in mine[-1].channels():
            return
        begin = len(mine)
        while begin > 0 and mine[begin - 1].joints is None:
            begin -= 1
        near: Tree = self.near if begin == 0 else mine[begin - 1].joints
        for sample in mine[begin:]:
            raw = sample.channels()["coordinate"]
            near = sample.joints = following(self.model.layout, raw, near)[0]


@contextlib.contextmanager
def observing(stepper: Stepper) -> Iterator[None]:
    """Observation of one sample, compiled in the background."""
    blank = stepper.blank(1)
    warm = threading.Thread(target=stepper.observe, args=(np.full(1, np.nan), blank))
    warm.start()
    try:
        yield
    finally:
        warm.join()
