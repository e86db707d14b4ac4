r"""Dependent and independent velocities (Paparella 001-ODE).

The joint equations J v = drift split the body velocities into dependent and
independent ones (eqs. 26-27):

.. math:: v_d = -J_d^{-1} J_i\, s + J_d^{-1}\, drift, \qquad
          P = \begin{pmatrix} -J_d^{-1} J_i \\ 1 \end{pmatrix}

The split is chosen by orthogonalisation with column pivoting, which leaves no large entry in
P, and chosen again after a step that has made one: no partition is good for all
poses. Angles are preferred as independent ones. (The condition number of J_d alone would not
show it: that of a single row is one until the row has lost its entry.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, jax, jnp, namespace
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import (
    AbsoluteCoordinates,
    Acceleration,
    Kinematics,
    State,
)
from swelltree.multibody.inertia import dense_inertia, gyroscopic, world_inertia
from swelltree.spatial.linalg import column_order, left_inverse, solve_spd

ANGLES_FIRST = 4.0  # an angle stays independent until others move that much faster, as `limit`


@dataclass(frozen=True)
class Partition(AbsoluteCoordinates):
    """Poses of all bodies moved by an independent subset of their velocities.

    Args:
        limit: largest entry of P, how fast dependent velocities grow with independent ones
            (angles as lengths at the longest lever), above which the partition is chosen again.
    """

    limit: float = 4.0
    name: ClassVar[str] = "partition"
    keeps_rows: ClassVar[bool] = False

    def velocity_names(self, model: Model) -> tuple[str, ...]:
        # which velocities are independent is chosen at run time
        n = 6 * model.layout.n_bodies - dependents(model)
        return tuple(f"independent__{k}" for k in range(n))

    def start(self, model: Model) -> State:
        q, v = self.start_poses(model)
        if not model.all_rows:
            return State(q, v, np.arange(float(v.shape[0])))
        _, rows = self.motion_and_rows(model, np.zeros(()), q, v.reshape(-1, 6))
        assert rows is not None
        chart = chosen(rows.jacobian)
        return State(q, v[chart[dependents(model) :].astype(int)], chart)

    def kinematics(self, model: Model, t: Array, state: State) -> Kinematics:
        N, m = model.layout.n_bodies, dependents(model)
        chart = state.chart.astype(int)
        # the Jacobian depends on the pose only: first P, then the rows with the true velocities
        _, still = self.motion_and_rows(model, t, state.q, jnp.zeros((N, 6)))
        if still is None:
            P, dependent_inverse = jnp.eye(6 * N)[:, chart], jnp.zeros((0, 0))
            v = P @ state.s
        else:
            J = still.jacobian
            dependent, independent = chart[:m], chart[m:]
            dependent_inverse = left_inverse(J[:, dependent])
            P = placed(chart, -dependent_inverse @ J[:, independent], jnp.eye(6 * N - m))
            driven = dependent_inverse @ still.velocity_rhs
            v = P @ state.s + placed(chart, driven, jnp.zeros(6 * N - m))
        v = v.reshape(N, 6)
        motion, rows = self.motion_and_rows(model, t, state.q, v)
        bias = jnp.zeros(6 * N)
        if rows is not None:
            bias = placed(chart, dependent_inverse @ rows.gamma, jnp.zeros(6 * N - m))
        inertia = world_inertia(model, motion.pose)
        return Kinematics(motion, inertia, P, bias.reshape(N, 6), rows, (chart, dependent_inverse))

    def velocity_of(self, model: Model, state: State, rate: Array) -> Array:
        independent = state.chart[dependents(model) :].astype(int)
        return self.twists(model, state.q, rate)[independent]

    def mass(self, model: Model, kin: Kinematics) -> Array:
        return kin.P.T @ dense_inertia(model, kin.inertia) @ kin.P

    def bias(self, model: Model, kin: Kinematics) -> Array:
        force = dense_inertia(model, kin.inertia) @ kin.bias_acceleration.reshape(-1)
        return kin.P.T @ (force + gyroscopic(kin.inertia, kin.motion.v).reshape(-1))

    def project(self, model: Model, kin: Kinematics, wrench: Array) -> Array:
        return kin.P.T @ wrench.reshape(-1)

    def retract(self, model: Model, state: State, step: Array) -> State:
        m = dependents(model)
        chart = state.chart.astype(int)
        twist = placed(chart, jnp.zeros(m), step)
        q = self.moved(model, state.q, twist.reshape(-1, 6))
        return State(self._close(model, jnp.zeros(()), q, state.chart, 8), state.s, state.chart)

    def settling_matters(self, model: Model) -> bool:
        return bool(model.all_rows)

    def acceleration(
        self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]
    ) -> Acceleration:
        M = dense_inertia(model, kin.inertia)
        f = self.project(model, kin, wrench) - self.bias(model, kin)
        s_dot = solve_spd(kin.P.T @ M @ kin.P, f)
        v_dot = kin.P @ s_dot + kin.bias_acceleration.reshape(-1)
        # multipliers from the dependent rows of the body equations
        net = M @ v_dot + (gyroscopic(kin.inertia, kin.motion.v) - wrench).reshape(-1)
        chart, inverse = kin.extra
        lam = inverse.T @ net[chart[: inverse.shape[0]]]
        return Acceleration(s_dot, v_dot.reshape(-1, 6), lam)

    def condition(self, model: Model, kin: Kinematics, state: State) -> Array | None:
        if kin.rows is None:
            return None
        size = sizes(kin.rows.jacobian)
        independent = state.chart[dependents(model) :].astype(int)
        return (jnp.abs(kin.P) * size[:, None] / size[independent]).max(initial=1.0)

    def _close(self, model: Model, t: Array, q: Array, chart: Array, rounds: int = 2) -> Array:
        """Dependent positions solved from the joint equations for given independent ones."""
        N, m = model.layout.n_bodies, dependents(model)
        chart = chart.astype(int)
        if m == 0:
            return q

        def correct(q: Array, _: None) -> tuple[Array, None]:
            rows = self.motion_and_rows(model, t, q, jnp.zeros((N, 6)))[1]
            assert rows is not None
            step = -left_inverse(rows.jacobian[:, chart[:m]]) @ rows.residual
            twist = placed(chart, step, jnp.zeros(6 * N - m))
            return self.moved(model, q, twist.reshape(N, 6)), None

        return jax.lax.scan(correct, q, None, length=rounds)[0]

    def settle(self, model: Model, t: Array, state: State) -> State:
        m = dependents(model)
        q = self.remember_turns(model, self._close(model, t, state.q, state.chart))
        if m == 0:
            return State(q, state.s, state.chart)
        here = State(q, state.s, state.chart)
        kin = self.kinematics(model, t, here)
        assert kin.rows is not None
        condition = self.condition(model, kin, here)
        assert condition is not None
        worn = condition > self.limit
        chart = jax.lax.cond(worn, chosen, lambda J: state.chart, kin.rows.jacobian)
        s = jnp.where(worn, kin.motion.v.reshape(-1)[chart[m:].astype(int)], state.s)
        return State(q, s, chart)


def sizes(J: Float[Array, "m b6"], angles: float = 1.0) -> Float[Array, " b6"]:
    """Metres that a unit of each coordinate moves: a radian the longest lever, times `angles`."""
    xp = namespace(J)
    parts = (J * J).reshape(len(J), -1, 2, 3).sum(3)
    linear, angular = parts[..., 0], parts[..., 1]
    levers = xp.where(linear > 0.0, angular / xp.where(linear > 0.0, linear, 1.0), 0.0)
    longest = levers.max(initial=0.0)
    lever = angles * xp.sqrt(xp.where(longest > 0.0, longest, 1.0))
    ones = xp.ones((J.shape[1] // 6, 3))
    return xp.concatenate([ones, lever * ones], 1).reshape(-1)


def chosen(J: Float[Array, "m b6"]) -> Float[Array, " b6"]:
    """Order of velocities, dependent ones first, and linear ones before angular ones.

    An angle serves in all positions of a body, a linear coordinate only between its turning
    points, near which errors of a step grow. The lever makes the choice that of a mechanism of
    any size.
    """
    return column_order(J / sizes(J, ANGLES_FIRST))


def placed(chart: Array, dependent: Array, independent: Array) -> Array:
    """Rows of dependent and independent velocities in the order of the bodies."""
    n = chart.shape[0]
    # which entry of the chart names a velocity
    entry = (np.arange(n)[:, None] * (chart[:, None] == np.arange(n))).sum(0)
    return jnp.concatenate([dependent, independent])[entry]


def dependents(model: Model) -> int:
    """Number of dependent velocities, equal to that of independent joint equations."""
    return len(model.all_rows) - model.surplus
