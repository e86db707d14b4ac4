r"""The equations of motion over one period (Paparella 2015).

Unknowns are the coefficients of displacements x from the equilibrium (in the directions of a
formulation's velocities), of the multipliers of its remaining rows, and of internal states z. At
every node

.. math::
    M \dot s + b - P^\top (w + \mu) - J^\top \lambda = 0, \qquad g(q) = 0, \qquad
    \dot z = f

with q the positions reached from rest by x. The residual is projected on the series. The memory
of the water is exact for a periodic motion: harmonic by harmonic

.. math:: \hat\mu_k = -\left[ B(k\omega) - i k\omega (A(k\omega) - A_\infty) \right] \hat v_k

with exp(-iwt). In joint coordinates this is the ODE form, with absolute coordinates and all
joints as rows the DAE form; joints hold at the level of positions in both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.effects.linear_hydro.frame import columns_in_axes, in_axes, mean_yaw
from swelltree.engine.arrays import Array, Tree, pytree
from swelltree.engine.backend import jax, jnp
from swelltree.formulations import Formulation, State
from swelltree.model.effect import Now
from swelltree.model.internal_state import InternalState, internal_rate
from swelltree.model.model import Model
from swelltree.model.present import present
from swelltree.model.total import total_loads
from swelltree.solvers.fourier import Basis
from swelltree.waves.airy import Components


@pytree()
class Period:
    """Everything the residual depends on."""

    model: Model  # without radiation memory, its waves given at the nodes
    rest: State  # the start without velocity, from which displacements count
    internal: Tree  # internal states at rest, the radiation memory left out
    basis: Basis | Tree
    memory: Array  # (nodes // 2 + 1, 6N, 6N) complex, exp(+iwt), with FFT's own harmonics
    inverse: Array  # (N + 1, u, u) complex inverse of the linear impedance, or nothing
    pinned: Array  # (p, u) directions whose mean is held
    unbalanced: Array  # (p, u) the equations given up for that

    def bare(self) -> Period:
        """What the equations at one node depend on; nothing else shapes their program."""
        return replace(self, basis=None, memory=None, inverse=None, pinned=None, unbalanced=None)


def flat(internal: InternalState) -> Array:
    """Internal states of elements as one row."""
    parts = [jnp.ravel(internal.elements[kind]) for kind in sorted(internal.elements)]
    return jnp.concatenate(parts) if parts else jnp.zeros(0)


def unflat(like: InternalState, z: Array) -> InternalState:
    """Inverse of `flat`."""
    elements, first = {}, 0
    for kind in sorted(like.elements):
        size = jnp.size(like.elements[kind])
        elements[kind] = z[first : first + size].reshape(jnp.shape(like.elements[kind]))
        first += size
    return InternalState((), elements)


def sizes(how: Formulation, period: Period) -> tuple[int, int, int]:
    """Numbers of displacements, multipliers and internal states."""
    rows = len(how.rows(period.model)) if how.keeps_rows else 0
    states = sum(jnp.size(x) for x in period.internal.elements.values())
    return period.rest.s.shape[0], rows, states


def state_at(
    how: Formulation, period: Period, x: Array, rate: Array
) -> tuple[State, Float[Array, " n"]]:
    """State reached from rest by x, and its velocities."""
    model, rest = period.model, period.rest
    if how.flat_chart(model):
        return State(how.retract(model, rest, x).q, rate, rest.chart), rate

    def positions(x: Array) -> Array:
        return how.retract(model, rest, x).q

    q, q_rate = jax.jvp(positions, (x,), (rate,))
    s = how.velocity_of(model, State(q, rest.s, rest.chart), q_rate)
    return State(q, s, rest.chart), s


def node(
    how: Formulation, period: Period, t: Array, y: Array, y_rate: Array, y_second: Array
) -> tuple[Array, Array, Array]:
    """Residual at one node without radiation; body velocities and P in the axes of the data."""
    model = period.model
    n, m, _ = sizes(how, period)
    x, x_rate, x_second = y[:n], y_rate[:n], y_second[:n]

    def velocities(x: Array, rate: Array) -> Array:
        return state_at(how, period, x, rate)[1]

    state, _ = state_at(how, period, x, x_rate)
    s_dot = x_second
    if not how.flat_chart(model):
        _, s_dot = jax.jvp(velocities, (x, x_rate), (x_rate, x_second))
    internal = unflat(period.internal, y[n + m :] + flat(period.internal))
    model = present(model, internal)
    kin = how.kinematics(model, t, state)
    wrench = total_loads(model, t, kin.motion, internal).wrench
    internal_rates = internal_rate(model, Now(t, kin.motion, internal))
    model = with_immersed_mass(model, t, kin.motion)
    tau = how.mass(model, kin) @ s_dot + how.bias(model, kin) - how.project(model, kin, wrench)
    rows = jnp.zeros(0)
    if m:
        rows, J, _, _ = how.constraint(kin)
        tau = tau - J.T @ y[n : n + m]
    rates = flat(internal_rates)
    return (
        jnp.concatenate([tau, rows, y_rate[n + m :] - rates]),
        in_axes(mean_yaw(internal), kin.motion.v).reshape(-1),
        columns_in_axes(mean_yaw(internal), kin.P),
    )


def preconditioned(period: Period, R: np.ndarray) -> np.ndarray:
    """Inverse of the linear impedance, harmonic by harmonic: residuals become displacements."""
    n = period.basis.harmonics
    # a cos + b sin = Re[(a - i b) exp(+iwt)]
    hat = np.concatenate([R[:1] + 0j, R[1 : n + 1] - 1j * R[n + 1 :]])
    out = (period.inverse @ hat[:, :, None])[:, :, 0]
    return np.concatenate([out[:1].real, out[1:].real, -out[1:].imag])


def scaled(period: Period, fraction: float) -> Period:
    """The same with waves of a part of their height."""
    model = period.model
    waves = model.sea.waves
    if isinstance(waves, Components):
        lower = replace(waves, amplitude=fraction * waves.amplitude)
        model = model.replace(sea=replace(model.sea, waves=lower))
    if model.hydro is not None and model.hydro.waves is not None:
        loads = model.hydro.waves.scaled(fraction)
        model = model.with_effect(replace(model.hydro, waves=loads))
    return replace(period, model=model)
