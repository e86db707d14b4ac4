r"""The interface of a formulation.

A formulation says how bodies move and how wrenches project:

.. math:: v = P s + v_t, \qquad
          M_s \dot s + b = P^\top w + J^\top \lambda, \qquad J \dot s = \gamma

Forces are always wrenches per body; a formulation knows nothing of them.
Solvers know a formulation only through the methods below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float

from swelltree.jit import Array, Tree, jax, jnp, pytree
from swelltree.model.internal_state import AT_REST
from swelltree.model.model import Model
from swelltree.multibody.constraints import Rows
from swelltree.multibody.inertia import Inertia
from swelltree.multibody.kinematics import Motion
from swelltree.multibody.layout import Row
from swelltree.spatial.linalg import constrained_solve, solve_spd
from swelltree.spatial.rotations import apply

LEAP = 0.03  # of the velocity: more than joints have to correct after a step
GROWN = 0.1  # slip of the joints over its correction, where it has grown by a singular loop
SLOW = 1e-6  # m/s, rad/s: what is slower than this is rest


@pytree()
class State:
    """Positions and velocities in a formulation's own coordinates."""

    q: Array  # positions
    s: Array  # independent velocities
    chart: Array  # choice of coordinates, where a formulation has one


@pytree()
class Phase:
    """State of motion and the work of each element since the start."""

    state: State
    work: Array  # (elements + drives,) J
    internal: Tree = AT_REST  # InternalState


@pytree()
class Kinematics:
    """Results that a formulation computes once per state."""

    motion: Motion
    inertia: Inertia
    P: Float[Array, "b6 n"]  # velocity transformation
    bias_acceleration: Float[Array, "b 6"]  # vdot = P sdot + bias_acceleration
    rows: Rows | None  # constraints left over, in body velocities
    extra: Tree  # a formulation's own


@pytree()
class Acceleration:
    """Solution of the equations of motion."""

    s_dot: Float[Array, "*c n"]
    v_dot: Float[Array, "*c b 6"]
    multipliers: Float[Array, "*c m"]  # of the formulation's rows


class Formulation(ABC):
    """Interface of the formulations; frozen and hashable."""

    name: ClassVar[str]
    keeps_rows: ClassVar[bool] = True  # rows are solved with multipliers, not eliminated

    @abstractmethod
    def velocity_names(self, model: Model) -> tuple[str, ...]:
        """Names of the velocities s: `joint__Dof` or `body__Dof`."""

    @abstractmethod
    def start(self, model: Model) -> State:
        """Assembled initial state."""

    @abstractmethod
    def kinematics(self, model: Model, t: Array, state: State) -> Kinematics:
        """Motion of all bodies and other terms of the equations of motion."""

    @abstractmethod
    def position_rate(self, model: Model, kin: Kinematics, state: State) -> Float[Array, " nq"]:
        """Rate of the positions q."""

    @abstractmethod
    def velocity_of(self, model: Model, state: State, rate: Float[Array, " nq"]) -> Array:
        """Velocities s for a rate of the positions: inverse of `position_rate`."""

    def flat_chart(self, model: Model) -> bool:
        """Whether velocities are the rates of a step of `retract`."""
        return False

    @abstractmethod
    def mass(self, model: Model, kin: Kinematics) -> Float[Array, "n n"]:
        """Mass matrix in the velocities s, added mass of all bodies included."""

    @abstractmethod
    def bias(self, model: Model, kin: Kinematics) -> Float[Array, " n"]:
        """Velocity-dependent inertia force in the velocities s."""

    @abstractmethod
    def project(
        self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]
    ) -> Float[Array, " n"]:
        """Generalised force of body wrenches: P^T w."""

    @abstractmethod
    def retract(self, model: Model, state: State, step: Float[Array, " n"]) -> State:
        """State moved by a small step in the directions of the velocities s."""

    @abstractmethod
    def settle(self, model: Model, t: Array, state: State) -> State:
        """State projected onto its constraints after a step."""

    @abstractmethod
    def settling_matters(self, model: Model) -> bool:
        """Whether projection changes the accelerations (constraints), or only norms and turns."""

    @abstractmethod
    def rows(self, model: Model) -> tuple[Row, ...]:
        """The constraint rows whose multipliers `acceleration` returns."""

    @abstractmethod
    def open_rows(self, model: Model) -> tuple[Row, ...]:
        """All rows not satisfied identically by the coordinates, including redundant ones."""

    def condition(self, model: Model, kin: Kinematics, state: State) -> Array | None:
        """Error amplification of the chosen coordinates."""
        return None

    def constraint(self, kin: Kinematics) -> tuple[Array, Array, Array, Array]:
        """Residual, Jacobian in s, required velocity, required acceleration."""
        assert kin.rows is not None
        rows = kin.rows
        J = rows.jacobian @ kin.P
        gamma = rows.gamma - rows.jacobian @ kin.bias_acceleration.reshape(-1)
        return rows.residual, J, rows.velocity_rhs, gamma

    def closed(self, model: Model, t: Array, state: State) -> State:
        """State back on its constraint rows, in position and velocity.

        By the correction of least energy, twice: the second sees the corrected positions. Where a
        small slip would take a good part of the motion, the joints do not say how it goes on (a
        loop is singular there): the state is then not a number.
        """

        def correct(state: State, _: None) -> tuple[State, Array]:
            kin = self.kinematics(model, t, state)
            g, J, velocity_rhs, _ = self.constraint(kin)
            zero = jnp.zeros_like(state.s)
            M, _, free = with_locked_dofs(model, self.mass(model, kin), zero, J)
            slip = velocity_rhs - J @ state.s
            step, _ = constrained_solve(M, zero, free, -g, model.surplus)
            kick, _ = constrained_solve(M, zero, free, slip, model.surplus)
            moved = self.retract(model, state, step)
            size = jnp.sqrt((free * free).sum(1)) + 1e-300
            least = SLOW**2 * jnp.diag(M).max(initial=0.0)
            leaps = kick @ M @ kick > LEAP**2 * (state.s @ M @ state.s) + least
            slips = jnp.abs(slip / size).max(initial=0.0)
            grown = slips < GROWN * jnp.abs(kick).max(initial=0.0)
            return State(moved.q, state.s + kick, state.chart), leaps & grown

        result, lost = jax.lax.scan(correct, state, None, length=2)
        return State(result.q, jnp.where(lost.any(), jnp.nan, result.s), result.chart)

    def solved(self, model: Model, M: Float[Array, "n n"], f: Float[Array, " n"]) -> Array:
        return solve_spd(M, f)

    def acceleration(
        self, model: Model, kin: Kinematics, wrench: Float[Array, "b 6"]
    ) -> Acceleration:
        """Solve the equations of motion under the given body wrenches."""
        M = self.mass(model, kin)
        f = self.project(model, kin, wrench) - self.bias(model, kin)
        if kin.rows is None:
            M, f, _ = with_locked_dofs(model, M, f)
            s_dot, lam = self.solved(model, M, f), jnp.zeros(0)
        else:
            _, J, _, gamma = self.constraint(kin)
            s_dot, lam = constrained_solve(*with_locked_dofs(model, M, f, J), gamma, model.surplus)
        v_dot = apply(kin.P, s_dot).reshape(-1, 6) + kin.bias_acceleration
        return Acceleration(s_dot, v_dot, lam)


def with_locked_dofs(
    model: Model, M: Array, f: Array, J: Array | None = None
) -> tuple[Array, Array, Array]:
    """Mass matrix, force and constraints with locked DOFs held."""
    if model.locked is None:
        return M, f, J
    free = 1.0 - model.locked
    M = free[:, None] * M * free[None, :] + jnp.diag(model.locked)
    return M, free * f, None if J is None else J * free[None, :]
