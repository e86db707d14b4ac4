r"""Stability of a periodic motion: Floquet multipliers.

A small disturbance of displacements, velocities, radiation memory and internal states is carried
through one period by the equations of motion themselves (automatic differentiation of the time
stepping). The eigenvalues of that map are the multipliers: the motion is stable when all of them
lie inside the unit circle. A direction that nothing holds has the multiplier one.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from swelltree.effects.linear_hydro.data import without_table
from swelltree.effects.linear_hydro.frame import in_axes, mean_yaw
from swelltree.effects.linear_hydro.in_sea import in_waves
from swelltree.effects.linear_hydro.radiation import fitted_memory
from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.formulations import Formulation, State
from swelltree.formulations.equations import Phase, rates, start_phase
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.solvers.stepping.smooth import Options, Problem, integrate
from swelltree.solvers.stepping.smooth import start as start_carry
from swelltree.spatial.products import compact
from swelltree.studies.periodic.problem import Period, flat, sizes, state_at, unflat
from swelltree.system.errors import SwelltreeError
from swelltree.waves.sea import RealisedSea

STEPS = 400  # of the time stepping, per period and at least twenty per harmonic


def multipliers(
    model: Model, how: Formulation, period: Period, Y: np.ndarray, waves: RealisedSea | None
) -> np.ndarray:
    """Floquet multipliers of a periodic motion, the largest first.

    Args:
        model: with its fitted radiation memory.
        how: formulation of the periodic motion.
        period: what was solved.
        Y: its coefficients.
        waves: realised sea, or None.
    """
    if sizes(how, period)[1]:
        raise SwelltreeError(
            f"stability: formulation '{how.name}' keeps joints as equations, which disturbances "
            "must obey. Use formulation='partition', or 'path_matrix' where there is no loop."
        )
    length = float(2 * np.pi / period.basis.omega)
    steps = max(STEPS, 20 * period.basis.harmonics)
    running = model
    if waves is not None:
        running = in_waves(model, replace(waves, ramp=0.0), length, step=0.5 * length / steps)
    phase = _at_start(model, how, period, Y)
    M = np.asarray(_map(how, steps)(without_table(running), period, phase, length))
    values = np.linalg.eigvals(M)
    return values[np.argsort(-np.abs(values))]


def _at_start(model: Model, how: Formulation, period: Period, Y: np.ndarray) -> Phase:
    """The periodic motion at t = 0 as a phase, its radiation memory included."""
    n, m, _ = sizes(how, period)
    value, rate = np.asarray(period.basis.value) @ Y, np.asarray(period.basis.rate) @ Y
    begin = start_phase(model, how)

    @jax.jit
    def motion(y: Tree, y_rate: Tree) -> Tree:
        with compact():
            state, _ = state_at(how, period, y[:n], y_rate[:n])
            internal = unflat(period.internal, y[n + m :] + flat(period.internal))
            v = how.kinematics(period.model, jnp.zeros(()), state).motion.v
            return state, internal.elements, in_axes(mean_yaw(internal), v).reshape(-1)

    states, elements, v = jax.vmap(motion)(value, rate)
    chi: Tree = ()
    memory = fitted_memory(model)
    if memory is not None:
        hat = np.fft.rfft(np.asarray(v), axis=0) / len(v)
        harmonics = float(period.basis.omega) * np.arange(len(hat))
        parts = np.real(memory.swinging(harmonics, hat))
        chi = parts[0] + 2.0 * parts[1:].sum(axis=0)
    first = jax.tree.map(lambda x: np.asarray(x)[0], (states, elements))
    return Phase(first[0], np.asarray(begin.work), InternalState(chi, first[1]))


@functools.lru_cache(maxsize=8)
def _map(how: Formulation, steps: int) -> Tree:
    """Compiled map of disturbances over one period."""

    def carried(model: Model, period: Period, phase: Phase, length: Array) -> Tree:
        n = phase.state.s.shape[0]
        chi = phase.internal.radiation
        k = 0 if isinstance(chi, tuple) else chi.shape[0]
        z = flat(InternalState((), phase.internal.elements))

        def disturbed(d: Array) -> Phase:
            moved = how.retract(model, phase.state, d[:n])
            state = State(moved.q, phase.state.s + d[n : 2 * n], phase.state.chart)
            memory = chi + d[2 * n : 2 * n + k] if k else chi
            elements = unflat(phase.internal, z + d[2 * n + k :]).elements
            return Phase(state, phase.work, InternalState(memory, elements))

        def end(d: Array) -> Tree:
            task = Problem(rate=lambda m, t, y: rates(m, how, t, y))
            options = Options(step=length / steps)
            carry, _ = integrate(
                task, model, start_carry(0.0, disturbed(d)), length[None], options, method="rk4"
            )
            y = carry.y
            x = how.velocity_of(model, phase.state, y.state.q - phase.state.q)
            parts = [x, y.state.s - phase.state.s]
            parts += [y.internal.radiation - chi] if k else []
            return jnp.concatenate([*parts, flat(InternalState((), y.internal.elements)) - z])

        with compact():
            return jax.jacfwd(end)(jnp.zeros(2 * n + k + z.shape[0]))

    return jax.jit(
        lambda model, period, phase, length: carried(
            model, period, phase, jnp.asarray(length, float)
        )
    )
