"""Runs by the two-step scheme inside `jit`, `grad` and `vmap`: the whole run in one graph.

Equilibrium is found before, on numbers (`moored_start`); a few more steps towards rest inside the
graph give it its derivatives. Steps of a run carry those of the implicit function.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.complementarity.between_steps import without_turning
from swelltree.integrate.complementarity.cayley import cayley
from swelltree.integrate.complementarity.first_half_step import corrected, specified_by
from swelltree.integrate.complementarity.immersed import apart
from swelltree.integrate.complementarity.relax import stopped
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.start import set_up
from swelltree.integrate.complementarity.state import StepperState, form_of
from swelltree.integrate.complementarity.step import advance, sampled
from swelltree.integrate.problem import Code
from swelltree.jit import Array, jax, jnp
from swelltree.model.capabilities import CommandsStrokes, having, internal_at_rest
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.multibody.kinematics import Motion, Pose, dof_coordinates, dof_rates, joint_frames
from swelltree.spatial.rotations import matmul
from swelltree.studies.time.complementarity.channels import observe
from swelltree.studies.time.complementarity.plan import grid, with_events
from swelltree.studies.time.complementarity.start import LONGEST, to_rest, without_waves
from swelltree.studies.time.task import Task
from swelltree.studies.time.verify import with_watch

SETTLING, SETTLING_STEP = 3, 200.0  # steps towards rest inside the graph, s
BEGINNING = 8  # steps that find the half step before the first


def moored_start(model: Model, formulation: str = "lagrange") -> StepperState:
    """Bodies and lines at rest, as the start of runs inside `jit`, `grad` and `vmap`.

    Args:
        model: from `compile`, with numbers.
        formulation: "lagrange" or "path_matrix".
    """
    return to_rest(model, form_of(model, formulation)).state


def two_step_traced(task: Task) -> dict[str, Array]:
    """The whole run in one graph: channels of `observe`; see `simulate`."""
    model, start = task.model, task.start
    if not isinstance(start, StepperState):
        raise SwelltreeError(
            "inside jit, grad or vmap a moored run needs start=moored_start(model), "
            "found before with numbers."
        )
    if task.extremes:
        raise SwelltreeError(
            "extremes: inside jit, grad or vmap the two-step scheme keeps none. Leave them out, "
            "or give a shorter output_step."
        )
    switching = next((name for e in having(model, CommandsStrokes) if (name := e.switching())), "")
    if switching:
        raise SwelltreeError(
            f"{switching} has samples or surfaces, which the two-step scheme does not support "
            "inside jit, grad or vmap. Use lines with model='quasi_static'."
        )
    form = with_events(model, form_of(model, task.formulation.name))
    form = replace(form, differentiable=True)
    step, longest = task.stepping.step, task.stepping.longest
    requested = min(LONGEST if step is None else step, longest)
    h, marks = grid(task.times, requested)
    state = jax.tree.map(jnp.asarray, start)
    state = sampled(model, h, state)
    force_derivatives = jax.lax.stop_gradient(derivatives(model, state))
    run = set_up(model, form, h, force_derivatives)
    rest = set_up(without_waves(model), form, SETTLING_STEP, force_derivatives, theta=1.0, beta=1.0)
    # one step serves all: towards rest, the trial before the first, and the run
    pairs = jax.tree.map(lambda *x: jnp.stack(x), (without_waves(model), rest), (model, run))

    def one(state: StepperState, mode: Array) -> tuple[StepperState, Sample]:
        now, setup = jax.tree.map(lambda x: x[jnp.minimum(mode, 1)], pairs)
        after, sample = advance(now, form, setup, state)
        at_rest = specified_by(stopped(state), setup.h)
        ways = (stopped(after), corrected(now, setup, state, after, sample, at_rest), after)
        return jax.tree.map(lambda *x: jnp.stack(x)[mode], *ways), sample

    first = np.array([0] * SETTLING + [1] * BEGINNING)
    modes = np.concatenate([first, np.full(marks[-1] + 1, 2)])
    _, samples = jax.lax.scan(jax.checkpoint(one), state, jnp.asarray(modes))
    solved = samples.solved.all()
    samples = gathered(jax.tree.map(lambda x: x[len(first) :], samples), marks)
    channels = jax.vmap(lambda sample: observe(model, form, sample))(samples)
    channels = channels | {"time": jnp.asarray(task.times), "solved": solved}
    code = jnp.where(solved, Code.SUCCESS, Code.NO_PROGRESS)
    return with_watch(model, channels, code, "two_step")


def gathered(samples: Sample, marks: np.ndarray) -> Sample:
    """The samples wanted, with what was gathered over the steps since the one before each.

    Args:
        samples: of every step.
        marks: numbers of the wanted ones, increasing.
    """
    sample_of_step = np.searchsorted(marks, np.arange(marks[-1] + 1))

    def total(x: Array) -> Array:
        return jax.ops.segment_sum(x, sample_of_step, len(marks))

    def largest(x: Array) -> Array:
        return jax.ops.segment_max(x, sample_of_step, len(marks))

    most, error, lines = largest(samples.iterations), largest(samples.error), samples.lines
    picked = jax.tree.map(lambda x: x[marks], samples)
    if lines is not None:
        sums = {"impulse": total(lines.impulse), "span": total(lines.span)}
        picked = replace(picked, lines=replace(picked.lines, **sums))
    return replace(picked, iterations=most, error=error)


def derivatives(model: Model, state: StepperState) -> tuple[Array, Array]:
    """Stiffness and damping that are constant during a run, by differentiation."""
    internal, steady = internal_at_rest(model), apart(without_turning(model))
    N = model.layout.n_bodies

    def wrench(d: Array, v: Array) -> Array:
        d, v = d.reshape(N, 6), v.reshape(N, 6)
        pose = Pose(state.pose.p + d[:, :3], matmul(cayley(0.5 * d[:, 3:]), state.pose.R))
        frames = joint_frames(model, pose)
        coordinate = dof_coordinates(model, frames, state.angles)
        motion = Motion(pose, v, frames, coordinate, dof_rates(model, pose, frames, v))
        return -total_loads(steady, jnp.zeros(()), motion, internal).wrench.reshape(-1)

    zero = jnp.zeros(6 * N)
    return jax.jacfwd(wrench, argnums=0)(zero, zero), jax.jacfwd(wrench, argnums=1)(zero, zero)
