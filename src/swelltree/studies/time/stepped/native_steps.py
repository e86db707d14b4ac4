"""Steps and channels by one native program, for long loops of short steps.

Such a loop spends its time around the native code, not in it: in models with other forces, in
structures that are taken apart, in channels that nobody reads. Here the forces are arguments of
the program, the state goes from step to step as a row of numbers, and a channel is an entry of it.

Samples of a run by hand: taken as they come, looked at when asked for.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from swelltree.compiler.functions_of_time import functions_of_time
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.in_sea import ready_until
from swelltree.integrate.problem import Carry, Code, Options, Problem
from swelltree.integrate.runge_kutta.smooth import integrate
from swelltree.integrate.stepper import Stepper, gathered
from swelltree.jit import Array, Bound, Program, Tree, flatten, mapped, packed, taken
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import Phase, observe
from swelltree.results.displacement import following
from swelltree.results.sea import finished, finished_now
from swelltree.spatial.rotations import compact
from swelltree.studies.time.smooth import SmoothStepper, problem_of
from swelltree.studies.time.stepped.commands import Commands, with_commands
from swelltree.studies.time.task import Task, required_step
from swelltree.waves.sea import elevation

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


ADAPTIVE = ("tsit5", "dopri5")
# what results of a run have, but one instant alone does not
OF_RUNS = ("energy_residual", "joint_coordinate")


class Held(NamedTuple):
    """Commands as arrays, in the order of their names."""

    now: Array
    before: Array
    since: Array


@functools.lru_cache(maxsize=32)
def _program(
    equations: Problem, formulation: Formulation, solver: str, names: tuple[str, ...]
) -> Program:
    """``step(model, carry, times, held, options)``: the carry, channels raw and as in results."""

    def step(
        model: Model, carry: Carry, times: Array, held: Held, options: Options
    ) -> dict[str, Array]:
        now, before = (dict(zip(names, values, strict=True)) for values in (held.now, held.before))
        model = with_commands(model, Commands(now, before, held.since))
        carry, _ = integrate(equations, model, carry, times, options, method=solver)
        with compact():
            channels = observe(model, formulation, times[-1], carry.y)
        # in the order of their names, as dictionaries have their leaves
        result = {f"carry.{k:04d}": x for k, x in enumerate(flatten(carry)[0])}
        result |= {f"channel.{name}": x for name, x in channels.items()}
        return result | {f"result.{name}": x for name, x in finished_now(model, channels).items()}

    return Program(step, shaped=False)


class NativeSteps:
    """One task whose steps are native, with whatever commands.

    Args:
        task: that is stepped, whose loads are ready up to `horizon` [s].
        bound: the program.
        carry: whose structure the states have.
        commands: that the program holds now.
    """

    def __init__(self, task: Task, bound: Bound, carry: Carry, commands: Commands) -> None:
        self.task, self.bound, self.commands = task, bound, commands
        self.horizon = ready_until(task.model)
        leaves, self.tree = flatten(carry)
        self.size = sum(np.size(x) for x in leaves)
        places = bound.places()
        self.carry_places = [places[f"carry.{k:04d}"] for k in range(len(leaves))]
        self.channel_places, self.result_places = (
            {name.removeprefix(kind): x for name, x in places.items() if name.startswith(kind)}
            for kind in ("channel.", "result.")
        )
        numbered = self.tree.unflatten([start for start, _, _ in self.carry_places])
        self.code, self.rate_known, self.crossing = (
            numbered.code,
            numbered.rate_known,
            numbered.crossing,
        )
        self.entries: dict[str, int | np.ndarray | None] = {}

    def advanced(
        self, state: Tree, span: tuple[float, float], commands: Commands, same: bool
    ) -> Row | None:
        """The state at the end of a step; None where it fails.

        Args:
            state: at its begin, a `Row` or a `Carry`.
            span: begin and end [s].
            commands: held in it.
            same: whether they were held before.
        """
        inputs, size = self.bound.inputs, self.size
        if isinstance(state, Row):
            inputs[:size] = state.numbers[:size]
        else:
            inputs[:size] = packed(flatten(state)[0])
        inputs[size : size + 2] = span
        if commands is not self.commands:
            held = *commands.now.values(), *commands.before.values(), commands.since
            inputs[size + 2 : size + 2 + len(held)] = held
            self.commands = commands
        if not same:
            inputs[self.rate_known], inputs[self.crossing] = 0.0, np.inf
        numbers = self.bound()
        if numbers[self.code : self.code + 1].view(np.int64)[0] != Code.SUCCESS:
            return None
        return Row(self, numbers.copy())


@dataclass(frozen=True)
class Row:
    """State and channels after a native step, as one row of numbers."""

    steps: NativeSteps
    numbers: np.ndarray

    def _array(self, place: tuple) -> np.ndarray:
        return taken(self.numbers[None], place)

    @property
    def carry(self) -> Carry:
        return self.steps.tree.unflatten([self._array(x) for x in self.steps.carry_places])

    @property
    def sample(self) -> Phase:
        return mapped(lambda x: x[None], self.carry.y)

    def channels(self) -> dict[str, np.ndarray]:
        return {name: self._array(x)[None] for name, x in self.steps.channel_places.items()}

    def named(self) -> dict[str, np.ndarray]:
        return {name: self._array(x) for name, x in self.steps.result_places.items()}

    def value(
        self, name: object, find: Callable[[dict[str, np.ndarray], object], float | np.ndarray]
    ) -> float | np.ndarray | None:
        """A channel by its name; None where one instant does not have it.

        Args:
            name: as of `Vocabulary.value`.
            find: `Vocabulary.value`, which is asked for a name once.
        """
        entries = self.steps.entries
        if name not in entries:
            entries[str(name)] = self._entries(name, find)
        entry = entries[str(name)]
        if entry is None:
            return None
        found = self.numbers[entry]
        return float(found) if isinstance(entry, int) else found

    def _entries(self, name: object, find: Callable) -> int | np.ndarray | None:
        places = self.steps.result_places
        numbered = {
            key: np.arange(start, start + int(np.prod(shape)), dtype=float).reshape(shape)
            for key, (start, shape, dtype) in places.items()
            if dtype == np.float64 and key not in OF_RUNS
        }
        try:
            found = find(numbered, name)
        except KeyError:
            return None
        return int(found) if isinstance(found, float) else found.astype(int)


def native_steps(
    task: Task, stepper: Stepper, state: Tree, datum: Pose, commands: Commands
) -> NativeSteps | None:
    """Native steps of a task; None where it needs more than its program knows.

    Args:
        task: that is stepped.
        stepper: of the task.
        state: now.
        datum: from which displacements count.
        commands: held now.
    """
    model = task.model
    if not isinstance(stepper, SmoothStepper) or task.solver not in ADAPTIVE or task.extremes:
        return None
    # steps end where a user's function jumps, which only shows step by step
    if coupled_effect(model) is not None or required_step(model) or functions_of_time(model):
        return None
    carry = state.carry if isinstance(state, Row) else state
    held = Held(
        np.array(list(commands.now.values())),
        np.array(list(commands.before.values())),
        np.array(commands.since),
    )
    program = _program(
        problem_of(model, task.formulation), task.formulation, task.solver, tuple(commands.now)
    )
    times = np.array([float(carry.t)] * 2)
    bound = program.bound(model.replace(datum=datum), carry, times, held, stepper.options)
    return None if bound is None else NativeSteps(task, bound, carry, commands)
