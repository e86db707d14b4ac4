"""Steps and channels by one native program, for long loops of short steps.

Such a loop spends its time around the native code, not in it: in models with other forces, in
structures that are taken apart, in channels that nobody reads. Here the forces are arguments of
the program, the state goes from step to step as a row of numbers, and a channel is an entry of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swelltree.compiler.breakpoints import functions_of_time
from swelltree.hydro.linear.in_sea import ready_until
from swelltree.integrate.problem import Carry, Code, Options, Problem
from swelltree.integrate.runge_kutta.smooth import integrate
from swelltree.integrate.stepper import Stepper
from swelltree.jit import Array, Bound, Program, Tree, flatten, mapped, packed, taken
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import Phase, observe
from swelltree.results.sea import finished_now
from swelltree.spatial.rotations import compact
from swelltree.studies.time.smooth import SmoothStepper, problem_of
from swelltree.studies.time.stepped.commands import Commands, with_commands
from swelltree.studies.time.task import Task, required_step

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
