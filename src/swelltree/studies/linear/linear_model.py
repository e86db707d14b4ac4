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

from swelltree.describe.errors import listed
from swelltree.hydro.linear.frame import columns_in_axes
from swelltree.hydro.linear.radiation import Radiation
from swelltree.hydro.morison.drag import DragPieces
from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.jit import Array, Points, Tree, is_traced, jax, jnp, namespace, pytree
from swelltree.model.capabilities import (
    HasEquilibriumStates,
    HasEvents,
    HasNonlinearity,
    HasStates,
    InternalState,
    feels,
    having,
    internal_at_rest,
    internal_rate,
    present,
)
from swelltree.model.effect import Instant, LinearElements
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.equations import settled_at
from swelltree.pto.actuators.forces import element_forces

if TYPE_CHECKING:
    from swelltree.studies.linear.excitation import Excitation


# Internal states of effects in a linear model: oil, flywheels, lags of actuators and
# controllers.
#
# .. math::     \dot z = A z + B_0 y + B_1 \dot y, \qquad \text{force on } y: \; \ldots + F z,
# \qquad     \text{force of elements: } \ldots + E z
#
# with z the deviations from the values at rest. States that change at events only (modes of
# latches, held values of sampled controllers) and those that follow the mean position of a body
# stay as they are.

NONE = 1e-12  # of the largest slope of a state's rate: less counts as none


@dataclass(frozen=True)
class InternalBlock:
    """Internal states (k of them) coupled to f free directions; NumPy or traced arrays."""

    A: Float[Array, "k k"]
    B: Float[Array, "k f2"]  # per y and y'
    F: Float[Array, "f k"]  # forces on the free directions
    E: Float[Array, "e k"]  # forces of the elements on strokes
    names: tuple[str, ...] = ()
    held: tuple[str, ...] = ()  # words for effects of which states are held

    def around(self, matrix: Array, M: Array) -> Array:
        """State matrix of (y, y', z) from that of (y, y') with the mass M."""
        if not self.names:
            return matrix
        xp = namespace(matrix, self.F, M)
        pushed = xp.concatenate([xp.zeros_like(self.F), xp.linalg.solve(M, self.F)])
        return xp.block([[matrix, pushed], [self.B, self.A]])

    def response(self, omega: Float[np.ndarray, " w"]) -> Complex[np.ndarray, "w k f"]:
        """States per displacement of the free directions, exp(-iwt)."""
        f, w = self.F.shape[0], omega[:, None, None]
        moved = self.B[:, :f] - 1j * w * self.B[:, f:]
        return np.linalg.solve(-1j * w * np.eye(len(self.A)) - self.A, moved)

    def notes(self) -> tuple[str, ...]:
        """Internal states that a linear model holds constant."""
        if not self.held:
            return ()
        return (
            f"States of the elements of kind {listed(self.held)} that do not change with small "
            "motions are held at their values at rest.",
        )


@pytree()
class _Change:
    force: Array
    rate: Array
    elements: Array


@pytree()
class _At:
    model: Model
    state: State


def _moving_kinds(model: Model, internal: InternalState) -> list[str]:
    """Effects whose internal states do not follow from the poses of bodies."""
    return [
        e.kind
        for e in having(model, HasStates)
        if e.kind in internal.elements and not isinstance(e, HasEquilibriumStates)
    ]


@functools.lru_cache(maxsize=32)
def _changes(formulation: Formulation) -> Points:
    """Program of `_Change` at w = (step, velocities, internal states)."""

    def change(at: _At, w: Array) -> _Change:
        t, n = jnp.zeros(()), at.state.s.shape[0]
        internal = settled_at(at.model, formulation, at.state)
        kinds = _moving_kinds(at.model, internal)
        elements, first = dict(internal.elements), 2 * n
        for kind in kinds:
            known = jnp.asarray(elements[kind])
            elements[kind] = known + w[first : first + known.size].reshape(known.shape)
            first += known.size
        internal = InternalState(internal.radiation, elements)
        model = present(at.model, internal)
        moved = formulation.retract(model, at.state, w[:n])
        kin = formulation.kinematics(model, t, State(moved.q, w[n : 2 * n], moved.chart))
        wrench = total_loads(model, t, kin.motion, internal).wrench
        rates = internal_rate(model, Instant(t, kin.motion, internal)).elements
        rows = [jnp.ravel(rates[kind]) for kind in kinds]
        elements_now = element_forces(model, Instant(t, kin.motion, internal))
        force = formulation.project(model, kin, wrench)
        return _Change(force, jnp.concatenate(rows), elements_now)

    return Points(change)


def internal_block(at: OperatingPoint, elements: int) -> InternalBlock:
    """The internal states of a model at rest.

    Inside a trace those that are held are part of it, with zeros: what moves is known by numbers.

    Args:
        at: where it is linearised.
        elements: number of elements on strokes.
    """
    model, how, state, Z = at.model, at.formulation, at.state, at.directions
    internal = settled_at(model, how, state)
    # what switches at events is stated by the effect itself, `HasLinearForm`
    switching = {effect.kind for effect in having(model, HasEvents) if effect.switching()}
    words = {e.kind: e.word for e in having(model, HasStates) if e.kind not in switching}
    kinds = _moving_kinds(model, internal)
    still = [words[kind] for kind in internal.elements if kind in words and kind not in kinds]
    f, n = Z.shape[1], Z.shape[0]
    if not kinds:
        A, B, F, E = (np.zeros(size) for size in ((0, 0), (0, 2 * f), (f, 0), (elements, 0)))
        return InternalBlock(A, B, F, E, held=tuple(still))
    sizes = [int(np.size(internal.elements[kind])) for kind in kinds]
    zero = np.zeros(2 * n + sum(sizes))
    slope = _changes(how).jacobians(_At(model, state), zero)[1]
    force, rate, of_elements = slope.force, slope.rate, slope.elements
    own = [kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size)]
    number = [k for size in sizes for k in range(size)]
    moves = abs(rate).max(axis=1) > NONE
    if is_traced((force, rate, of_elements, Z)):
        rows = np.arange(len(own))
        force, of_elements = (
            jnp.concatenate([x[:, : 2 * n], jnp.where(moves, x[:, 2 * n :], 0.0)], axis=1)
            for x in (force, of_elements)
        )
    else:
        force, rate, of_elements = (np.asarray(x) for x in (force, rate, of_elements))
        rows = np.flatnonzero(moves)
        held = {kind for kind, moved in zip(own, moves, strict=True) if not moved}
        still += [words[kind] for kind in kinds if kind in held and kind in words]
    return InternalBlock(
        rate[rows][:, 2 * n + rows],
        namespace(rate, Z).concatenate(
            [rate[rows][:, :n] @ Z, rate[rows][:, n : 2 * n] @ Z], axis=1
        ),
        Z.T @ force[:, 2 * n + rows],
        of_elements[:, 2 * n + rows],
        tuple(f"{own[k]}__{number[k] + 1}" for k in rows),
        tuple(dict.fromkeys(still)),
    )


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
        return internal_block(self.at, len(self.element_slopes))

    @property
    def to_displacements(self) -> Float[np.ndarray, "b6 f"]:
        """Displacements of the bodies in heading axes, as in runs."""
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
        """Damping including the instantaneous part of radiation."""
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
        """Impedance at the harmonics of a motion, some of which may lie outside the data."""
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
        """State matrix of (y, y') without radiation memory."""
        xp = namespace(self.mass, self.stiffness)
        M = self.total_mass
        lower = xp.concatenate([-self.stiffness, -self.total_damping], axis=1)
        upper = xp.concatenate([xp.zeros_like(M), xp.eye(self.free)], axis=1)
        return xp.concatenate([upper, _solved(M, lower)])

    def first_order(self) -> FirstOrder:
        """First-order form with radiation states, then those of effects (`internal_block`)."""
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
        """The linear model in other free directions z, y = change z."""
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
    """M^-1 times the right-hand side, NaN where DOFs have no mass."""
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

    return Points(leftover, fixed=2, many=True)


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
    """Whether no element of the model is known to be nonlinear."""
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
