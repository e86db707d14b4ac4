"""A run recorded and followed backwards in native code: samples forward, derivatives back.

Both directions are programs over a fixed number of attempts at steps, called until the run is at
its end, so that one compilation serves runs of any length. Between these calls lie the checkpoints:
where the records of all steps would take more memory than allowed, those of the first part of the
run are made again from the state at the start of each call.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.problem import Carry, Code, Options, Problem
from swelltree.integrate.runge_kutta.adjoint import (
    Sources,
    Steps,
    follow_back,
    record,
    sources_within,
    values_within,
)
from swelltree.integrate.runge_kutta.explicit import TABLEAUS
from swelltree.jit import Array, Program, Tree, jax, mapped, ravel_pytree
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import observe
from swelltree.studies.design.chain import Changes, RunOf, Varied, flat
from swelltree.studies.time.smooth import problem_of

ATTEMPTS = 256  # at steps, of one call
SAMPLES = 256  # of one call
TERMS = 6  # of the continuous extension


@functools.lru_cache(maxsize=16)
def _recorder(problem: Problem, method: str, free: bool) -> Program:
    def recorded(model: Model, options: Options, carry: Carry, times: Array) -> tuple[Carry, Steps]:
        return record(problem, model, options, carry, times, method, free, ATTEMPTS)

    return Program(recorded)


@functools.lru_cache(maxsize=16)
def _follower(problem: Problem, method: str, varied: Varied) -> Program:
    def followed(
        args: tuple[Model, Changes],
        like: Tree,
        theta: Array,
        steps: Steps,
        sources: Sources,
        lam: Array,
        slope: Array,
    ) -> tuple[Array, Array]:
        rows = steps, sources, lam, slope
        return follow_back(problem, varied, args, method, like, theta, *rows)

    return Program(followed)


@dataclass(frozen=True)
class Seen:
    """Some channels of a state at a time.

    Args:
        problem: the functions.
        how: formulation.
        names: of raw channels.
        settles: the state lies within a step and goes back to its constraints first.
        varied: the model by theta.
    """

    problem: Problem
    how: Formulation
    names: tuple[str, ...]
    settles: bool
    varied: Varied

    def __call__(
        self, args: tuple[Model, Changes], theta: Array, t: Array, y: Tree
    ) -> dict[str, Array]:
        model = self.varied(args, theta)
        if self.settles and self.problem.settle is not None:
            y = self.problem.settle(model, t, y)
        channels = observe(model, self.how, t, y)
        return {name: channels[name] for name in self.names}


@functools.lru_cache(maxsize=16)
def observer(seen: Seen) -> Program:
    """Program for channels of `SAMPLES` states."""

    def observed(
        args: tuple[Model, Changes], like: Tree, theta: Array, times: Array, values: Array
    ) -> dict[str, Array]:
        unravel = ravel_pytree(like)[1]
        return jax.lax.map(lambda x: seen(args, theta, x[0], unravel(x[1])), (times, values))

    return Program(observed)


@functools.lru_cache(maxsize=16)
def observed_back(seen: Seen) -> Program:
    """Program for derivatives in these states, and in theta, from those in their channels."""

    def back(
        args: tuple[Model, Changes],
        like: Tree,
        theta: Array,
        times: Array,
        values: Array,
        slopes: dict[str, Array],
        slope: Array,
    ) -> tuple[Array, Array]:
        unravel = ravel_pytree(like)[1]

        def one(slope: Array, row: Tree) -> tuple[Array, Array]:
            t, value, of_channels = row

            def channels(value: Array, theta: Array) -> dict[str, Array]:
                return seen(args, theta, t, unravel(value))

            by_value, by_theta = jax.vjp(channels, value, theta)[1](of_channels)
            return slope + by_theta, by_value

        return jax.lax.scan(one, slope, (times, values, slopes))

    return Program(back)


@dataclass
class Part:
    """The steps of one call.

    Args:
        begin: state before them.
        times: of samples, as they were given to the program [s].
        steps: as recorded; None: to be made again.
        samples: indices of the samples reached, first and behind the last.
        which: the step of each sample.
        landed: is it at the end of that step, on the constraints?
    """

    begin: Carry
    times: np.ndarray
    steps: Steps | None
    samples: tuple[int, int]
    which: np.ndarray
    landed: np.ndarray


@dataclass
class Recorded:
    """A run that was recorded.

    Args:
        run: its task and stepper.
        parts: of the run.
        values: states at the samples, (samples, n); those within steps before their settling.
        end: state of the stepper.
        engine: what computed it.
    """

    run: RunOf
    parts: list[Part]
    values: np.ndarray
    end: Carry
    engine: str
    remade: int = 0  # parts that are made again
    like: Tree = field(default=None, repr=False)

    @property
    def times(self) -> np.ndarray:
        """Of the samples [s]."""
        return self.run.task.times


def recorded(run: RunOf, memory: float) -> Recorded:
    """Step through a run and keep what following it back needs.

    Args:
        run: ready to start.
        memory: of the records of steps [bytes].
    """
    stepper, task = run.stepper, run.task
    problem = problem_of(task.model, task.formulation)
    program = _recorder(problem, task.solver, stepper.free)
    carry = stepper.start()
    like, times = carry.y, task.times
    first = flat(like)
    values = np.zeros((len(times), len(first)))
    at = int(np.searchsorted(times, float(carry.t), side="right"))
    values[:at] = first
    result = Recorded(run, [], values, carry, "", like=like)
    used = 0
    while at < len(times):
        window = times[at : at + SAMPLES]
        window = np.pad(window, (0, SAMPLES - len(window)), mode="edge")
        begin = carry
        result.engine, (carry, steps) = program.run(run.model, stepper.options, begin, window)
        carry, steps = mapped(np.asarray, (carry, steps))
        if int(carry.code) != Code.SUCCESS:
            code, message = stepper.failure(carry, Code(int(carry.code)))
            raise SwelltreeError(
                f"gradient: the run did not reach its end ({code.name}). {message}"
            )
        behind = int(np.searchsorted(times, float(carry.t), side="right"))
        which, landed = _placed(steps, times[at:behind])
        after = np.concatenate([steps.y[1:], flat(carry.y)[None]])
        real = np.flatnonzero(steps.h > 0.0)
        after[real[-1]] = after[-1]
        values[at:behind] = np.where(
            landed[:, None],
            after[which],
            values_within(TABLEAUS[task.solver], steps, which, times[at:behind]),
        )
        used += sum(x.nbytes for x in steps)
        fits = used <= memory
        result.remade += not fits
        steps_of_part = steps if fits else None
        result.parts.append(Part(begin, window, steps_of_part, (at, behind), which, landed))
        at = behind
    result.end = carry
    return result


def _placed(steps: Steps, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Step of each sample, and whether the sample is at its end."""
    accepted = np.flatnonzero(steps.accepted)
    ends = steps.t_end[accepted]
    k = np.searchsorted(ends, times, side="left")
    return accepted[k], ends[k] == times


def followed_back(
    record: Recorded, varied: Varied, changes: Changes, theta: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives in the start of a run (n,) and in theta, from those in the values at its samples.

    Args:
        record: of the run.
        varied: the model by theta.
        changes: of the loads of the sea.
        theta: entries of the model.
        slopes: derivatives in the values at the samples (samples, n).
    """
    run = record.run
    stepper, task = run.stepper, run.task
    problem = problem_of(task.model, task.formulation)
    recorder = _recorder(problem, task.solver, stepper.free)
    follower = _follower(problem, task.solver, varied)
    n = slopes.shape[1]
    lam, slope = np.zeros(n), np.zeros(len(theta))
    for part in reversed(record.parts):
        steps = part.steps
        if steps is None:
            begin = run.model, stepper.options, part.begin, part.times
            steps = Steps(*map(np.asarray, recorder(*begin)[1]))
        first, behind = part.samples
        here = slopes[first:behind]
        end = np.zeros((ATTEMPTS, n))
        np.add.at(end, part.which[part.landed], here[part.landed])
        within = np.zeros((ATTEMPTS, 0, n))
        if stepper.free:
            inside = ~part.landed
            which = part.which[inside]
            x = (record.times[first:behind][inside] - steps.t[which]) / steps.h[which]
            within = sources_within(which, x, here[inside], ATTEMPTS)
        args = (run.model, changes), record.like, theta, steps, Sources(end, within), lam, slope
        lam, slope = map(np.asarray, follower(*args))
    known = record.parts[0].samples[0] if record.parts else len(record.times)
    return lam + slopes[:known].sum(0), slope
