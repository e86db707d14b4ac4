r"""One linear model of a system about its equilibrium, for every study of small motions.

With y the free directions there, T the body velocities per rate of them and T_d the same in the
axes of the hydro data,

.. math::
    M \ddot y + C \dot y + K y + T_d^\top \left( A_\infty \dot v + D v + \mu \right)
        = T^\top F + \sum u\, W T, \qquad v = T_d \dot y

with mu the memory of the radiation (`effects.linear_hydro.radiation`), F the excitation of the
waves and W the unit wrenches of inputs. `modes`, `rao`, `response`, `state_space`,
`optimal_control`, predictive control, drag linearisation and the model checks all use it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Complex, Float

from swelltree.hydro.linear.frame import columns_in_axes
from swelltree.hydro.linear.radiation import Radiation
from swelltree.hydro.morison.drag import DragPieces
from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.jit import Array, Points, Tree, jax, jnp, namespace, point_program
from swelltree.model.capabilities import HasNonlinearity, feels
from swelltree.model.effect import LinearElements
from swelltree.model.internal_state import internal_at_rest
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.multibody.formulations import Formulation, State
from swelltree.studies.linear.internal_block import InternalBlock, internal_block

if TYPE_CHECKING:
    from swelltree.studies.linear.excitation import Excitation


@dataclass(frozen=True)
class OperatingPoint:
    """Equilibrium about which a model is linearised."""

    model: Model  # as it was linearised: lines static, without waves, radiation and data
    formulation: Formulation
    state: State
    directions: Float[Array, "n f"]  # Z: velocities of the formulation per free direction
    yaw: Float[Array, " b"] | None  # of the axes of the hydro data; None: fixed axes
    heading: Float[Array, " b"]  # yaw of the bodies there [rad]

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each velocity of the formulation."""
        return self.formulation.velocity_names(self.model)


@dataclass(frozen=True)
class FirstOrder:
    """x' = A x + push f with x = (y, y', chi, z) and f the forces on the free directions."""

    A: Float[np.ndarray, "s s"]
    push: Float[np.ndarray, "s f"]

    @property
    def free(self) -> int:
        """Number of free directions."""
        return self.push.shape[1]


@dataclass(frozen=True)
class LinearModel:
    """Matrices of small motions; arrays of numpy, or traced ones inside `jit` and `grad`."""

    mass: Float[Array, "f f"]  # without the added mass of radiation
    damping: Float[Array, "f f"]  # without radiation
    stiffness: Float[Array, "f f"]
    radiation: Radiation
    excitation: Excitation
    to_bodies: Float[Array, "b6 f"]  # velocities of the bodies, world axes
    to_data: Float[Array, "b6 f"]  # the same in the axes of the hydro data
    to_coordinates: Float[Array, "d f"]  # joint coordinates
    elements: LinearElements  # springs, dampers and PTOs
    element_slopes: Float[Array, "e f2"]  # their forces per y and y'
    applied: dict[str, Float[np.ndarray, "6 b6"]]  # by item: unit wrenches of applied forces
    drag: tuple[DragPieces, ...]  # drag that is not in `damping`, for equivalent linearisation
    at: OperatingPoint
    notes: tuple[str, ...]  # what small motions leave out, as messages

    @property
    def free(self) -> int:
        """Number of free directions."""
        return self.stiffness.shape[0]

    @functools.cached_property
    def internal(self) -> InternalBlock:
        """Internal states of effects."""
        return internal_block(self.at, len(self.element_slopes))

    @property
    def to_displacements(self) -> Float[np.ndarray, "b6 f"]:
        """Displacements of the bodies in the axes of their headings, as runs have them."""
        return columns_in_axes(self.at.heading, self.to_bodies)

    @property
    def to_strokes(self) -> Float[np.ndarray, "e f"]:
        """Strokes of the elements per free direction."""
        return self.elements.wrench @ self.to_bodies

    @property
    def total_mass(self) -> Float[Array, "f f"]:
        """Mass with the added mass at infinite frequency."""
        return self.mass + self.to_data.T @ self.radiation.added_mass @ self.to_data

    @property
    def total_damping(self) -> Float[Array, "f f"]:
        """Damping with what radiation takes at once."""
        return self.damping + self.to_data.T @ self.radiation.damping @ self.to_data

    def impedance(
        self, omega: Float[np.ndarray, " w"], damping: np.ndarray | None = None
    ) -> Complex[np.ndarray, "w ... f f"]:
        """Force per displacement of the free directions, exp(-iwt), at frequencies of the data.

        Args:
            omega: [rad/s].
            damping: further damping of the bodies, (6N, 6N) or (w, ..., 6N, 6N).
        """
        A, B = self.radiation.mass_and_damping(omega)
        w = omega[:, None, None]
        M = self.mass + self.to_data.T @ A @ self.to_data
        C = self.damping + self.to_data.T @ B @ self.to_data
        D = -(w**2) * M - 1j * w * C + self.stiffness - self._internal_force(omega)
        if damping is None:
            return D
        more = self.to_bodies.T @ damping @ self.to_bodies
        extra = (1,) * max(more.ndim - 3, 0)
        D, w = D.reshape(len(omega), *extra, *D.shape[1:]), w.reshape(-1, *extra, 1, 1)
        return D - 1j * w * more

    def harmonic_impedance(self, omega: Float[np.ndarray, " w"]) -> Complex[np.ndarray, "w f f"]:
        """The same at the harmonics of a motion, of which some may lie outside the data."""
        w = omega[:, None, None]
        memory = np.conj(self.radiation.transfer(omega))
        C = self.total_damping + self.to_data.T @ memory @ self.to_data
        D = -(w**2) * self.total_mass - 1j * w * C + self.stiffness
        return D - self._internal_force(omega)

    def _internal_force(self, omega: Float[np.ndarray, " w"]) -> Complex[np.ndarray, "w f f"]:
        """Force of internal states per displacement of the free directions."""
        return self.internal.F @ self.internal.response(omega)

    def element_forces(
        self, omega: Float[np.ndarray, " w"], y: Complex[np.ndarray, "w ... f"]
    ) -> Complex[np.ndarray, "w ... e"]:
        """Amplitudes of the forces of the elements for amplitudes of the free directions."""
        f, w = self.free, omega[:, None, None]
        slope = self.element_slopes[:, :f] - 1j * w * self.element_slopes[:, f:]
        slope = slope + self.internal.E @ self.internal.response(omega)
        return np.einsum("wef,w...f->w...e", slope, y)

    def amplitudes(
        self, omega: np.ndarray, force: np.ndarray, damping: np.ndarray | None = None
    ) -> np.ndarray:
        """Amplitudes of the free directions (w, ..., f) under forces of the bodies (w, ..., 6N).

        Args:
            omega: (w,) [rad/s].
            force: exp(-iwt).
            damping: further damping of the bodies, (6N, 6N) or (w, ..., 6N, 6N).
        """
        D = self.impedance(omega, damping)
        D = D.reshape(len(D), *(1,) * (force.ndim + 1 - D.ndim), *D.shape[1:])
        return np.linalg.solve(D, (force @ self.to_bodies)[..., None])[..., 0]

    def state_matrix(self) -> Float[Array, "f2 f2"]:
        """Of (y, y'), with what radiation does at once and without its memory."""
        xp = namespace(self.mass, self.stiffness)
        M = self.total_mass
        lower = xp.concatenate([-self.stiffness, -self.total_damping], axis=1)
        upper = xp.concatenate([xp.zeros_like(M), xp.eye(self.free)], axis=1)
        return xp.concatenate([upper, _solved(M, lower)])

    def first_order(self) -> FirstOrder:
        """With the states of the radiation memory, then those of effects (`internal_block`)."""
        memory, f, inner = self.radiation.states, self.free, self.internal
        k = 0 if memory is None else memory.order
        A, push = np.zeros((2 * f + k, 2 * f + k)), np.zeros((2 * f + k, f))
        A[: 2 * f, : 2 * f] = self.state_matrix()
        push[f : 2 * f] = np.linalg.inv(self.total_mass)
        if memory is not None:
            A[f : 2 * f, 2 * f :] = -push[f : 2 * f] @ self.to_data.T @ np.asarray(memory.C)
            A[2 * f :, f : 2 * f] = np.asarray(memory.B) @ self.to_data
            A[2 * f :, 2 * f :] = np.asarray(memory.A)
        if not inner.names:
            return FirstOrder(A, push)
        right = np.concatenate([push @ inner.F, inner.A])
        left = np.concatenate([A, np.pad(inner.B, ((0, 0), (0, k)))])
        A = np.concatenate([left, right], axis=1)
        return FirstOrder(A, np.pad(push, ((0, len(inner.A)), (0, 0))))

    def in_directions(self, change: Float[np.ndarray, "f f"]) -> LinearModel:
        """The same in other free directions z, y = change z."""
        square = {
            name: change.T @ getattr(self, name) @ change
            for name in ("mass", "damping", "stiffness")
        }
        rows = {
            name: getattr(self, name) @ change
            for name in ("to_bodies", "to_data", "to_coordinates")
        }
        slopes = self.element_slopes.reshape(-1, 2, self.free) @ change
        at = replace(self.at, directions=self.at.directions @ change)
        slopes = slopes.reshape(self.element_slopes.shape)
        return replace(self, **square, **rows, element_slopes=slopes, at=at)


def _solved(M: Array, right: Array) -> Array:
    """M^-1 times the right-hand side, not a number where DOFs have no mass."""
    xp = namespace(M, right)
    try:
        return xp.linalg.solve(M, right)
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


# --- Is a model linear? First what it contains, then the equations that are left

SIZE = 0.3  # m, rad, m/s, rad/s: displacements and velocities tried
TOLERANCE = 1e-7  # of the forces there


@functools.lru_cache(maxsize=32)
def _leftover(how: Formulation) -> Tree:
    """Program: change of force and of mass at a displacement and velocity."""

    def leftover(model: Model, rest: State, x: Array, s: Array) -> Tree:
        t, internal = jnp.zeros(()), internal_at_rest(model)

        def force(x: Array, s: Array) -> Array:
            moved = how.retract(model, rest, x)
            kin = how.kinematics(model, t, State(moved.q, s, moved.chart))
            tau = how.project(model, kin, total_loads(model, t, kin.motion, internal).wrench)
            heavy = with_immersed_mass(model, t, kin.motion)
            return tau - how.bias(model, kin), how.mass(heavy, kin), kin.P

        zero = jnp.zeros_like(x)
        there, there_mass, P = force(x, s)
        here, here_mass, P0 = force(zero, zero)
        slope = jax.jvp(lambda a, b: force(a, b)[0], (zero, zero), (x, s))[1]
        bent = jnp.abs(there - here - slope).max() / jnp.abs(slope).max()
        heavier = jnp.abs(there_mass - here_mass).max() / jnp.abs(here_mass).max()
        return jnp.maximum(jnp.maximum(bent, heavier), jnp.abs(P - P0).max())

    return point_program(leftover, fixed=2, many=True)


def find_nonlinearity(model: Model, off_stops: frozenset[str] = frozenset()) -> str:
    """The first part of a model by which it is not linear for sure, in words; empty: none.

    Args:
        model: driven elements without their signals.
        off_stops: names of PTOs whose stroke stays off their stops.
    """
    reasons = (
        effect.nonlinearity(off_stops)
        if isinstance(effect, HasNonlinearity)
        else f"it has {effect.word}"
        for effect in model.effects
    )
    return next((words for words in reasons if words), "")


def may_be_linear(model: Model, how: Formulation) -> bool:
    """Has the model nothing by which it is not linear for sure?"""
    if internal_at_rest(model).elements or feels(model, "waves"):
        return False
    return not (how.rows(model) and how.keeps_rows)


def is_affine(points: Points, fixed: object, t: np.ndarray, size: int) -> bool:
    """Are all results sums of the unknowns, but for parts that nobody sees?

    Args:
        points: of a function (fixed, t, unknowns).
        fixed: its first argument.
        t: times of some points.
        size: how many unknowns there are.
    """
    w = SIZE * np.random.default_rng(5).standard_normal((len(t), size))
    here, jacobians = points.jacobians(fixed, t, np.zeros_like(w))
    there = points.jacobians(fixed, t, w)[0]
    for a, b, slope in zip(there, here, jacobians, strict=True):
        change = np.einsum("j...w,jw->j...", slope, w)
        most = max(float(np.abs(change).max(initial=0.0)), 1e-3)
        if not np.abs(a - b - change).max(initial=0.0) < TOLERANCE * most:
            return False
    return True


def is_linear(model: Model, how: Formulation, rest: State) -> bool:
    """Are forces, inertia and directions of motion those of the linearised model?

    Args:
        model: without radiation memory and waves.
        how: formulation.
        rest: its equilibrium.
    """
    if not may_be_linear(model, how):
        return False
    n = rest.s.shape[0]
    rng = np.random.default_rng(5)
    x, s = SIZE * rng.standard_normal((2, 4, n))
    worst = float(np.max(np.asarray(_leftover(how)(model, rest, x, s))))
    return bool(worst < TOLERANCE)
