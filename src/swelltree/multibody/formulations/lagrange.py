r"""Absolute coordinates with multipliers (Paparella 001-DAE; Fabien).

.. math:: M \dot v + b = w + J^\top \lambda, \qquad J \dot v = \gamma

Index reduced; after every step positions and velocities are projected back on
the joints by the correction of least energy, which leaves linear and angular
momentum alone. Baumgarte's feedback is there for comparison:
gamma - 2 (J v - drift)/T - g/T^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from swelltree.jit import Array, jnp
from swelltree.model.model import Model
from swelltree.multibody.formulations.base import AbsoluteCoordinates, Kinematics, State
from swelltree.multibody.inertia import dense_inertia, gyroscopic, world_inertia


@dataclass(frozen=True)
class Lagrange(AbsoluteCoordinates):
    """Poses of all bodies, multipliers for all joints.

    Args:
        stabilisation: "projection" after each step, or "baumgarte" feedback.
        time_constant: T of the feedback [s].
    """

    stabilisation: Literal["projection", "baumgarte"] = "projection"
    time_constant: float = 0.1
    name: ClassVar[str] = "lagrange"

    def start(self, model: Model) -> State:
        q, v = self.start_poses(model)
        return State(q, v, ())

    def kinematics(self, model: Model, t: Array, state: State) -> Kinematics:
        N = model.layout.n_bodies
        v = state.s.reshape(N, 6)
        motion, rows = self.motion_and_rows(model, t, state.q, v)
        P = jnp.eye(6 * N)
        inertia = world_inertia(model, motion.pose)
        return Kinematics(motion, inertia, P, jnp.zeros((N, 6)), rows, ())

    def velocity_of(self, model: Model, state: State, rate: Array) -> Array:
        return self.twists(model, state.q, rate)

    def mass(self, model: Model, kin: Kinematics) -> Array:
        return dense_inertia(model, kin.inertia)

    def bias(self, model: Model, kin: Kinematics) -> Array:
        return gyroscopic(kin.inertia, kin.motion.v).reshape(-1)

    def project(self, model: Model, kin: Kinematics, wrench: Array) -> Array:
        return wrench.reshape(-1)

    def constraint(self, kin: Kinematics) -> tuple[Array, Array, Array, Array]:
        rows = kin.rows
        assert rows is not None
        gamma = rows.gamma
        if self.stabilisation == "baumgarte":
            T = self.time_constant
            slip = rows.jacobian @ kin.motion.v.reshape(-1) - rows.velocity_rhs
            gamma = gamma - 2.0 * slip / T - rows.residual / T**2
        return rows.residual, rows.jacobian, rows.velocity_rhs, gamma

    def retract(self, model: Model, state: State, step: Array) -> State:
        q = self.moved(model, state.q, step.reshape(-1, 6))
        return State(q, state.s, state.chart)

    def settling_matters(self, model: Model) -> bool:
        return bool(model.all_rows) and self.stabilisation == "projection"

    def settle(self, model: Model, t: Array, state: State) -> State:
        if self.settling_matters(model):
            state = self.closed(model, t, state)
        return State(self.remember_turns(model, state.q), state.s, state.chart)
