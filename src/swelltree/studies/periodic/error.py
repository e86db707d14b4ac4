r"""What a series leaves out: the motion that its residual at the nodes would still make.

The equations are satisfied after projection on N harmonics. At the nodes, more than twice as many,
something is left: harmonics N + 1 and above. Divided by the impedance they are the motion that is
missing,

.. math:: \delta_k = -Z_k^{-1} \hat r_k, \qquad k > N

with the slopes of the equations averaged over the period in Z. The change that it makes in the
harmonics up to N comes from the residual of the motion with it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.frame import in_axes, mean_yaw
from swelltree.hydro.linear.hydro import without_table
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.linear.radiation import fitted_memory
from swelltree.integrate.fourier import at_nodes
from swelltree.integrate.problem import Code
from swelltree.integrate.runge_kutta.smooth import Options, Problem, integrate
from swelltree.integrate.runge_kutta.smooth import start as start_carry
from swelltree.jit import Array, Tree, jax, jnp
from swelltree.model.effect import Instant
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.equations import Phase, rates, start_phase
from swelltree.pto.controllers.missing_numbers import not_finite
from swelltree.spatial.rotations import compact
from swelltree.studies.periodic.nodes import Nodes
from swelltree.studies.periodic.problem import Period, flat, sizes, state_at, unflat
from swelltree.studies.periodic.solve import PeriodicSolution, advice, with_pins
from swelltree.waves.sea import RealisedSea

FINE = 64  # nodes that show what a short series leaves out


def truncation_error(nodes: Nodes, Y: np.ndarray) -> float:
    """Estimate of the largest displacement that the harmonics left out would add [m, rad].

    Args:
        nodes: the equations at `enough_nodes`.
        Y: coefficients of the motion found.
    """
    count, N = nodes.count, nodes.basis.harmonics
    known = at_nodes(nodes.basis, Y)
    values, jacobians, mu = nodes.with_jacobians(np.concatenate(known, axis=1))
    Z = _impedance(nodes, values[2].mean(axis=0), nodes.node_jacobians(jacobians, mu).mean(axis=0))
    left = np.fft.rfft(nodes.unprojected(values, mu), axis=0)
    left[: N + 1] = 0.0
    missing = -_solved(Z, left)
    s = 1j * nodes.omega * np.arange(count // 2 + 1)[:, None]
    wide = [np.fft.irfft(x * missing, n=count, axis=0) for x in (1.0, s, s * s)]
    # with the missing part, what is left in the harmonics below
    values, mu = nodes.at(np.concatenate([a + b for a, b in zip(known, wide, strict=True)], axis=1))
    below = np.fft.rfft(nodes.unprojected(values, mu), axis=0)
    below[N + 1 :] = 0.0
    missing[: N + 1] -= _solved(Z, below)[: N + 1]
    change = np.fft.irfft(missing, n=count, axis=0)[:, : nodes.n]
    return float(np.abs(change).max(initial=0.0))


def enough_nodes(harmonics: int) -> int:
    """Number of nodes that resolves the truncation error of a series."""
    return max(2 * (2 * harmonics + 1), FINE)


def _impedance(nodes: Nodes, P: np.ndarray, jacobians: np.ndarray) -> np.ndarray:
    """Impedance at all harmonics of the transform, (count // 2 + 1, u, u)."""
    u, n = nodes.u, nodes.n
    R0, R1, R2 = (jacobians[:, k * u : (k + 1) * u] for k in range(3))
    s = 1j * nodes.omega * np.arange(nodes.count // 2 + 1)[:, None, None]
    Z = R0 + s * R1 + s * s * R2
    Z[:, :n, :n] += s * (P.T @ nodes.memory @ P)
    Z[0] = with_pins(Z[0], nodes.pinned, nodes.unbalanced)
    return Z


def _solved(Z: np.ndarray, r: Array) -> np.ndarray:
    try:
        return np.linalg.solve(Z, r[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return (np.linalg.pinv(Z) @ r[..., None])[..., 0]


# --- Why no periodic motion was found, as a message; it names a law that returns NaN

TIMES_FARTHER = (0.0, 0.5, 1.0, 1.5, 2.0, 4.0)  # than the last motion: a step led beyond it
PROBES = 16  # instants of a period


def failure(solution: PeriodicSolution, model: Model, how: Formulation) -> str:
    """Message of a failed search."""
    why = {
        Code.NOT_FINITE: "the forces became infinite or not a number on the way",
        Code.TOO_MANY_STEPS: "Newton came no nearer within max_iterations",
    }.get(solution.code, "Newton came no nearer")
    advised = (
        "The motion may have another period or none: look at simulate, lower the "
        f"wave{advice(model)} or give more harmonics."
    )
    return (
        f"steady_state: no periodic motion was found: {why} (estimated error "
        f"{solution.history[-1]:.2g}, {100 * solution.fraction:.0f} % of the wave height "
        f"reached). {not_finite(model, _moments(solution, how)) or advised}"
    )


def _moments(solution: PeriodicSolution, how: Formulation) -> Iterator[Instant]:
    """Instants of the last motion of the search, and of scaled motions."""
    period = solution.period
    n = sizes(how, period)[0]
    Y = np.asarray(solution.Y)
    if not np.isfinite(Y).all() or not Y.any():
        Y = np.zeros(Y.shape)
        Y[1:3] = 0.3  # m, rad: nothing is known of the motion
    y, y_rate, _ = at_nodes(period.basis, Y)
    time = np.asarray(period.basis.time)

    @jax.jit
    def at(t: Array, x: Array, rate: Array) -> Instant:
        state, _ = state_at(how, period, x, rate)
        return Instant(t, how.kinematics(period.model, t, state).motion, period.internal)

    for factor in TIMES_FARTHER:
        for k in np.linspace(0, len(time) - 1, PROBES).astype(int):
            yield at(time[k], factor * y[k, :n], factor * y_rate[k, :n])


# --- Stability of a periodic motion: Floquet multipliers

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
            "must satisfy. Use formulation='partition', or 'path_matrix' where there is no loop."
        )
    length = float(2 * np.pi / period.basis.omega)
    steps = max(STEPS, 20 * period.basis.harmonics)
    running = model
    if waves is not None:
        running = apply_sea(model, replace(waves, ramp=0.0), length, step=0.5 * length / steps)
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
