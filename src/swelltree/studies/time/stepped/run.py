"""A run that its user steps: forces in, channels out, saved, restored, reset.

It stands on the interface of all steppers (`solvers.stepper.Stepper`): every step is one call of
`advance` from the sample before it to the next, `onward` gives the stepper and state for it. A
step that fails leaves the run where it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.paths import with_number_below
from swelltree.describe.spec import Description
from swelltree.hydro.linear.in_sea import ready_until
from swelltree.integrate.problem import Code, describe
from swelltree.integrate.stepper import Stepper, padded
from swelltree.jit import Array, Tree, flatten, mapped
from swelltree.model.model import Model, Pose
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.dataset import specified_coordinates
from swelltree.status import doing
from swelltree.studies.time.simulate import result_of
from swelltree.studies.time.stepped.commands import (
    Commands,
    Vocabulary,
    no_commands,
    read_values,
    vocabulary,
    with_commands,
)
from swelltree.studies.time.stepped.native_steps import (
    CHANGES,
    NativeSteps,
    Row,
    Samples,
    native_steps,
    observing,
)
from swelltree.studies.time.task import TWO_STEP, Task, starts_at_equilibrium

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.errors import Finding
    from swelltree.integrate.problem import Carry
    from swelltree.waves.sea import AnySea, RealisedSea


# --- Other numbers of what is stepped: of the description, of the model, of the sea

SEA = "sea."


def read_changes(values: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Numbers of the model and numbers of the sea, as given by the user."""
    if not isinstance(values, Mapping):
        raise SwelltreeError(
            f"change: {shown(values)} is not a table of names. "
            "Give e.g. {'ptos.pto.damping': 2e4}."
        )
    for name, value in values.items():
        try:
            fine = np.isfinite(np.asarray(value, float)).all()
        except (TypeError, ValueError):
            fine = False
        if not isinstance(name, str) or not fine:
            raise SwelltreeError(f"change: '{name}': {shown(value)} is not finite. Give a number.")
    of_sea = {name: x for name, x in values.items() if name.startswith(SEA)}
    return {name: x for name, x in values.items() if name not in of_sea}, of_sea


def changed_sea(sea: AnySea | None, values: dict[str, Array]) -> AnySea | None:
    """The sea with other numbers, by path: "sea.spectrum.Hs", "sea.seed"."""
    for name, value in values.items():
        if not isinstance(sea, Description):
            raise SwelltreeError(
                f"change: '{name}', but there is no sea. Give stepper(model, sea)."
            )
        sea = with_number_below(sea, name, value)
    return sea


def check_same_layout(before: Model, after: Model, names: Iterable[str]) -> None:
    """Refuse what changes sizes or the tree: compiled programs would not fit any more."""
    old, form = flatten(before)
    new, other = flatten(after)
    if form != other or any(np.shape(a) != np.shape(b) for a, b in zip(old, new, strict=True)):
        what = ", ".join(f"'{name}'" for name in names)
        raise SwelltreeError(
            f"change: {what} changes array sizes. Make a new stepper of the changed model or sea."
        )


WIDTH = 2  # samples of one call: where a step begins and where it ends
LONG_LOOP = 32  # steps after which a native program for the loop is compiled


@dataclass(frozen=True)
class Saved:
    """All of a run at one of its samples; from `save`, for `restore`.

    Args:
        owner: who saved it.
        model: without commands, in still water.
        sea: as described.
        task: its model has the commands of `held`.
        stepper: of the task.
        state: of the stepper, a tree or a `Row`.
        commands: of now.
        held: those of the task.
        samples: up to now.
    """

    owner: object
    model: Model
    sea: AnySea | None
    task: Task
    stepper: Stepper
    state: Tree
    commands: Commands
    held: Commands
    samples: Samples

    @property
    def tree(self) -> Tree:
        return self.state.carry if isinstance(self.state, Row) else self.state

    def __repr__(self) -> str:
        return f"Saved(t = {self.samples.last.time:g} s)"


@dataclass(frozen=True)
class StepperSetup:
    """What a run by hand begins from.

    Args:
        task_of: the task of a model in a sea, whose loads are ready from a time [s] on.
        stepper_of: the stepper of a task, with room for so many samples.
        forces: held from the start.
        until: last time that can be stepped to [s].
        keep: samples kept for the result; None: all.
        findings: of the model, before the run.
    """

    task_of: Callable[[Model, AnySea | None, float], Task]
    stepper_of: Callable[[Task, int], Stepper]
    forces: Commands
    until: float
    keep: int | None
    findings: list[Finding]


class SteppedRun:
    """A run that is stepped by hand; made by `swelltree.stepper`."""

    def __init__(self, model: Model, sea: AnySea | None, setup: StepperSetup) -> None:
        self._setup = setup
        self._first: tuple[Model, AnySea | None, Saved] | None = (
            None  # model and sea of the first state, and that state
        )
        self._native: NativeSteps | None = None
        self._native_model: Model | None = None  # for which they were asked for
        self._begin(model, sea)

    # --- stepping --------------------------------------------------------------------------
    @property
    def time(self) -> float:
        """Where the run is [s]."""
        return self._now.samples.last.time

    @property
    def forces(self) -> dict[str, float]:
        """Current values of all inputs: forces [N, N m] and speeds of winches [m/s]."""
        return dict(self._now.commands.now)

    def step(self, duration: object, forces: object = None) -> None:
        """Advance the run.

        Args:
            duration: of the step [s].
            forces: by name, held from now on: of PTOs, springs and joint forces they add to what
                the element does by itself [N, N m], of winches to their set speed [m/s]. What is
                not named keeps its value.
        """
        now, duration = self._now, seconds("step", duration)
        end = now.samples.last.time + duration
        if end > self._setup.until * (1.0 + 1e-12):
            raise SwelltreeError(
                f"step: {end:.6g} s is beyond {self._setup.until:.6g} s, where the duration of the "
                "stepper, the grid of the sea or the record ends. Give a longer one, or reset()."
            )
        t = now.samples.last.time
        values = read_values(now.model, forces, self.step_multiple, tuple(now.commands.now))
        commands = now.commands.then(values, t)
        steps = self._native_steps(now, end)
        row = None
        if steps is not None:
            row = steps.advanced(now.state, (t, end), commands, commands is now.commands)
        if row is not None:
            samples = now.samples.then(end, row, now.task, now.stepper)
            self._now = replace(now, state=row, commands=commands, samples=samples)
            return
        task = now.task
        if commands is not now.held:
            task = replace(task, model=with_commands(task.model, commands))
        now = replace(now, task=task, commands=commands, held=commands)
        self._now = self._advanced(now, end)

    def _native_steps(self, now: Saved, end: float) -> NativeSteps | None:
        """What steps a long loop natively; None where it cannot, or the loads end before a time."""
        if now.samples.count < LONG_LOOP:
            return None
        steps = self._native
        if self._native_model is not now.model or (steps and steps.task is not now.task):
            with doing("compiling the steps of a long loop"):
                datum, held = now.samples.model.datum, now.commands
                steps = native_steps(now.task, now.stepper, now.state, datum, held)
            self._native, self._native_model = steps, now.model
        return steps if steps is not None and end <= steps.horizon else None

    def _advanced(self, now: Saved, end: float) -> Saved:
        """The run at the end of a step, in as many parts as the loads of the sea are ready for."""
        t, sample = now.samples.last.time, now.samples.last.values
        while t < end:
            if self._furthest(now.task, t) < end:
                now = replace(now, task=self._task(now, now.model, now.sea, t))
            times = np.array([t, min(self._furthest(now.task, t), end)])
            stepper, state = now.stepper.continue_from(now.task, now.tree, times)
            state, sample = _sampled(stepper, state, times)
            now, t = replace(now, stepper=stepper, state=state), float(times[1])
        return replace(now, samples=now.samples.then(end, sample, now.task, now.stepper))

    def _furthest(self, task: Task, t: float) -> float:
        """Where a step from a time can end with the loads that the sea has made ready [s]."""
        ahead, fixed = ready_until(task.model) - t, task.stepping.step
        if fixed is not None and np.isfinite(ahead):
            ahead = fixed * max(np.floor(ahead / fixed), 1.0)
        return t + ahead

    def _task(self, now: Saved, model: Model, sea: AnySea | None, t: float) -> Task:
        """The task of a model and a sea from a time on, with what is held."""
        task = self._setup.task_of(with_commands(model, self._setup.forces), sea, t)
        still = now.task.still if model is now.model else task.still
        ready = with_commands(task.model, now.commands)
        return replace(task, model=ready, stepping=now.task.stepping, still=still)

    @property
    def step_multiple(self) -> float | None:
        """Common factor of all steps [s]; None: any step."""
        task = self._now.task
        return task.stepping.step if task.solver in TWO_STEP else None

    @property
    def model(self) -> Model:
        """The model with the present parameters, in still water."""
        return self._now.model

    @property
    def sea(self) -> AnySea | None:
        """The described sea with the present parameters; None: still water."""
        return self._now.sea

    @property
    def waves(self) -> RealisedSea | None:
        """The realised sea; None: still water."""
        return self._now.task.waves

    # --- beginning, and beginning again ----------------------------------------------------
    def reset(self, *, seed: int | None = None) -> None:
        """Back to the start, with the forces of the start; changed numbers stay.

        Args:
            seed: of the sea, another one; None: the same sea.
        """
        sea = self._now.sea
        if seed is not None:
            if sea is None or not hasattr(sea, "seed"):
                raise SwelltreeError("reset: this sea has no seed. Leave it out, or reset().")
            sea = changed_sea(sea, {f"{SEA}seed": seed})
        self._begin(self._now.model, sea)

    def _begin(self, model: Model, sea: AnySea | None) -> None:
        setup = self._setup
        if self._first is None or self._first[0] is not model or self._first[1] is not sea:
            commands = setup.forces
            task = setup.task_of(with_commands(model, commands), sea, 0.0)
            if task.goes_on:  # from a run in which nothing was held
                task = replace(task, still=model)
            if self._first is not None:
                check_same_layout(self._first[2].task.model, task.model, ("sea",))
            stepper = setup.stepper_of(task, WIDTH)
            with doing("finding the start of the run and compiling"), observing(stepper):
                state, sample = _sampled(stepper, stepper.start(), task.times)
            datum = _datum(task, stepper, sample)
            task = replace(task, datum=datum)
            near = _near(model, task)
            none = Samples(task.model.replace(datum=datum[0]), setup.keep, near)
            samples = none.then(float(task.times[-1]), sample, task, stepper)
            first = Saved(self, model, sea, task, stepper, state, commands, commands, samples)
            self._first = model, sea, first
        self._now: Saved = self._first[2]

    # --- other numbers ---------------------------------------------------------------------
    def change(self, values: object) -> None:
        """Other numbers from now on, without compiling anew.

        What they do to the current energy is accounted for as `work_of_changes`.

        Args:
            values: as of `Model.with_values` ("ptos.pto.damping", "float.mass"), and of the sea
                ("sea.spectrum.Hs", "sea.seed").
        """
        now = self._now
        numbers, of_sea = read_changes(values)
        sea = changed_sea(now.sea, of_sea)
        model = now.model.with_values(numbers) if numbers else now.model
        task = self._task(now, model, sea, self.time)
        check_same_layout(now.task.model, task.model, (*numbers, *of_sea))
        stepper, state = now.stepper.continue_from(task, *self._here())
        samples = now.samples.changed(stepper, (*numbers, *of_sea))
        held = now.commands
        self._now = Saved(self, model, sea, task, stepper, state, held, held, samples)

    def _here(self) -> tuple[Tree, np.ndarray]:
        """Present state and time, for continuation."""
        return self._now.tree, np.array([self.time])

    # --- looking ---------------------------------------------------------------------------
    def __getitem__(self, name: object) -> Array:
        """A channel now, by its name in results: "absorbed_power.pto", "float.Heave", "work"."""
        values = self._now.samples.last.values
        found = values.value(name, self._words.value) if isinstance(values, Row) else None
        return self._words.value(self._now.samples.named(), name) if found is None else found

    def __contains__(self, name: object) -> bool:
        try:
            self[name]
        except SwelltreeError:
            return False
        return True

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(sorted(self._words.dims))

    @property
    def single_channels(self) -> tuple[str, ...]:
        """Names of all channels that are one number: "absorbed_power.pto", "elevation"."""
        return tuple(self._words.single())

    def labels(self, dimension: str) -> tuple[str, ...]:
        """Labels along a dimension, such as the names of all "element"s of the energy balance."""
        return self._words.labels[dimension]

    @functools.cached_property
    def _words(self) -> Vocabulary:
        last = self._now.samples.last
        more = {CHANGES: ()} | ({} if last.task.waves is None else {"elevation": ()})
        return vocabulary(last.task.model, last.channels(), more)

    def result(self) -> xr.Dataset:
        """Dataset of the steps so far, as from `simulate`."""
        now = self._now
        # where simulate(start=...) goes on, nothing is held any more
        free = replace(now.task, model=with_commands(now.task.model, no_commands(now.model)))
        stepper, state = now.stepper.continue_from(free, *self._here())
        run = _ByHand(stepper, state, now.samples)
        datum = self._first[2].task.datum if self._first is not None else None
        task = replace(now.task, still=now.model, start=None, datum=datum)
        result = result_of(task, run, now.sea, self._setup.findings)
        for name, rows in now.samples.over_time().items():
            result[name] = result[name].copy(data=rows)
        return result

    # --- saving ----------------------------------------------------------------------------
    def save(self) -> Saved:
        """Complete state of the run."""
        return replace(self._now, owner=self)

    def restore(self, saved: object) -> None:
        """Restore a state of `save`; later steps are bitwise identical."""
        if not isinstance(saved, Saved):
            raise SwelltreeError(
                f"restore: {shown(saved)} is not from save(). Give the value that it returned."
            )
        if saved.owner is not self:
            raise SwelltreeError("restore: this was saved by another stepper. Restore it there.")
        self._now = saved

    def __repr__(self) -> str:
        return f"stepper(t = {self.time:g} s, forces = {self.forces})"


@dataclass(frozen=True)
class _ByHand:
    """The steps so far as a run (`result.Run`)."""

    stepper: Stepper
    state: Tree
    samples: Samples
    code: Code = Code.SUCCESS

    @property
    def message(self) -> str:
        return describe(self.code)

    @property
    def times(self) -> np.ndarray:
        return self.samples.times

    def channels(self) -> dict[str, np.ndarray]:
        return self.samples.channels()


def _sampled(stepper: Stepper, state: Carry, times: np.ndarray) -> tuple[Tree, Tree]:
    """State and sample at the last of one or two times."""
    after, samples = mapped(np.asarray, stepper.advance(state, padded(times, WIDTH)))
    if int(after.code) != Code.SUCCESS:
        raise_faults(stepper.task.model)  # type: ignore[attr-defined]
        raise SwelltreeError(stepper.failure(after, Code(int(after.code)))[1])
    last = len(times) - 1
    return after, mapped(lambda x: x[last : last + 1], samples)


def _near(model: Model, task: Task) -> Mapping[str, float] | np.ndarray:
    """Joint coordinates for the choice of turns at the first sample."""
    return task.start.joint_coordinate.values[-1] if task.goes_on else specified_coordinates(model)


def _datum(task: Task, stepper: Stepper, sample: Tree) -> tuple[Pose, str]:
    """Datum of displacements: the equilibrium, if the run starts there."""
    time = float(task.times[-1])
    if task.goes_on or not starts_at_equilibrium(task.model, task.start):
        return task.datum_at(time, task.model.datum)
    raw = stepper.observe(np.array([time]), sample)
    return task.datum_at(time, Pose(np.asarray(raw["position"])[0], np.asarray(raw["rotation"])[0]))


def seconds(word: str, value: object) -> float:
    """A span of time that was given [s]; it must be positive.

    Args:
        word: its name in messages.
        value: as given.
    """
    try:
        result = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        result = np.nan
    if not (np.isfinite(result) and result > 0.0):
        raise SwelltreeError(f"{word} {shown(value)} is not a positive number of seconds.")
    return result
